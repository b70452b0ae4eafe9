//! Callbacks of the driver.
//!
//! A callback waits for an event on a stream of its own, of which a context keeps some: on the event's stream it would hold
//! up what is queued later. It is `cuStreamAddCallback`'s and not `cuLaunchHostFunc`'s, because the driver makes that call
//! also after a fault of the device, and what waits for it ends.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use cuda_loader::Driver;

use super::{CudaEvent, Handle};
use crate::callback::Callback;
use crate::error::Result;

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: c_uint = 1;

/// Streams of a context that no callback waits on.
#[derive(Default)]
pub(super) struct IdleStreams(Mutex<Vec<Handle>>);

/// A callback under way.
struct Notice {
    callback: Callback,
    idle: &'static IdleStreams,
    stream: Handle,
}

impl CudaEvent {
    /// Has a thread of the driver call once this has happened. The callback must not use the device.
    pub fn when_done(&self, callback: Callback) -> Result<()> {
        let device = &self.device;
        device.make_current()?;
        let idle = &device.context.idle_streams;
        let stream = match idle.take() {
            Some(stream) => stream,
            None => new_stream(device.driver)?,
        };
        let notice = Box::into_raw(Box::new(Notice {
            callback,
            idle,
            stream,
        }));
        // SAFETY: the stream and the event are alive, and the notice is the callback's.
        let queued = unsafe {
            device
                .driver
                .cuStreamWaitEvent(stream.0, self.handle(), 0)
                .and_then(|()| {
                    let call: unsafe extern "C" fn(*mut c_void, c_uint, *mut c_void) = notify;
                    device.driver.cuStreamAddCallback(
                        stream.0,
                        call as *mut c_void,
                        notice.cast(),
                        0,
                    )
                })
        };
        if let Err(error) = queued {
            // SAFETY: the driver has not taken it.
            drop(unsafe { Box::from_raw(notice) });
            return Err(error.into());
        }
        Ok(())
    }
}

/// Called by the driver, also after a fault.
unsafe extern "C" fn notify(_stream: *mut c_void, _status: c_uint, notice: *mut c_void) {
    // SAFETY: the notice is from `when_done`, and this is its only call.
    let notice = unsafe { Box::from_raw(notice.cast::<Notice>()) };
    notice.idle.put(notice.stream);
    // It only sends.
    (notice.callback)();
}

impl IdleStreams {
    fn put(&self, stream: Handle) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(stream);
    }

    fn take(&self) -> Option<Handle> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }
}

/// A stream of the current context.
fn new_stream(driver: &Driver) -> Result<Handle> {
    let mut stream: *mut c_void = null_mut();
    // SAFETY: the pointer is valid for a write of a handle.
    unsafe { driver.cuStreamCreateWithPriority((&raw mut stream).cast(), NON_BLOCKING, 0) }?;
    Ok(Handle(stream))
}
