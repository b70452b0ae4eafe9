//! An allocation on a device that frees itself, and the order of its uses.
//!
//! In: a stream, a kind of memory and a number of bytes. Out: memory that belongs to that stream, its home: copies and fills of the
//! memory are queued there. Launches on other streams may use it too ([`ordering`](crate::ordering)), and it is freed
//! after them all.

use crate::error::Result;
use crate::gpu::Gpu;
use crate::ordering::{Access, Usage, ticket};
use crate::stream::Backend;

/// The alignment of every array on every device, in bytes: what CUDA guarantees.
pub(crate) const ALIGN: usize = 256;

/// The address of an array without bytes: not null and aligned for any type, as a slice demands, and never accessed.
const NOWHERE: u64 = 1 << 12;

const _: () = assert!((NOWHERE as usize).is_multiple_of(ALIGN));

/// An allocation.
pub(crate) struct Memory {
    gpu: Gpu,
    address: u64,
    bytes: usize,
    usage: Usage,
}

impl Memory {
    /// Memory of so many bytes, not yet written.
    pub fn new(gpu: &Gpu, bytes: usize) -> Result<Self> {
        let mut memory = Self {
            gpu: gpu.clone(),
            address: NOWHERE,
            bytes: 0,
            usage: Usage::default(),
        };
        if bytes > 0 {
            memory.address = gpu.backend().allocate(gpu.memory_kind(), bytes)?;
            memory.bytes = bytes;
            memory.end(Access::Write);
        }
        Ok(memory)
    }

    /// The device, with the stream that the memory belongs to.
    #[inline]
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Where it begins.
    #[inline]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Its size; 0 for none, and then the address is not to be accessed.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes `gpu`'s stream wait for what an access on it must come after.
    #[inline]
    pub fn begin_on(&self, gpu: &Gpu, access: Access) -> Result<()> {
        self.usage
            .begin(self.gpu.stream().queue(), gpu.stream().queue(), access)
    }

    /// Notes an access that was just queued on `gpu`'s stream, with its ticket.
    #[inline]
    pub fn end_on(&self, gpu: &Gpu, access: Access, ticket: u64) {
        let (home, queue) = (self.gpu.stream().queue(), gpu.stream().queue());
        self.usage.end(home, queue, access, ticket);
    }

    /// Queues work on the memory's own stream.
    pub fn access<R>(&self, access: Access, work: impl FnOnce(&Backend) -> Result<R>) -> Result<R> {
        self.begin_on(&self.gpu, access)?;
        let result = work(self.gpu.backend());
        // Also after an error, before which a part may have been queued.
        self.end(access);
        result
    }

    /// Waits on the host for what an access by the host must come after.
    pub fn wait_on_host(&self, access: Access) -> Result<()> {
        self.usage.wait_on_host(self.gpu.stream().queue(), access)
    }

    fn end(&self, access: Access) {
        let ticket = ticket(self.gpu.stream().queue());
        self.end_on(&self.gpu, access, ticket);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let kind = self.gpu.memory_kind();
        // If the device does not take the wait, its context is lost, and the memory with it.
        if self.begin_on(&self.gpu, Access::Write).is_ok() {
            // SAFETY: the memory is from `allocate` with the same size, its owner ends here, and all uses on other
            // streams come before this.
            unsafe { self.gpu.backend().free(kind, self.address, self.bytes) };
        }
    }
}
