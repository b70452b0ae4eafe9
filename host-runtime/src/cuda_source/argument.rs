//! What a launch takes for the array parameters of a CUDA C kernel.
//!
//! In: device arrays and views of them, and host data ([`host_argument`](crate::host_argument)). Out: the address of
//! the first element. `&` gives what the whole grid only reads, `&mut` what it writes, so that one launch cannot get an
//! array as both.

use ndarray::Dimension;

use super::error::CudaSourceError;
use crate::DeviceCopy;
use crate::argument::Arguments;
use crate::array::DeviceArray;
use crate::ordering::Access;
use crate::view::{DeviceView, DeviceViewMut};

/// A host value that may be passed for the parameter `&[T]` of a CUDA C kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for the parameter `&[{T}]` of a CUDA C kernel",
    label = "not an argument for `&[{T}]`",
    note = "pass `&DeviceArray<{T}>`, of any shape, or `array.view()`; host data must be on the device first: \
            `let x = gpu.to_device(&x)?;`; or let the launch copy it: `In(&x)`"
)]
pub trait CudaArray<T> {
    /// The address of the first element.
    fn address(self, arguments: &mut Arguments) -> *const T;
}

/// A host value that may be passed for the parameter `&mut [T]` of a CUDA C kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for the parameter `&mut [{T}]` of a CUDA C kernel",
    label = "not an argument for `&mut [{T}]`",
    note = "pass `&mut DeviceArray<{T}>`, of any shape, or `array.view_mut()`; for host data `InOut(&mut x)` or \
            `Out(&mut x)`"
)]
pub trait CudaArrayMut<T> {
    /// The address of the first element.
    fn address(self, arguments: &mut Arguments) -> *mut T;
}

impl<T: DeviceCopy, D: Dimension> CudaArray<T> for &DeviceArray<T, D> {
    #[inline]
    fn address(self, arguments: &mut Arguments) -> *const T {
        arguments.uses(self.memory(), Access::Read);
        self.address()
    }
}

impl<T: DeviceCopy, D: Dimension> CudaArrayMut<T> for &mut DeviceArray<T, D> {
    #[inline]
    fn address(self, arguments: &mut Arguments) -> *mut T {
        arguments.uses(self.memory(), Access::Write);
        DeviceArray::address(self)
    }
}

macro_rules! views {
    ($($view:ident: $trait:ident, $access:ident -> $pointer:ty;)*) => {$(
        impl<T: DeviceCopy, D: Dimension> $trait<T> for $view<'_, T, D> {
            #[inline]
            fn address(self, arguments: &mut Arguments) -> $pointer {
                arguments.uses(self.memory(), Access::$access);
                if !self.is_standard_layout() {
                    arguments.fails(not_standard(self.shape(), self.strides()).into());
                }
                $view::address(&self)
            }
        }
    )*};
}

views! {
    DeviceView: CudaArray, Read -> *const T;
    DeviceViewMut: CudaArrayMut, Write -> *mut T;
}

#[cold]
fn not_standard(shape: &[usize], strides: &[isize]) -> CudaSourceError {
    CudaSourceError::NotStandardLayout {
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    }
}
