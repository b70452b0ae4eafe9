//! The back end on a CUDA device.
//!
//! A device is opened on its primary context, which stays for the life of the process. A handle's streams share its
//! [`CudaDevice`]; each [`CudaStream`] has modules of its own, because a module holds where its kernels record a panic,
//! where they print, and the barrier of a grid: what one launch leaves there another must not meet.
//!
//! `cust` does what it has (devices, contexts, streams, limits); what it lacks, and what is called often, goes through
//! `cuda-loader`'s table, which also keeps the driver's own error codes.

mod cluster;
mod constant;
mod cooperative;
mod copy;
mod event;
mod foreign;
mod graph;
mod inspect;
mod limits;
mod managed;
mod memory;
mod module;
mod nccl;
mod notify;
mod occupancy;
mod panic;
mod peer;
mod pool;
mod print;
mod properties;
mod site;
mod staging;
#[cfg(test)]
mod tests;
mod timeout;

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ops::RangeInclusive;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use cuda_loader::{Driver, DriverError, NO_DEVICE, NOT_READY};
use cust::context::Context;
use cust::device::{Device, DeviceAttribute};
use cust::stream::{Stream, StreamFlags};
use gpu_std::kernel::KernelRecord;

use crate::error::{Error, Result};
use crate::launch::{check_dimensions, check_dynamic_shared};
use crate::limits::{Extents, Limits};
use crate::profile::Profiling;
use crate::progress::Listening;
use crate::registry::{IdMap, id_of};

use constant::Constants;
pub(crate) use foreign::{ForeignKernel, ForeignModule};
use limits::StackChoice;
use module::{LoadedKernel, Modules};
use occupancy::Suggestions;
use panic::PanicInbox;
use print::{PrintCapacity, Printing};
use staging::Staging;
use timeout::{Awaited, SharedContext, TimeOut};

use event::IdleEvents;

pub(crate) use event::CudaEvent;
pub(crate) use graph::CudaGraph;
pub(crate) use nccl::NcclCommunicators;

/// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`.
const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_uint = 97;
/// `CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH`.
const CLUSTER_LAUNCH: c_uint = 120;

/// A CUDA device: what the streams of a handle share.
pub(crate) struct CudaDevice {
    driver: &'static Driver,
    context: &'static SharedContext,
    ordinal: u32,
    name: String,
    compute_capability: (u32, u32),
    limits: Limits,
    /// The pool that memory comes from, or null where the device has none.
    pool: Handle,
    constants: Constants,
    suggestions: Suggestions,
    stack_choice: StackChoice,
    /// Bytes for what the kernels of a stream print.
    print_capacity: PrintCapacity,
    profiling: Profiling,
    listening: Listening,
    idle_events: IdleEvents,
    time_out: TimeOut,
}

/// A stream of a CUDA device.
pub(crate) struct CudaStream {
    driver: &'static Driver,
    device: Arc<CudaDevice>,
    kernels: RwLock<IdMap<LoadedKernel>>,
    modules: Mutex<Modules>,
    /// The version of the device's constants that the modules have.
    constants: AtomicU64,
    panics: PanicInbox,
    /// Held while a launch of a kernel with a grid barrier is queued.
    cooperative: Mutex<()>,
    printing: Printing,
    staging: Staging,
    priority: i32,
    /// The function of the last launch.
    last_launched: AtomicPtr<c_void>,
    /// Recorded when another stream waits for this one.
    reached: Mutex<CudaEvent>,
    /// Last: dropped after what its work uses, and not at all where that may never end.
    stream: ManuallyDrop<Stream>,
}

/// A launch whose kernel is loaded on a stream, and whose shape is checked.
#[derive(Clone, Copy)]
pub(crate) struct CudaPrepared {
    kernel: LoadedKernel,
    pub extents: Extents,
    /// Bytes of dynamic shared memory.
    shared_bytes: u32,
}

