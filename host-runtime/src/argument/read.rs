//! What the whole grid only reads: `&[T]` and `ArrayView`, from shared borrows of arrays and views.

use gpu_std::kernel::RawView;
use gpu_std::view::{ArrayView, Layout};
use ndarray::{Dim, Dimension, IxDyn};

use super::raw::{Shaped, flat, not_standard, of_array, of_view};
use super::{Arguments, KernelArg};
use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::ordering::Access;
use crate::view::DeviceView;

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, D: Dimension> KernelArg<&'static [T]> for &DeviceArray<T, D> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
        flat(self, Access::Read, arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, D: Dimension> KernelArg<&'static [T]> for DeviceView<'_, T, D> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
        arguments.uses(self.memory(), Access::Read);
        if !self.is_standard_layout() {
            arguments.fails(not_standard(self.shape(), self.strides()));
        }
        RawView {
            pointer: self.address(),
            shape: self.len(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, const N: usize, L: Layout> KernelArg<ArrayView<'static, T, N, L>>
    for &DeviceArray<T, Dim<[usize; N]>>
where
    Dim<[usize; N]>: Dimension,
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> Shaped<T, N, L> {
        arguments.uses(self.memory(), Access::Read);
        of_array::<T, N, L>(self.address(), self.shape(), arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, const N: usize, L: Layout> KernelArg<ArrayView<'static, T, N, L>>
    for &DeviceArray<T, IxDyn>
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> Shaped<T, N, L> {
        arguments.uses(self.memory(), Access::Read);
        of_array::<T, N, L>(self.address(), self.shape(), arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, const N: usize, L: Layout> KernelArg<ArrayView<'static, T, N, L>>
    for DeviceView<'_, T, Dim<[usize; N]>>
where
    Dim<[usize; N]>: Dimension,
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> Shaped<T, N, L> {
        arguments.uses(self.memory(), Access::Read);
        of_view::<T, N, L>(self.address(), self.shape(), self.strides(), arguments)
    }
}
