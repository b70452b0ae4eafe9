//! The back end on a CUDA device.
//!
//! A device is opened on its primary context, which stays for the life of the process, with one stream that is the
//! queue. `cust` does what it has (devices, contexts, streams, limits); what it lacks, and what is called often, goes
//! through `cuda-loader`'s table, which also keeps the driver's own error codes.

mod constant;
mod cooperative;
mod limits;
mod memory;
mod module;
mod panic;
mod print;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError, RwLock};

use cuda_loader::{Driver, NO_DEVICE};
use cust::context::Context;
use cust::device::{Device, DeviceAttribute};
use cust::stream::{Stream, StreamFlags};
use gpu_std::kernel::KernelRecord;

use crate::error::{Error, Result};
use crate::launch::{check_dimensions, check_dynamic_shared};
use crate::limits::{Extents, Limits};
use crate::registry::{IdMap, id_of};

use constant::Constants;
use limits::StackChoice;
use module::{LoadedKernel, Modules};
use panic::PanicInbox;
use print::Printing;

/// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`.
const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_uint = 97;

/// A CUDA device and its queue.
pub(crate) struct CudaDevice {
    driver: &'static Driver,
    context: &'static Context,
    ordinal: u32,
    name: String,
    compute_capability: (u32, u32),
    limits: Limits,
    /// The pool that memory comes from, or null where the device has none.
    pool: Handle,
    kernels: RwLock<IdMap<LoadedKernel>>,
    modules: Mutex<Modules>,
    constants: Mutex<Constants>,
    stack_choice: StackChoice,
    panics: PanicInbox,
    /// Held while a launch of a kernel with a grid barrier is queued.
    cooperative: Mutex<()>,
    printing: Printing,
    /// Last: dropped after what its work uses.
    stream: Stream,
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
fn primary_context(ordinal: u32, device: Device) -> Result<&'static Context> {
    static CONTEXTS: Mutex<BTreeMap<u32, &'static Context>> = Mutex::new(BTreeMap::new());
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = contexts.get(&ordinal) {
        return Ok(context);
    }
    let context: &'static Context = Box::leak(Box::new(Context::new(device)?));
    contexts.insert(ordinal, context);
    Ok(context)
}

impl CudaDevice {
    pub fn open(ordinal: u32) -> Result<Self> {
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
            kernels: RwLock::default(),
            modules: Mutex::default(),
            constants: Mutex::default(),
            stack_choice: StackChoice::default(),
            panics: PanicInbox::new(driver)?,
            cooperative: Mutex::default(),
            printing: Printing::new(),
            stream: Stream::new(StreamFlags::NON_BLOCKING, None)?,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn label(&self) -> String {
        format!("{} (cuda:{})", self.name, self.ordinal)
    }

    pub fn compute_capability(&self) -> (u32, u32) {
        self.compute_capability
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Waits for the queue, then prints what its kernels have printed, and reports a panic of them.
    pub fn synchronize(&self) -> Result<()> {
        self.make_current()?;
        let waited = self.wait();
        let printed = self.print();
        waited?;
        printed?;
        self.panics
            .take(self.driver, || self.wait(), |id| self.kernel_name(id))
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
        let kernel = self.kernel(record)?;
        check_dimensions(record.name, kernel.dimensions, extents)?;
        kernel.check_block(record.name, extents.block)?;
        let shared_bytes = check_dynamic_shared(
            record.name,
            kernel.shared_bytes,
            extents,
            &self.limits,
            || self.label(),
        )?;
        self.allow_dynamic_shared(&kernel, shared_bytes)?;
        let _queueing = kernel.prints.then(|| self.printing.queueing());
        let Extents { grid, block, .. } = extents;
        let mut params = [params.cast_mut().cast::<c_void>()];
        if let Some(barrier) = kernel.grid_barrier {
            let params = params.as_mut_ptr();
            // SAFETY: as below.
            return unsafe {
                self.launch_cooperative(record, &kernel, barrier, extents, shared_bytes, params)
            };
        }
        // SAFETY: the function has one parameter, of the size of the struct behind `params`, or none if that is empty;
        // the driver copies it before it returns. The views in it live in this device's memory, which is freed in
        // stream order. The caller sees to the rest.
        unsafe {
            self.driver.cuLaunchKernel(
                kernel.function.0,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_bytes,
                self.stream_handle(),
                params.as_mut_ptr().cast(),
                null_mut(),
            )
        }?;
        Ok(())
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

    /// Makes the device's context the thread's current one, if another is. Asked of the driver each time, because other
    /// CUDA libraries of the process may have changed it.
    #[inline]
    fn make_current(&self) -> Result<()> {
        make_current(self.driver, self.context)
    }

    fn wait(&self) -> Result<()> {
        // SAFETY: the stream is alive.
        unsafe { self.driver.cuStreamSynchronize(self.stream_handle()) }?;
        Ok(())
    }

    #[inline]
    pub fn stream_handle(&self) -> *mut c_void {
        self.stream.as_inner().cast()
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        // The queue's work uses the modules and the panic record, which end after this.
        if let Err(error) = self.synchronize() {
            eprintln!(
                "oxwarp: the last use of {} ended with an error that nothing waited for: {error}",
                self.label()
            );
        }
        self.unload_modules();
        self.panics.free(self.driver);
        self.printing.free(self.driver);
    }
}

#[inline]
fn make_current(driver: &Driver, context: &Context) -> Result<()> {
    let wanted: *mut c_void = context.as_raw().cast();
    let mut current: *const c_void = null();
    // SAFETY: the pointer is valid for a write of a handle.
    unsafe { driver.cuCtxGetCurrent((&raw mut current).cast()) }?;
    if !std::ptr::eq(current, wanted) {
        // SAFETY: the context is retained for the life of the process.
        unsafe { driver.cuCtxSetCurrent(wanted) }?;
    }
    Ok(())
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
