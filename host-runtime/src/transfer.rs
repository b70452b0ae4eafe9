//! Copies between the host and device arrays.
//!
//! To the device, host data of any layout is read once: what lies in standard order is copied as it lies, and the
//! elements of other layouts are gathered straight into the pinned memory that the device reads, in standard order. So
//! a device array is always in standard layout and every kernel takes it; what the host does for an array of another
//! layout is a pass over it in another order of addresses, which is slower than a plain copy. Where that counts for an
//! array in Fortran order, copy the transpose, which lies in standard order, and transpose the view:
//! `gpu.to_device(&a.t())`, then `.view().t()` for a kernel's `ArrayView2<T, Strided>`.
//!
//! To the host, an array is copied to where it is wanted. A view is copied in as many pieces as it has, or with the
//! elements between them where there are many.

use ndarray::{Array, Dimension, IntoDimension};

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::host::{HostData, HostDataMut};
use crate::memory::Memory;
use crate::ordering::Access;
use crate::profile::WorkKind;
use crate::strided::{Pieces, Side};
use crate::view::{DeviceView, DeviceViewMut};

/// Most pieces that a view is copied to the host in.
const MOST_PIECES: usize = 16;
/// Least bytes of such a piece's rows: below, the bus is better used with the elements between them.
const LEAST_WIDTH: usize = 64;

impl Gpu {
    /// Copies host data to the device: a `Vec`, slice, array, [`PinnedArray`](crate::PinnedArray), or `ndarray` array
    /// or view of any layout, whose shape is kept. CUDA C: `cudaMalloc` and `cudaMemcpy`; Numba: `cuda.to_device`.
    ///
    /// The elements are read once, and the source is free when this returns. It does not wait for what the stream has
    /// queued, as long as the copies from pageable memory that are under way have at most 2 MiB together. The device
    /// array is in standard layout, whatever the source's.
    ///
    /// # Errors
    ///
    /// If memory runs out, a kernel is known to have panicked, or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let x = gpu.to_device(&vec![1.5f32; 100])?;
    /// let m = gpu.to_device(&ndarray::Array2::<f64>::eye(4))?;
    /// assert_eq!((x.len(), m.dim()), (100, (4, 4)));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn to_device<H: HostData + ?Sized>(
        &self,
        source: &H,
    ) -> Result<DeviceArray<H::Element, H::Dim>> {
        let array = DeviceArray::allocate(self, source.extents())?;
        // SAFETY: the array is new and has the source's extents.
        unsafe { upload(array.memory(), array.memory().address(), source) }?;
        Ok(array)
    }
}

impl<T: DeviceCopy, D: Dimension> DeviceArray<T, D> {
    /// Replaces all elements by those of host data of the same length; its shape is not looked at. It waits as
    /// [`to_device`](Gpu::to_device) does.
    ///
    /// # Errors
    ///
    /// If the lengths differ, a kernel is known to have panicked, or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let mut x = gpu.zeros::<i32>(3)?;
    /// x.copy_from(&[1, 2, 3])?;
    /// assert_eq!(x.to_vec()?, [1, 2, 3]);
    /// let error = x.copy_from(&[1, 2]).unwrap_err();
    /// assert!(error.to_string().contains("2 elements into a device array of 3"));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn copy_from<H: HostData<Element = T> + ?Sized>(&mut self, source: &H) -> Result<()> {
        self.check_len(source.extents().size())?;
        // SAFETY: the array is borrowed mutably and has as many elements.
        unsafe { upload(self.memory(), self.memory().address(), source) }
    }

    /// Waits and copies the elements, in standard order, into host data of the same length; its shape is not looked at.
    /// An `ndarray` that is not in standard layout is filled from a copy in host memory. Numba: `copy_to_host(ary)`;
    /// PyCUDA: `get(ary)`.
    ///
    /// # Errors
    ///
    /// If the lengths differ, a kernel panicked since the last wait, or the device failed.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let x = gpu.to_device(&[1, 2, 3])?;
    /// let mut all = [0; 6];
    /// x.copy_to(&mut all[2..5])?;
    /// assert_eq!(all, [0, 0, 1, 2, 3, 0]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn copy_to<H: HostDataMut<Element = T> + ?Sized>(&self, target: &mut H) -> Result<()> {
        let target_len = target.extents().size();
        if target_len != self.len() {
            return Err(Error::TargetLength {
                target_len,
                array_len: self.len(),
            });
        }
        match target.as_standard_mut() {
            // SAFETY: the slice has as many elements as the array.
            Some(elements) => unsafe {
                download(
                    self.memory(),
                    elements.as_mut_ptr(),
                    self.address(),
                    self.len(),
                )
            },
            None => {
                target.assign(&self.to_vec()?);
                Ok(())
            }
        }
    }

    /// Waits and copies the elements to the host, in the array's shape. Numba: `copy_to_host`.
    ///
    /// # Errors
    ///
    /// If a kernel panicked since the last wait, or the device failed.
    pub fn to_host(&self) -> Result<Array<T, D>> {
        with_shape(self.raw_shape(), self.to_vec()?)
    }

    /// Waits and copies the elements to the host, in standard order.
    ///
    /// # Errors
    ///
    /// If a kernel panicked since the last wait, or the device failed.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        // SAFETY: these are the array's elements. All are written before the array is given out (for `uninit`, as its
        // caller promised).
        unsafe { to_vec(self.memory(), self.address(), self.len()) }
    }
}

