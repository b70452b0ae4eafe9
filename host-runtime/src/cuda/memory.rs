//! Memory of all kinds, allocated and freed.
//!
//! Device memory comes from the device's default pool where it has one, and is freed in stream order, so that dropping
//! an array never waits and a launch that was queued before keeps its memory. Memory of the other kinds is freed after
//! a wait for the stream.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{NonNull, null_mut};

use cuda_loader::{Driver, DriverError, INVALID_VALUE, OUT_OF_MEMORY};
use cust::device::Device;

use super::attribute::driver_attribute;
use super::{CudaStream, Handle};
use crate::error::{Error, Result};
use crate::host_memory;
use crate::memory_kind::MemoryKind;

/// `CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED`.
const MEMORY_POOLS_SUPPORTED: c_uint = 115;
/// `CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS`.
const CONCURRENT_MANAGED_ACCESS: c_uint = 89;
/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`.
const RELEASE_THRESHOLD: c_uint = 4;
/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`.
const PORTABLE_MAPPED: c_uint = 1 | 2;
/// `CU_MEM_ATTACH_GLOBAL`.
const ATTACH_GLOBAL: c_uint = 1;

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
    pub fn allocate(&self, kind: MemoryKind, bytes: usize) -> Result<u64> {
        self.make_current()?;
        let bytes = whole_units(bytes);
        match kind {
            MemoryKind::Mapped => self.allocate_mapped(bytes),
            MemoryKind::Managed => self.allocate_managed(bytes),
            MemoryKind::Pool | MemoryKind::Plain => match self.try_allocate(kind, bytes) {
                Err(error) if error.code == OUT_OF_MEMORY => self.allocate_after_wait(kind, bytes),
                allocated => Ok(allocated?),
            },
        }
    }

    fn try_allocate(
        &self,
        kind: MemoryKind,
        bytes: usize,
    ) -> std::result::Result<u64, DriverError> {
        let mut address = 0u64;
        let to = (&raw mut address).cast();
        if self.is_pooled(kind) {
            // SAFETY: the pointer is valid for a write of an address, and the stream is alive.
            unsafe { self.driver.cuMemAllocAsync(to, bytes, self.handle()) }?;
        } else {
            // SAFETY: the pointer is valid for a write of an address.
            unsafe { self.driver.cuMemAlloc_v2(to, bytes) }?;
        }
        Ok(address)
    }

    fn is_pooled(&self, kind: MemoryKind) -> bool {
        kind == MemoryKind::Pool && !self.device.pool.0.is_null()
    }

    /// Lets queued frees happen and gives back what the pool holds unused, then tries once more.
    #[cold]
    fn allocate_after_wait(&self, kind: MemoryKind, bytes: usize) -> Result<u64> {
        self.wait()?;
        self.trim_pool(0)?;
        match self.try_allocate(kind, bytes) {
            Err(error) if error.code == OUT_OF_MEMORY => Err(self.out_of_memory(bytes)),
            allocated => Ok(allocated?),
        }
    }

    /// Pinned host memory, at whose address the device finds it too.
    fn allocate_mapped(&self, bytes: usize) -> Result<u64> {
        let first = self.allocate_pinned(bytes)?;
        let mut address = 0u64;
        // SAFETY: the pointer is valid for a write of an address, and the memory is mapped.
        let asked = unsafe {
            self.driver.cuMemHostGetDevicePointer_v2(
                (&raw mut address).cast(),
                first.as_ptr().cast(),
                0,
            )
        };
        if asked.is_ok() && address == first.as_ptr().expose_provenance() as u64 {
            return Ok(address);
        }
        // SAFETY: the memory is new.
        unsafe { self.free_pinned(first) };
        asked?;
        Err(self.no_such_memory(MemoryKind::Mapped))
    }

    /// Refused where the host may not touch managed memory while any kernel runs, which no borrow can rule out.
    fn allocate_managed(&self, bytes: usize) -> Result<u64> {
        let device = Device::get_device(self.ordinal())?;
        if driver_attribute(self.driver, device, CONCURRENT_MANAGED_ACCESS)? == 0 {
            return Err(self.no_such_memory(MemoryKind::Managed));
        }
        let mut address = 0u64;
        // SAFETY: the pointer is valid for a write of an address.
        let allocated = unsafe {
            self.driver
                .cuMemAllocManaged((&raw mut address).cast(), bytes, ATTACH_GLOBAL)
        };
        match allocated {
            Err(error) if is_shortage(error) => Err(self.out_of_memory(bytes)),
            allocated => {
                allocated?;
                // The host reaches it by this address.
                let _ = std::ptr::with_exposed_provenance::<u8>(address as usize);
                Ok(address)
            }
        }
    }

    /// Pinned host memory. What is more than the machine has free is refused before the driver tries to pin it.
    pub fn allocate_pinned(&self, bytes: usize) -> Result<NonNull<u8>> {
        self.make_current()?;
        let bytes = whole_units(bytes);
        let memory = host_memory::free_and_total();
        if memory.is_some_and(|(free, _)| bytes > free) {
            return Err(self.out_of_host_memory(bytes));
        }
        let mut host: *mut u8 = null_mut();
        // SAFETY: the pointer is valid for a write of a pointer.
        let allocated = unsafe {
            self.driver
                .cuMemHostAlloc((&raw mut host).cast(), bytes, PORTABLE_MAPPED)
        };
        match allocated {
            Err(error) if is_shortage(error) => Err(self.out_of_host_memory(bytes)),
            allocated => {
                allocated?;
                NonNull::new(host).ok_or_else(|| self.out_of_host_memory(bytes))
            }
        }
    }

    /// # Safety
    ///
    /// The memory is from `allocate_pinned`, and nothing uses it any more.
    pub unsafe fn free_pinned(&self, first: NonNull<u8>) {
        if self.make_current().is_ok() {
            // SAFETY: as the caller promises. A failure means that the context is lost, and the memory with it.
            let _ = unsafe { self.driver.cuMemFreeHost(first.as_ptr().cast()) };
        }
    }

    fn out_of_memory(&self, wanted: usize) -> Error {
        match self.free_and_total() {
            Ok((free, total)) => Error::OutOfMemory {
                device: self.label(),
                wanted,
                free,
                total,
            },
            Err(error) => error,
        }
    }

    fn out_of_host_memory(&self, wanted: usize) -> Error {
        let (free, total) = host_memory::free_and_total().unwrap_or_default();
        Error::OutOfMemory {
            device: format!("the host, where it is to be pinned for {}", self.label()),
            wanted,
            free,
            total,
        }
    }

    fn no_such_memory(&self, kind: MemoryKind) -> Error {
        Error::NoSuchMemory {
            device: self.label(),
            kind,
        }
    }

    /// Bytes of the device's memory that are free, and in all.
    pub fn free_and_total(&self) -> Result<(usize, usize)> {
        self.make_current()?;
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: both pointers are valid for a write of a size.
        unsafe {
            self.driver
                .cuMemGetInfo_v2((&raw mut free).cast(), (&raw mut total).cast())
        }?;
        Ok((free, total))
    }

    /// Frees memory of `allocate`, in stream order. A failure has no one to tell: the context is lost, and with it the
    /// memory.
    ///
    /// # Safety
    ///
    /// The address is from `allocate` of the same kind, and all uses of the memory are before this in the stream.
    pub unsafe fn free(&self, kind: MemoryKind, address: u64) {
        if self.make_current().is_err() {
            return;
        }
        if self.is_pooled(kind) {
            // SAFETY: the address is from `cuMemAllocAsync`, and all its uses are before this in the stream.
            let _ = unsafe { self.driver.cuMemFreeAsync(address, self.handle()) };
            return;
        }
        // Work in the queue may use the memory until it is done.
        let _ = self.wait();
        // SAFETY: nothing uses the memory any more.
        let _ = unsafe {
            match kind {
                MemoryKind::Mapped => {
                    let host = std::ptr::with_exposed_provenance_mut(address as usize);
                    self.driver.cuMemFreeHost(host)
                }
                _ => self.driver.cuMemFree_v2(address),
            }
        };
    }
}

/// In whole units of 16 bytes: an atomic operation on the last byte or 16 bits of an array is one on the 32-bit word
/// around it, and an asynchronous copy that fills up with zeros names 16 bytes.
fn whole_units(bytes: usize) -> usize {
    bytes.checked_next_multiple_of(16).unwrap_or(bytes)
}

/// What the driver says where there is too little memory, or where so much can never be.
fn is_shortage(error: DriverError) -> bool {
    matches!(error.code, OUT_OF_MEMORY | INVALID_VALUE)
}
