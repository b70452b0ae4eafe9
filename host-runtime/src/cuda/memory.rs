//! Device memory in queue order, and copies.
//!
//! Allocations come from the device's default memory pool where it has one, and are freed in stream order, so that
//! dropping an array never waits and a launch that was queued before keeps its memory. Without pools, a free waits.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_loader::{Driver, DriverError, OUT_OF_MEMORY};
use cust::device::Device;

use super::{CudaStream, Handle};
use crate::error::{Error, Result};

/// `CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED`.
const MEMORY_POOLS_SUPPORTED: c_uint = 115;
/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`.
const RELEASE_THRESHOLD: c_uint = 4;

/// The device's default pool, set to keep freed memory for the next allocation; null where there is none.
pub(super) fn pool(driver: &Driver, device: Device) -> Handle {
    pool_of(driver, device).unwrap_or(Handle(null_mut()))
}

fn pool_of(driver: &Driver, device: Device) -> std::result::Result<Handle, DriverError> {
    let mut supported: c_int = 0;
    let mut pool: *mut c_void = null_mut();
    let mut threshold = u64::MAX;
    // SAFETY: each pointer is valid for what the call reads or writes: an int, a handle, a 64-bit number.
    unsafe {
        driver.cuDeviceGetAttribute(
            (&raw mut supported).cast(),
            MEMORY_POOLS_SUPPORTED,
            device.as_raw(),
        )?;
        if supported != 0 {
            driver.cuDeviceGetDefaultMemPool((&raw mut pool).cast(), device.as_raw())?;
            driver.cuMemPoolSetAttribute(pool, RELEASE_THRESHOLD, (&raw mut threshold).cast())?;
        }
    }
    Ok(Handle(pool))
}

impl CudaStream {
    pub fn allocate(&self, bytes: usize) -> Result<u64> {
        self.make_current()?;
        match self.try_allocate(bytes) {
            Ok(address) => Ok(address),
            Err(error) if error.code == OUT_OF_MEMORY => self.allocate_after_wait(bytes),
            Err(error) => Err(error.into()),
        }
    }

    /// In whole units of 16 bytes: an atomic operation on the last byte or 16 bits of an array is one on the 32-bit word
    /// around it, and an asynchronous copy that fills up with zeros names 16 bytes.
    fn try_allocate(&self, bytes: usize) -> std::result::Result<u64, DriverError> {
        let bytes = bytes.checked_next_multiple_of(16).unwrap_or(bytes);
        let mut address = 0u64;
        let to = (&raw mut address).cast();
        if self.device.pool.0.is_null() {
            // SAFETY: the pointer is valid for a write of an address.
            unsafe { self.driver.cuMemAlloc_v2(to, bytes) }?;
        } else {
            // SAFETY: as above, and the stream is alive.
            unsafe { self.driver.cuMemAllocAsync(to, bytes, self.handle()) }?;
        }
        Ok(address)
    }

    /// Lets queued frees happen and gives back what the pool holds unused, then tries once more.
    #[cold]
    fn allocate_after_wait(&self, bytes: usize) -> Result<u64> {
        self.wait()?;
        if !self.device.pool.0.is_null() {
            // SAFETY: the pool is the device's.
            unsafe { self.driver.cuMemPoolTrimTo(self.device.pool.0, 0) }?;
        }
        match self.try_allocate(bytes) {
            Ok(address) => Ok(address),
            Err(error) if error.code == OUT_OF_MEMORY => Err(self.out_of_memory(bytes)),
            Err(error) => Err(error.into()),
        }
    }

    fn out_of_memory(&self, wanted: usize) -> Error {
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: both pointers are valid for a write of a size.
        let asked = unsafe {
            self.driver
                .cuMemGetInfo_v2((&raw mut free).cast(), (&raw mut total).cast())
        };
        match asked {
            Ok(()) => Error::OutOfMemory {
                device: self.label(),
                wanted,
                free,
                total,
            },
            Err(error) => error.into(),
        }
    }

    /// Frees memory of `allocate`, in stream order. A failure has no one to tell: the context is lost, and with it the
    /// memory.
    pub fn free(&self, address: u64) {
        if self.make_current().is_err() {
            return;
        }
        if self.device.pool.0.is_null() {
            // Work in the queue may use the memory until it is done.
            let _ = self.wait();
            // SAFETY: the address is from `cuMemAlloc_v2`, and nothing uses it any more.
            let _ = unsafe { self.driver.cuMemFree_v2(address) };
        } else {
            // SAFETY: the address is from `cuMemAllocAsync`, and all its uses are before this in the stream.
            let _ = unsafe { self.driver.cuMemFreeAsync(address, self.handle()) };
        }
    }

    /// Queues filling with zero bytes.
    ///
    /// # Safety
    ///
    /// The memory is this device's and the caller's to write.
    pub unsafe fn zero(&self, address: u64, bytes: usize) -> Result<()> {
        self.make_current()?;
        // SAFETY: as the caller promises.
        unsafe {
            self.driver
                .cuMemsetD8Async(address, 0, bytes, self.handle())
        }?;
        Ok(())
    }

    /// Queues a copy inside the device.
    ///
    /// # Safety
    ///
    /// Both ranges are this device's and do not overlap, and `address` is the caller's to write.
    pub unsafe fn copy(&self, address: u64, source: u64, bytes: usize) -> Result<()> {
        self.make_current()?;
        // SAFETY: as the caller promises.
        unsafe {
            self.driver
                .cuMemcpyDtoDAsync_v2(address, source, bytes, self.handle())
        }?;
        Ok(())
    }

    /// Queues a copy to the device. The driver may read the source until the copy is done.
    ///
    /// # Safety
    ///
    /// `source` is readable until then, and `address` this device's and the caller's to write.
    pub unsafe fn queue_upload(&self, address: u64, source: *const u8, bytes: usize) -> Result<()> {
        self.make_current()?;
        // SAFETY: as the caller promises.
        unsafe {
            self.driver.cuMemcpyHtoDAsync_v2(
                address,
                source.cast_mut().cast(),
                bytes,
                self.handle(),
            )
        }?;
        Ok(())
    }

    /// Queues a copy to the host.
    ///
    /// # Safety
    ///
    /// `address` is this device's, and `destination` the caller's to write until the copy is done.
    pub unsafe fn queue_download(
        &self,
        destination: *mut u8,
        address: u64,
        bytes: usize,
    ) -> Result<()> {
        self.make_current()?;
        // SAFETY: as the caller promises.
        unsafe {
            self.driver
                .cuMemcpyDtoHAsync_v2(destination.cast(), address, bytes, self.handle())
        }?;
        Ok(())
    }
}