impl<T: DeviceCopy, D: Dimension> DeviceViewMut<'_, T, D> {
    /// Replaces the view's elements by those of host data of the same length, in standard order. A view with gaps is
    /// filled from a copy on the device.
    ///
    /// # Errors
    ///
    /// If the lengths differ, memory runs out, a kernel is known to have panicked, or the device fails.
    ///
    /// ```
    /// use ndarray::{array, s};
    ///
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let mut m = gpu.zeros_nd::<i32, _>((2, 3))?;
    /// m.view_mut().slice(s![1, 1..]).copy_from(&[7, 8])?;
    /// assert_eq!(m.to_host()?, array![[0, 0, 0], [0, 7, 8]]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn copy_from<H: HostData<Element = T> + ?Sized>(&mut self, source: &H) -> Result<()> {
        let source_len = source.extents().size();
        if source_len != self.len() {
            return Err(Error::LengthMismatch {
                source_len,
                array_len: self.len(),
            });
        }
        if self.is_standard_layout() {
            let first = self.address().addr() as u64;
            // SAFETY: without gaps, these are as many elements of the view, borrowed mutably.
            return unsafe { upload(self.memory(), first, source) };
        }
        let array = self.gpu().to_device(source)?.into_shape(self.raw_shape())?;
        self.copy_from_device(&array)
    }
}

