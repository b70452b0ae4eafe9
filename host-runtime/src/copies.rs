//! Copies between device arrays and views: on one device, and from one to another.
//!
//! On one device a copy is queued on the stream of the destination, in as few calls as the layouts allow. Between two
//! CUDA devices it goes straight over where they are peers, and through the host otherwise, which is the driver's
//! affair. Between a CUDA device and the simulator it goes through the host.

use ndarray::Dimension;

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::graph::capture;
use crate::memory::Memory;
use crate::ordering::{Access, Turn, ticket};
use crate::profile::WorkKind;
use crate::stream::Backend;
use crate::strided::{Pieces, Side};
use crate::view::{DeviceView, DeviceViewMut};

/// Most calls for a source with gaps; one with more is put in order by the host first.
const MOST_PIECES: usize = 1024;

impl<T: DeviceCopy, D: Dimension> DeviceArray<T, D> {
    /// Another array with the same elements, on the same stream. CuPy, PyCUDA: `a.copy()`.
    ///
    /// # Errors
    ///
    /// If memory runs out or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let x = gpu.to_device(&[1, 2, 3])?;
    /// let mut y = x.copy()?;
    /// y.fill(0)?;
    /// assert_eq!(x.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn copy(&self) -> Result<Self> {
        self.view().copy()
    }

    /// Another array with the same elements, that belongs to `gpu`: to another stream, another kind of memory, or
    /// another device. CUDA C: `cudaMemcpyPeerAsync`.
    ///
    /// # Errors
    ///
    /// If memory runs out or a device fails.
    ///
    /// ```
    /// use host_runtime::Gpu;
    ///
    /// let (one, two) = (Gpu::cpu(), Gpu::cpu()); // two devices
    /// let x = one.to_device(&[1.5, 2.5])?;
    /// assert_eq!(x.copy_on(&two)?.to_vec()?, [1.5, 2.5]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn copy_on(&self, gpu: &Gpu) -> Result<Self> {
        self.view().copy_on(gpu)
    }

    /// Replaces all elements by those of another device array or view of the same shape, of any device. It does not
    /// wait where both are on one device. CUDA C: `cudaMemcpyAsync` from device to device.
    ///
    /// # Errors
    ///
    /// If the shapes differ, or a device fails.
    ///
    /// ```
    /// use ndarray::{array, s};
    ///
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let m = gpu.to_device(&array![[1, 2, 3], [4, 5, 6]])?;
    /// let mut last = gpu.zeros::<i32>(2)?;
    /// last.copy_from_device(m.view().slice(s![.., 2]))?;
    /// assert_eq!(last.to_vec()?, [3, 6]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn copy_from_device<'a>(&mut self, source: impl Into<DeviceView<'a, T, D>>) -> Result<()>
    where
        T: 'a,
    {
        self.view_mut().copy_from_device(source)
    }
}

impl<T: DeviceCopy, D: Dimension> DeviceView<'_, T, D> {
    /// An array of the view's elements, in standard layout, on the same stream. CuPy: `ascontiguousarray`.
    ///
    /// # Errors
    ///
    /// If memory runs out or the device fails.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let m = gpu.to_device(&array![[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(m.view().t().copy()?.to_vec()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn copy(&self) -> Result<DeviceArray<T, D>> {
        self.copy_on(self.gpu())
    }

    /// An array of the view's elements, in standard layout, that belongs to `gpu`.
    ///
    /// # Errors
    ///
    /// If memory runs out or a device fails.
    pub fn copy_on(&self, gpu: &Gpu) -> Result<DeviceArray<T, D>> {
        let mut array = DeviceArray::allocate(gpu, self.raw_shape())?;
        array.copy_from_device(self.clone())?;
        Ok(array)
    }

    pub(crate) fn side(&self) -> Side<'_> {
        Side {
            address: self.address().addr() as u64,
            strides: self.strides(),
        }
    }
}

