//! The back end on a CUDA device.
//!
//! A device is opened on its primary context, which stays for the life of the process. A handle's streams share its
//! [`CudaDevice`]; each [`CudaStream`] has modules of its own, because a module holds where its kernels record a panic,
//! where they print, and the barrier of a grid: what one launch leaves there another must not meet. A crate's kernels are
//! in several modules, each loaded when the first of its kernels is ([`parts`](crate::parts)).
//!
//! `cust` does what it has (devices, contexts, streams, limits); what it lacks, and what is called often, goes through
//! `cuda-loader`'s table, which also keeps the driver's own error codes.

mod attribute;
mod cluster;
mod constant;
mod cooperative;
mod copy;
mod device;
mod event;
mod foreign;
mod graph;
mod inspect;
mod launch;
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

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use cuda_loader::{Driver, DriverError, NOT_READY};
use cust::stream::{Stream, StreamFlags};

use crate::error::Result;
use crate::limits::Limits;
use crate::profile::Profiling;
use crate::progress::Listening;
use crate::registry::IdMap;

use device::CudaDevice;
use module::{LoadedKernel, Modules};
use panic::PanicInbox;
use print::Printing;
use staging::Staging;
use timeout::Awaited;

pub(crate) use device::count;
pub(crate) use event::CudaEvent;
pub(crate) use foreign::{ForeignKernel, ForeignModule};
pub(crate) use graph::CudaGraph;
pub(crate) use launch::CudaPrepared;
pub(crate) use module::OWN_VARIABLES;
pub(crate) use nccl::NcclCommunicators;

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

/// A handle of the driver. It may be used from any thread.
#[derive(Clone, Copy, Debug)]
struct Handle(*mut c_void);

// SAFETY: the driver's handles are valid in every thread of the process, and its functions are thread-safe.
unsafe impl Send for Handle {}

// SAFETY: as for `Send`.
unsafe impl Sync for Handle {}

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

/// What a query of the driver says: done, not yet, or failed.
fn is_ready(answer: std::result::Result<(), DriverError>) -> Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(error) if error.code == NOT_READY => Ok(false),
        Err(error) => Err(error.into()),
    }
}
