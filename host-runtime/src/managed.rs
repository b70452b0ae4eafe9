//! Arrays that the host reads and writes where they are: those in mapped and managed memory.
//!
//! A launch borrows an array only until it is queued, so a borrow alone does not say that the device is done with it.
//! The host's view is therefore given after a wait for what it must not overtake, and borrows the array from then on:
//! reading while kernels read, and writing while nothing else is there.

use ndarray::{ArrayView, ArrayViewMut, Dimension};

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::error::{Error, Result};
use crate::memory_kind::MemoryKind;
use crate::ordering::Access;
use crate::stream::Backend;

/// One end of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// The memory of the array's device.
    Device,
    /// The host's memory.
    Host,
}

/// What a program knows of the uses of managed memory, for [`DeviceArray::advise`]. It changes where pages are kept,
/// never results. CUDA C: `cudaMemoryAdvise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryAdvice {
    /// Whether it is mostly read, so that each side can have a copy of the pages.
    ReadMostly(bool),
    /// Where the pages stay although the other side touches them; `None` takes it back.
    PreferredLocation(Option<Location>),
    /// Whether that side should reach the pages where they are, without faults.
    AccessedBy(Location, bool),
}

impl<T: DeviceCopy, D: Dimension> DeviceArray<T, D> {
    /// Waits for the writes of the device, and gives the elements to the host, where they are. Mapped and managed
    /// memory only. Kernels can read the array meanwhile.
    ///
    /// # Errors
    ///
    /// If the memory is of another kind, a plan or a graph has the array, a kernel of a stream that wrote it panicked
    /// since the last wait, or the device failed.
    ///
    /// ```
    /// use host_runtime::{Gpu, MemoryKind};
    ///
    /// let gpu = Gpu::cpu();
    /// let x = gpu.with_memory(MemoryKind::Mapped).full((2, 3), 1.5f32)?;
    /// assert_eq!(x.as_host()?.sum(), 9.0);
    ///
    /// let error = gpu.full(3, 1.5f32)?.as_host().unwrap_err();
    /// assert!(error.to_string().contains("MemoryKind::Managed"));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn as_host(&self) -> Result<ArrayView<'_, T, D>> {
        self.wait_on_host(Access::Read)?;
        // SAFETY: the host can reach the elements, which are written, and the device writes none of them while the
        // array is borrowed. The address of an array without bytes is aligned and not accessed.
        Ok(unsafe { ArrayView::from_shape_ptr(self.raw_shape(), self.on_host()) })
    }

    /// Waits for all uses of the array by the device, and gives the elements to the host, to read and write where they
    /// are. Mapped and managed memory only.
    ///
    /// # Errors
    ///
    /// As for [`as_host`](Self::as_host).
    ///
    /// ```
    /// use host_runtime::{Gpu, MemoryKind};
    ///
    /// let gpu = Gpu::cpu().with_memory(MemoryKind::Managed);
    /// let mut x = gpu.zeros_nd::<u32, _>((2, 2))?;
    /// x.as_host_mut()?[(0, 1)] = 7;
    /// assert_eq!(x.to_vec()?, [0, 7, 0, 0]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn as_host_mut(&mut self) -> Result<ArrayViewMut<'_, T, D>> {
        self.wait_on_host(Access::Write)?;
        // SAFETY: the host can reach the elements, which are written, and the device does not use the array while it is
        // borrowed mutably. The address of an array without bytes is aligned and not accessed.
        Ok(unsafe { ArrayViewMut::from_shape_ptr(self.raw_shape(), self.on_host()) })
    }

    /// Queues moving the pages to the device or the host, so that the first to touch them there need not wait. Managed
    /// memory only. CUDA C: `cudaMemPrefetchAsync`.
    ///
    /// # Errors
    ///
    /// If the memory is of another kind, or the device fails.
    ///
    /// ```
    /// use host_runtime::{Gpu, Location, MemoryKind};
    ///
    /// let gpu = Gpu::cpu().with_memory(MemoryKind::Managed);
    /// let x = gpu.to_device(&[1.0f32, 2.0])?;
    /// x.prefetch(Location::Device)?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn prefetch(&self, to: Location) -> Result<()> {
        self.must_be(&[MemoryKind::Managed])?;
        let (address, bytes) = (self.memory().address(), self.memory().bytes());
        self.memory().access(Access::Read, |backend| match backend {
            // SAFETY: the array is alive and its memory managed.
            Backend::Cuda(stream) if bytes > 0 => unsafe { stream.prefetch(address, bytes, to) },
            _ => Ok(()),
        })
    }

    /// Says how the array is used. Managed memory only. CUDA C: `cudaMemAdvise`.
    ///
    /// # Errors
    ///
    /// If the memory is of another kind, or the device fails.
    ///
    /// ```
    /// use host_runtime::{Gpu, MemoryAdvice, MemoryKind};
    ///
    /// let table = Gpu::cpu().with_memory(MemoryKind::Managed).full(1000, 0.5f64)?;
    /// table.advise(MemoryAdvice::ReadMostly(true))?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn advise(&self, advice: MemoryAdvice) -> Result<()> {
        self.must_be(&[MemoryKind::Managed])?;
        let (address, bytes) = (self.memory().address(), self.memory().bytes());
        match self.gpu().backend() {
            // SAFETY: the array is alive and its memory managed.
            Backend::Cuda(stream) if bytes > 0 => unsafe { stream.advise(address, bytes, advice) },
            _ => Ok(()),
        }
    }

    fn wait_on_host(&self, access: Access) -> Result<()> {
        self.must_be(&[MemoryKind::Mapped, MemoryKind::Managed])?;
        if self.memory().is_shared() {
            return Err(Error::InPlan);
        }
        self.memory().wait_on_host(access)
    }

    /// The host's pointer to the elements, of memory that the host can reach.
    fn on_host(&self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.memory().address() as usize)
    }

    fn must_be(&self, kinds: &'static [MemoryKind]) -> Result<()> {
        let kind = self.gpu().memory_kind();
        match kinds.contains(&kind) {
            true => Ok(()),
            false => Err(Error::MemoryKind {
                kind,
                wanted: kinds,
            }),
        }
    }
}
