//! Loading device code and finding kernels in it.
//!
//! In: a kernel's record. Out: its function on this device, with the limits that the driver found. A module is a part of the
//! image with the highest target that the device runs, and loaded on the first launch of one of its kernels.
//!
//! Loading waits for nothing that is queued on the stream: the host may be needed for that to end. The driver promises less.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::PoisonError;

use cuda_loader::{DriverError, NO_BINARY_FOR_GPU, NOT_FOUND, UNSUPPORTED_PTX_VERSION};
use gpu_std::Dim3;
use gpu_std::kernel::KernelRecord;

use super::constant::ConstantVariable;
use super::cooperative::{GRID_BARRIER, GridBarrier};
use super::{CudaStream, Handle};
use crate::error::{Error, Result};
use crate::launch::{before_dynamic, check_shared};
use crate::progress::ProgressUpdate;
use crate::registry::{self, DeviceCode, Found, Image};

/// The variable of a module that holds the address of the panic slot.
pub(super) const PANIC_SLOT: &CStr = c"oxwarp_panic_slot";
/// The variable that holds the address of the print buffer.
const PRINT_BUFFER: &CStr = c"oxwarp_print_buffer";
/// The variables of a module that are not its kernels' to share with those of another.
pub(crate) const OWN_VARIABLES: [&CStr; 3] = [PANIC_SLOT, PRINT_BUFFER, GRID_BARRIER];
/// `CU_JIT_ERROR_LOG_BUFFER`.
const JIT_ERROR_LOG_BUFFER: c_uint = 5;
/// `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
const JIT_ERROR_LOG_BUFFER_SIZE: c_uint = 6;
/// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`.
const MAX_THREADS_PER_BLOCK: c_uint = 0;
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_uint = 8;
/// Bytes of the driver's log that are kept.
pub(super) const LOG_CAPACITY: usize = 8 << 10;

/// The modules of a stream, by the address of their device code and their part of it, or `None` for the whole. `cust`'s
/// `Module` gives no log of the driver's compiler and no handle, so modules are the driver's own here.
pub(super) type Modules = HashMap<(usize, Option<usize>), LoadedModule>;

/// A module of a stream.
#[derive(Debug)]
pub(super) struct LoadedModule {
    pub handle: Handle,
    pub code: &'static DeviceCode,
    pub constants: Vec<ConstantVariable>,
}

/// A kernel of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadedKernel {
    pub function: Handle,
    pub name: &'static str,
    /// The most dimensions of a launch.
    pub dimensions: u32,
    /// Bytes of static shared memory.
    pub shared_bytes: u32,
    /// Where it waits for its grid, if it does.
    pub grid_barrier: Option<GridBarrier>,
    pub prints: bool,
    /// The most threads of a block that its registers allow.
    pub max_threads: u32,
}

impl LoadedKernel {
    #[inline]
    pub fn check_block(&self, kernel: &'static str, block: Dim3) -> Result<()> {
        let threads = block.count();
        if threads <= u64::from(self.max_threads) {
            return Ok(());
        }
        Err(Error::TooManyThreads {
            kernel,
            given: [block.x, block.y, block.z].map(i128::from),
            threads,
            limit: self.max_threads,
        })
    }
}

impl CudaStream {
    /// Finds the kernel's function, and loads its module first if need be.
    #[cold]
    pub(super) fn load(&self, record: &'static KernelRecord) -> Result<LoadedKernel> {
        match registry::find(record) {
            Some(found) => self.load_found(record, found),
            None => Err(registry::missing(record)),
        }
    }

    pub(super) fn load_found(
        &self,
        record: &'static KernelRecord,
        found: Found,
    ) -> Result<LoadedKernel> {
        let Found { code, kernel } = found;
        check_shared(record.name, kernel, self.limits().shared_bytes, || {
            self.label()
        })?;
        let module = self.module(record.name, found)?;
        let function = self.function(module, kernel.symbol).map_err(|error| {
            if error.code == NOT_FOUND {
                Error::SymbolMissing {
                    kernel: record.name,
                    crate_name: code.crate_name,
                    symbol: kernel.symbol.to_string_lossy().into_owned(),
                }
            } else {
                error.into()
            }
        })?;
        self.raise_stack_limit(kernel.stack_bytes as usize)?;
        let grid_barrier = kernel
            .cooperative
            .then(|| self.grid_barrier(module))
            .transpose()?;
        Ok(LoadedKernel {
            function,
            name: record.name,
            dimensions: kernel.dimensions,
            shared_bytes: kernel.shared_bytes,
            grid_barrier,
            prints: kernel.prints,
            max_threads: self.max_threads(function)?,
        })
    }

