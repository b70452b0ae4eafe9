//! Launches in clusters of blocks, which `cuLaunchKernel` has no place for.
//!
//! In: a launch whose cluster is checked. Out: a call of `cuLaunchKernelEx`. The driver refuses a cluster whose blocks do
//! not fit on neighbouring multiprocessors at once, and says how many blocks would. The structs are those of `cuda.h`.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_loader::{INVALID_CLUSTER_SIZE, LAUNCH_OUT_OF_RESOURCES};
use gpu_std::Dim3;

use super::graph::AttributeValue;
use super::{CudaPrepared, CudaStream};
use crate::cluster::NONE;
use crate::error::{Error, Result};

/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
pub(super) const CLUSTER_DIMENSION: c_uint = 4;

/// `CUlaunchAttribute`.
#[repr(C)]
struct LaunchAttribute {
    id: c_uint,
    value: AttributeValue,
}

/// `CUlaunchConfig`.
#[repr(C)]
struct LaunchConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: *mut c_void,
    attributes: *mut LaunchAttribute,
    attribute_count: c_uint,
}

const _: () = {
    assert!(size_of::<LaunchAttribute>() == 72);
    assert!(std::mem::offset_of!(LaunchAttribute, value) == 8);
    assert!(size_of::<LaunchConfig>() == 56);
    assert!(std::mem::offset_of!(LaunchConfig, stream) == 32);
};

impl CudaStream {
    /// Queues a launch in clusters.
    ///
    /// # Safety
    ///
    /// `params` are those of the kernel, and what they point to on the device lives until the kernel has ended.
    pub(super) unsafe fn launch_in_clusters(
        &self,
        prepared: &CudaPrepared,
        params: *mut *mut c_void,
    ) -> Result<()> {
        let mut attribute = attribute(prepared);
        let mut config = self.launch_config(prepared, &mut attribute);
        // SAFETY: as the caller promises; the structs are the driver's, and the function is of a loaded module.
        let launched = unsafe {
            self.driver.cuLaunchKernelEx(
                (&raw mut config).cast(),
                prepared.kernel.function.0,
                params.cast(),
                null_mut(),
            )
        };
        match launched {
            Err(error) if matches!(error.code, INVALID_CLUSTER_SIZE | LAUNCH_OUT_OF_RESOURCES) => {
                self.check_cluster(prepared)?;
                Err(error.into())
            }
            launched => Ok(launched?),
        }
    }

    /// Checks that the blocks of a cluster run at once.
    pub(super) fn check_cluster(&self, prepared: &CudaPrepared) -> Result<()> {
        let extents = &prepared.extents;
        if extents.cluster == NONE {
            return Ok(());
        }
        let limit = self.largest_cluster(prepared)?;
        if extents.cluster.count() <= u64::from(limit) {
            return Ok(());
        }
        Err(Error::ClusterResources {
            kernel: prepared.kernel.name,
            device: self.label(),
            cluster: extents.cluster,
            threads: extents.block.count(),
            limit,
        })
    }

    /// The most blocks of a cluster of this launch.
    fn largest_cluster(&self, prepared: &CudaPrepared) -> Result<u32> {
        let mut attribute = attribute(prepared);
        let mut config = self.launch_config(prepared, &mut attribute);
        let mut blocks: c_int = 0;
        // SAFETY: the pointer is valid for a write of an int, the structs are the driver's, and the function is of a loaded
        // module.
        unsafe {
            self.driver.cuOccupancyMaxPotentialClusterSize(
                (&raw mut blocks).cast(),
                prepared.kernel.function.0,
                (&raw mut config).cast(),
            )
        }?;
        Ok(blocks.unsigned_abs())
    }

    fn launch_config(
        &self,
        prepared: &CudaPrepared,
        attribute: &mut LaunchAttribute,
    ) -> LaunchConfig {
        let three = |of: Dim3| [of.x, of.y, of.z];
        LaunchConfig {
            grid: three(prepared.extents.grid),
            block: three(prepared.extents.block),
            shared_bytes: prepared.shared_bytes,
            stream: self.handle(),
            attributes: &raw mut *attribute,
            attribute_count: 1,
        }
    }
}

fn attribute(prepared: &CudaPrepared) -> LaunchAttribute {
    let Dim3 { x, y, z } = prepared.extents.cluster;
    LaunchAttribute {
        id: CLUSTER_DIMENSION,
        value: AttributeValue::new([x, y, z]),
    }
}
