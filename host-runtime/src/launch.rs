//! A launch: from a kernel instance, a shape and arguments to work in the device's queue.
//!
//! In: what the macro expansion collected. Out: nothing, or the error that stops the launch. The order of the checks is
//! the same on both back ends: devices, shape, then the kernel's own limits.

use std::sync::OnceLock;

use gpu_std::kernel::{KernelInstance, KernelRecord};
use gpu_std::shared::DYNAMIC_ALIGN;

use crate::argument::Arguments;
use crate::bound::{BoundLaunch, Params};
use crate::config::LaunchConfig;
use crate::cuda::CudaPrepared;
use crate::dim::ToDim;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::graph::capture;
use crate::limits::{self, Extents, Limits, OwnBlock};
use crate::profile::{Operation, WorkKind};
use crate::registry::CompiledKernel;
use crate::simulator::SimulatorPrepared;
use crate::stream::Backend;

/// Queues a launch of `K`. Its errors are those of the shape, of the devices and of the loaded code; what happens in
/// the kernel comes out of the next wait.
///
/// # Safety
///
/// `params` points to the parameter struct of `K` (`K::RECORD.params_size` bytes), which is copied before this returns.
/// The views in it are from [`KernelArg::raw`](crate::argument::KernelArg::raw) with `arguments`, of arrays that are
/// borrowed at least until this returns, and of host data that is.
#[inline]
pub unsafe fn launch<K: KernelInstance>(
    config: &LaunchConfig,
    arguments: Arguments,
    params: *const u8,
) -> Result<()> {
    // SAFETY: as the caller promises.
    unsafe { launch_record(K::RECORD, config, arguments, params) }
}

/// [`launch`] without the type.
///
/// # Safety
///
/// As for [`launch`].
pub(crate) unsafe fn launch_record(
    record: &'static KernelRecord,
    config: &LaunchConfig,
    mut arguments: Arguments,
    params: *const u8,
) -> Result<()> {
    // SAFETY: the arrays are borrowed, as the caller promises.
    let gpu = match unsafe { arguments.device(config.gpu.as_ref()) }? {
        Some(gpu) => gpu,
        None => default_gpu()?,
    };
    let backend = gpu.backend();
    let Some(extents) = extents(record, config, backend)? else {
        // SAFETY: the host data is borrowed, as the caller promises.
        return unsafe { arguments.finish() };
    };
    if !capture::is_ordinary() {
        // SAFETY: as the caller promises.
        let (params, uses) = unsafe { (Params::copy(record, params), arguments.keep(gpu)?) };
        return capture::record_launch(gpu, record, Some(extents), &params, &uses);
    }
    // SAFETY: the arrays are borrowed, as the caller promises.
    let turn = unsafe { arguments.begin(gpu) }?;
    let operation = || Operation {
        name: record.name,
        kind: WorkKind::Launch,
        // SAFETY: the arrays are borrowed, as the caller promises.
        bytes: unsafe { arguments.bytes() },
        shape: Some([extents.grid, extents.block]),
    };
    backend
        .profiling()
        .measure(backend, operation, || match backend {
            // SAFETY: as the caller promises.
            Backend::Cuda(stream) => unsafe { stream.launch(record, &extents, params) },
            // SAFETY: as the caller promises.
            Backend::Simulator(stream) => unsafe { stream.launch(record, &extents, params) },
        })?;
    // SAFETY: the arrays are borrowed, as the caller promises.
    unsafe { arguments.end(gpu) };
    drop(turn);
    // SAFETY: the host data is borrowed, as the caller promises.
    unsafe { arguments.finish() }
}

/// The launch and its arguments, for later: see [`launch`].
///
/// # Safety
///
/// As for [`launch`], with arrays that are borrowed for `'a`.
pub unsafe fn bind<'a, K: KernelInstance>(
    config: LaunchConfig,
    arguments: Arguments,
    params: *const u8,
) -> BoundLaunch<'a> {
    // SAFETY: as the caller promises.
    unsafe { BoundLaunch::new::<K>(config, arguments, params) }
}

/// A launch whose kernel is loaded on a stream, and whose shape is checked.
pub(crate) enum Prepared {
    Cuda(CudaPrepared),
    Simulator(SimulatorPrepared),
}

impl Prepared {
    pub fn extents(&self) -> Extents {
        match self {
            Self::Cuda(prepared) => prepared.extents,
            Self::Simulator(prepared) => prepared.extents,
        }
    }

    /// Whether it uses the barrier of its stream's grids.
    pub fn waits_for_grid(&self) -> bool {
        match self {
            Self::Cuda(prepared) => prepared.waits_for_grid(),
            Self::Simulator(_) => false,
        }
    }
}

impl Backend {
    /// Loads the kernel and checks the shape, all but what a launch may name anew.
    pub fn prepare(&self, record: &'static KernelRecord, extents: &Extents) -> Result<Prepared> {
        match self {
            Self::Cuda(stream) => stream.prepare_replay(record, extents).map(Prepared::Cuda),
            Self::Simulator(stream) => {
                let prepared = stream.device.prepare(record, extents)?;
                Ok(Prepared::Simulator(prepared))
            }
        }
    }