impl CudaPrepared {
    /// Whether the kernel waits for its whole grid.
    pub fn waits_for_grid(&self) -> bool {
        self.kernel.grid_barrier.is_some()
    }
}

/// A handle of the driver. It may be used from any thread.
#[derive(Clone, Copy, Debug)]
struct Handle(*mut c_void);

// SAFETY: the driver's handles are valid in every thread of the process, and its functions are thread-safe.
unsafe impl Send for Handle {}

// SAFETY: as for `Send`.
unsafe impl Sync for Handle {}

/// How many CUDA devices there are, or why that cannot be said.
pub(crate) fn count() -> std::result::Result<u32, String> {
    let driver = cuda_loader::driver().map_err(|error| error.to_string())?;
    // SAFETY: 0 is the only value that `cuInit` takes.
    match unsafe { driver.cuInit(0) } {
        Ok(()) => Device::num_devices().map_err(|error| Error::from(error).to_string()),
        Err(error) if error.code == NO_DEVICE => Ok(0),
        Err(error) => Err(error.to_string()),
    }
}

/// The primary context of a device, retained once for the process.
fn primary_context(ordinal: u32, device: Device) -> Result<&'static SharedContext> {
    static CONTEXTS: Mutex<BTreeMap<u32, &'static SharedContext>> = Mutex::new(BTreeMap::new());
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = contexts.get(&ordinal) {
        return Ok(context);
    }
    let context = SharedContext::new(Context::new(device)?);
    let context: &'static SharedContext = Box::leak(Box::new(context));
    contexts.insert(ordinal, context);
    Ok(context)
}

impl CudaDevice {
    fn open(ordinal: u32) -> Result<Self> {
        let not_there = |there| Error::NoDevice {
            ordinal,
            from_setting: false,
            there,
        };
        let there = count().map_err(not_there)?;
        if ordinal >= there {
            return Err(not_there(present(there)));
        }
        let driver = cuda_loader::driver().map_err(|error| not_there(error.to_string()))?;
        let device = Device::get_device(ordinal)?;
        let context = primary_context(ordinal, device)?;
        make_current(driver, context)?;
        Ok(Self {
            driver,
            context,
            ordinal,
            name: device.name()?,
            compute_capability: compute_capability(device)?,
            limits: limits(driver, device)?,
            pool: memory::pool(driver, device),
            constants: Constants::default(),
            suggestions: Suggestions::default(),
            stack_choice: StackChoice::default(),
            print_capacity: PrintCapacity::default(),
            profiling: Profiling::default(),
            listening: Listening::default(),
            idle_events: IdleEvents::default(),
            time_out: TimeOut::default(),
        })
    }

    fn label(&self) -> String {
        format!("{} (cuda:{})", self.name, self.ordinal)
    }

    /// Makes the device's context the thread's current one, if another is. Asked of the driver each time, because other
    /// CUDA libraries of the process may have changed it.
    #[inline]
    fn make_current(&self) -> Result<()> {
        make_current(self.driver, self.context)
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        if self.make_current().is_ok() {
            self.idle_events.end(self.driver);
        }
    }
}

impl CudaStream {
    /// The first stream of a handle for a device.
    pub fn open(ordinal: u32) -> Result<Self> {
        Self::of(Arc::new(CudaDevice::open(ordinal)?), 0)
    }

    /// Another stream of the same handle.
    pub fn another(&self, priority: i32) -> Result<Self> {
        Self::of(self.device.clone(), priority)
    }

    fn of(device: Arc<CudaDevice>, priority: i32) -> Result<Self> {
        device.make_current()?;
        let driver = device.driver;
        let panics = PanicInbox::new(driver)?;
        Ok(Self {
            driver,
            kernels: RwLock::default(),
            modules: Mutex::default(),
            constants: AtomicU64::new(0),
            panics,
            cooperative: Mutex::default(),
            printing: Printing::new(device.print_capacity.get()),
            staging: Staging::default(),
            priority,
            reached: Mutex::new(CudaEvent::without_time(&device)?),
            last_launched: AtomicPtr::default(),
            stream: ManuallyDrop::new(Stream::new(StreamFlags::NON_BLOCKING, Some(priority))?),
            device,
        })
    }

