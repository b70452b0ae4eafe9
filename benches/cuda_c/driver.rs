//! The driver calls of the benchmark: the CUDA C side is loaded and launched through them, and both sides are timed and
//! looked at.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ptr::null_mut;

use cuda_loader::DriverError;
use oxwarp::Gpu;

use crate::cases::{Outcome, Twin};

/// The driver with a device's context and stream. Its modules stay loaded until the process ends.
pub struct Driver {
    driver: &'static cuda_loader::Driver,
    stream: *mut c_void,
    start: *mut c_void,
    end: *mut c_void,
}

/// A kernel in a loaded module.
#[derive(Clone, Copy)]
pub struct Function(*mut c_void);

/// A loaded module.
pub struct Module(*mut c_void);

/// What a kernel takes of a multiprocessor.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: i32,
    /// Bytes of local memory of a thread: spilled registers and the stack.
    pub local: i32,
    /// Bytes of static shared memory of a block.
    pub shared: i32,
}

impl Driver {
    /// The driver for a CUDA device, whose context the device has made current.
    pub fn of(gpu: &Gpu) -> Outcome<Self> {
        let driver = cuda_loader::driver()?;
        let stream = gpu.cuda_stream().ok_or("the simulator has no stream")?;
        let event = || -> Result<*mut c_void, DriverError> {
            let mut event = null_mut::<c_void>();
            // SAFETY: the context is current and the handle may be written.
            unsafe { driver.cuEventCreate((&raw mut event).cast(), 0) }?;
            Ok(event)
        };
        Ok(Driver {
            driver,
            stream,
            start: event()?,
            end: event()?,
        })
    }

    /// Loads a cubin, or terminated PTX.
    pub fn load(&self, image: &[u8]) -> Outcome<Module> {
        let mut module = null_mut::<c_void>();
        // SAFETY: the image is a whole cubin or a terminated text, and the handle may be written.
        unsafe {
            let image = image.as_ptr().cast_mut().cast();
            self.driver
                .cuModuleLoadData((&raw mut module).cast(), image)
        }?;
        Ok(Module(module))
    }

    /// A kernel of a module.
    pub fn function(&self, module: &Module, name: &CStr) -> Outcome<Function> {
        let mut function = null_mut::<c_void>();
        // SAFETY: the module is loaded, the name terminated, and the handle may be written.
        unsafe {
            let name = name.as_ptr().cast_mut().cast();
            self.driver
                .cuModuleGetFunction((&raw mut function).cast(), module.0, name)
        }
        .map_err(|error| format!("{}: {error}", name.to_string_lossy()))?;
        Ok(Function(function))
    }

    /// What a kernel takes.
    pub fn resources(&self, function: Function) -> Outcome<Resources> {
        // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, _LOCAL_SIZE_BYTES and _NUM_REGS.
        let [shared, local, registers] = [1, 3, 4].map(|attribute: c_uint| {
            let mut value: c_int = 0;
            // SAFETY: the function is of a loaded module and the value may be written.
            let asked = unsafe {
                self.driver
                    .cuFuncGetAttribute((&raw mut value).cast(), attribute, function.0)
            };
            asked.map(|()| value)
        });
        Ok(Resources {
            registers: registers?,
            local: local?,
            shared: shared?,
        })
    }

    /// Queues a launch in CUDA C.
    pub fn launch(&self, function: Function, twin: &Twin) -> Outcome<()> {
        let mut parameters: Vec<*mut c_void> = twin
            .arguments
            .iter()
            .map(|words| words.as_ptr().cast_mut().cast())
            .collect();
        let ([gx, gy, gz], [bx, by, bz]) = (twin.grid, twin.block);
        // SAFETY: they are the kernel's parameters in their order, and the arrays behind them live with the case.
        unsafe {
            let (parameters, none) = (parameters.as_mut_ptr().cast(), null_mut());
            self.driver.cuLaunchKernel(
                function.0,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                0,
                self.stream,
                parameters,
                none,
            )
        }?;
        Ok(())
    }

    /// Queues a copy inside the device.
    pub fn copy(&self, to: u64, from: u64, bytes: usize) -> Outcome<()> {
        // SAFETY: both addresses are of arrays that have so many bytes and are alive.
        unsafe {
            self.driver
                .cuMemcpyDtoDAsync_v2(to, from, bytes, self.stream)
        }?;
        Ok(())
    }

    /// Seconds that the device takes for what `queue` queues.
    pub fn time(&self, queue: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
        let mut milliseconds = 0f32;
        // SAFETY: the events and the stream are alive, and the time may be written.
        unsafe {
            self.driver.cuEventRecord(self.start, self.stream)?;
            queue()?;
            self.driver.cuEventRecord(self.end, self.stream)?;
            self.driver.cuEventSynchronize(self.end)?;
            let time = (&raw mut milliseconds).cast();
            self.driver.cuEventElapsedTime(time, self.start, self.end)?;
        }
        Ok(f64::from(milliseconds) / 1e3)
    }

    /// How many multiprocessors the first device has.
    pub fn multiprocessors(&self) -> Outcome<usize> {
        // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
        let (mut count, attribute): (c_int, c_uint) = (0, 16);
        // SAFETY: the count may be written.
        unsafe {
            self.driver
                .cuDeviceGetAttribute((&raw mut count).cast(), attribute, 0)
        }?;
        Ok(count.unsigned_abs() as usize)
    }
}

/// The CUDA C kernels, compiled and loaded once a source.
pub struct Twins<'a> {
    driver: &'a Driver,
    architecture: String,
    modules: HashMap<&'static str, Module>,
}

impl<'a> Twins<'a> {
    /// For a device of this compute capability.
    pub fn new(driver: &'a Driver, (major, minor): (u32, u32)) -> Self {
        Twins {
            driver,
            architecture: format!("sm_{major}{minor}"),
            modules: HashMap::new(),
        }
    }

    /// A kernel of a source.
    pub fn function(&mut self, source: crate::cases::Source, kernel: &str) -> Outcome<Function> {
        if !self.modules.contains_key(source.name) {
            let compiled = source.compile(&self.architecture)?;
            self.modules
                .insert(source.name, self.driver.load(&compiled.cubin)?);
        }
        let module = &self.modules[source.name];
        self.driver.function(module, &CString::new(kernel)?)
    }
}
