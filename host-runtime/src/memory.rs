//! An allocation on a device that frees itself, and the order of its uses.
//!
//! In: a stream, a kind of memory and a number of bytes. Out: memory that belongs to that stream, its home: copies and fills
//! of the memory are queued there. Launches on other streams may use it too ([`ordering`](crate::ordering)), and it is
//! freed after them all. Arrays own it, and plans and graphs that replay work on it.

use std::sync::Arc;

use crate::error::Result;
use crate::gpu::Gpu;
use crate::graph::capture;
use crate::ordering::{Access, Ticket, Turn, Usage, ticket};
use crate::stream::Backend;

/// The alignment of every array on every device, in bytes: what CUDA guarantees.
pub(crate) const ALIGN: usize = 256;

/// The address of an array without bytes: not null and aligned for any type, as a slice demands, and never accessed.
const NOWHERE: u64 = 1 << 12;

const _: () = assert!((NOWHERE as usize).is_multiple_of(ALIGN));

/// An allocation. Clones are the same one, which is freed with the last of them.
#[derive(Clone)]
pub(crate) struct Memory {
    allocation: Arc<Allocation>,
}

struct Allocation {
    gpu: Gpu,
    address: u64,
    bytes: usize,
    usage: Usage,
    /// What gives back memory of another library, which is not freed here.
    release: Option<Release>,
}

/// Gives memory back to the library that it is from.
pub(crate) type Release = Box<dyn FnOnce() + Send + Sync>;

impl Memory {
    /// Memory of so many bytes, not yet written.
    pub fn new(gpu: &Gpu, bytes: usize) -> Result<Self> {
        let address = match bytes {
            0 => NOWHERE,
            _ => gpu.backend().allocate(gpu.memory_kind(), bytes)?,
        };
        let memory = Self::of(gpu, address, bytes, None);
        if bytes > 0 {
            memory.end(Access::Write);
        }
        Ok(memory)
    }

    /// No memory.
    pub fn nothing(gpu: &Gpu) -> Self {
        Self::of(gpu, NOWHERE, 0, None)
    }

    /// Memory of another library, which nothing uses when this is called.
    pub fn foreign(gpu: &Gpu, address: u64, bytes: usize, release: Release) -> Self {
        let address = if bytes == 0 { NOWHERE } else { address };
        Self::of(gpu, address, bytes, Some(release))
    }

    fn of(gpu: &Gpu, address: u64, bytes: usize, release: Option<Release>) -> Self {
        Self {
            allocation: Arc::new(Allocation {
                gpu: gpu.clone(),
                address,
                bytes,
                usage: Usage::default(),
                release,
            }),
        }
    }

    /// The device, with the stream that the memory belongs to.
    #[inline]
    pub fn gpu(&self) -> &Gpu {
        &self.allocation.gpu
    }

    /// Where it begins.
    #[inline]
    pub fn address(&self) -> u64 {
        self.allocation.address
    }

    /// Its size; 0 for none, and then the address is not to be accessed.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.allocation.bytes
    }

    /// A clone for a plan or a graph, which uses it without a borrow.
    pub fn keep(&self) -> Self {
        self.allocation.usage.keep();
        self.clone()
    }

    /// Whether a plan or a graph may use it meanwhile, so that a use needs a [`Turn`].
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.allocation.usage.is_kept()
    }

    /// Whether a plan or a graph has it.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.allocation) > 1
    }

    /// Whether both are one allocation.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.allocation, &other.allocation)
    }

    /// Whether a use on `gpu`'s stream is one at home that has nothing to wait for, and needs no turn.
    #[inline]
    pub fn is_simple_on(&self, gpu: &Gpu) -> bool {
        self.gpu().stream().is(gpu.stream()) && self.allocation.usage.is_simple()
    }

    /// Makes `gpu`'s stream wait for what an access on it must come after.
    #[inline]
    pub fn begin_on(&self, gpu: &Gpu, access: Access) -> Result<()> {
        self.allocation.begin_on(gpu, access)
    }

    /// Notes an access that was just queued on `gpu`'s stream, with its ticket.
    #[inline]
    pub fn end_on(&self, gpu: &Gpu, access: Access, ticket: &Ticket<'_>) {
        let (home, queue) = (self.gpu().stream().queue(), gpu.stream().queue());
        self.allocation.usage.end(home, queue, access, ticket);
    }

    /// Queues work on the memory's own stream, or lets a capture record it.
    pub fn access<R>(&self, access: Access, work: impl FnOnce(&Backend) -> Result<R>) -> Result<R> {
        if !capture::is_ordinary() {
            return capture::with_use(self, access, || work(self.gpu().backend()));
        }
        let _turn = self.is_kept().then(Turn::borrowed);
        self.begin_on(self.gpu(), access)?;
        let result = work(self.gpu().backend());
        // Also after an error, before which a part may have been queued.
        self.end(access);
        result
    }

    /// Waits on the host for what an access by the host must come after.
    pub fn wait_on_host(&self, access: Access) -> Result<()> {
        capture::refuse("a wait for an array", "wait after the graph was launched")?;
        let allocation = &*self.allocation;
        (allocation.usage).wait_on_host(allocation.gpu.stream().queue(), access)
    }

    fn end(&self, access: Access) {
        let ticket = ticket(self.gpu().stream().queue());
        self.end_on(self.gpu(), access, &ticket);
    }
}

impl Allocation {
    #[inline]
    fn begin_on(&self, gpu: &Gpu, access: Access) -> Result<()> {
        self.usage
            .begin(self.gpu.stream().queue(), gpu.stream().queue(), access)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            // Its library knows nothing of the streams. If the wait fails, the context is lost, and no kernel runs.
            let home = self.gpu.stream().queue();
            let _ = self.usage.wait_on_host(home, Access::Write);
            return release();
        }
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
