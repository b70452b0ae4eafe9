//! The back end without a GPU: `gpu-sim` runs the kernels, and device memory is host memory.
//!
//! A launch runs before it returns, but what goes wrong inside comes out of the next call on the stream, as on a GPU: of a
//! wait, or of a launch, which is refused.

use std::alloc::Layout;
use std::any::TypeId;
use std::ops::RangeInclusive;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::available_parallelism;

use gpu_sim::{COOPERATIVE_THREADS, Constants, DeviceMemory, Dim3, Fault, Launch};
use gpu_std::kernel::KernelRecord;

use crate::checks::Checks;
use crate::cluster;
use crate::error::{Error, KernelPanic, Result};
use crate::host_memory::free_and_total;
use crate::launch::{check_dimensions, check_dynamic_shared, check_shared};
use crate::limits::{Extents, Limits};
use crate::memory::ALIGN;
use crate::memory_kind::MemoryKind;
use crate::orders;
use crate::pool::PoolUsage;
use crate::profile::Profiling;
use crate::progress::Listening;
use crate::properties::DeviceProperties;
use crate::registry;

/// From this size on an allocation is compared with the machine's memory: Linux would grant it, and kill the process
/// when it is used.
const LARGE: usize = 256 << 20;

/// The CPU simulator: what its streams share.
pub(crate) struct Simulator {
    /// Its number in this process.
    number: u64,
    name: String,
    checks: Checks,
    memory: DeviceMemory,
    /// Held by a launch that runs in several orders.
    alone: Mutex<()>,
    constants: RwLock<Constants>,
    profiling: Profiling,
    listening: Listening,
    /// Bytes of arrays of the pool that are alive, and the most that they were.
    used: AtomicU64,
    used_peak: AtomicU64,
}

/// A launch that was checked.
#[derive(Clone, Copy)]
pub(crate) struct SimulatorPrepared {
    record: &'static KernelRecord,
    pub extents: Extents,
    /// Bytes of dynamic shared memory.
    dynamic_shared: u32,
    prints: bool,
}

/// A stream of the simulator.
pub(crate) struct SimulatorStream {
    pub device: Arc<Simulator>,
    pub priority: i32,
    fault: Mutex<Option<Error>>,
}