impl<T: DeviceCopy, D: Dimension> DeviceView<'_, T, D> {
    /// Waits and copies the elements to the host, in the view's shape.
    ///
    /// # Errors
    ///
    /// If a kernel panicked since the last wait, or the device failed.
    pub fn to_host(&self) -> Result<Array<T, D>> {
        if self.is_standard_layout() {
            // SAFETY: without gaps, these are the view's elements, which are written.
            let elements = unsafe { to_vec(self.memory(), self.address(), self.len()) }?;
            return with_shape(self.raw_shape(), elements);
        }
        match self.in_pieces()? {
            Some(elements) => with_shape(self.raw_shape(), elements),
            None => self.out_of_span(),
        }
    }

    /// The elements in standard order, if they are few large pieces.
    fn in_pieces(&self) -> Result<Option<Vec<T>>> {
        let mut elements = Vec::<T>::with_capacity(self.len());
        let strides = self.raw_shape().default_strides();
        let strides: Vec<isize> = strides
            .slice()
            .iter()
            .map(|&stride| stride as isize)
            .collect();
        let to = Side {
            address: elements.as_mut_ptr().expose_provenance() as u64,
            strides: &strides,
        };
        let pieces = Pieces::new(size_of::<T>(), self.shape(), to, self.side());
        if pieces.count() > MOST_PIECES || pieces.width() < LEAST_WIDTH {
            return Ok(None);
        }
        let queued = self.memory().access(Access::Read, |backend| {
            // SAFETY: the pieces are the view's elements, and the vector has room for them until the wait is over.
            pieces.for_each(|rows| unsafe { backend.copy_rows(&rows, WorkKind::ToHost) })
        });
        // Also after an error, before which some may have been queued.
        let waited = self.gpu().synchronize();
        queued.and(waited)?;
        // SAFETY: `len` elements were copied, and all elements of a device array are written.
        unsafe { elements.set_len(self.len()) };
        Ok(Some(elements))
    }

    /// The elements, picked from everything between the lowest and the highest.
    fn out_of_span(&self) -> Result<Array<T, D>> {
        let reaches = || {
            let axes = self.shape().iter().zip(self.strides());
            axes.map(|(&extent, &stride)| (extent as isize - 1) * stride)
        };
        let below: isize = reaches().filter(|&reach| reach < 0).sum();
        let above: isize = reaches().filter(|&reach| reach > 0).sum();
        let lowest = self.address().wrapping_offset(below);
        // SAFETY: the elements between two of an array are the array's, and are written.
        let elements = unsafe { to_vec(self.memory(), lowest, (above - below) as usize + 1) }?;
        let strides = self.strides();
        Ok(Array::from_shape_fn(self.raw_shape(), |index| {
            let index = index.into_dimension();
            let steps = index.slice().iter().zip(strides);
            let offset: isize = steps.map(|(&i, &stride)| i as isize * stride).sum();
            elements[(offset - below) as usize]
        }))
    }
}

/// Copies host data to consecutive elements.
///
/// # Safety
///
/// From `first` on, `memory` has as many elements as the source, which are the caller's to write.
unsafe fn upload<H: HostData + ?Sized>(memory: &Memory, first: u64, source: &H) -> Result<()> {
    let bytes = source.extents().size() * size_of::<H::Element>();
    if bytes == 0 {
        return Ok(());
    }
    memory.access(Access::Write, |backend| match source.as_standard() {
        Some(elements) => {
            let pinned = source.is_pinned();
            // SAFETY: as the caller promises.
            unsafe { backend.upload(first, elements.as_ptr().cast(), bytes, pinned) }
        }
        None => {
            let mut runs = |take: &mut crate::bytes::TakeRun<'_>| {
                source.for_each_run(&mut |run| take(run.as_ptr().cast(), size_of_val(run)));
            };
            // SAFETY: as the caller promises; the runs are all elements of the source.
            unsafe { backend.upload_runs(first, bytes, &mut runs) }
        }
    })
}

/// Waits and copies consecutive elements to the host.
///
/// # Safety
///
/// From `first` on, `memory` has `len` elements, and `target` has room for them.
unsafe fn download<T>(memory: &Memory, target: *mut T, first: *const T, len: usize) -> Result<()> {
    let bytes = len * size_of::<T>();
    if bytes == 0 {
        return memory.gpu().synchronize();
    }
    memory.access(Access::Read, |backend| {
        // SAFETY: as the caller promises.
        unsafe { backend.download(target.cast(), first.addr() as u64, bytes) }
    })
}

/// Waits and copies consecutive elements to the host.
///
/// # Safety
///
/// From `first` on, `memory` has `len` elements, and they are written.
unsafe fn to_vec<T: DeviceCopy>(memory: &Memory, first: *const T, len: usize) -> Result<Vec<T>> {
    let mut elements = Vec::<T>::with_capacity(len);
    // SAFETY: as the caller promises; the vector has room.
    unsafe { download(memory, elements.as_mut_ptr(), first, len) }?;
    // SAFETY: `len` elements were copied, or have no bytes.
    unsafe { elements.set_len(len) };
    Ok(elements)
}

fn with_shape<T, D: Dimension>(shape: D, elements: Vec<T>) -> Result<Array<T, D>> {
    let (len, extents) = (elements.len(), shape.slice().to_vec());
    Array::from_shape_vec(shape, elements).map_err(|_| Error::ShapeMismatch {
        len,
        shape: extents,
    })
}