    pub fn name(&self) -> &str {
        &self.device.name
    }

    pub fn label(&self) -> String {
        self.device.label()
    }

    pub fn ordinal(&self) -> u32 {
        self.device.ordinal
    }

    pub fn compute_capability(&self) -> (u32, u32) {
        self.device.compute_capability
    }

    pub fn limits(&self) -> &Limits {
        &self.device.limits
    }

    pub fn profiling(&self) -> &Profiling {
        &self.device.profiling
    }

    pub fn listening(&self) -> &Listening {
        &self.device.listening
    }

    pub fn priority(&self) -> i32 {
        self.priority
    }

    pub fn priorities(&self) -> Result<RangeInclusive<i32>> {
        self.make_current()?;
        let (mut least, mut greatest): (c_int, c_int) = (0, 0);
        // SAFETY: both pointers are valid for a write of an int.
        unsafe {
            self.driver
                .cuCtxGetStreamPriorityRange((&raw mut least).cast(), (&raw mut greatest).cast())
        }?;
        Ok(greatest..=least)
    }

    /// Whether all that was queued is done.
    pub fn is_done(&self) -> Result<bool> {
        self.make_current()?;
        // SAFETY: the stream is alive.
        is_ready(unsafe { self.driver.cuStreamQuery(self.handle()) })
    }

    /// Makes what is queued from now on wait for what is queued on `other` so far.
    pub fn wait_for(&self, other: &Self) -> Result<()> {
        other.make_current()?;
        // One event for all waits: each wait is for what the event was recorded for when the wait was queued.
        let reached = other.reached.lock().unwrap_or_else(PoisonError::into_inner);
        reached.record_on(other)?;
        self.wait_for_event(&reached)
    }

    /// Makes what is queued from now on wait for an event.
    pub fn wait_for_event(&self, event: &CudaEvent) -> Result<()> {
        self.make_current()?;
        // SAFETY: the stream and the event are alive; the driver keeps what a queued wait needs of the event.
        unsafe {
            self.driver
                .cuStreamWaitEvent(self.handle(), event.handle(), 0)
        }?;
        Ok(())
    }

    /// Waits for the queue, then prints what its kernels have printed, and reports a panic of them.
    pub fn synchronize(&self) -> Result<()> {
        self.make_current()?;
        let waited = self.wait();
        let printed = self.print();
        waited?;
        printed?;
        self.panics.take(
            self.driver,
            || self.wait(),
            |module, number| self.panic_site(module, number),
            |id| self.kernel_name(id),
        )
    }

