//! Modules that are not of this program: CUDA C and files of device code.
//!
//! In: an image. Out: its functions and variables, with what the driver knows of them. Their launches go through the same
//! checks as those of the program's own kernels; a panic, text of `println!` and constants they have not.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr::null_mut;

use cuda_loader::{DriverError, NO_BINARY_FOR_GPU, NOT_FOUND, UNSUPPORTED_PTX_VERSION};

use super::module::{LOG_CAPACITY, LoadedKernel, log_text};
use super::{CudaPrepared, CudaStream, Handle};
use crate::cuda_source::signature::{Compiled, Kind};
use crate::cuda_source::{CudaImage, CudaSourceError, ptx};
use crate::error::Result;
use crate::launch::check_dynamic_shared;
use crate::limits::Extents;

/// `CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES`.
const SHARED_SIZE_BYTES: c_uint = 1;

/// A loaded module.
#[derive(Debug)]
pub(crate) struct ForeignModule(Handle);

/// A kernel of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignKernel(LoadedKernel);

impl ForeignKernel {
    /// What messages call it.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    pub(super) fn loaded(&self) -> &LoadedKernel {
        &self.0
    }
}

impl CudaStream {
    /// Loads an image; the driver compiles PTX.
    pub fn load_foreign(&self, image: &CudaImage) -> Result<ForeignModule> {
        self.make_current()?;
        let mut log = vec![0u8; LOG_CAPACITY];
        // SAFETY: the image is whole, or a terminated text.
        match unsafe { self.load_image(image.for_driver().as_ptr(), &mut log) } {
            Ok(module) => Ok(ForeignModule(module)),
            Err(error) => Err(self.foreign_error(image, error, &log)),
        }
    }

    fn foreign_error(&self, image: &CudaImage, error: DriverError, log: &[u8]) -> crate::Error {
        let module = image.name().to_owned();
        match (error.code, self.driver.version()) {
            (UNSUPPORTED_PTX_VERSION, Ok(driver_version)) => CudaSourceError::DriverTooOld {
                module,
                driver_version,
                ptx_version: image
                    .ptx()
                    .and_then(|text| ptx::directive(text, ".version"))
                    .unwrap_or("of the PTX")
                    .to_owned(),
            },
            (NO_BINARY_FOR_GPU, _) => CudaSourceError::OtherArchitecture {
                module,
                target: image.target(),
                device: self.label(),
                compute_capability: self.compute_capability(),
            },
            _ => CudaSourceError::Load {
                module,
                error,
                log: log_text(log),
            },
        }
        .into()
    }

    /// A kernel by its symbol, which messages call `name`; `None` if there is none.
    pub fn foreign_kernel(
        &self,
        module: &ForeignModule,
        symbol: &CStr,
        name: &'static str,
    ) -> Result<Option<ForeignKernel>> {
        self.make_current()?;
        let function = match self.function(module.0, symbol) {
            Ok(function) => function,
            Err(error) if error.code == NOT_FOUND => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(ForeignKernel(LoadedKernel {
            function,
            name,
            dimensions: 3,
            shared_bytes: self.attribute(function, SHARED_SIZE_BYTES)?,
            grid_barrier: None,
            prints: false,
            max_threads: self.max_threads(function)?,
        })))
    }

    /// The symbols of the module's kernels; `None` if the driver is too old to say.
    pub fn foreign_kernel_names(&self, module: &ForeignModule) -> Option<Vec<String>> {
        self.make_current().ok()?;
        let mut count: c_uint = 0;
        // SAFETY: the module is loaded, and the number may be written.
        unsafe {
            self.driver
                .cuModuleGetFunctionCount((&raw mut count).cast(), module.0.0)
        }
        .ok()?;
        let mut functions = vec![null_mut::<c_void>(); count as usize];
        // SAFETY: there is room for as many handles.
        unsafe {
            let to = functions.as_mut_ptr().cast();
            self.driver
                .cuModuleEnumerateFunctions(to, count, module.0.0)
        }
        .ok()?;
        functions
            .into_iter()
            .map(|function| self.function_name(function))
            .collect()
    }

