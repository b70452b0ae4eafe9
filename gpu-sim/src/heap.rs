//! CUDA's device-side `malloc` and `free`, on the host's heap.
//!
//! `free` is not told the size, which Rust's allocator wants: it is kept before the block.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr;

/// The alignment that CUDA's `malloc` has; the size needs less, so this is also the header's size.
const ALIGN: usize = 16;

/// A block of `size` bytes, or null.
pub(crate) fn malloc(size: usize) -> *mut u8 {
    let Some(layout) = whole(size) else {
        return ptr::null_mut();
    };
    // SAFETY: the layout has at least the header's size, and the header is aligned as a `usize`.
    unsafe {
        let header = alloc(layout);
        if header.is_null() {
            return header;
        }
        header.cast::<usize>().write(size);
        header.add(ALIGN)
    }
}

/// Frees a block; null is none.
///
/// # Safety
///
/// `block` is null, or from [`malloc`] and not freed before.
pub(crate) unsafe fn free(block: *mut u8) {
    if block.is_null() {
        return;
    }
    // SAFETY: the header lies before the block, and the layout was valid in `malloc`.
    unsafe {
        let header = block.sub(ALIGN);
        let size = header.cast::<usize>().read();
        dealloc(
            header,
            Layout::from_size_align_unchecked(size + ALIGN, ALIGN),
        );
    }
}

/// The layout of header and block.
fn whole(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(ALIGN)?, ALIGN).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_apart() {
        let blocks: Vec<*mut u8> = (0..100).map(malloc).collect();
        for (size, &block) in blocks.iter().enumerate() {
            assert_eq!(block.addr() % ALIGN, 0);
            // SAFETY: the block has `size` bytes.
            unsafe { block.write_bytes(size as u8, size) };
        }
        for (size, &block) in blocks.iter().enumerate() {
            // SAFETY: the block has `size` bytes, all written, and is freed once.
            unsafe {
                let bytes = std::slice::from_raw_parts(block, size);
                assert!(bytes.iter().all(|&byte| byte == size as u8));
                free(block);
            }
        }
    }

    #[test]
    fn too_much_is_null_and_null_can_be_freed() {
        assert!(malloc(usize::MAX).is_null());
        assert!(malloc(isize::MAX as usize).is_null());
        // SAFETY: null is no block.
        unsafe { free(ptr::null_mut()) };
    }
}
