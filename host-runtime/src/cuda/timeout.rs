//! Waits of the host, with or without a limit.
//!
//! In: what to wait for. Out: its end, or an error after the limit that the user has set. A kernel cannot be stopped: after
//! that error the device's context is given up in this process, for all handles and streams of the device. Every call of
//! theirs returns the error from then on, nothing is freed, and nothing waits, so that the process can go on or end.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cuda_loader::{Driver, DriverError};

use super::notify::IdleStreams;
use super::{CudaDevice, CudaStream, is_ready};
use crate::error::{Error, Result};

/// How long the host looks again and again, before it begins to sleep in between.
const ATTENTIVE: Duration = Duration::from_micros(100);
/// The longest sleep between two looks.
const LONGEST_SLEEP: Duration = Duration::from_millis(10);

/// The limit of a handle's waits.
#[derive(Debug, Default)]
pub(super) struct TimeOut {
    /// In nanoseconds; 0 for none.
    limit: AtomicU64,
}

/// A wait that ended with its limit.
#[derive(Clone, Debug)]
pub(super) struct GivenUp {
    device: String,
    waited: Duration,
    kernel: Option<&'static str>,
}

impl From<&GivenUp> for Error {
    fn from(given_up: &GivenUp) -> Self {
        let GivenUp {
            device,
            waited,
            kernel,
        } = given_up.clone();
        Self::TimedOut {
            device,
            waited,
            kernel,
        }
    }
}

impl TimeOut {
    fn get(&self) -> Option<Duration> {
        match self.limit.load(Ordering::Relaxed) {
            0 => None,
            limit => Some(Duration::from_nanos(limit)),
        }
    }

    fn set(&self, limit: Option<Duration>) {
        let nanoseconds = |limit: Duration| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let limit = limit.map_or(0, |limit| nanoseconds(limit).max(1));
        self.limit.store(limit, Ordering::Relaxed);
    }
}

/// Something that the driver can be asked about, or waited for.
#[derive(Clone, Copy)]
pub(super) struct Awaited {
    handle: *mut c_void,
    query: unsafe fn(&Driver, *mut c_void) -> std::result::Result<(), DriverError>,
    wait: unsafe fn(&Driver, *mut c_void) -> std::result::Result<(), DriverError>,
}

impl Awaited {
    /// What is queued on a stream.
    pub fn stream(handle: *mut c_void) -> Self {
        Self {
            handle,
            query: Driver::cuStreamQuery,
            wait: Driver::cuStreamSynchronize,
        }
    }

    /// An event.
    pub fn event(handle: *mut c_void) -> Self {
        Self {
            handle,
            query: Driver::cuEventQuery,
            wait: Driver::cuEventSynchronize,
        }
    }
}

impl CudaDevice {
    /// Whether waits of this handle have a limit.
    pub(super) fn has_time_out(&self) -> bool {
        self.time_out.get().is_some()
    }

    /// Waits as long as the handle's limit allows. The context is current, and what is awaited is alive. `kernel` may know
    /// what does not end.
    pub(super) fn wait_for(
        &self,
        awaited: Awaited,
        kernel: impl FnOnce() -> Option<&'static str>,
    ) -> Result<()> {
        match self.time_out.get() {
            Some(limit) => self.wait_within(awaited, limit, kernel),
            // SAFETY: the handle is of the kind that the function takes, and alive.
            None => Ok(unsafe { (awaited.wait)(self.driver, awaited.handle) }?),
        }
    }

    /// Waits for so long at most.
    fn wait_within(
        &self,
        awaited: Awaited,
        limit: Duration,
        kernel: impl FnOnce() -> Option<&'static str>,
    ) -> Result<()> {
        let start = Instant::now();
        loop {
            // SAFETY: the handle is of the kind that the function takes, and alive.
            if is_ready(unsafe { (awaited.query)(self.driver, awaited.handle) })? {
                return Ok(());
            }
            let waited = start.elapsed();
            if waited >= limit {
                let given_up = GivenUp {
                    device: self.label(),
                    waited,
                    kernel: kernel(),
                };
                return Err(self.context.given_up.get_or_init(|| given_up).into());
            }
            match waited < ATTENTIVE {
                true => std::thread::yield_now(),
                false => std::thread::sleep((waited / 16).min(LONGEST_SLEEP).min(limit - waited)),
            }
        }
    }

    /// Whether the context was given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.context.given_up.get().is_some()
    }
}

impl CudaStream {
    /// Sets the limit of all waits of the handle.
    pub fn set_time_out(&self, limit: Option<Duration>) {
        self.device.time_out.set(limit);
    }

    /// Waits for what is queued, for so long at most.
    pub fn wait_at_most(&self, limit: Duration) -> Result<()> {
        self.make_current()?;
        let awaited = Awaited::stream(self.handle());
        self.device
            .wait_within(awaited, limit, || self.last_kernel())
    }

    /// Waits for the queue before a copy between host and device, if waits have a limit: the driver's call may wait itself,
    /// without one.
    pub fn wait_before_copy(&self) -> Result<()> {
        match self.device.has_time_out() {
            true => self.wait(),
            false => Ok(()),
        }
    }

    /// The kernel that was launched last, if it is known.
    pub(super) fn last_kernel(&self) -> Option<&'static str> {
        let last = self.last_launched.load(Ordering::Relaxed);
        let kernels = self.kernels.read();
        let kernels = kernels.unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = kernels
            .values()
            .find(|kernel| std::ptr::eq(kernel.function.0, last));
        found.map(|kernel| kernel.name)
    }
}

/// A device's context, for the life of the process.
pub(super) struct SharedContext {
    pub context: cust::context::Context,
    pub idle_streams: IdleStreams,
    /// Once a wait has ended with its limit.
    given_up: OnceLock<GivenUp>,
}

impl SharedContext {
    pub fn new(context: cust::context::Context) -> Self {
        Self {
            context,
            idle_streams: IdleStreams::default(),
            given_up: OnceLock::new(),
        }
    }

    /// The error of a context that was given up.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.given_up.get() {
            None => Ok(()),
            Some(given_up) => Err(given_up.into()),
        }
    }
}