    fn function_name(&self, function: *mut c_void) -> Option<String> {
        let mut name = std::ptr::null::<c_char>();
        // SAFETY: the function is of a loaded module, and the pointer may be written.
        unsafe { self.driver.cuFuncGetName((&raw mut name).cast(), function) }.ok()?;
        // SAFETY: the driver gave a terminated text that lives as long as the module.
        let name = unsafe { CStr::from_ptr(name) };
        Some(name.to_string_lossy().into_owned())
    }

    /// Where the kernel's parameters lie; `None` if the driver is too old to say.
    pub fn parameters(&self, kernel: &ForeignKernel) -> Option<Vec<Compiled>> {
        self.make_current().ok()?;
        let mut all = Vec::new();
        loop {
            let (mut offset, mut size) = (0usize, 0usize);
            // SAFETY: the function is of a loaded module, and both numbers may be written.
            let found = unsafe {
                self.driver.cuFuncGetParamInfo(
                    kernel.0.function.0,
                    all.len(),
                    (&raw mut offset).cast(),
                    (&raw mut size).cast(),
                )
            };
            match found {
                Ok(()) => all.push(Compiled {
                    offset,
                    size,
                    kind: Kind::Other,
                }),
                // The index is that of no parameter.
                Err(error) if error.code == cuda_loader::INVALID_VALUE => return Some(all),
                Err(_) => return None,
            }
        }
    }

    /// The address and the bytes of a variable; `None` if there is none.
    pub fn foreign_variable(
        &self,
        module: &ForeignModule,
        symbol: &CStr,
    ) -> Result<Option<(u64, usize)>> {
        self.make_current()?;
        Ok(self.variable(module.0, symbol)?)
    }

    /// Queues a launch.
    ///
    /// # Safety
    ///
    /// `parameters` point to the kernel's parameters, and its module stays loaded until the work is done. The kernel does
    /// with them what it may.
    pub unsafe fn launch_foreign(
        &self,
        ForeignKernel(kernel): &ForeignKernel,
        extents: &Extents,
        cooperative: bool,
        parameters: *mut *mut c_void,
    ) -> Result<()> {
        self.make_current()?;
        self.refuse_after_panic()?;
        crate::cluster::check(kernel.name, cooperative, extents, self.limits(), || {
            self.label()
        })?;
        let prepared = self.check_foreign(kernel, extents)?;
        match cooperative {
            // SAFETY: as the caller promises.
            true => unsafe { self.launch_together(&prepared, parameters) },
            // SAFETY: as the caller promises.
            false => unsafe { self.launch_plainly(&prepared, parameters) },
        }
    }

    /// The most blocks that run at once.
    pub fn foreign_blocks_at_once(
        &self,
        ForeignKernel(kernel): &ForeignKernel,
        extents: &Extents,
    ) -> Result<u64> {
        self.make_current()?;
        let prepared = self.check_foreign(kernel, extents)?;
        self.resident_blocks(kernel, extents, prepared.shared_bytes)
    }

    /// Checks the shape against the kernel.
    fn check_foreign(&self, kernel: &LoadedKernel, extents: &Extents) -> Result<CudaPrepared> {
        kernel.check_block(kernel.name, extents.block)?;
        let (limits, label) = (self.limits(), || self.label());
        let shared_bytes =
            check_dynamic_shared(kernel.name, kernel.shared_bytes, extents, limits, label)?;
        self.allow_dynamic_shared(kernel, shared_bytes)?;
        Ok(CudaPrepared {
            kernel: *kernel,
            extents: *extents,
            shared_bytes,
        })
    }

    /// Waits for all streams of the device: any of them may use what a module has.
    pub fn wait_for_device(&self) -> Result<()> {
        self.make_current()?;
        // SAFETY: the context is current.
        unsafe { self.driver.cuCtxSynchronize() }?;
        Ok(())
    }

    /// Unloads a module when its work is done. A failure means that the context is lost, and the module with it.
    pub fn unload_foreign(&self, module: &ForeignModule) {
        if self.wait_for_device().is_ok() {
            // SAFETY: the module was loaded by this device and is not used later.
            let _ = unsafe { self.driver.cuModuleUnload(module.0.0) };
        }
    }
}
