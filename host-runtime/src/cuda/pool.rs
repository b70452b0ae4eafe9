//! The numbers of the device's memory pool, and giving back what it holds unused.

use std::ffi::c_uint;

use super::CudaStream;
use crate::error::Result;
use crate::pool::PoolUsage;

/// `CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT`, and so on.
const RESERVED: c_uint = 5;
const RESERVED_PEAK: c_uint = 6;
const USED: c_uint = 7;
const USED_PEAK: c_uint = 8;

impl CudaStream {
    /// All zeros where the device has no pool.
    pub fn pool_usage(&self) -> Result<PoolUsage> {
        self.make_current()?;
        Ok(PoolUsage {
            used: self.pool_number(USED)?,
            reserved: self.pool_number(RESERVED)?,
            used_peak: self.pool_number(USED_PEAK)?,
            reserved_peak: self.pool_number(RESERVED_PEAK)?,
        })
    }

    fn pool_number(&self, attribute: c_uint) -> Result<u64> {
        let mut value = 0u64;
        if !self.device.pool.0.is_null() {
            // SAFETY: the pool is the device's, and these attributes are 64-bit numbers.
            unsafe {
                self.driver.cuMemPoolGetAttribute(
                    self.device.pool.0,
                    attribute,
                    (&raw mut value).cast(),
                )
            }?;
        }
        Ok(value)
    }

    pub fn reset_pool_peaks(&self) -> Result<()> {
        self.make_current()?;
        if self.device.pool.0.is_null() {
            return Ok(());
        }
        for attribute in [RESERVED_PEAK, USED_PEAK] {
            let mut value = 0u64;
            // SAFETY: the pool is the device's; zero is what these attributes can be set to.
            unsafe {
                self.driver.cuMemPoolSetAttribute(
                    self.device.pool.0,
                    attribute,
                    (&raw mut value).cast(),
                )
            }?;
        }
        Ok(())
    }

    /// Gives back what the pool holds unused, but for so many bytes.
    pub fn trim_pool(&self, keep: usize) -> Result<()> {
        self.make_current()?;
        if !self.device.pool.0.is_null() {
            // SAFETY: the pool is the device's.
            unsafe { self.driver.cuMemPoolTrimTo(self.device.pool.0, keep) }?;
        }
        Ok(())
    }
}
