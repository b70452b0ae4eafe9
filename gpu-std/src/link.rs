//! What the expansion of `device_link` needs: the check of what crosses to a linked function, and its author's promise.

/// A type that a linked device function takes and returns as CUDA C does.
///
/// # Safety
///
/// It is a number of 16 to 64 bits or a pointer. (CUDA C's `__half` is a structure, which crosses in another way.)
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not cross to a linked device function",
    note = "integers of 16, 32 and 64 bits, `f32`, `f64` and raw pointers do"
)]
pub unsafe trait Linkable: Copy {}

macro_rules! linkable {
    ($($type:ty),*) => {$(
        // SAFETY: it is such a number.
        unsafe impl Linkable for $type {}
    )*};
}

linkable!(u16, i16, u32, i32, u64, i64, usize, isize, f32, f64);

// SAFETY: it is a pointer.
unsafe impl<T> Linkable for *const T {}
// SAFETY: it is a pointer.
unsafe impl<T> Linkable for *mut T {}

/// Where the parameters and results of linked functions are checked.
pub const fn crosses_to_linked_code<T: Linkable>() {}

/// What the word `unsafe` before a block of linked functions says.
///
/// # Safety
///
/// The functions are what their declarations say.
pub const unsafe fn linked_as_declared() {}
