//! Pointers to elements that are there.

use core::ptr::NonNull;

/// A pointer that is known not to be null, as that of a parameter's elements. Said in LLVM's terms too, so that it does
/// not test an `Option` of a reference.
///
/// # Safety
///
/// The pointer is not null.
#[inline]
pub unsafe fn live<T>(pointer: *mut T) -> NonNull<T> {
    // SAFETY: as the caller promises.
    unsafe {
        core::hint::assert_unchecked(!pointer.is_null());
        NonNull::new_unchecked(pointer)
    }
}