    /// Queues a launch.
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
        self.make_current()?;
        self.refuse_after_panic()?;
        let prepared = self.prepare(record, extents)?;
        // SAFETY: as the caller promises.
        unsafe { self.queue(&prepared, params) }
    }

    /// Queues a launch of what was prepared on this stream.
    ///
    /// # Safety
    ///
    /// As for [`launch`](crate::launch::launch).
    pub unsafe fn replay(&self, prepared: &CudaPrepared, params: *const u8) -> Result<()> {
        self.make_current()?;
        self.refuse_after_panic()?;
        // SAFETY: as the caller promises.
        unsafe { self.queue(prepared, params) }
    }

    /// Loads the kernel if this is its first launch, and checks the shape. The context is current.
    fn prepare(&self, record: &'static KernelRecord, extents: &Extents) -> Result<CudaPrepared> {
        let kernel = self.kernel(record)?;
        check_dimensions(record.name, kernel.dimensions, extents)?;
        kernel.check_block(record.name, extents.block)?;
        let waits_for_grid = kernel.grid_barrier.is_some();
        crate::cluster::check(record.name, waits_for_grid, extents, self.limits(), || {
            self.label()
        })?;
        let shared_bytes = check_dynamic_shared(
            record.name,
            kernel.shared_bytes,
            extents,
            self.limits(),
            || self.label(),
        )?;
        self.allow_dynamic_shared(&kernel, shared_bytes)?;
        Ok(CudaPrepared {
            kernel,
            extents: *extents,
            shared_bytes,
        })
    }

    /// Prepares what is launched later, with the check that else the driver makes at the launch.
    pub fn prepare_replay(
        &self,
        record: &'static KernelRecord,
        extents: &Extents,
    ) -> Result<CudaPrepared> {
        self.make_current()?;
        let prepared = self.prepare(record, extents)?;
        self.check_cooperative(&prepared)?;
        self.check_cluster(&prepared)?;
        Ok(prepared)
    }

    /// Queues what was prepared.
    ///
    /// # Safety
    ///
    /// As for [`launch`](crate::launch::launch). The context is current.
    unsafe fn queue(&self, prepared: &CudaPrepared, params: *const u8) -> Result<()> {
        let kernel = &prepared.kernel;
        self.update_constants()?;
        let _queueing = kernel.prints.then(|| self.printing.queueing());
        let mut params = [params.cast_mut().cast::<c_void>()];
        if let Some(barrier) = kernel.grid_barrier {
            // SAFETY: as below.
            return unsafe { self.launch_cooperative(prepared, barrier, params.as_mut_ptr()) };
        }
        // SAFETY: the function has one parameter, of the size of the struct behind `params`, or none if that is empty. The
        // views in it live in this device's memory, which is freed in stream order. The caller sees to the rest.
        unsafe { self.launch_plainly(prepared, params.as_mut_ptr()) }
    }

    /// Queues a launch with the driver's kernel parameters, which it copies before it returns.
    ///
    /// # Safety
    ///
    /// `params` are those of the kernel, and what they point to on the device lives until the kernel has ended.
    unsafe fn launch_plainly(
        &self,
        prepared: &CudaPrepared,
        params: *mut *mut c_void,
    ) -> Result<()> {
        let CudaPrepared {
            kernel,
            extents:
                Extents {
                    grid,
                    block,
                    cluster,
                    ..
                },
            shared_bytes,
        } = prepared;
        self.last_launched
            .store(kernel.function.0, Ordering::Relaxed);
        if *cluster != crate::cluster::NONE {
            // SAFETY: as the caller promises.
            return unsafe { self.launch_in_clusters(prepared, params) };
        }
        // SAFETY: as the caller promises; the function is of a loaded module.
        unsafe {
            self.driver.cuLaunchKernel(
                kernel.function.0,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                *shared_bytes,
                self.handle(),
                params.cast(),
                null_mut(),
            )
        }?;
        Ok(())
    }

    /// The error of a kernel that is known to have panicked: it stops what would come after it.
    #[inline]
    pub fn refuse_after_panic(&self) -> Result<()> {
        match self.panics.has_one() {
            true => self.synchronize(),
            false => Ok(()),
        }
    }

    /// The name of a loaded kernel, by the low half of its id.
    fn kernel_name(&self, id: u64) -> Option<&'static str> {
        let kernels = self.kernels.read().unwrap_or_else(PoisonError::into_inner);
        let found = kernels.iter().find(|(other, _)| **other as u64 == id);
        found.map(|(_, kernel)| kernel.name)
    }

    /// The kernel, loaded if this is its first launch here.
    fn kernel(&self, record: &'static KernelRecord) -> Result<LoadedKernel> {
        let id = id_of(record);
        let kernels = self.kernels.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(&id) {
            return Ok(*kernel);
        }
        drop(kernels);
        let kernel = self.load(record)?;
        let mut kernels = self.kernels.write().unwrap_or_else(PoisonError::into_inner);
        kernels.insert(id, kernel);
        Ok(kernel)
    }

    #[inline]
    fn make_current(&self) -> Result<()> {
        self.device.make_current()
    }

    fn wait(&self) -> Result<()> {
        let awaited = Awaited::stream(self.handle());
        self.device.wait_for(awaited, || self.last_kernel())
    }

    #[inline]
    pub fn handle(&self) -> *mut c_void {
        self.stream.as_inner().cast()
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        if self.device.is_given_up() {
            return;
        }
        // The queue's work uses the modules and the panic record, which end after this.
        if let Err(error) = self.synchronize() {
            eprintln!(
                "oxwarp: the last use of {} ended with an error that nothing waited for: {error}",
                self.label()
            );
            if self.device.is_given_up() {
                return;
            }
        }
        self.unload_modules();
        self.panics.free(self.driver);
        self.printing.free(self.driver);
        // SAFETY: the queue is empty.
        unsafe { self.staging.free(self) };
        // SAFETY: nothing uses the stream any more.
        unsafe { ManuallyDrop::drop(&mut self.stream) };
    }
}