impl Simulator {
    fn new(checks: Checks) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            name: format!(
                "CPU simulator ({cores} core{})",
                if cores == 1 { "" } else { "s" }
            ),
            checks,
            memory: DeviceMemory::new(checks.bounds, checks.init),
            alone: Mutex::default(),
            constants: RwLock::default(),
            profiling: Profiling::default(),
            listening: Listening::default(),
            used: AtomicU64::new(0),
            used_peak: AtomicU64::new(0),
        }
    }

    pub fn profiling(&self) -> &Profiling {
        &self.profiling
    }

    pub fn listening(&self) -> &Listening {
        &self.listening
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the host gives it.
    pub fn properties(&self) -> DeviceProperties {
        let limits = Limits::SIMULATOR;
        let (free_bytes, memory_bytes) = free_and_total().unwrap_or_default();
        DeviceProperties {
            name: self.name.clone(),
            compute_capability: None,
            multiprocessors: available_parallelism().map_or(1, usize::from) as u32,
            warp_size: 32,
            threads_per_block: limits.threads_per_block,
            block: limits.block,
            grid: limits.grid,
            threads_per_multiprocessor: 0,
            registers_per_multiprocessor: 0,
            shared_bytes_per_block: limits.shared_bytes,
            all_shared_bytes_per_block: limits.all_shared_bytes,
            l2_bytes: 0,
            memory_bytes,
            free_bytes,
            pci: None,
            driver: None,
        }
    }

    /// Sets a constant, for the launches from now on.
    ///
    /// # Safety
    ///
    /// `value` points to a value of the constant's type, whose layout is `layout`.
    unsafe fn set_constant(&self, key: TypeId, value: *const u8, layout: Layout) {
        let mut constants = self
            .constants
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as the caller promises.
        unsafe { constants.set(key, value, layout) };
    }

    /// Checks a launch.
    pub fn prepare(
        &self,
        record: &'static KernelRecord,
        extents: &Extents,
    ) -> Result<SimulatorPrepared> {
        let kernel = registry::find(record).map(|found| found.kernel);
        let dynamic_shared = self.check(record, extents)?;
        let cooperative = kernel.is_some_and(|kernel| kernel.cooperative);
        cluster::check(
            record.name,
            cooperative,
            extents,
            &Limits::SIMULATOR,
            || self.name.clone(),
        )?;
        if cooperative && extents.grid.count() > blocks_at_once(extents.block) {
            return Err(self.too_many_blocks(record.name, extents.grid, extents.block));
        }
        Ok(SimulatorPrepared {
            record,
            extents: *extents,
            dynamic_shared,
            prints: kernel.is_some_and(|kernel| kernel.prints),
        })
    }

    /// Runs a kernel, and gives what went wrong in it.
    ///
    /// # Safety
    ///
    /// As for [`launch`](crate::launch::launch).
    pub unsafe fn run(&self, prepared: &SimulatorPrepared, params: *const u8) -> Option<Error> {
        let SimulatorPrepared {
            record, extents, ..
        } = prepared;
        // No constant changes while the kernel runs.
        let constants = self
            .constants
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let launch = Launch {
            grid: extents.grid,
            block: extents.block,
            cluster: extents.cluster,
            entry: record.entry,
            params,
            shared_limit: Limits::SIMULATOR.shared_bytes as usize,
            dynamic_shared: prepared.dynamic_shared,
            in_order: prepared.prints,
            checks: self.checks.of_launch(record),
            constants: &raw const *constants,
        };
        // SAFETY: the entry is that of the parameters' kernel; a safe kernel may run in all threads at once, and for an
        // unsafe one the caller of its launch promised so. The arguments live until this returns.
        let ran = unsafe {
            match self.checks.schedule {
                // What prints would print several times.
                Some(seed) if !launch.in_order => {
                    let _alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
                    orders::run(&launch, record, &self.memory, seed)
                }
                _ => run_as(record, &launch),
            }
        };
        let fault = ran.err();
        fault.map(|fault| self.error_of(&launch, record.name, fault))
    }

    /// The most blocks of the kernel that run at once.
    pub fn max_cooperative_blocks(
        &self,
        record: &'static KernelRecord,
        extents: &Extents,
    ) -> Result<u64> {
        self.check(record, extents)?;
        Ok(blocks_at_once(extents.block))
    }

    /// Checks a launch, and gives its bytes of dynamic shared memory.
    fn check(&self, record: &'static KernelRecord, extents: &Extents) -> Result<u32> {
        let limits = &Limits::SIMULATOR;
        let device = || self.name.clone();
        let mut static_bytes = 0;
        if let Some(found) = registry::find(record) {
            check_dimensions(record.name, found.kernel.dimensions, extents)?;
            check_shared(record.name, found.kernel, limits.shared_bytes, device)?;
            static_bytes = found.kernel.shared_bytes;
        }
        check_dynamic_shared(record.name, static_bytes, extents, limits, device)
    }

    fn too_many_blocks(&self, kernel: &'static str, grid: Dim3, block: Dim3) -> Error {
        Error::CooperativeGrid {
            kernel,
            device: self.name.clone(),
            blocks: grid.count(),
            threads: block.count(),
            limit: blocks_at_once(block),
        }
    }

    fn error_of(&self, launch: &Launch, kernel: &'static str, fault: Fault) -> Error {
        match fault {
            Fault::Panic(panic) => Error::KernelPanic(Box::new(KernelPanic {
                kernel: Some(kernel),
                message: panic.message,
                file: panic.file,
                line: panic.line,
                column: panic.column,
                block: panic.block,
                thread: panic.thread,
            })),
            Fault::Check(fault) => Error::Check { kernel, fault },
            Fault::Synchronisation(fault) => Error::Synchronisation { kernel, fault },
            Fault::SharedMemory { wanted, limit } => Error::SharedMemory {
                kernel,
                device: self.name.clone(),
                wanted,
                limit,
            },
            Fault::CooperativeGrid => self.too_many_blocks(kernel, launch.grid, launch.block),
            Fault::Dimensions {
                kernel: supported,
                grid,
                block,
            } => Error::TooManyDimensions {
                kernel,
                supported,
                grid,
                block,
            },
        }
    }

    /// Device memory of any kind, which is the host's.
    pub fn allocate(&self, kind: MemoryKind, bytes: usize) -> Result<u64> {
        // The host may use memory that it can reach for input and output, which the system does not do to closed pages.
        let guard = matches!(kind, MemoryKind::Pool | MemoryKind::Plain);
        // SAFETY: the caller asks for more than zero bytes.
        let allocate = |layout| unsafe { self.memory.allocate(layout, guard) };
        let first = self.allocate_with(bytes, allocate)?;
        if kind == MemoryKind::Pool {
            let used = self.used.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
            self.used_peak.fetch_max(used, Ordering::Relaxed);
        }
        Ok(first.expose_provenance().get() as u64)
    }

    /// Memory of the host.
    pub fn allocate_host(&self, bytes: usize) -> Result<NonNull<u8>> {
        // SAFETY: the caller asks for more than zero bytes.
        self.allocate_with(bytes, |layout| unsafe { std::alloc::alloc_zeroed(layout) })
    }

    fn allocate_with(
        &self,
        bytes: usize,
        allocate: impl FnOnce(Layout) -> *mut u8,
    ) -> Result<NonNull<u8>> {
        let memory = if bytes < LARGE {
            None
        } else {
            free_and_total()
        };
        let fits = memory.is_none_or(|(_, total)| bytes <= total);
        let block = match Layout::from_size_align(bytes, ALIGN) {
            Ok(layout) if fits => allocate(layout),
            _ => std::ptr::null_mut(),
        };
        NonNull::new(block).ok_or_else(|| {
            let (free, total) = memory.or_else(free_and_total).unwrap_or_default();
            Error::OutOfMemory {
                device: self.name.clone(),
                wanted: bytes,
                free,
                total,
            }
        })
    }

    /// # Safety
    ///
    /// `address` is from `allocate` of the same kind and size, and nothing uses it later.
    pub unsafe fn free(&self, kind: MemoryKind, address: u64, bytes: usize) {
        // SAFETY: `allocate` accepted the same size and alignment, and the block is from it.
        unsafe {
            let layout = Layout::from_size_align_unchecked(bytes, ALIGN);
            let first = std::ptr::with_exposed_provenance_mut(address as usize);
            self.memory.free(first, layout);
        }
        if kind == MemoryKind::Pool {
            self.used.fetch_sub(bytes as u64, Ordering::Relaxed);
        }
    }

    /// # Safety
    ///
    /// The memory is from `allocate_host` of the same size, and nothing uses it later.
    pub unsafe fn free_host(&self, first: NonNull<u8>, bytes: usize) {
        // SAFETY: `allocate_host` accepted the same size and alignment, and the block is from it.
        unsafe {
            let layout = Layout::from_size_align_unchecked(bytes, ALIGN);
            std::alloc::dealloc(first.as_ptr(), layout);
        }
    }

    /// The pool is the host's heap, which holds nothing for later.
    pub fn pool_usage(&self) -> PoolUsage {
        let (used, peak) = (&self.used, &self.used_peak);
        let (used, peak) = (used.load(Ordering::Relaxed), peak.load(Ordering::Relaxed));
        PoolUsage {
            used,
            reserved: used,
            used_peak: peak,
            reserved_peak: peak,
        }
    }

    pub fn reset_pool_peaks(&self) {
        let used = self.used.load(Ordering::Relaxed);
        self.used_peak.store(used, Ordering::Relaxed);
    }
}

