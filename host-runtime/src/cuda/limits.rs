//! How much memory the threads of a device have for themselves: their stacks, and the heap that they share.
//!
//! Both are limits of the context, which all of a process's handles of the device share. The stack grows to what the
//! kernels need that are loaded, unless the user has chosen. CUDA's own heap of 8 MiB is little for a GPU's many threads: it
//! is made larger before the first module with a kernel that allocates is loaded, because after that it cannot change.

use std::sync::atomic::{AtomicBool, Ordering};

use cuda_loader::INVALID_VALUE;
use cust::context::{CurrentContext, ResourceLimit};
use cust::error::CudaError;

use super::CudaStream;
use crate::error::{Error, Result};

/// CUDA's own heap.
const CUDAS_HEAP: usize = 8 << 20;
/// The heap, if the user has chosen none and the device has 32 times as much memory.
const HEAP: usize = 256 << 20;

/// The most local memory of a thread, on every GPU.
const MOST_STACK: usize = 512 << 10;

/// Whether the user has chosen the stack of a device.
#[derive(Debug, Default)]
pub(super) struct StackChoice(AtomicBool);

impl CudaStream {
    /// Sees to it that a thread has at least so much stack. The limit only grows: other kernels may need what it is.
    pub(super) fn raise_stack_limit(&self, bytes: usize) -> Result<()> {
        let chosen = self.device.stack_choice.0.load(Ordering::Relaxed);
        if bytes > 0 && !chosen && limit(ResourceLimit::StackSize)? < bytes {
            CurrentContext::set_resource_limit(ResourceLimit::StackSize, bytes)?;
        }
        Ok(())
    }

    /// Sets the stack of a thread.
    pub fn set_stack_size(&self, bytes: usize) -> Result<()> {
        self.synchronize()?;
        let set = match bytes {
            // The driver would take less for more.
            ..=MOST_STACK => CurrentContext::set_resource_limit(ResourceLimit::StackSize, bytes),
            _ => Err(CudaError::InvalidValue),
        };
        set.map_err(|_| Error::StackSize {
            device: self.label(),
            wanted: bytes,
        })?;
        self.device.stack_choice.0.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the heap larger than CUDA's own, if nobody has.
    pub(super) fn prepare_heap(&self) -> Result<()> {
        if limit(ResourceLimit::MallocHeapSize)? > CUDAS_HEAP {
            return Ok(());
        }
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: both pointers are valid for a write of a size.
        unsafe {
            self.driver
                .cuMemGetInfo_v2((&raw mut free).cast(), (&raw mut total).cast())
        }?;
        let bytes = HEAP.min(total / 32);
        // Where another library of the process has used the heap before, it stays as it is.
        let _ = CurrentContext::set_resource_limit(ResourceLimit::MallocHeapSize, bytes);
        Ok(())
    }

    /// Sets the size of the heap.
    pub fn set_heap_size(&self, bytes: usize) -> Result<()> {
        self.synchronize()?;
        let set = CurrentContext::set_resource_limit(ResourceLimit::MallocHeapSize, bytes);
        match set.map_err(Error::from) {
            Err(Error::Driver { code, .. }) if code == INVALID_VALUE => Err(Error::HeapInUse {
                device: self.label(),
                wanted: bytes,
                size: limit(ResourceLimit::MallocHeapSize)?,
            }),
            other => other,
        }
    }
}

/// The heap of the current context in bytes; 0 where the driver does not say.
pub(super) fn heap_size() -> usize {
    limit(ResourceLimit::MallocHeapSize).unwrap_or(0)
}

fn limit(which: ResourceLimit) -> Result<usize> {
    Ok(CurrentContext::get_resource_limit(which)?)
}
