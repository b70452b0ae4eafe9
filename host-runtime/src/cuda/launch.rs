//! Launches on a stream: the kernel is loaded at its first, its shape is checked, and the driver queues it.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use gpu_std::kernel::KernelRecord;

use super::CudaStream;
use super::module::LoadedKernel;
use crate::error::Result;
use crate::launch::{check_dimensions, check_dynamic_shared};
use crate::limits::Extents;
use crate::registry::id_of;

/// A launch whose kernel is loaded on a stream, and whose shape is checked.
#[derive(Clone, Copy)]
pub(crate) struct CudaPrepared {
    pub(super) kernel: LoadedKernel,
    pub extents: Extents,
    /// Bytes of dynamic shared memory.
    pub(super) shared_bytes: u32,
}

impl CudaPrepared {
    /// Whether the kernel waits for its whole grid.
    pub fn waits_for_grid(&self) -> bool {
        self.kernel.grid_barrier.is_some()
    }
}

impl CudaStream {
    /// Queues a launch.
    ///
    /// # Safety
    ///
    /// As for [`launch`](crate::launch::launch).
    pub unsafe fn launch(
        &self,
        record: &'static KernelRecord,
        extents: &Extents,
        params: *const u8,
    ) -> Result<()> {
        self.make_current()?;
        self.refuse_after_panic()?;
        let prepared = self.prepare(record, extents)?;
        // SAFETY: as the caller promises.
        unsafe { self.queue(&prepared, params) }
    }

    /// Queues a launch of what was prepared on this stream.
    ///
    /// # Safety
    ///
    /// As for [`launch`](crate::launch::launch).
    pub unsafe fn replay(&self, prepared: &CudaPrepared, params: *const u8) -> Result<()> {
        self.make_current()?;
        self.refuse_after_panic()?;
        // SAFETY: as the caller promises.
        unsafe { self.queue(prepared, params) }
    }

    /// Loads the kernel if this is its first launch, and checks the shape. The context is current.
    pub(super) fn prepare(
        &self,
        record: &'static KernelRecord,
        extents: &Extents,
    ) -> Result<CudaPrepared> {
        let kernel = self.kernel(record)?;
        check_dimensions(record.name, kernel.dimensions, extents)?;
        kernel.check_block(record.name, extents.block)?;
        let waits_for_grid = kernel.grid_barrier.is_some();
        crate::cluster::check(record.name, waits_for_grid, extents, self.limits(), || {
            self.label()
        })?;
        let shared_bytes = check_dynamic_shared(
            record.name,
            kernel.shared_bytes,
            extents,
            self.limits(),
            || self.label(),
        )?;
        self.allow_dynamic_shared(&kernel, shared_bytes)?;
        Ok(CudaPrepared {
            kernel,
            extents: *extents,
            shared_bytes,
        })
    }

    /// Prepares what is launched later, with the check that else the driver makes at the launch.
    pub fn prepare_replay(
        &self,
        record: &'static KernelRecord,
        extents: &Extents,
    ) -> Result<CudaPrepared> {
        self.make_current()?;
        let prepared = self.prepare(record, extents)?;
        self.check_cooperative(&prepared)?;
        self.check_cluster(&prepared)?;
        Ok(prepared)
    }

    /// Queues what was prepared.
    ///
    /// # Safety
    ///
    /// As for [`launch`](crate::launch::launch). The context is current.
    unsafe fn queue(&self, prepared: &CudaPrepared, params: *const u8) -> Result<()> {
        let kernel = &prepared.kernel;
        self.update_constants()?;
        let _queueing = kernel.prints.then(|| self.printing.queueing());
        let mut params = [params.cast_mut().cast::<c_void>()];
        // SAFETY: the function has one parameter, of the size of the struct behind `params`, or none if that is empty. The
        // views in it live in this device's memory, which is freed in stream order. The caller sees to the rest.
        unsafe {
            match kernel.grid_barrier {
                Some(barrier) => self.launch_cooperative(prepared, barrier, params.as_mut_ptr()),
                None => self.launch_plainly(prepared, params.as_mut_ptr()),
            }
        }
    }

    /// Queues a launch with the driver's kernel parameters, which it copies before it returns.
    ///
    /// # Safety
    ///
    /// `params` are those of the kernel, and what they point to on the device lives until the kernel has ended.
    pub(super) unsafe fn launch_plainly(
        &self,
        prepared: &CudaPrepared,
        params: *mut *mut c_void,
    ) -> Result<()> {
        let CudaPrepared {
            kernel,
            extents:
                Extents {
                    grid,
                    block,
                    cluster,
                    ..
                },
            shared_bytes,
        } = prepared;
        self.last_launched
            .store(kernel.function.0, Ordering::Relaxed);
        if *cluster != crate::cluster::NONE {
            // SAFETY: as the caller promises.
            return unsafe { self.launch_in_clusters(prepared, params) };
        }
        // SAFETY: as the caller promises; the function is of a loaded module.
        unsafe {
            self.driver.cuLaunchKernel(
                kernel.function.0,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                *shared_bytes,
                self.handle(),
                params.cast(),
                null_mut(),
            )
        }?;
        Ok(())
    }

    /// The error of a kernel that is known to have panicked: it stops what would come after it.
    #[inline]
    pub fn refuse_after_panic(&self) -> Result<()> {
        match self.panics.has_one() {
            true => self.synchronize(),
            false => Ok(()),
        }
    }

    /// The name of a loaded kernel, by the low half of its id.
    pub(super) fn kernel_name(&self, id: u64) -> Option<&'static str> {
        let kernels = self.kernels.read().unwrap_or_else(PoisonError::into_inner);
        let found = kernels.iter().find(|(other, _)| **other as u64 == id);
        found.map(|(_, kernel)| kernel.name)
    }

    /// The kernel, loaded if this is its first launch here.
    pub(super) fn kernel(&self, record: &'static KernelRecord) -> Result<LoadedKernel> {
        let id = id_of(record);
        let kernels = self.kernels.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(&id) {
            return Ok(*kernel);
        }
        drop(kernels);
        let kernel = self.load(record)?;
        let mut kernels = self.kernels.write().unwrap_or_else(PoisonError::into_inner);
        kernels.insert(id, kernel);
        Ok(kernel)
    }
}
