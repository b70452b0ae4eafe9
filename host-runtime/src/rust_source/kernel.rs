//! A kernel that was compiled when the program runs, and its launch: the same as that of the program's own kernels.

use std::fmt;

use gpu_std::kernel::KernelRecord;
use ptx_report::KernelReport;

use crate::argument::Arguments;
use crate::config::LaunchConfig;
use crate::dim::{Count, Items, ToDim};
use crate::error::Result;
use crate::explain::explain_record;
use crate::gpu::Gpu;
use crate::inspect::{KernelInfo, inspect_record};
use crate::launch::{blocks_at_once, launch_record};
use crate::stream::Stream;

/// A kernel's record and the shape of a launch so far: what is inside of the types that `rust_kernel!` makes.
#[derive(Clone)]
pub struct RunTimeKernel {
    record: &'static KernelRecord,
    config: LaunchConfig,
}

impl RunTimeKernel {
    pub(super) fn new(record: &'static KernelRecord) -> Self {
        Self {
            record,
            config: LaunchConfig::default(),
        }
    }

    fn with(&self, config: impl FnOnce(LaunchConfig) -> LaunchConfig) -> Self {
        Self {
            config: config(self.config.clone()),
            ..*self
        }
    }

    /// Sets the blocks of the grid.
    #[inline]
    pub fn grid(&self, grid: impl ToDim) -> Self {
        self.with(|config| config.grid(grid))
    }

    /// Sets the threads of a block.
    #[inline]
    pub fn block(&self, block: impl ToDim) -> Self {
        self.with(|config| config.block(block))
    }

    /// Asks for a thread for each item.
    #[inline]
    pub fn for_each(&self, items: impl Items) -> Self {
        self.with(|config| config.for_each(items))
    }

    /// Sets the bytes of dynamic shared memory of a block.
    #[inline]
    pub fn shared_bytes(&self, bytes: impl Count) -> Self {
        self.with(|config| config.shared_bytes(bytes))
    }

    /// Sets the blocks of a cluster.
    #[inline]
    pub fn cluster(&self, cluster: impl ToDim) -> Self {
        self.with(|config| config.cluster(cluster))
    }

    /// Chooses the stream.
    #[inline]
    pub fn on(&self, stream: impl AsRef<Stream>) -> Self {
        self.with(|config| config.on(stream))
    }

    /// The most blocks of so many threads that run at once.
    pub fn max_cooperative_blocks(&self, block: impl ToDim) -> Result<u64> {
        blocks_at_once(self.record, self.config.clone().grid(1).block(block))
    }

    /// Looks into the kernel on a device.
    pub fn inspect(&self, gpu: &Gpu) -> Result<KernelInfo> {
        inspect_record(self.record, gpu)
    }

    /// Explains the kernel without a GPU.
    pub fn explain(&self, compute_capability: Option<u32>) -> Result<KernelReport> {
        explain_record(self.record, compute_capability)
    }

    /// No arguments yet, of this launch.
    pub fn arguments(&self) -> Arguments {
        Arguments::of(&self.config)
    }

    /// Queues the launch.
    ///
    /// # Safety
    ///
    /// `parameters` points to the kernel's parameter struct, and the views in it are from `arguments`, of arrays that are
    /// borrowed at least until this returns.
    pub unsafe fn launch(&self, arguments: Arguments, parameters: *const u8) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { launch_record(self.record, &self.config, arguments, parameters) }
    }
}

impl fmt::Debug for RunTimeKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?}", self.record.name, self.config)
    }
}
