//! What any thread may write: `&[AtomicU32]` and the like, from mutable borrows of arrays of the plain type.

use core::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize,
};

use gpu_std::atomic::{
    AtomicBf16, AtomicBf16x2, AtomicF16, AtomicF16x2, AtomicF32, AtomicF64, AtomicU128,
};
use gpu_std::half::{Bf16, Bf16x2, F16, F16x2};
use gpu_std::kernel::RawView;
use gpu_std::view::{ArrayView, Layout};
use ndarray::{Dim, Dimension};

use super::raw::{Shaped, flat, of_array};
use super::{Arguments, KernelArg};
use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::ordering::Access;

/// An atomic type whose kernel parameter takes an array of plain elements.
///
/// # Safety
///
/// The atomic has the size, the alignment and the valid bytes of [`Element`](Self::Element).
pub unsafe trait AtomicElement: 'static {
    /// The plain type.
    type Element: DeviceCopy;
}

macro_rules! atomics {
    ($($atomic:ident: $element:ident),*) => {$(
        // SAFETY: the documentation of the atomic says that it has the representation of the plain type. The alignment
        // of 64-bit types is 8 on every host with 64-bit pointers.
        unsafe impl AtomicElement for $atomic {
            type Element = $element;
        }
        const _: () = assert!(align_of::<$atomic>() == align_of::<$element>());
    )*};
}

atomics!(AtomicU32: u32, AtomicI32: i32, AtomicU64: u64, AtomicI64: i64, AtomicF32: f32, AtomicF64: f64);
atomics!(AtomicF16: F16, AtomicBf16: Bf16, AtomicF16x2: F16x2, AtomicBf16x2: Bf16x2, AtomicU128: u128);
atomics!(AtomicBool: bool, AtomicU8: u8, AtomicI8: i8, AtomicU16: u16, AtomicI16: i16, AtomicUsize: usize, AtomicIsize: isize);

#[diagnostic::do_not_recommend]
impl<A: AtomicElement, D: Dimension> KernelArg<&'static [A]> for &mut DeviceArray<A::Element, D> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<A, usize> {
        let RawView { pointer, shape } = flat(self, Access::Write, arguments);
        RawView {
            pointer: pointer.cast(),
            shape,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<A: AtomicElement, const N: usize, L: Layout> KernelArg<ArrayView<'static, A, N, L>>
    for &mut DeviceArray<A::Element, Dim<[usize; N]>>
where
    Dim<[usize; N]>: Dimension,
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> Shaped<A, N, L> {
        arguments.uses(self.memory(), Access::Write);
        of_array::<A, N, L>(self.address().cast(), self.shape(), arguments)
    }
}
