//! Where the system's pages are not used to guard memory: no allocation is.

use std::alloc::Layout;
use std::ops::Range;

pub(super) fn allocate(_layout: Layout, _closed: bool) -> Option<*mut u8> {
    None
}

pub(super) fn free(_address: usize) {}

pub(super) fn written(_address: usize) -> Vec<Range<usize>> {
    Vec::new()
}

pub(super) fn close(_address: usize) {}
