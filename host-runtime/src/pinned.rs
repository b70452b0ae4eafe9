//! Host memory that stays where it is, so that the device copies it at full speed and while the host goes on.
//!
//! In: a device and a length, or host data. Out: an owned slice. What a copy that is under way uses, the copy owns
//! ([`PendingCopy`](crate::PendingCopy)), so a slice that is at hand is never touched by the device.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use bytemuck::Zeroable;
use ndarray::Dimension;

use crate::DeviceCopy;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::host::HostData;

/// A slice in pinned host memory. CUDA C: `cudaMallocHost`; PyCUDA: `pagelocked_empty`; Numba: `cuda.pinned_array`;
/// CuPy: `alloc_pinned_memory`.
///
/// It dereferences to a slice; `ndarray::ArrayView::from_shape(shape, &pinned)` gives it a shape. Copies to and from it
/// run at the speed of the bus, about twice that of a `Vec`, and can overlap with kernels
/// ([`copy_from_async`](crate::DeviceArray::copy_from_async)). It is dear to make, and takes memory from the whole
/// system: make few and use them again.
///
/// ```
/// use host_runtime::Gpu;
///
/// let gpu = Gpu::cpu();
/// let mut staging = gpu.pinned::<f32>(1000)?;
/// staging[7] = 1.5;
/// let x = gpu.to_device(&staging)?;
/// assert_eq!(x.to_vec()?[7], 1.5);
/// # Ok::<(), host_runtime::Error>(())
/// ```
pub struct PinnedArray<T: DeviceCopy> {
    gpu: Gpu,
    first: NonNull<T>,
    len: usize,
    _elements: PhantomData<T>,
}

impl Gpu {
    /// Pinned host memory of zeros, for copies to and from the device.
    ///
    /// # Errors
    ///
    /// If the host's memory runs out, or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// assert_eq!(gpu.pinned::<u8>(3)?[..], [0; 3]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn pinned<T: DeviceCopy + Zeroable>(&self, len: usize) -> Result<PinnedArray<T>> {
        let array = PinnedArray::allocate(self, len)?;
        // SAFETY: the memory is new and has room for `len` elements; zeros are a `T`.
        unsafe { array.first.write_bytes(0, len) };
        Ok(array)
    }

    /// Pinned host memory with the elements of host data, in standard order.
    ///
    /// # Errors
    ///
    /// If the host's memory runs out, or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// assert_eq!(gpu.to_pinned(&[1, 2, 3])?[..], [1, 2, 3]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn to_pinned<H: HostData + ?Sized>(&self, source: &H) -> Result<PinnedArray<H::Element>> {
        let array = PinnedArray::allocate(self, source.extents().size())?;
        let mut next = array.first;
        source.for_each_run(&mut |run| {
            // SAFETY: the memory is new, and has room for all runs, which are the source's elements.
            unsafe {
                next.copy_from_nonoverlapping(NonNull::from(run).cast(), run.len());
                next = next.add(run.len());
            }
        });
        Ok(array)
    }
}

impl<T: DeviceCopy> PinnedArray<T> {
    /// Room for so many elements, which the caller writes.
    fn allocate(gpu: &Gpu, len: usize) -> Result<Self> {
        let too_large = || Error::ArrayTooLarge {
            shape: vec![len],
            element_size: size_of::<T>(),
        };
        let bytes = len
            .checked_mul(size_of::<T>())
            .filter(|&bytes| isize::try_from(bytes).is_ok())
            .ok_or_else(too_large)?;
        let mut first = NonNull::dangling();
        if bytes > 0 {
            const { assert!(align_of::<T>() <= crate::memory::ALIGN) };
            first = gpu.backend().allocate_pinned(bytes)?.cast();
        }
        Ok(Self {
            gpu: gpu.clone(),
            first,
            len,
            _elements: PhantomData,
        })
    }

    /// The device that it was made for. Copies to and from others use it as well.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }
}

impl<T: DeviceCopy> Deref for PinnedArray<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: all `len` elements were written when it was made, and the memory is this array's.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T: DeviceCopy> DerefMut for PinnedArray<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: all `len` elements were written when it was made, the memory is this array's, and it is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

impl<T: DeviceCopy> Drop for PinnedArray<T> {
    fn drop(&mut self) {
        let bytes = size_of_val::<[T]>(self);
        if bytes > 0 {
            // SAFETY: the memory is from `allocate_pinned` of so many bytes. No copy uses it: one under way would own
            // it.
            unsafe { self.gpu.backend().free_pinned(self.first.cast(), bytes) };
        }
    }
}

impl<T: DeviceCopy + fmt::Debug> fmt::Debug for PinnedArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

// SAFETY: it owns its elements, as a `Vec` does.
unsafe impl<T: DeviceCopy + Send> Send for PinnedArray<T> {}

// SAFETY: as for `Send`.
unsafe impl<T: DeviceCopy + Sync> Sync for PinnedArray<T> {}
