//! Allocations between pages that nothing may access.
//!
//! An array ends at the end of a page, as nearly as its alignment allows, so that the first element beyond is on a page
//! that is closed. What was freed stays closed for a while. And with the check of `init` an array itself is closed until
//! something writes to it, in parts of a page or more: a read of a closed part is one of what nothing has written.
//!
//! The table is that of the process, for [`trap`](super::trap) to look up what an address is.

use std::alloc::Layout;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::ptr;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub use super::trap::Trap;
pub(super) use super::trap::install as watch_accesses;

const PAGE: usize = 4096;
/// The most parts of an array that are closed by themselves: each may be a mapping of its own, of which a process has 65,530.
const PARTS: usize = 64;
/// The most guarded allocations.
const MOST: usize = 1024;
/// How many of those that were freed stay closed.
const KEPT: usize = 256;

static TABLE: RwLock<Table> = RwLock::new(Table {
    arrays: BTreeMap::new(),
    freed: VecDeque::new(),
});

struct Table {
    /// By the starts of their mappings.
    arrays: BTreeMap<usize, Array>,
    /// The oldest first.
    freed: VecDeque<usize>,
}

#[derive(Clone, Copy)]
struct Array {
    /// The mapping, with the pages around the array.
    start: usize,
    len: usize,
    first: usize,
    bytes: usize,
    is_freed: bool,
    /// Bytes of a part, whole pages.
    part: usize,
    /// One bit for each part that is open.
    open: u64,
}

/// What a closed address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed {
    pub(super) what: What,
    /// Bytes of the array that it is in, or beside.
    pub(super) bytes: usize,
    /// Bytes from the array's first to the address.
    pub(super) offset: isize,
}

/// Why it is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Outside,
    Freed,
    Unwritten,
}

/// Memory of zeros, unless the system has none or too much of it is guarded already.
pub(super) fn allocate(layout: Layout, closed: bool) -> Option<*mut u8> {
    if layout.align() > PAGE {
        return None;
    }
    let inner = layout.size().checked_next_multiple_of(PAGE)?;
    let len = inner.checked_add(2 * PAGE)?;
    let mut table = write();
    if table.arrays.len() >= MOST + KEPT {
        return None;
    }
    let start = map(len)?;
    let part = inner.div_ceil(PARTS).next_multiple_of(PAGE);
    let array = Array {
        start,
        len,
        first: start + PAGE + inner - layout.size().next_multiple_of(layout.align()),
        bytes: layout.size(),
        is_freed: false,
        part,
        open: if closed { 0 } else { u64::MAX },
    };
    if !closed && !protect(start + PAGE, inner, libc::PROT_READ | libc::PROT_WRITE) {
        unmap(start, len);
        return None;
    }
    table.arrays.insert(start, array);
    Some(ptr::with_exposed_provenance_mut(array.first))
}

/// Frees an array: from now on it is closed.
pub(super) fn free(first: usize) {
    let mut table = write();
    let Some(array) = table.array_at(first) else {
        return;
    };
    array.is_freed = true;
    let (start, len) = (array.start, array.len);
    drop_contents(start, len);
    protect(start, len, libc::PROT_NONE);
    table.freed.push_back(start);
    if table.freed.len() > KEPT
        && let Some(oldest) = table.freed.pop_front()
        && let Some(array) = table.arrays.remove(&oldest)
    {
        unmap(array.start, array.len);
    }
}

/// The parts of an array that are open, as ranges of its bytes.
pub(super) fn written(first: usize) -> Vec<Range<usize>> {
    let Some(array) = read().find(first) else {
        return Vec::new();
    };
    array.open_parts()
}

/// Makes an array unwritten: zeros, and closed.
pub(super) fn close(first: usize) {
    let mut table = write();
    if let Some(array) = table.array_at(first) {
        array.open = 0;
        let (start, len) = (array.start, array.len);
        drop_contents(start, len);
        protect(start, len, libc::PROT_NONE);
    }
}

/// What an address is, if it is in the table.
pub(super) fn closed(address: usize) -> Option<Closed> {
    let array = read().find(address)?;
    let is_inside = (array.start + PAGE..array.start + array.len - PAGE).contains(&address);
    let what = match (array.is_freed, is_inside) {
        (true, _) => What::Freed,
        (false, true) => What::Unwritten,
        (false, false) => What::Outside,
    };
    Some(Closed {
        what,
        bytes: array.bytes,
        offset: address.wrapping_sub(array.first) as isize,
    })
}

/// Opens the part of an array that an address is in; false if it cannot be.
pub(super) fn open(address: usize) -> bool {
    let mut table = write();
    let Some(array) = table.array_at(address) else {
        return false;
    };
    let pages = array.start + PAGE;
    let number = (address - pages) / array.part;
    let (from, end) = (pages + number * array.part, array.start + array.len - PAGE);
    array.open |= 1 << number;
    protect(
        from,
        array.part.min(end - from),
        libc::PROT_READ | libc::PROT_WRITE,
    )
}

impl Table {
    fn find(&self, address: usize) -> Option<Array> {
        let (_, array) = self.arrays.range(..=address).next_back()?;
        (address < array.start + array.len).then_some(*array)
    }

    fn array_at(&mut self, address: usize) -> Option<&mut Array> {
        let (_, array) = self.arrays.range_mut(..=address).next_back()?;
        (address < array.start + array.len).then_some(array)
    }
}

impl Array {
    fn open_parts(&self) -> Vec<Range<usize>> {
        let (pages, end) = (self.start + PAGE, self.first + self.bytes);
        let parts = (0..PARTS).filter(|part| self.open & (1 << part) != 0);
        let ranges = parts.map(|part| {
            let from = pages + part * self.part;
            let clamped = |address: usize| address.clamp(self.first, end) - self.first;
            clamped(from)..clamped(from.saturating_add(self.part))
        });
        ranges.filter(|range| !range.is_empty()).collect()
    }
}

fn read() -> RwLockReadGuard<'static, Table> {
    TABLE.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Table> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner)
}

/// A closed mapping.
fn map(len: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, where the system likes.
    let start = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
    (start != libc::MAP_FAILED).then(|| start.expose_provenance())
}

fn protect(start: usize, len: usize, protection: libc::c_int) -> bool {
    let start = ptr::with_exposed_provenance_mut(start);
    // SAFETY: the pages are of a mapping of this table.
    unsafe { libc::mprotect(start, len, protection) == 0 }
}

/// The pages are zeros when they are opened again, and take no memory until then.
fn drop_contents(start: usize, len: usize) {
    let start = ptr::with_exposed_provenance_mut(start);
    // SAFETY: the pages are of a mapping of this table, and their contents are not wanted any more.
    unsafe { libc::madvise(start, len, libc::MADV_DONTNEED) };
}

fn unmap(start: usize, len: usize) {
    let start = ptr::with_exposed_provenance_mut(start);
    // SAFETY: the mapping was made by `map`, and nothing uses it.
    unsafe { libc::munmap(start, len) };
}
