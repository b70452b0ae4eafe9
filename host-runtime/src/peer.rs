//! Peer access: kernels of one device that use the memory of another.
//!
//! In: two devices. Out: launches on the first take arrays of the second, over NVLink or PCI Express. Access stays for the
//! life of the process, like the contexts themselves.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::stream::Backend;

/// A device, whatever handle it is opened by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DeviceId {
    Cuda(u32),
    Simulator(u64),
}

/// Which device (first) may use the memory of which other.
static ACCESS: RwLock<Option<HashSet<(DeviceId, DeviceId)>>> = RwLock::new(None);

impl Gpu {
    /// Whether kernels of this device can use the memory of `other`. CUDA C: `cudaDeviceCanAccessPeer`.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// ```
    /// use host_runtime::Gpu;
    ///
    /// let (one, two) = (Gpu::cpu(), Gpu::cpu());
    /// assert!(one.can_access_peer(&two)?);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn can_access_peer(&self, other: &Gpu) -> Result<bool> {
        match (self.backend(), other.backend()) {
            (one, two) if one.same_device(two) => Ok(true),
            (Backend::Cuda(one), Backend::Cuda(two)) => one.can_access_peer(two),
            (Backend::Simulator(_), Backend::Simulator(_)) => Ok(true),
            _ => Ok(false),
        }
    }

    /// Lets launches on this device take arrays of `other`. Without it such a launch is an error.
    /// CUDA C: `cudaDeviceEnablePeerAccess`, and `cudaMemPoolSetAccess` for memory of the pool.
    ///
    /// # Errors
    ///
    /// If there is no way from the one to the memory of the other, or a device fails.
    ///
    /// ```
    /// use host_runtime::Gpu;
    ///
    /// let (one, two) = (Gpu::cpu(), Gpu::cpu());
    /// one.enable_peer_access(&two)?;
    /// // A launch on `one` now takes arrays of `two`.
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn enable_peer_access(&self, other: &Gpu) -> Result<()> {
        if self.backend().may_use_memory_of(other.backend()) {
            return Ok(());
        }
        if !self.can_access_peer(other)? {
            return Err(Error::NoPeerAccess {
                device: self.label(),
                other: other.label(),
            });
        }
        if let (Backend::Cuda(one), Backend::Cuda(two)) = (self.backend(), other.backend()) {
            one.enable_peer_access(two)?;
        }
        let ids = (self.backend().id(), other.backend().id());
        let mut access = ACCESS.write().unwrap_or_else(PoisonError::into_inner);
        access.get_or_insert_default().insert(ids);
        Ok(())
    }
}

impl Backend {
    /// Whether launches here may use memory of the other stream's device.
    #[inline]
    pub fn may_use_memory_of(&self, other: &Self) -> bool {
        self.same_device(other) || may_access(self.id(), other.id())
    }

    pub fn id(&self) -> DeviceId {
        match self {
            Self::Cuda(stream) => DeviceId::Cuda(stream.ordinal()),
            Self::Simulator(stream) => DeviceId::Simulator(stream.device.number()),
        }
    }

    /// Whether both are streams of one device.
    #[inline]
    pub fn same_device(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

#[cold]
fn may_access(device: DeviceId, other: DeviceId) -> bool {
    let access = ACCESS.read().unwrap_or_else(PoisonError::into_inner);
    access
        .as_ref()
        .is_some_and(|access| access.contains(&(device, other)))
}
