//! A kernel that was compiled when the program runs, and its launch: the same as that of the program's own kernels.

use std::fmt;

use gpu_std::kernel::KernelRecord;
use ptx_report::KernelReport;

use crate::argument::Arguments;
use crate::config::{LaunchConfig, shape_methods};
use crate::dim::ToDim;
use crate::error::Result;
use crate::explain::explain_record;
use crate::gpu::Gpu;
use crate::inspect::{KernelInfo, inspect_record};
use crate::launch::{blocks_at_once, launch_record};

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

    shape_methods!();

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
