//! Pointers to elements that are there, and aligned.

use core::ptr::NonNull;

/// A pointer that is known not to be null and to be aligned, as that of a parameter's elements. Said in LLVM's terms too,
/// so that it does not test an `Option` of a reference, and reads the parts of a wide element together.
///
/// # Safety
///
/// The pointer is aligned and not null.
#[inline]
pub unsafe fn live<T>(pointer: *mut T) -> NonNull<T> {
    // SAFETY: as the caller promises.
    unsafe {
        core::hint::assert_unchecked(!pointer.is_null());
        // What LLVM sees in any load of an element of 4 bytes.
        if const { align_of::<T>() > 4 } {
            core::hint::assert_unchecked(pointer.is_aligned());
        }
        NonNull::new_unchecked(pointer)
    }
}
