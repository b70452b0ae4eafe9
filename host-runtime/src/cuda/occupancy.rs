//! How many blocks of a kernel run at once, and which block size the driver suggests.
//!
//! The driver counts the blocks; what limits them is arithmetic on what the device says of a multiprocessor.

use std::collections::HashMap;
use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;
use std::sync::{PoisonError, RwLock};

use cust::device::{Device, DeviceAttribute};
use gpu_std::Dim3;
use gpu_std::kernel::KernelRecord;
use ptx_report::{Multiprocessor, Occupancy};

use super::CudaStream;
use super::attribute::{attribute_of, driver_attribute};
use super::foreign::ForeignKernel;
use super::module::LoadedKernel;
use crate::error::Result;
use crate::inspect::SuggestedBlock;
use crate::launch::check_dynamic_shared;
use crate::limits::Extents;
use crate::registry::id_of;

/// `CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR`.
const MAX_BLOCKS_PER_MULTIPROCESSOR: c_uint = 106;
/// `CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK`.
const RESERVED_SHARED_MEMORY_PER_BLOCK: c_uint = 111;

/// The suggestions that were asked for, by kernel and bytes of dynamic shared memory.
pub(super) type Suggestions = RwLock<HashMap<(u128, u32), SuggestedBlock>>;

impl CudaStream {
    /// The occupancy of blocks of so many threads.
    pub fn occupancy(
        &self,
        record: &'static KernelRecord,
        block: u32,
        shared_bytes: u32,
    ) -> Result<Occupancy> {
        self.make_current()?;
        self.occupancy_of(&self.kernel(record)?, block, shared_bytes)
    }

    /// The same of a kernel that is not of this program.
    pub fn foreign_occupancy(
        &self,
        kernel: &ForeignKernel,
        block: u32,
        shared_bytes: u32,
    ) -> Result<Occupancy> {
        self.make_current()?;
        self.occupancy_of(kernel.loaded(), block, shared_bytes)
    }

    fn occupancy_of(
        &self,
        kernel: &LoadedKernel,
        block: u32,
        shared_bytes: u32,
    ) -> Result<Occupancy> {
        self.allow_block(kernel, block, shared_bytes)?;
        let mut blocks: c_int = 0;
        // SAFETY: the pointer is valid for a write of an int, and the function is of a loaded module.
        unsafe {
            self.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                (&raw mut blocks).cast(),
                kernel.function.0,
                block as c_int,
                shared_bytes as usize,
            )
        }?;
        let attributes = self.attributes_of(kernel)?;
        let all_shared = attributes.shared_bytes + shared_bytes;
        let multiprocessor = self.multiprocessor()?;
        let blocks = blocks.unsigned_abs();
        Ok(Occupancy {
            blocks,
            warps: blocks * block.div_ceil(Multiprocessor::WARP),
            ..Occupancy::of(&multiprocessor, block, attributes.registers, all_shared)
        })
    }

    /// The block size that the driver suggests; asked once for each kernel and size of dynamic shared memory.
    pub fn suggested_block(
        &self,
        record: &'static KernelRecord,
        shared_bytes: u32,
    ) -> Result<SuggestedBlock> {
        let key = (id_of(record), shared_bytes);
        let suggestions = &self.device.suggestions;
        let known = suggestions.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(suggestion) = known.get(&key) {
            return Ok(*suggestion);
        }
        drop(known);
        self.make_current()?;
        let suggestion = self.suggested_block_of(&self.kernel(record)?, shared_bytes)?;
        let mut known = suggestions.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, suggestion);
        Ok(suggestion)
    }

    /// The same of a kernel that is not of this program, asked each time: its module may be unloaded.
    pub fn foreign_suggested_block(
        &self,
        kernel: &ForeignKernel,
        shared_bytes: u32,
    ) -> Result<SuggestedBlock> {
        self.make_current()?;
        self.suggested_block_of(kernel.loaded(), shared_bytes)
    }

    fn suggested_block_of(
        &self,
        kernel: &LoadedKernel,
        shared_bytes: u32,
    ) -> Result<SuggestedBlock> {
        self.allow_block(kernel, 1, shared_bytes)?;
        let (mut min_blocks, mut threads): (c_int, c_int) = (0, 0);
        // SAFETY: the pointers are valid for writes of an int each, the function is of a loaded module, and there is no
        // function that computes the bytes of a block size.
        unsafe {
            self.driver.cuOccupancyMaxPotentialBlockSize(
                (&raw mut min_blocks).cast(),
                (&raw mut threads).cast(),
                kernel.function.0,
                null_mut(),
                shared_bytes as usize,
                0,
            )
        }?;
        Ok(SuggestedBlock {
            threads: threads.unsigned_abs(),
            min_blocks: min_blocks.unsigned_abs(),
        })
    }

    /// Checks that a block of so many threads can be launched, as a launch does.
    fn allow_block(&self, kernel: &LoadedKernel, threads: u32, shared_bytes: u32) -> Result<()> {
        let dim = |x| Dim3 { x, y: 1, z: 1 };
        let extents = Extents {
            grid: dim(1),
            block: dim(threads),
            cluster: dim(1),
            shared_bytes: shared_bytes.into(),
        };
        kernel.check_block(kernel.name, extents.block)?;
        let (limits, label) = (self.limits(), || self.label());
        let bytes =
            check_dynamic_shared(kernel.name, kernel.shared_bytes, &extents, limits, label)?;
        self.allow_dynamic_shared(kernel, bytes)
    }

    /// What a multiprocessor of this device has.
    fn multiprocessor(&self) -> Result<Multiprocessor> {
        let device = Device::get_device(self.ordinal())?;
        let (major, minor) = self.compute_capability();
        Ok(Multiprocessor {
            threads: attribute_of(device, DeviceAttribute::MaxThreadsPerMultiprocessor)?,
            blocks: driver_attribute(self.driver, device, MAX_BLOCKS_PER_MULTIPROCESSOR)?,
            registers: attribute_of(device, DeviceAttribute::MaxRegistersPerMultiprocessor)?,
            shared_bytes: attribute_of(device, DeviceAttribute::MaxSharedMemoryPerMultiprocessor)?,
            reserved_shared_bytes: driver_attribute(
                self.driver,
                device,
                RESERVED_SHARED_MEMORY_PER_BLOCK,
            )?,
            shared_unit: Multiprocessor::shared_unit(major * 10 + minor),
        })
    }
}
