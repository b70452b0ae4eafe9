//! Events of the driver.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::Duration;

use super::timeout::Awaited;
use super::{CudaDevice, CudaStream, Handle, is_ready};
use crate::error::Result;

/// `CU_EVENT_DEFAULT`.
const WITH_TIME: c_uint = 0;
/// `CU_EVENT_DISABLE_TIMING`.
const WITHOUT_TIME: c_uint = 2;

/// An event, and the device whose context it belongs to.
pub(crate) struct CudaEvent {
    pub(super) device: Arc<CudaDevice>,
    event: Handle,
}

impl CudaEvent {
    /// An event after what is queued so far.
    pub fn record(stream: &CudaStream) -> Result<Self> {
        stream.make_current()?;
        let event = Self::new(&stream.device, WITH_TIME)?;
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

impl Drop for CudaEvent {
    fn drop(&mut self) {
        if self.device.make_current().is_ok() {
            // SAFETY: the event is not used later; what was queued with it keeps what it needs. A failure means that the
            // context is lost, and the event with it.
            let _ = unsafe { self.device.driver.cuEventDestroy_v2(self.event.0) };
        }
    }
}
