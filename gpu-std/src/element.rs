//! What can be an element of device memory: `Copy` types whose bytes mean the same on the device.
//!
//! The device code of a program is compiled with the same layouts as its host code, so every `Copy` type has a stable
//! layout between the two, padding, enums and generics included. What is left to rule out is a pointer into host
//! memory.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
    NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize, Saturating, Wrapping,
};

/// A type whose values mean the same on the device: `Copy`, with no reference to host memory.
///
/// Numbers, `bool`, `char`, arrays, tuples, `Option` and `Result` of such types have it, and the vectors and short
/// floats of this project. A struct, enum or union of your own gets it by `#[derive(Clone, Copy, DeviceCopy)]`, which
/// checks each field.
///
/// A raw pointer is `DeviceCopy`, so that a record can hold an address of device memory; only `unsafe` code follows it.
///
/// # Safety
///
/// The type holds no reference to host memory. If [`NO_PADDING`](Self::NO_PADDING) is set, all bytes of every value are
/// initialised.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of device memory",
    label = "not `DeviceCopy`",
    note = "for a struct or enum of your own: `#[derive(Clone, Copy, DeviceCopy)]`; all its fields must be `DeviceCopy` too",
    note = "a reference, `Vec`, `Box` or `String` points to host memory: give what it points to an array of its own, and keep \
            an index here"
)]
pub unsafe trait DeviceCopy: Copy {
    /// Whether no byte of a value is padding, so that the value can be looked at as bytes.
    #[doc(hidden)]
    const NO_PADDING: bool = false;
}

macro_rules! without_padding {
    ($($type:ty)*) => {$(
        // SAFETY: it holds no reference, and all its bytes have a value.
        unsafe impl DeviceCopy for $type {
            const NO_PADDING: bool = true;
        }
    )*};
}

without_padding! {
    ()
    u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char
    NonZeroU8 NonZeroU16 NonZeroU32 NonZeroU64 NonZeroU128 NonZeroUsize
    NonZeroI8 NonZeroI16 NonZeroI32 NonZeroI64 NonZeroI128 NonZeroIsize
}

macro_rules! as_what_it_holds {
    ($($outer:ident)*) => {$(
        // SAFETY: it is as the value in it.
        unsafe impl<T: DeviceCopy> DeviceCopy for $outer<T> {
            const NO_PADDING: bool = T::NO_PADDING;
        }
    )*};
}

as_what_it_holds!(Wrapping Saturating);

// SAFETY: the elements hold no references and lie without gaps.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {
    const NO_PADDING: bool = T::NO_PADDING;
}

// SAFETY: what it may hold has no references.
unsafe impl<T: DeviceCopy> DeviceCopy for Option<T> {}
// SAFETY: what it may hold has no references.
unsafe impl<T: DeviceCopy, E: DeviceCopy> DeviceCopy for Result<T, E> {}
// SAFETY: what it may hold has no references.
unsafe impl<T: DeviceCopy> DeviceCopy for MaybeUninit<T> {}
// SAFETY: it holds nothing.
unsafe impl<T: ?Sized> DeviceCopy for PhantomData<T> {
    const NO_PADDING: bool = true;
}
// SAFETY: an address is no reference.
unsafe impl<T> DeviceCopy for *const T {}
// SAFETY: an address is no reference.
unsafe impl<T> DeviceCopy for *mut T {}

macro_rules! tuples {
    ($($first:ident $($rest:ident)*)?) => {$(
        // SAFETY: none of the values holds a reference; there is no padding if the sizes add up.
        unsafe impl<$first: DeviceCopy, $($rest: DeviceCopy),*> DeviceCopy for ($first, $($rest,)*) {
            const NO_PADDING: bool = $first::NO_PADDING $(&& $rest::NO_PADDING)*
                && size_of::<$first>() $(+ size_of::<$rest>())* == size_of::<Self>();
        }
        tuples!($($rest)*);
    )?};
}

tuples!(A B C D E F G H I J K L);

/// Whether a field has no padding; the type is checked at the field. For the expansion of the derive.
#[doc(hidden)]
pub const fn no_padding<T: DeviceCopy>() -> bool {
    T::NO_PADDING
}

const _: () = assert!(<(u32, [f32; 2], u32)>::NO_PADDING && !<(u8, u32)>::NO_PADDING);
