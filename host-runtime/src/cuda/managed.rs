//! Where the pages of managed memory are to be.

use std::ffi::{c_int, c_uint};

use super::CudaStream;
use crate::error::Result;
use crate::managed::{Location, MemoryAdvice};

/// `CU_DEVICE_CPU`.
const HOST: c_int = -1;

impl CudaStream {
    fn number(&self, location: Location) -> Result<c_int> {
        Ok(match location {
            Location::Host => HOST,
            Location::Device => cust::device::Device::get_device(self.ordinal())?.as_raw(),
        })
    }

    /// Queues moving the pages.
    ///
    /// # Safety
    ///
    /// The memory is managed and alive.
    pub unsafe fn prefetch(&self, address: u64, bytes: usize, to: Location) -> Result<()> {
        self.make_current()?;
        let to = self.number(to)?;
        // SAFETY: as the caller promises.
        unsafe {
            self.driver
                .cuMemPrefetchAsync(address, bytes, to, self.handle())
        }?;
        Ok(())
    }

    /// # Safety
    ///
    /// The memory is managed and alive.
    pub unsafe fn advise(&self, address: u64, bytes: usize, advice: MemoryAdvice) -> Result<()> {
        self.make_current()?;
        // `CU_MEM_ADVISE_SET_READ_MOSTLY`, and so on.
        let (number, location): (c_uint, _) = match advice {
            MemoryAdvice::ReadMostly(true) => (1, Location::Device),
            MemoryAdvice::ReadMostly(false) => (2, Location::Device),
            MemoryAdvice::PreferredLocation(Some(location)) => (3, location),
            MemoryAdvice::PreferredLocation(None) => (4, Location::Device),
            MemoryAdvice::AccessedBy(location, true) => (5, location),
            MemoryAdvice::AccessedBy(location, false) => (6, location),
        };
        let location = self.number(location)?;
        // SAFETY: as the caller promises.
        unsafe { self.driver.cuMemAdvise(address, bytes, number, location) }?;
        Ok(())
    }
}
