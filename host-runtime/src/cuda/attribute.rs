//! What a device's attributes say: its compute capability and the limits of a launch.

use std::ffi::{c_int, c_uint};

use cuda_loader::Driver;
use cust::device::{Device, DeviceAttribute};

use crate::error::Result;
use crate::limits::Limits;

/// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`.
const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_uint = 97;
/// `CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH`.
const CLUSTER_LAUNCH: c_uint = 120;

pub(super) fn compute_capability(device: Device) -> Result<(u32, u32)> {
    let value = |attribute| attribute_of(device, attribute);
    Ok((
        value(DeviceAttribute::ComputeCapabilityMajor)?,
        value(DeviceAttribute::ComputeCapabilityMinor)?,
    ))
}

pub(super) fn limits(driver: &Driver, device: Device) -> Result<Limits> {
    use DeviceAttribute as A;
    let value = |attribute| attribute_of(device, attribute);
    Ok(Limits {
        threads_per_block: value(A::MaxThreadsPerBlock)?,
        block: [
            value(A::MaxBlockDimX)?,
            value(A::MaxBlockDimY)?,
            value(A::MaxBlockDimZ)?,
        ],
        grid: [
            value(A::MaxGridDimX)?,
            value(A::MaxGridDimY)?,
            value(A::MaxGridDimZ)?,
        ],
        shared_bytes: value(A::MaxSharedMemoryPerBlock)?,
        all_shared_bytes: driver_attribute(driver, device, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        // A driver that does not know the attribute has no clusters.
        clusters: driver_attribute(driver, device, CLUSTER_LAUNCH).is_ok_and(|has| has != 0),
    })
}

pub(super) fn attribute_of(device: Device, attribute: DeviceAttribute) -> Result<u32> {
    Ok(device.get_attribute(attribute)?.unsigned_abs())
}

/// An attribute that `cust` does not name.
pub(super) fn driver_attribute(driver: &Driver, device: Device, attribute: c_uint) -> Result<u32> {
    let mut value: c_int = 0;
    // SAFETY: the pointer is valid for a write of an int.
    unsafe { driver.cuDeviceGetAttribute((&raw mut value).cast(), attribute, device.as_raw()) }?;
    Ok(value.unsigned_abs())
}
