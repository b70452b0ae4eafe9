//! A kernel of CUDA C and its launch.
//!
//! In: a shape, and the arguments as [`cuda_kernel!`](crate::cuda_kernel) has collected them. The checks and their messages
//! are those of kernels in Rust.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use ptx_report::Occupancy;

use super::module::Loaded;
use super::signature::Parameter;
use crate::argument::{Arguments, different_devices};
use crate::config::{LaunchConfig, shape_methods};
use crate::cuda::ForeignKernel;
use crate::dim::ToDim;
use crate::error::Result;
use crate::graph::capture;
use crate::inspect::{KernelAttributes, SuggestedBlock};
use crate::limits::{self, Extents, OwnBlock};
use crate::profile::{Operation, WorkKind};
use crate::stream::Backend;

/// A kernel of CUDA C with its signature: what [`cuda_kernel!`](crate::cuda_kernel) declares.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the signature of a CUDA C kernel",
    label = "only a name that `cuda_kernel!` declares can be asked for"
)]
pub trait CudaKernel: Sized {
    /// Its name in the declaration, and in messages.
    const NAME: &'static str;
    /// The declaration.
    const DECLARATION: &'static str;

    /// The declared parameters.
    #[doc(hidden)]
    fn parameters() -> Vec<Parameter>;

    /// The kernel of a function whose parameters are those.
    #[doc(hidden)]
    fn of(function: CudaFunction) -> Self;
}

/// A function of a module and the shape of a launch so far: what is inside of the types that `cuda_kernel!` makes.
#[derive(Clone)]
pub struct CudaFunction {
    module: Arc<Loaded>,
    kernel: ForeignKernel,
    config: LaunchConfig,
    cooperative: bool,
}

impl CudaFunction {
    pub(super) fn new(module: Arc<Loaded>, kernel: ForeignKernel) -> Self {
        Self {
            module,
            kernel,
            config: LaunchConfig::default(),
            cooperative: false,
        }
    }

    fn with(&self, config: impl FnOnce(LaunchConfig) -> LaunchConfig) -> Self {
        Self {
            config: config(self.config.clone()),
            ..self.clone()
        }
    }

    shape_methods!();

    /// Asks for all blocks to run at once.
    #[inline]
    pub fn cooperative(&self) -> Self {
        Self {
            cooperative: true,
            ..self.clone()
        }
    }

    /// The most blocks of so many threads that run at once.
    pub fn max_cooperative_blocks(&self, block: impl ToDim) -> Result<u64> {
        let stream = self.module.stream()?;
        let config = self.config.clone().grid(1).block(block).cluster(1);
        match self.extents(&config)? {
            Some(extents) => stream.foreign_blocks_at_once(&self.kernel, &extents),
            None => Ok(0),
        }
    }

    /// Registers, memory and the most threads.
    pub fn attributes(&self) -> Result<KernelAttributes> {
        self.module.stream()?.foreign_attributes(&self.kernel)
    }

    /// How many blocks run on a multiprocessor at once.
    pub fn occupancy(&self, block: u32, shared_bytes: u32) -> Result<Occupancy> {
        let stream = self.module.stream()?;
        stream.foreign_occupancy(&self.kernel, block, shared_bytes)
    }

    /// The block size that the driver suggests.
    pub fn suggested_block(&self, shared_bytes: u32) -> Result<SuggestedBlock> {
        let stream = self.module.stream()?;
        stream.foreign_suggested_block(&self.kernel, shared_bytes)
    }

    fn extents(&self, config: &LaunchConfig) -> Result<Option<Extents>> {
        let limits = self.module.gpu().backend().limits();
        limits::resolve(self.kernel.name(), config, limits, OwnBlock::default())
    }

    /// No arguments yet, of this launch.
    pub fn arguments(&self) -> Arguments {
        Arguments::of(&self.config).or_on(self.module.gpu())
    }

    /// Queues the launch.
    ///
    /// # Safety
    ///
    /// `parameters` point to values with the sizes of the kernel's parameters, in their order. The addresses among them are
    /// of arrays and host data that are borrowed at least until this returns and that `arguments` knows of. The kernel does nothing with
    /// them that it may not.
    pub unsafe fn launch(
        &self,
        mut arguments: Arguments,
        parameters: &mut [*mut c_void],
    ) -> Result<()> {
        let own = self.module.gpu();
        // SAFETY: the arrays are borrowed, as the caller promises.
        let gpu = unsafe { arguments.device(self.config.gpu.as_ref()) }?.unwrap_or(own);
        let stream = match gpu.backend() {
            Backend::Cuda(stream) if gpu.backend().same_device(own.backend()) => stream,
            _ => return Err(different_devices(own, gpu)),
        };
        let Some(extents) = self.extents(&self.config)? else {
            // SAFETY: the host data is borrowed like the arrays.
            return unsafe { arguments.finish() };
        };
        capture::refuse("a launch of CUDA C", "launch it before or after the graph")?;
        // SAFETY: the arrays are borrowed, as the caller promises.
        let turn = unsafe { arguments.begin(gpu) }?;
        let operation = || Operation {
            name: self.kernel.name(),
            kind: WorkKind::Launch,
            // SAFETY: the arrays are borrowed, as the caller promises.
            bytes: unsafe { arguments.bytes() },
            shape: Some([extents.grid, extents.block]),
        };
        let backend = gpu.backend();
        backend.profiling().measure(backend, operation, || {
            // SAFETY: as the caller promises; the module stays loaded until its work is done.
            unsafe {
                stream.launch_foreign(
                    &self.kernel,
                    &extents,
                    self.cooperative,
                    parameters.as_mut_ptr(),
                )
            }
        })?;
        // SAFETY: the arrays are borrowed, as the caller promises.
        unsafe { arguments.end(gpu) };
        drop(turn);
        // SAFETY: the host data is borrowed like the arrays.
        unsafe { arguments.finish() }
    }
}

impl fmt::Debug for CudaFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {}, {:?}",
            self.kernel.name(),
            self.module.name(),
            self.config
        )
    }
}