impl SimulatorStream {
    /// The priorities that a stream can have.
    pub const PRIORITIES: RangeInclusive<i32> = -5..=0;

    /// The first stream of a simulator of its own.
    pub fn open(checks: Checks) -> Self {
        Self::of(Arc::new(Simulator::new(checks)), 0)
    }

    /// The first stream of a simulator with the checks that the environment asks for. If it asks for what there is not,
    /// the first call on the stream says so.
    pub fn open_as_asked() -> Self {
        match Checks::from_environment() {
            Ok(checks) => Self::open(checks),
            Err(error) => {
                let stream = Self::open(Checks::on());
                *stream.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                stream
            }
        }
    }

    /// Another stream of the same simulator.
    pub fn another(&self, priority: i32) -> Self {
        Self::of(self.device.clone(), priority)
    }

    fn of(device: Arc<Simulator>, priority: i32) -> Self {
        Self {
            device,
            priority,
            fault: Mutex::new(None),
        }
    }

    /// Runs a kernel, or gives the fault of an earlier one. A fault of this one is kept for the next call.
    ///
    /// # Safety
    ///
    /// As for [`launch`](crate::launch::launch).
    pub unsafe fn launch(
        &self,
        record: &'static KernelRecord,
        extents: &Extents,
        params: *const u8,
    ) -> Result<()> {
        self.take_fault()?;
        let prepared = self.device.prepare(record, extents)?;
        // SAFETY: as the caller promises.
        unsafe { self.run(&prepared, params) };
        Ok(())
    }