#[inline]
fn make_current(driver: &Driver, context: &SharedContext) -> Result<()> {
    context.check()?;
    let wanted: *mut c_void = context.context.as_raw().cast();
    let mut current: *const c_void = null();
    // SAFETY: the pointer is valid for a write of a handle.
    unsafe { driver.cuCtxGetCurrent((&raw mut current).cast()) }?;
    if !std::ptr::eq(current, wanted) {
        // SAFETY: the context is retained for the life of the process.
        unsafe { driver.cuCtxSetCurrent(wanted) }?;
    }
    Ok(())
}

/// What a query of the driver says: done, not yet, or failed.
fn is_ready(answer: std::result::Result<(), DriverError>) -> Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(error) if error.code == NOT_READY => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn present(count: u32) -> String {
    match count {
        0 => "there is no CUDA device".to_owned(),
        1 => "there is only cuda:0".to_owned(),
        _ => format!("there are cuda:0 to cuda:{}", count - 1),
    }
}

fn compute_capability(device: Device) -> Result<(u32, u32)> {
    let value = |attribute| attribute_of(device, attribute);
    Ok((
        value(DeviceAttribute::ComputeCapabilityMajor)?,
        value(DeviceAttribute::ComputeCapabilityMinor)?,
    ))
}

fn limits(driver: &Driver, device: Device) -> Result<Limits> {
    use DeviceAttribute as A;
    let value = |attribute| attribute_of(device, attribute);
    Ok(Limits {
        threads_per_block: value(A::MaxThreadsPerBlock)?,
        block: [
            value(A::MaxBlockDimX)?,
            value(A::MaxBlockDimY)?,
            value(A::MaxBlockDimZ)?,
        ],
        grid: [
            value(A::MaxGridDimX)?,
            value(A::MaxGridDimY)?,
            value(A::MaxGridDimZ)?,
        ],
        shared_bytes: value(A::MaxSharedMemoryPerBlock)?,
        all_shared_bytes: driver_attribute(driver, device, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        // A driver that does not know the attribute has no clusters.
        clusters: driver_attribute(driver, device, CLUSTER_LAUNCH).is_ok_and(|has| has != 0),
    })
}

fn attribute_of(device: Device, attribute: DeviceAttribute) -> Result<u32> {
    Ok(device.get_attribute(attribute)?.unsigned_abs())
}

/// An attribute that `cust` does not name.
fn driver_attribute(driver: &Driver, device: Device, attribute: c_uint) -> Result<u32> {
    let mut value: c_int = 0;
    // SAFETY: the pointer is valid for a write of an int.
    unsafe { driver.cuDeviceGetAttribute((&raw mut value).cast(), attribute, device.as_raw()) }?;
    Ok(value.unsigned_abs())
}
