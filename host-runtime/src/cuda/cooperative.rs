//! Launches of kernels that wait for their whole grid (`grid::sync`): all blocks must run at once.
//!
//! The driver refuses a grid that is too large for that, and counts how many blocks of a kernel fit. The kernel finds its
//! barrier in a variable of its module, which is set to zeros, in queue order, before each launch: a launch that ended
//! with a panic leaves it half-used.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::sync::PoisonError;

use cuda_loader::COOPERATIVE_LAUNCH_TOO_LARGE;
use cust::device::Device;
use gpu_std::kernel::KernelRecord;

use super::attribute::driver_attribute;
use super::module::LoadedKernel;
use super::{CudaPrepared, CudaStream, Handle};
use crate::error::{Error, Result};
use crate::limits::Extents;

/// The variable of a module that is the barrier of the running launch.
pub(super) const GRID_BARRIER: &CStr = c"oxwarp_grid_barrier";
/// `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`.
const MULTIPROCESSOR_COUNT: c_uint = 16;

/// The barrier of a module's kernels, in device memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridBarrier {
    pub address: u64,
    pub bytes: usize,
}

impl CudaStream {
    /// The module's barrier.
    pub(super) fn grid_barrier(&self, module: Handle) -> Result<GridBarrier> {
        let mut barrier = GridBarrier {
            address: 0,
            bytes: 0,
        };
        // SAFETY: the pointers are valid for writes of an address and a size, and the name is terminated.
        unsafe {
            self.driver.cuModuleGetGlobal_v2(
                (&raw mut barrier.address).cast(),
                (&raw mut barrier.bytes).cast(),
                module.0,
                GRID_BARRIER.as_ptr().cast_mut().cast(),
            )
        }?;
        Ok(barrier)
    }

    /// Queues a launch of all blocks at once.
    ///
    /// # Safety
    ///
    /// As for [`launch`](crate::launch::launch); `params` are the driver's kernel parameters.
    pub(super) unsafe fn launch_cooperative(
        &self,
        prepared: &CudaPrepared,
        barrier: GridBarrier,
        params: *mut *mut c_void,
    ) -> Result<()> {
        // Zeros and launch are one step of the queue, whatever other threads of the host do.
        let _turn = self
            .cooperative
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the barrier is a variable of a loaded module, which kernels use in queue order only; the parameters are the
        // kernel's, as the caller promises.
        unsafe {
            self.driver
                .cuMemsetD8Async(barrier.address, 0, barrier.bytes, self.handle())?;
            self.launch_together(prepared, params)
        }
    }

    /// Queues a launch whose blocks may wait for each other.
    ///
    /// # Safety
    ///
    /// As for [`launch_cooperative`](Self::launch_cooperative).
    pub(super) unsafe fn launch_together(
        &self,
        prepared: &CudaPrepared,
        params: *mut *mut c_void,
    ) -> Result<()> {
        let CudaPrepared {
            kernel,
            extents: Extents { grid, block, .. },
            shared_bytes,
        } = prepared;
        // SAFETY: as the caller promises.
        let launched = unsafe {
            self.driver.cuLaunchCooperativeKernel(
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
            )
        };
        match launched {
            Err(error) if error.code == COOPERATIVE_LAUNCH_TOO_LARGE => {
                Err(self.too_many_blocks(prepared)?)
            }
            launched => Ok(launched?),
        }
    }

    /// Checks that all blocks of a kernel that waits for its grid run at once.
    pub(super) fn check_cooperative(&self, prepared: &CudaPrepared) -> Result<()> {
        let CudaPrepared {
            kernel,
            extents,
            shared_bytes,
        } = prepared;
        if kernel.grid_barrier.is_none()
            || extents.grid.count() <= self.resident_blocks(kernel, extents, *shared_bytes)?
        {
            return Ok(());
        }
        Err(self.too_many_blocks(prepared)?)
    }

    fn too_many_blocks(&self, prepared: &CudaPrepared) -> Result<Error> {
        let CudaPrepared {
            kernel,
            extents,
            shared_bytes,
        } = prepared;
        Ok(Error::CooperativeGrid {
            kernel: kernel.name,
            device: self.label(),
            blocks: extents.grid.count(),
            threads: extents.block.count(),
            limit: self.resident_blocks(kernel, extents, *shared_bytes)?,
        })
    }

    /// The most blocks of the kernel that run at once.
    pub fn max_cooperative_blocks(
        &self,
        record: &'static KernelRecord,
        extents: &Extents,
    ) -> Result<u64> {
        self.make_current()?;
        let prepared = self.prepare(record, extents)?;
        self.resident_blocks(&prepared.kernel, extents, prepared.shared_bytes)
    }

    pub(super) fn resident_blocks(
        &self,
        kernel: &LoadedKernel,
        extents: &Extents,
        shared_bytes: u32,
    ) -> Result<u64> {
        let mut blocks: c_int = 0;
        // SAFETY: the pointer is valid for a write of an int, and the function is of a loaded module.
        unsafe {
            self.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                (&raw mut blocks).cast(),
                kernel.function.0,
                extents.block.count() as c_int,
                shared_bytes as usize,
            )
        }?;
        let device = Device::get_device(self.ordinal())?;
        let multiprocessors = driver_attribute(self.driver, device, MULTIPROCESSOR_COUNT)?;
        Ok(u64::from(blocks.unsigned_abs()) * u64::from(multiprocessors))
    }
}
