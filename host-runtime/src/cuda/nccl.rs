//! Exchange between CUDA devices by NCCL: one communicator a device, all of this process.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cuda_loader::Nccl;

use super::Handle;
use crate::collective::{Exchange, NcclType, Reduction, Side};
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::stream::Backend;

/// The communicators of some devices, in their order.
pub(crate) struct NcclCommunicators {
    nccl: &'static Nccl,
    communicators: Vec<Handle>,
}

impl NcclCommunicators {
    /// For the devices with these numbers, of which none is there twice.
    pub fn new(ordinals: &[u32]) -> Result<Self> {
        let nccl = cuda_loader::nccl().map_err(|error| Error::NcclNotFound(error.clone()))?;
        let devices: Vec<c_int> = ordinals.iter().map(|&ordinal| ordinal as c_int).collect();
        let mut handles = vec![null_mut::<c_void>(); devices.len()];
        // SAFETY: both have as many elements as there are devices.
        unsafe {
            nccl.init_all(
                handles.as_mut_ptr(),
                devices.len() as c_int,
                devices.as_ptr(),
            )
        }?;
        Ok(Self {
            nccl,
            communicators: handles.into_iter().map(Handle).collect(),
        })
    }

    /// Queues an exchange of `len` elements on the stream that each side's source belongs to.
    pub fn exchange(
        &self,
        exchange: Exchange,
        sides: &[Side<'_>],
        len: usize,
        element: NcclType,
    ) -> Result<()> {
        // SAFETY: each group that is begun is ended.
        unsafe { self.nccl.group_start() }?;
        let queued: Result<()> =
            sides
                .iter()
                .zip(&self.communicators)
                .try_for_each(|(side, communicator)| {
                    self.queue(exchange, side, communicator, len, element)
                });
        // SAFETY: it was begun before the exchange was queued.
        let ended = unsafe { self.nccl.group_end() };
        queued?;
        Ok(ended?)
    }

    fn queue(
        &self,
        exchange: Exchange,
        side: &Side<'_>,
        communicator: &Handle,
        len: usize,
        NcclType(element): NcclType,
    ) -> Result<()> {
        let Backend::Cuda(stream) = side.source.gpu().backend() else {
            unreachable!("the devices of communicators are CUDA's");
        };
        let pointer = |memory: &Memory| memory.address() as *mut c_void;
        let (from, to) = (pointer(side.source), pointer(side.destination));
        let (nccl, to_device, stream) = (self.nccl, communicator.0, stream.handle());
        // SAFETY: the memory is of the communicator's device and has so many elements, the destination of a gathering as
        // many for each device; what follows on the stream comes after the exchange.
        unsafe {
            match exchange {
                Exchange::AllReduce(reduction) => {
                    let operation = operation(reduction);
                    nccl.all_reduce(from, to, len, element, operation, to_device, stream)
                }
                Exchange::Broadcast(root) => {
                    nccl.broadcast(from, to, len, element, root as c_int, to_device, stream)
                }
                Exchange::AllGather => nccl.all_gather(from, to, len, element, to_device, stream),
            }
        }?;
        Ok(())
    }
}

impl Drop for NcclCommunicators {
    fn drop(&mut self) {
        for communicator in &self.communicators {
            // SAFETY: the communicator is not used later; NCCL waits for what it has queued.
            let _ = unsafe { self.nccl.destroy(communicator.0) };
        }
    }
}

/// NCCL's number of a reduction (`ncclRedOp_t`).
fn operation(reduction: Reduction) -> u32 {
    match reduction {
        Reduction::Sum => 0,
        Reduction::Product => 1,
        Reduction::Max => 2,
        Reduction::Min => 3,
    }
}
