//! Access of one CUDA device to the memory of another.

use std::ffi::{c_int, c_uint};

use cuda_loader::PEER_ACCESS_ALREADY_ENABLED;

use super::CudaStream;
use crate::error::Result;

/// `CUmemAccessDesc` of `cuda.h`: a location of type `CU_MEM_LOCATION_TYPE_DEVICE`, and what it may do.
#[repr(C)]
struct Access {
    kind: c_uint,
    device: c_int,
    flags: c_uint,
}

/// `CU_MEM_LOCATION_TYPE_DEVICE`.
const DEVICE: c_uint = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_AND_WRITE: c_uint = 3;

impl CudaStream {
    /// Whether kernels of this device can reach the other's memory.
    pub fn can_access_peer(&self, other: &Self) -> Result<bool> {
        let mut can: c_int = 0;
        // SAFETY: the pointer is valid for a write of an int.
        unsafe {
            self.driver.cuDeviceCanAccessPeer(
                (&raw mut can).cast(),
                self.ordinal() as c_int,
                other.ordinal() as c_int,
            )
        }?;
        Ok(can != 0)
    }

    /// Lets kernels of this device reach the other's memory: that of its context, and that of its pool, which has access
    /// rights of its own.
    pub fn enable_peer_access(&self, other: &Self) -> Result<()> {
        self.make_current()?;
        let context = other.device.context.context.as_raw().cast();
        // SAFETY: the other device's context is retained for the life of the process.
        match unsafe { self.driver.cuCtxEnablePeerAccess(context, 0) } {
            Err(error) if error.code != PEER_ACCESS_ALREADY_ENABLED => return Err(error.into()),
            _ => {}
        }
        let pool = other.device.pool.0;
        if pool.is_null() {
            return Ok(());
        }
        let mut access = Access {
            kind: DEVICE,
            device: self.ordinal() as c_int,
            flags: READ_AND_WRITE,
        };
        // SAFETY: the pool is the other device's default pool, and the description is one of a device.
        unsafe {
            self.driver
                .cuMemPoolSetAccess(pool, (&raw mut access).cast(), 1)
        }?;
        Ok(())
    }
}