impl<T: DeviceCopy, D: Dimension> DeviceViewMut<'_, T, D> {
    /// Replaces the view's elements by those of another device array or view of the same shape, of any device.
    ///
    /// # Errors
    ///
    /// If the shapes differ, memory runs out, or a device fails.
    pub fn copy_from_device<'a>(&mut self, source: impl Into<DeviceView<'a, T, D>>) -> Result<()>
    where
        T: 'a,
    {
        let source: DeviceView<'a, T, D> = source.into();
        if source.shape() != self.shape() {
            return Err(Error::CopyShape {
                source_shape: source.shape().to_vec(),
                shape: self.shape().to_vec(),
            });
        }
        if self.is_empty() || size_of::<T>() == 0 {
            return Ok(());
        }
        match (self.gpu().backend(), source.gpu().backend()) {
            (to, from) if to.same_device(from) => self.copy_inside(&source),
            (Backend::Cuda(_), Backend::Cuda(_)) => self.copy_from_peer(&source),
            _ => self.copy_from(&source.to_host()?),
        }
    }

    fn copy_inside(&mut self, source: &DeviceView<'_, T, D>) -> Result<()> {
        let to = Side {
            address: self.address().addr() as u64,
            strides: self.strides(),
        };
        let pieces = Pieces::new(size_of::<T>(), self.shape(), to, source.side());
        if pieces.count() > MOST_PIECES && !source.is_standard_layout() {
            let in_order = self.gpu().to_device(&source.to_host()?)?;
            return self.copy_from_device(&in_order);
        }
        both(self.memory(), source.memory(), |backend| {
            pieces.for_each(|rows| match rows.height {
                // SAFETY: the pieces are elements of the two views; one is borrowed mutably, so that they do not
                // overlap.
                1 => unsafe { backend.copy(rows.address, rows.source, rows.width) },
                // SAFETY: as for one row.
                _ => unsafe { backend.copy_rows(&rows, WorkKind::OnDevice) },
            })
        })
    }

    /// Between two CUDA devices, where both sides have no gaps; what has some is put in order on its own device.
    fn copy_from_peer(&mut self, source: &DeviceView<'_, T, D>) -> Result<()> {
        if !source.is_standard_layout() {
            return self.copy_from_peer(&source.copy()?.view());
        }
        if !self.is_standard_layout() {
            return self.copy_from_device(&source.copy_on(self.gpu())?);
        }
        let bytes = self.len() * size_of::<T>();
        let address = self.address().addr() as u64;
        let from = source.address().addr() as u64;
        let other = source.gpu().backend();
        both(self.memory(), source.memory(), |backend| {
            match (backend, other) {
                (Backend::Cuda(stream), Backend::Cuda(other)) => {
                    // SAFETY: these are the elements of the two views.
                    unsafe { stream.copy_from_peer(address, other, from, bytes) }
                }
                _ => Ok(()),
            }
        })
    }
}

impl<'a, T: DeviceCopy, D: Dimension> From<&'a DeviceArray<T, D>> for DeviceView<'a, T, D> {
    fn from(array: &'a DeviceArray<T, D>) -> Self {
        array.view()
    }
}

/// Queues work on the stream of `to`, which writes `to` and reads `from`.
fn both(to: &Memory, from: &Memory, work: impl FnOnce(&Backend) -> Result<()>) -> Result<()> {
    let gpu = to.gpu();
    if !capture::is_ordinary() {
        let inner = || capture::with_use(from, Access::Read, || work(gpu.backend()));
        return capture::with_use(to, Access::Write, inner);
    }
    let _turn = (to.is_kept() || from.is_kept()).then(Turn::borrowed);
    to.begin_on(gpu, Access::Write)?;
    from.begin_on(gpu, Access::Read)?;
    let result = work(gpu.backend());
    // Also after an error, before which a part may have been queued.
    let ticket = ticket(gpu.stream().queue());
    to.end_on(gpu, Access::Write, &ticket);
    from.end_on(gpu, Access::Read, &ticket);
    result
}
