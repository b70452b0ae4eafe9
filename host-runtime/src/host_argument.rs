//! Host data as arguments of a launch: copied there before it and back after it, once each.
//!
//! In: a reference to host data, and what the kernel does with it. Out: a device array that lives as long as the
//! launch, on the device that `on` or another argument names. After the launch was queued, what the kernel wrote is
//! copied straight into the caller's memory. For a launch or two; data that several launches use is better kept on the
//! device.

use std::ptr::NonNull;

use bytemuck::Zeroable;
use gpu_std::kernel::KernelParam;
use ndarray::Dimension;

use crate::DeviceCopy;
use crate::argument::{Arguments, KernelArg, OnDevice};
use crate::array::DeviceArray;
use crate::cuda_source::{CudaArray, CudaArrayMut};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::host::{HostData, HostDataMut};

/// Host data for a launch to read: it is copied to the device. PyCUDA: `drv.In`; Numba: a host array that is not
/// written.
///
/// It stands for `&gpu.to_device(data)?`: the launch takes it for `&[T]` and `ArrayView2<T>`.
///
/// ```ignore
/// use oxwarp::{In, InOut, Out, prelude::*};
///
/// #[kernel]
/// fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let Some(c) = c.get_mut(i) {
///         *c = a[i] + b[i];
///     }
/// }
///
/// let (a, b, mut c) = (vec![1.0; 100], vec![2.0; 100], vec![0.0; 100]);
/// add.for_each(100).launch(In(&a), In(&b), Out(&mut c))?;
/// assert_eq!(c[99], 3.0);
/// ```
#[derive(Debug)]
pub struct In<'a, H: ?Sized>(pub &'a H);

/// Host data for a launch to write: the kernel starts with zeros, and the launch waits and copies what it wrote here.
/// PyCUDA: `drv.Out`. See [`In`].
#[derive(Debug)]
pub struct Out<'a, H: ?Sized>(pub &'a mut H);

/// Host data for a launch to change: it is copied to the device, and the launch waits and copies it back.
/// PyCUDA: `drv.InOut`; Numba: a host array. See [`In`].
#[derive(Debug)]
pub struct InOut<'a, H: ?Sized>(pub &'a mut H);

/// What a launch holds until it is queued.
pub(crate) trait Held {
    /// Waits and copies back what is to go back; after an error of the launch, nothing.
    ///
    /// # Safety
    ///
    /// The host data that the argument was made of is still borrowed.
    unsafe fn finish(&mut self) -> Result<()>;
}

/// A device array in place of host data. A pointer, because the arguments point to it from the moment it is made.
struct Array<H: HostData + ?Sized> {
    array: NonNull<DeviceArray<H::Element, H::Dim>>,
    /// Where it is copied to.
    target: Option<NonNull<H>>,
}

impl<H: HostData + ?Sized> Array<H> {
    fn new(array: DeviceArray<H::Element, H::Dim>) -> Self {
        Self {
            array: NonNull::from(Box::leak(Box::new(array))),
            target: None,
        }
    }
}

impl<H: HostData + ?Sized> Drop for Array<H> {
    fn drop(&mut self) {
        // SAFETY: the pointer is from a box, which this owns.
        drop(unsafe { Box::from_raw(self.array.as_ptr()) });
    }
}

/// What a launch only reads.
struct Read<H: HostData + ?Sized>(Array<H>);