    /// The module with a kernel, loaded on the first call for one of its kernels.
    fn module(&self, name: &'static str, found: Found) -> Result<Handle> {
        let Found { code, kernel } = found;
        let (major, minor) = self.compute_capability();
        let Some(image) = registry::best_image(code.images, major * 10 + minor) else {
            return Err(self.no_image(code));
        };
        let part = image
            .parts()
            .part_of(kernel.symbol.to_str().unwrap_or_default());
        let key = (std::ptr::from_ref(code).addr(), part);
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&key) {
            return Ok(module.handle);
        }
        if code.kernels.iter().any(|kernel| kernel.allocates) {
            self.prepare_heap()?;
        }
        let tell = |done| {
            self.listening().tell(ProgressUpdate::Compilation {
                crate_name: code.crate_name,
                kernel: name,
                done,
            });
        };
        tell(false);
        let handle = self.load_module(code, image, part)?;
        tell(true);
        let constants = self.share(handle).inspect_err(|_| self.unload(handle))?;
        let module = LoadedModule {
            handle,
            code,
            constants,
        };
        modules.insert(key, module);
        Ok(handle)
    }

    fn load_module(
        &self,
        code: &'static DeviceCode,
        image: &'static Image,
        part: Option<usize>,
    ) -> Result<Handle> {
        let ptx = match part {
            Some(part) => Cow::Owned(CString::new(image.parts().text(part)).unwrap_or_default()),
            None => Cow::Borrowed(image.ptx),
        };
        let mut log = vec![0u8; LOG_CAPACITY];
        // SAFETY: the PTX is terminated.
        match unsafe { self.load_image(ptx.as_ptr().cast(), &mut log) } {
            Ok(module) => Ok(module),
            Err(error) => Err(self.load_error(code, image, error, &log)),
        }
    }

    /// Loads an image, with the error log of the driver's compiler into `log`.
    ///
    /// # Safety
    ///
    /// `image` is terminated PTX, or a whole cubin or fatbin.
    pub(super) unsafe fn load_image(
        &self,
        image: *const u8,
        log: &mut [u8],
    ) -> std::result::Result<Handle, DriverError> {
        let mut module: *mut c_void = null_mut();
        let mut options = [JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE];
        // The driver takes the values as pointers, a number cast to one.
        let mut values: [*mut c_void; 2] = [
            log.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(log.len()),
        ];
        // SAFETY: the caller sees to the image; the two options and values belong together, and the log has as many bytes as
        // the second says.
        unsafe {
            self.driver.cuModuleLoadDataEx(
                (&raw mut module).cast(),
                image.cast_mut().cast(),
                options.len() as c_uint,
                options.as_mut_ptr().cast(),
                values.as_mut_ptr().cast(),
            )
        }?;
        Ok(Handle(module))
    }

    fn no_image(&self, code: &'static DeviceCode) -> Error {
        Error::NoImage {
            crate_name: code.crate_name,
            device: self.label(),
            compute_capability: self.compute_capability(),
            available: code.images.iter().map(|image| image.target).collect(),
        }
    }

    fn load_error(
        &self,
        code: &'static DeviceCode,
        image: &Image,
        error: DriverError,
        log: &[u8],
    ) -> Error {
        match error.code {
            UNSUPPORTED_PTX_VERSION => match self.driver.version() {
                Ok(driver_version) => Error::DriverTooOld {
                    crate_name: code.crate_name,
                    driver_version,
                    ptx_version: ptx_version(image.ptx),
                },
                Err(error) => error.into(),
            },
            NO_BINARY_FOR_GPU => self.no_image(code),
            _ => Error::ModuleLoad {
                crate_name: code.crate_name,
                target: image.target,
                error,
                log: log_text(log),
            },
        }
    }

    pub(super) fn function(
        &self,
        module: Handle,
        symbol: &CStr,
    ) -> std::result::Result<Handle, DriverError> {
        let mut function: *mut c_void = null_mut();
        // SAFETY: the module is loaded, the name terminated, and the pointer valid for a write of a handle.
        unsafe {
            self.driver.cuModuleGetFunction(
                (&raw mut function).cast(),
                module.0,
                symbol.as_ptr().cast_mut().cast(),
            )
        }?;
        Ok(Handle(function))
    }

    pub(super) fn max_threads(&self, function: Handle) -> Result<u32> {
        self.attribute(function, MAX_THREADS_PER_BLOCK)
    }

    /// An attribute of a function.
    pub(super) fn attribute(&self, function: Handle, attribute: c_uint) -> Result<u32> {
        let mut value: c_int = 0;
        // SAFETY: the function is of a loaded module, and the pointer valid for a write of an int.
        unsafe {
            self.driver
                .cuFuncGetAttribute((&raw mut value).cast(), attribute, function.0)
        }?;
        Ok(value.unsigned_abs())
    }

    /// Lets a kernel have dynamic shared memory beyond the 48 KiB that all devices give without being asked. The most is
    /// allowed at once: launches of other threads may ask for other sizes.
    pub(super) fn allow_dynamic_shared(&self, kernel: &LoadedKernel, bytes: u32) -> Result<()> {
        let before = before_dynamic(kernel.shared_bytes);
        if bytes <= self.limits().shared_bytes.saturating_sub(before) {
            return Ok(());
        }
        let most = self.limits().all_shared_bytes - before;
        // SAFETY: the function is of a loaded module.
        unsafe {
            self.driver.cuFuncSetAttribute(
                kernel.function.0,
                MAX_DYNAMIC_SHARED_SIZE_BYTES,
                most as c_int,
            )
        }?;
        Ok(())
    }

    /// Tells a module that was just loaded where its kernels record a panic and where they print, and what its constants
    /// are. All of it is queued.
    fn share(&self, module: Handle) -> Result<Vec<ConstantVariable>> {
        if let Some((variable, _)) = self.variable(module, PANIC_SLOT)? {
            self.set_variable(variable, self.panics.slot)?;
        }
        if let Some((variable, _)) = self.variable(module, PRINT_BUFFER)? {
            self.set_variable(variable, self.printing.buffer(self.driver)?)?;
        }
        self.fill_constants(module)
    }

    /// The address of a module's variable and its bytes, if it has it.
    pub(super) fn variable(
        &self,
        module: Handle,
        name: &CStr,
    ) -> std::result::Result<Option<(u64, usize)>, DriverError> {
        let (mut variable, mut bytes) = (0u64, 0usize);
        // SAFETY: the pointers are valid for writes of an address and a size, and the name is terminated.
        let found = unsafe {
            self.driver.cuModuleGetGlobal_v2(
                (&raw mut variable).cast(),
                (&raw mut bytes).cast(),
                module.0,
                name.as_ptr().cast_mut().cast(),
            )
        };
        match found {
            Ok(()) => Ok(Some((variable, bytes))),
            Err(error) if error.code == NOT_FOUND => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Queues that a variable of 64 bits gets its value, half by half: there is no memory that the driver would read later.
    fn set_variable(&self, variable: u64, value: u64) -> Result<()> {
        for (offset, half) in [(0, value as u32), (4, (value >> 32) as u32)] {
            // SAFETY: the variable has 8 bytes.
            unsafe {
                self.driver
                    .cuMemsetD32Async(variable + offset, half, 1, self.handle())
            }?;
        }
        Ok(())
    }

    /// Unloads all modules. Nothing in the queue may use them any more.
    pub(super) fn unload_modules(&self) {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, module) in modules.drain() {
            self.unload(module.handle);
        }
    }

    /// Unloads a module that is not used later.
    fn unload(&self, module: Handle) {
        // SAFETY: the module was loaded by this device. A failure means that the context is lost, and the module with it.
        let _ = unsafe { self.driver.cuModuleUnload(module.0) };
    }
}

/// What the `.version` directive says; empty without one.
fn ptx_version(ptx: &CStr) -> String {
    let text = ptx.to_string_lossy();
    let version = text
        .lines()
        .find_map(|line| line.trim().strip_prefix(".version"));
    version.unwrap_or_default().trim().to_owned()
}

/// The terminated text in the buffer.
pub(super) fn log_text(log: &[u8]) -> String {
    let len = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..len]).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_directive_is_read() {
        assert_eq!(ptx_version(c"//\n.version 7.8\n.target sm_75\n"), "7.8");
        assert_eq!(ptx_version(c"nothing"), "");
    }

    #[test]
    fn a_log_ends_at_its_terminator() {
        assert_eq!(log_text(b"ptxas error\n\0\0\0"), "ptxas error");
        assert_eq!(log_text(b"full"), "full");
    }
}