    /// Queues a launch that was prepared on this stream.
    ///
    /// # Safety
    ///
    /// As for [`launch`], with memory in place of arrays.
    #[inline]
    pub unsafe fn launch_prepared(&self, prepared: &Prepared, params: *const u8) -> Result<()> {
        match (self, prepared) {
            // SAFETY: as the caller promises.
            (Self::Cuda(stream), Prepared::Cuda(prepared)) => unsafe {
                stream.replay(prepared, params)
            },
            // SAFETY: as the caller promises.
            (Self::Simulator(stream), Prepared::Simulator(prepared)) => unsafe {
                stream.replay(prepared, params)
            },
            _ => unreachable!("a launch is queued on the stream that it was prepared on"),
        }
    }
}

#[inline]
pub(crate) fn extents(
    record: &'static KernelRecord,
    config: &LaunchConfig,
    backend: &Backend,
) -> Result<Option<Extents>> {
    let mut own = OwnBlock::of(record);
    if config.auto_block && own.exact.is_none() {
        own.suggested = suggested_block(record, config, backend)?;
    }
    limits::resolve(record.name, config, backend.limits(), own)
}

/// The threads of a block that the device's driver suggests; the simulator has no driver.
fn suggested_block(
    record: &'static KernelRecord,
    config: &LaunchConfig,
    backend: &Backend,
) -> Result<Option<u32>> {
    let Backend::Cuda(stream) = backend else {
        return Ok(None);
    };
    // What is out of range is refused when the shape is known.
    let shared_bytes = u32::try_from(config.shared_bytes).unwrap_or(0);
    let suggestion = stream.suggested_block(record, shared_bytes)?;
    Ok(Some(suggestion.threads))
}

/// The most blocks of `K` that run at once with the device and shared memory of `config` and so many threads each.
///
/// # Errors
///
/// If the block is over a limit of the device, or the device code cannot be loaded.
pub fn max_cooperative_blocks<K: KernelInstance>(
    config: &LaunchConfig,
    block: impl ToDim,
) -> Result<u64> {
    blocks_at_once(K::RECORD, config.clone().grid(1).block(block))
}

pub(crate) fn blocks_at_once(
    record: &'static KernelRecord,
    mut config: LaunchConfig,
) -> Result<u64> {
    config.cluster = None;
    let gpu = match &config.gpu {
        Some(gpu) => gpu,
        None => default_gpu()?,
    };
    let backend = gpu.backend();
    let Some(extents) = extents(record, &config, backend)? else {
        return Ok(0);
    };
    match backend {
        Backend::Cuda(stream) => stream.max_cooperative_blocks(record, &extents),
        Backend::Simulator(stream) => stream.device.max_cooperative_blocks(record, &extents),
    }
}

/// The device of launches that name none. An error is not kept: a later launch tries again.
pub(crate) fn default_gpu() -> Result<&'static Gpu> {
    static DEFAULT: OnceLock<Gpu> = OnceLock::new();
    if let Some(gpu) = DEFAULT.get() {
        return Ok(gpu);
    }
    let gpu = Gpu::new()?;
    Ok(DEFAULT.get_or_init(|| gpu))
}

/// Checks that the kernel's index is unique in a launch of this shape.
#[inline]
pub(crate) fn check_dimensions(
    kernel: &'static str,
    supported: u32,
    extents: &Extents,
) -> Result<()> {
    if extents.dimensions() <= supported {
        return Ok(());
    }
    Err(Error::TooManyDimensions {
        kernel,
        supported,
        grid: extents.grid,
        block: extents.block,
    })
}

/// Checks the kernel's static shared memory.
#[inline]
pub(crate) fn check_shared(
    kernel: &'static str,
    compiled: &CompiledKernel,
    limit: u32,
    device: impl FnOnce() -> String,
) -> Result<()> {
    if compiled.shared_bytes <= limit {
        return Ok(());
    }
    Err(Error::SharedMemory {
        kernel,
        device: device(),
        wanted: compiled.shared_bytes as usize,
        limit: limit as usize,
    })
}

/// Bytes of a block's shared memory before the dynamic part, which begins where its alignment allows.
#[inline]
pub(crate) fn before_dynamic(static_bytes: u32) -> u32 {
    static_bytes.next_multiple_of(DYNAMIC_ALIGN as u32)
}

/// Checks the launch's dynamic shared memory beside the kernel's static arrays, and gives its bytes.
#[inline]
pub(crate) fn check_dynamic_shared(
    kernel: &'static str,
    static_bytes: u32,
    extents: &Extents,
    limits: &Limits,
    device: impl FnOnce() -> String,
) -> Result<u32> {
    if extents.shared_bytes == 0 {
        return Ok(0);
    }
    let before = before_dynamic(static_bytes);
    let limit = limits.all_shared_bytes;
    u32::try_from(extents.shared_bytes)
        .ok()
        .filter(|&bytes| bytes <= limit.saturating_sub(before))
        .ok_or_else(|| Error::DynamicSharedMemory {
            kernel,
            device: device(),
            given: extents.shared_bytes,
            static_bytes,
            limit,
        })
}
