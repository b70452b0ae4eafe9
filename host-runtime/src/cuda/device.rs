//! A CUDA device as the streams of a handle share it, on its primary context.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::null;
use std::sync::{Mutex, PoisonError};

use cuda_loader::{Driver, NO_DEVICE};
use cust::context::Context;
use cust::device::Device;

use super::attribute::{compute_capability, limits};
use super::constant::Constants;
use super::event::IdleEvents;
use super::limits::StackChoice;
use super::occupancy::Suggestions;
use super::print::PrintCapacity;
use super::timeout::{SharedContext, TimeOut};
use super::{Handle, memory};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::profile::Profiling;
use crate::progress::Listening;

/// A CUDA device: what the streams of a handle share.
pub(crate) struct CudaDevice {
    pub(super) driver: &'static Driver,
    pub(super) context: &'static SharedContext,
    pub(super) ordinal: u32,
    pub(super) name: String,
    pub(super) compute_capability: (u32, u32),
    pub(super) limits: Limits,
    /// The pool that memory comes from, or null where the device has none.
    pub(super) pool: Handle,
    pub(super) constants: Constants,
    pub(super) suggestions: Suggestions,
    pub(super) stack_choice: StackChoice,
    /// Bytes for what the kernels of a stream print.
    pub(super) print_capacity: PrintCapacity,
    pub(super) profiling: Profiling,
    pub(super) listening: Listening,
    pub(super) idle_events: IdleEvents,
    pub(super) time_out: TimeOut,
}

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
    pub(super) fn open(ordinal: u32) -> Result<Self> {
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

    pub(super) fn label(&self) -> String {
        format!("{} (cuda:{})", self.name, self.ordinal)
    }

    /// Makes the device's context the thread's current one, if another is. Asked of the driver each time, because other
    /// CUDA libraries of the process may have changed it.
    #[inline]
    pub(super) fn make_current(&self) -> Result<()> {
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

pub(super) fn present(count: u32) -> String {
    match count {
        0 => "there is no CUDA device".to_owned(),
        1 => "there is only cuda:0".to_owned(),
        _ => format!("there are cuda:0 to cuda:{}", count - 1),
    }
}
