//! The properties of a CUDA device.

use cust::device::{Device, DeviceAttribute as A};

use super::CudaStream;
use super::attribute::attribute_of;
use crate::error::Result;
use crate::properties::DeviceProperties;

impl CudaStream {
    pub fn properties(&self) -> Result<DeviceProperties> {
        self.make_current()?;
        let device = Device::get_device(self.ordinal())?;
        let value = |attribute| attribute_of(device, attribute);
        let limits = self.limits();
        let (free_bytes, memory_bytes) = self.free_and_total()?;
        Ok(DeviceProperties {
            name: self.name().to_owned(),
            compute_capability: Some(self.compute_capability()),
            multiprocessors: value(A::MultiprocessorCount)?,
            warp_size: value(A::WarpSize)?,
            threads_per_block: limits.threads_per_block,
            block: limits.block,
            grid: limits.grid,
            threads_per_multiprocessor: value(A::MaxThreadsPerMultiprocessor)?,
            registers_per_multiprocessor: value(A::MaxRegistersPerMultiprocessor)?,
            shared_bytes_per_block: limits.shared_bytes,
            all_shared_bytes_per_block: limits.all_shared_bytes,
            l2_bytes: value(A::L2CacheSize)?,
            memory_bytes,
            free_bytes,
            pci: Some(format!(
                "{:04x}:{:02x}:{:02x}.0",
                value(A::PciDomainId)?,
                value(A::PciBusId)?,
                value(A::PciDeviceId)?
            )),
            driver: Some(self.driver.version()?),
        })
    }

    /// The `CUcontext`.
    pub fn context_handle(&self) -> *mut std::ffi::c_void {
        self.device.context.context.as_raw().cast()
    }
}