impl<H: HostData + ?Sized> Held for Read<H> {
    unsafe fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What a launch writes.
struct Written<H: HostData + ?Sized>(Array<H>);

impl<H: HostDataMut + ?Sized> Held for Written<H> {
    unsafe fn finish(&mut self) -> Result<()> {
        let Some(mut target) = self.0.target else {
            return Ok(());
        };
        // SAFETY: this owns the array; the target is borrowed mutably, as the caller promises.
        let (array, target) = unsafe { (self.0.array.as_ref(), target.as_mut()) };
        // A kernel that panics leaves the host data as it was.
        array.gpu().synchronize()?;
        array.copy_to(target)
    }
}

#[diagnostic::do_not_recommend]
impl<P: KernelParam, H: HostData + ?Sized> KernelArg<P> for In<'_, H>
where
    for<'x> &'x DeviceArray<H::Element, H::Dim>: KernelArg<P>,
{
    fn raw(self, arguments: &mut Arguments) -> P::Raw {
        let array = read(self, arguments);
        // SAFETY: the arguments hold the array.
        unsafe { array.as_ref() }.raw(arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<P: KernelParam, H: HostDataMut + ?Sized> KernelArg<P> for Out<'_, H>
where
    H::Element: Zeroable,
    for<'x> &'x mut DeviceArray<H::Element, H::Dim>: KernelArg<P>,
{
    fn raw(self, arguments: &mut Arguments) -> P::Raw {
        let mut array = zeroed(self, arguments);
        // SAFETY: the arguments hold the array, and use it in `finish` only.
        unsafe { array.as_mut() }.raw(arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<P: KernelParam, H: HostDataMut + ?Sized> KernelArg<P> for InOut<'_, H>
where
    for<'x> &'x mut DeviceArray<H::Element, H::Dim>: KernelArg<P>,
{
    fn raw(self, arguments: &mut Arguments) -> P::Raw {
        let mut array = changed(self, arguments);
        // SAFETY: the arguments hold the array, and use it in `finish` only.
        unsafe { array.as_mut() }.raw(arguments)
    }
}

impl<T: DeviceCopy, H: HostData<Element = T> + ?Sized> CudaArray<T> for In<'_, H> {
    fn address(self, arguments: &mut Arguments) -> *const T {
        let array = read(self, arguments);
        // SAFETY: the arguments hold the array.
        CudaArray::address(unsafe { array.as_ref() }, arguments)
    }
}

impl<T: DeviceCopy + Zeroable, H: HostDataMut<Element = T> + ?Sized> CudaArrayMut<T>
    for Out<'_, H>
{
    fn address(self, arguments: &mut Arguments) -> *mut T {
        let mut array = zeroed(self, arguments);
        // SAFETY: the arguments hold the array, and use it in `finish` only.
        CudaArrayMut::address(unsafe { array.as_mut() }, arguments)
    }
}

impl<T: DeviceCopy, H: HostDataMut<Element = T> + ?Sized> CudaArrayMut<T> for InOut<'_, H> {
    fn address(self, arguments: &mut Arguments) -> *mut T {
        let mut array = changed(self, arguments);
        // SAFETY: the arguments hold the array, and use it in `finish` only.
        CudaArrayMut::address(unsafe { array.as_mut() }, arguments)
    }
}

/// The device array of host data, which the arguments hold.
type Place<H> = NonNull<DeviceArray<<H as HostData>::Element, <H as HostData>::Dim>>;

fn read<H: HostData + ?Sized>(data: In<'_, H>, arguments: &mut Arguments) -> Place<H> {
    let array = arguments.array_of(data.0.extents(), |gpu| gpu.to_device(data.0));
    let held = Array::<H>::new(array);
    let place = held.array;
    // SAFETY: it does not touch the host data.
    unsafe { arguments.hold(Box::new(Read(held))) };
    place
}

fn zeroed<H>(data: Out<'_, H>, arguments: &mut Arguments) -> Place<H>
where
    H: HostDataMut + ?Sized,
    H::Element: Zeroable,
{
    let extents = data.0.extents();
    let array = arguments.array_of(extents.clone(), |gpu| gpu.full(extents, Zeroable::zeroed()));
    written(array, data.0, arguments)
}

fn changed<H: HostDataMut + ?Sized>(data: InOut<'_, H>, arguments: &mut Arguments) -> Place<H> {
    let array = arguments.array_of(data.0.extents(), |gpu| gpu.to_device(&*data.0));
    written(array, data.0, arguments)
}

fn written<H: HostDataMut + ?Sized>(
    array: DeviceArray<H::Element, H::Dim>,
    target: &mut H,
    arguments: &mut Arguments,
) -> Place<H> {
    let mut held = Array::<H>::new(array);
    held.target = Some(NonNull::from(target));
    let place = held.array;
    // SAFETY: the host data is only touched in `finish`, whose caller promises that it is borrowed.
    unsafe { arguments.hold(Box::new(Written(held))) };
    place
}

impl Arguments {
    /// The device array for host data; one that is not used after an error, which the launch gives.
    fn array_of<T: DeviceCopy, D: Dimension>(
        &mut self,
        extents: D,
        make: impl FnOnce(&Gpu) -> Result<DeviceArray<T, D>>,
    ) -> DeviceArray<T, D> {
        let gpu = self.gpu_of_host_data();
        let made = gpu.and_then(|gpu| make(&gpu));
        made.unwrap_or_else(|error| {
            self.fails(error);
            DeviceArray::empty(&Gpu::cpu(), extents.ndim())
        })
    }
}

/// Where host data goes is for the other arguments to say.
macro_rules! anywhere {
    ($($argument:ident),*) => {$(
        impl<H: ?Sized> OnDevice for $argument<'_, H> {
            const IS_HOST_DATA: bool = true;

            fn device(&self) -> Option<&Gpu> {
                None
            }
        }
    )*};
}

anywhere!(In, Out, InOut);
