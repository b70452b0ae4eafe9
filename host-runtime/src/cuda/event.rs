//! Events of the driver.
//!
//! Those that measure time are made once and used again: the driver takes about a microsecond to make and end one.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cuda_loader::Driver;

use super::timeout::Awaited;
use super::{CudaDevice, CudaStream, Handle, is_ready};
use crate::error::Result;

/// `CU_EVENT_DEFAULT`.
const WITH_TIME: c_uint = 0;
/// `CU_EVENT_DISABLE_TIMING`.
const WITHOUT_TIME: c_uint = 2;

/// The most events of a device that are kept.
const MOST_KEPT: usize = 1024;

/// Events of a device that nothing uses.
#[derive(Default)]
pub(super) struct IdleEvents(Mutex<Vec<Handle>>);

/// An event, and the device whose context it belongs to.
pub(crate) struct CudaEvent {
    pub(super) device: Arc<CudaDevice>,
    event: Handle,
    /// Whether it goes back to the device's idle ones.
    kept: bool,
}

impl CudaEvent {
    /// An event after what is queued so far.
    pub fn record(stream: &CudaStream) -> Result<Self> {
        stream.make_current()?;
        let device = &stream.device;
        let event = match device.idle_events.pop() {
            // What an earlier use queued with it keeps the earlier recording.
            Some(event) => Self {
                device: device.clone(),
                event,
                kept: true,
            },
            None => Self::new(device, WITH_TIME)?,
        };
        event.record_on(stream)?;
        Ok(event)
    }

    /// An event to order streams with.
    pub(super) fn without_time(device: &Arc<CudaDevice>) -> Result<Self> {
        Self::new(device, WITHOUT_TIME)
    }

    fn new(device: &Arc<CudaDevice>, flags: c_uint) -> Result<Self> {
        let mut event: *mut c_void = null_mut();
        // SAFETY: the pointer is valid for a write of a handle.
        unsafe { device.driver.cuEventCreate((&raw mut event).cast(), flags) }?;
        Ok(Self {
            device: device.clone(),
            event: Handle(event),
            kept: flags == WITH_TIME,
        })
    }

    /// Moves it to the end of the stream, which is of the same context; the context is current.
    pub(super) fn record_on(&self, stream: &CudaStream) -> Result<()> {
        // SAFETY: the event and the stream are alive.
        unsafe { stream.driver.cuEventRecord(self.event.0, stream.handle()) }?;
        Ok(())
    }

    /// The number of its device.
    pub fn ordinal(&self) -> u32 {
        self.device.ordinal
    }

    pub(super) fn handle(&self) -> *mut c_void {
        self.event.0
    }

    /// Waits until it has happened.
    pub fn synchronize(&self) -> Result<()> {
        self.device.make_current()?;
        self.device.wait_for(Awaited::event(self.event.0), || None)
    }

    /// Whether it has happened.
    pub fn is_done(&self) -> Result<bool> {
        self.device.make_current()?;
        // SAFETY: the event is alive.
        is_ready(unsafe { self.device.driver.cuEventQuery(self.event.0) })
    }

    /// The time since an event of the same device, once both have happened.
    pub fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        start.synchronize()?;
        self.synchronize()?;
        let mut milliseconds = 0f32;
        // SAFETY: both events are alive and have happened, and the pointer is valid for a write of a float.
        unsafe {
            self.device.driver.cuEventElapsedTime(
                (&raw mut milliseconds).cast(),
                start.event.0,
                self.event.0,
            )
        }?;
        Ok(Duration::from_secs_f64(
            f64::from(milliseconds.max(0.0)) / 1e3,
        ))
    }
}

impl IdleEvents {
    fn pop(&self) -> Option<Handle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Takes an event, if there is room for it.
    fn push(&self, event: Handle) -> bool {
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = events.len() < MOST_KEPT;
        if room {
            events.push(event);
        }
        room
    }

    /// Ends all of them; the context is current.
    pub fn end(&self, driver: &Driver) {
        while let Some(event) = self.pop() {
            // SAFETY: nothing uses the event. A failure means that the context is lost, and the event with it.
            let _ = unsafe { driver.cuEventDestroy_v2(event.0) };
        }
    }
}

impl Drop for CudaEvent {
    fn drop(&mut self) {
        let kept = self.kept && self.device.idle_events.push(self.event);
        if !kept && self.device.make_current().is_ok() {
            // SAFETY: the event is not used later; what was queued with it keeps what it needs. A failure means that the
            // context is lost, and the event with it.
            let _ = unsafe { self.device.driver.cuEventDestroy_v2(self.event.0) };
        }
    }
}
