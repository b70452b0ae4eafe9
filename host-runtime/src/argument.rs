//! Which host arguments a kernel's parameters take.
//!
//! In: references to device arrays. Out: their raw views, as they stand in the parameter struct, and which device the
//! launch goes to. `&` gives what the whole grid only reads; `&mut` what it writes.

use core::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize,
};

use gpu_std::atomic::{
    AtomicBf16, AtomicBf16x2, AtomicF16, AtomicF16x2, AtomicF32, AtomicF64, AtomicU128,
};
use gpu_std::disjoint::{BlockIndex, DisjointSlice, ThreadIndex, ThreadIndex2d};
use gpu_std::half::{Bf16, Bf16x2, F16, F16x2};
use gpu_std::kernel::{KernelParam, RawView};
use ndarray::{Dimension, Ix2};

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::error::{Error, Result};
use crate::gpu::Gpu;

/// What the arguments of a launch have in common: the device, and the first error.
#[derive(Debug, Default)]
pub struct Arguments {
    gpu: Option<Gpu>,
    error: Option<Error>,
}

impl Arguments {
    /// No arguments yet.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that an argument lives on `gpu`.
    #[inline]
    fn lives_on(&mut self, gpu: &Gpu) {
        match &self.gpu {
            None => self.gpu = Some(gpu.clone()),
            Some(first) if first.is(gpu) => {}
            Some(first) => {
                let error = different_devices(first, gpu);
                self.error.get_or_insert(error);
            }
        }
    }

    /// The device of the arguments, or the one that was chosen; `None` where neither is.
    #[inline]
    pub(crate) fn device(self, chosen: Option<&Gpu>) -> Result<Option<Gpu>> {
        if let Some(error) = self.error {
            return Err(error);
        }
        match (self.gpu, chosen) {
            (Some(gpu), Some(chosen)) if !gpu.is(chosen) => Err(different_devices(chosen, &gpu)),
            (Some(gpu), _) => Ok(Some(gpu)),
            (None, chosen) => Ok(chosen.cloned()),
        }
    }
}

#[cold]
fn different_devices(first: &Gpu, second: &Gpu) -> Error {
    Error::DifferentDevices {
        first: first.label(),
        second: second.label(),
    }
}

/// A host value that may be passed for the kernel parameter `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for the kernel parameter `{P}`",
    label = "not an argument for `{P}`",
    note = "for `&[T]` pass `&DeviceArray<T>`; for `DisjointSlice<T>` and for atomics such as `&[AtomicU32]` pass \
            `&mut DeviceArray<T>`; for `DisjointSlice<T, ThreadIndex2d>` pass a `&mut DeviceArray<T, Ix2>`",
    note = "host data must be on the device first: `let x = gpu.to_device(&x)?;`"
)]
pub trait KernelArg<P: KernelParam> {
    /// The argument as it crosses the launch.
    fn raw(self, arguments: &mut Arguments) -> P::Raw;
}

impl<T: DeviceCopy + 'static, D: Dimension> KernelArg<&'static [T]> for &DeviceArray<T, D> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
        view(self, arguments)
    }
}

impl<T: DeviceCopy + 'static, D: Dimension> KernelArg<DisjointSlice<T, ThreadIndex>>
    for &mut DeviceArray<T, D>
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
        view(self, arguments)
    }
}

impl<T: DeviceCopy + 'static, D: Dimension> KernelArg<DisjointSlice<T, BlockIndex>>
    for &mut DeviceArray<T, D>
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
        view(self, arguments)
    }
}

impl<T: DeviceCopy + 'static> KernelArg<DisjointSlice<T, ThreadIndex2d>>
    for &mut DeviceArray<T, Ix2>
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, [usize; 2]> {
        arguments.lives_on(self.gpu());
        let extents = self.extents();
        RawView {
            pointer: self.address(),
            shape: [extents[0], extents[1]],
        }
    }
}

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

impl<A: AtomicElement, D: Dimension> KernelArg<&'static [A]> for &mut DeviceArray<A::Element, D> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<A, usize> {
        let RawView { pointer, shape } = view(self, arguments);
        RawView {
            pointer: pointer.cast(),
            shape,
        }
    }
}

/// All elements, in order.
#[inline]
fn view<T: DeviceCopy, D: Dimension>(
    array: &DeviceArray<T, D>,
    arguments: &mut Arguments,
) -> RawView<T, usize> {
    arguments.lives_on(array.gpu());
    RawView {
        pointer: array.address(),
        shape: array.len(),
    }
}