    /// [`launch`](Self::launch) of what was prepared.
    ///
    /// # Safety
    ///
    /// As for [`launch`](crate::launch::launch).
    pub unsafe fn replay(&self, prepared: &SimulatorPrepared, params: *const u8) -> Result<()> {
        self.take_fault()?;
        // SAFETY: as the caller promises.
        unsafe { self.run(prepared, params) };
        Ok(())
    }

    /// Runs a kernel, and keeps its fault for the next call if it is the first.
    ///
    /// # Safety
    ///
    /// As for [`launch`](crate::launch::launch).
    pub unsafe fn run(&self, prepared: &SimulatorPrepared, params: *const u8) {
        // SAFETY: as the caller promises.
        if let Some(error) = unsafe { self.device.run(prepared, params) } {
            let mut kept = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get_or_insert(error);
        }
    }

    /// Sets a constant of the device, for the launches from now on.
    ///
    /// # Safety
    ///
    /// `value` points to a value of the constant's type, whose layout is `layout`.
    pub unsafe fn set_constant(&self, key: TypeId, value: *const u8, layout: Layout) -> Result<()> {
        self.take_fault()?;
        // SAFETY: as the caller promises.
        unsafe { self.device.set_constant(key, value, layout) };
        Ok(())
    }

    /// The first fault since the last call, as an error.
    pub fn take_fault(&self) -> Result<()> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.take().map_or(Ok(()), Err)
    }
}

impl Drop for SimulatorStream {
    fn drop(&mut self) {
        if let Err(error) = self.take_fault() {
            eprintln!(
                "oxwarp: the last use of {} ended with an error that nothing waited for: {error}",
                self.device.name
            );
        }
    }
}

/// Runs a launch on the simulator that the kernel's code asks where it is: a kernel that was compiled since the program
/// started has one of its own.
///
/// # Safety
///
/// As for [`gpu_sim::run`].
pub(crate) unsafe fn run_as(
    record: &KernelRecord,
    launch: &Launch,
) -> std::result::Result<(), Fault> {
    match registry::compiled_since(record) {
        // SAFETY: as the caller promises.
        None => unsafe { gpu_sim::run(launch) },
        Some(entry) => {
            // SAFETY: as the caller promises.
            let ran = unsafe { (entry.run)(launch) };
            ran.map_err(|fault| {
                let own = fault.clone();
                // Its texts are from another allocator, if the program has chosen one.
                std::mem::forget(fault);
                own
            })
        }
    }
}

/// The most blocks that can wait at a grid barrier at once.
fn blocks_at_once(block: Dim3) -> u64 {
    COOPERATIVE_THREADS / block.count()
}
