//! An image on a device.
//!
//! In: a [`CudaImage`]. Out: its kernels, each checked against its declaration, and its variables. A module stays loaded
//! while it, a kernel or a variable of it is there.

use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

use super::error::CudaSourceError;
use super::function::{CudaFunction, CudaKernel};
use super::global::CudaGlobal;
use super::image::CudaImage;
use super::{ptx, signature};
use crate::DeviceCopy;
use crate::cuda::{CudaStream, ForeignModule};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::stream::Backend;

/// Loaded CUDA code: a module of the driver. PyCUDA: `Module`; CuPy: `RawModule`; CUDA C: `CUmodule`.
///
/// Clones are the same module, which all streams of the device can use. It is unloaded when the last of them and of its
/// kernels and variables is dropped, which waits for the work of the device.
#[derive(Clone)]
pub struct CudaModule {
    loaded: Arc<Loaded>,
}

/// A module and what is known of it.
pub(super) struct Loaded {
    gpu: Gpu,
    image: CudaImage,
    module: ForeignModule,
}

impl CudaModule {
    fn load(image: &CudaImage, gpu: &Gpu) -> Result<Self> {
        let module = stream_of(gpu, image)?.load_foreign(image)?;
        Ok(Self {
            loaded: Arc::new(Loaded {
                gpu: gpu.clone(),
                image: image.clone(),
                module,
            }),
        })
    }

    /// A kernel, with the signature that [`cuda_kernel!`](crate::cuda_kernel) declares: `module.function::<saxpy>("saxpy")?`.
    /// PyCUDA and CuPy: `get_function`; CUDA C: `cuModuleGetFunction`.
    ///
    /// `name` is that of an `extern "C"` kernel, a name expression of the source, or a mangled C++ name.
    ///
    /// Number, sizes and places of the parameters are compared with those of the compiled kernel, and floating-point numbers
    /// with integers where the PTX is known. Without PTX (a cubin or fatbin) it takes a driver of CUDA 12.4 or newer; with an
    /// older one the declaration is trusted.
    ///
    /// # Errors
    ///
    /// If there is no such kernel ([`CudaSourceError::NoKernel`] names those that there are), or it has other parameters
    /// ([`CudaSourceError::Signature`]).
    pub fn function<K: CudaKernel>(&self, name: &str) -> Result<K> {
        let Loaded { image, module, .. } = &*self.loaded;
        let device = self.loaded.stream()?;
        let symbol = image.symbol(name);
        let found = match CString::new(symbol) {
            Ok(symbol) => device.foreign_kernel(module, &symbol, K::NAME)?,
            Err(_) => None,
        };
        let Some(kernel) = found else {
            return Err(CudaSourceError::NoKernel {
                module: image.name().to_owned(),
                name: name.to_owned(),
                kernels: self.kernels(),
            }
            .into());
        };
        let from_ptx = image.ptx().and_then(|text| ptx::parameters(text, symbol));
        if let Some(compiled) = from_ptx.or_else(|| device.parameters(&kernel)) {
            signature::check(&K::parameters(), &compiled).map_err(|mismatch| {
                CudaSourceError::Signature {
                    module: image.name().to_owned(),
                    name: name.to_owned(),
                    declared: K::DECLARATION,
                    mismatch,
                }
            })?;
        }
        Ok(K::of(CudaFunction::new(self.loaded.clone(), kernel)))
    }

    /// The names of the module's kernels, as they are in the code: mangled, if they are not `extern "C"`. `None` if it was
    /// loaded without PTX and the driver cannot list them (it is older than CUDA 12.4).
    pub fn kernels(&self) -> Option<Vec<String>> {
        let Loaded { image, module, .. } = &*self.loaded;
        image.kernels().or_else(|| {
            let device = self.loaded.stream().ok()?;
            device.foreign_kernel_names(module)
        })
    }

    /// A `__constant__` or `__device__` variable, as elements of `T`. PyCUDA and CuPy: `get_global`; CUDA C:
    /// `cuModuleGetGlobal`.
    ///
    /// `name` is that of an `extern "C"` variable, a name expression of the source (`&table<float>`), or a mangled name. A
    /// variable outside of namespaces keeps its name in C++ too.
    ///
    /// # Errors
    ///
    /// If there is no such variable, or it has no whole number of elements.
    ///
    /// ```no_run
    /// use host_runtime::Gpu;
    ///
    /// let gpu = Gpu::cuda(0)?;
    /// let module = gpu.compile_cuda(
    ///     "__constant__ float table[4];
    ///      extern \"C\" __global__ void look_up(float *y) { y[threadIdx.x] = table[threadIdx.x]; }",
    /// )?;
    /// let table = module.get_global::<f32>("table")?;
    /// table.copy_from(&[1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(table.to_vec()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn get_global<T: DeviceCopy>(&self, name: &str) -> Result<CudaGlobal<T>> {
        let Loaded { image, module, .. } = &*self.loaded;
        let found = match CString::new(image.symbol(name)) {
            Ok(symbol) => self.loaded.stream()?.foreign_variable(module, &symbol)?,
            Err(_) => None,
        };
        let Some((address, bytes)) = found else {
            return Err(CudaSourceError::NoGlobal {
                module: image.name().to_owned(),
                name: name.to_owned(),
            }
            .into());
        };
        CudaGlobal::new(self.loaded.clone(), name, address, bytes)
    }

    /// What the compiler said of the source: its warnings. See [`CudaImage::log`].
    pub fn log(&self) -> &str {
        self.loaded.image.log()
    }

    /// What was loaded.
    pub fn image(&self) -> &CudaImage {
        &self.loaded.image
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.loaded.gpu
    }
}

impl fmt::Debug for CudaModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loaded { gpu, image, .. } = &*self.loaded;
        write!(f, "CudaModule({} on {gpu:?})", image.name())
    }
}

impl Loaded {
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    pub fn name(&self) -> &str {
        self.image.name()
    }

    /// The stream that the module was loaded on.
    pub fn stream(&self) -> Result<&CudaStream> {
        stream_of(&self.gpu, &self.image)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Ok(stream) = self.stream() {
            stream.unload_foreign(&self.module);
        }
    }
}

/// The stream of a CUDA device, which it has to be.
fn stream_of<'a>(gpu: &'a Gpu, image: &CudaImage) -> Result<&'a CudaStream> {
    match gpu.backend() {
        Backend::Cuda(stream) => Ok(stream),
        Backend::Simulator(_) => Err(CudaSourceError::Simulator {
            module: image.name().to_owned(),
        }
        .into()),
    }
}

impl Gpu {
    /// Loads PTX, a cubin or a fatbin on this device. PyCUDA: `module_from_file`, `module_from_buffer`; CuPy:
    /// `RawModule(path=...)`; CUDA C: `cuModuleLoadData`.
    ///
    /// # Errors
    ///
    /// If the device is the simulator, or does not take the code: it is for another architecture, of a newer CUDA than the
    /// driver's, or damaged.
    ///
    /// ```no_run
    /// use host_runtime::{CudaImage, Gpu, cuda_kernel};
    ///
    /// cuda_kernel! {
    ///     unsafe fn saxpy(n: i32, a: f32, x: &[f32], y: &mut [f32]);
    /// }
    ///
    /// let gpu = Gpu::cuda(0)?;
    /// let module = gpu.load_cuda(&CudaImage::from_file("saxpy.cubin")?)?; // of nvcc -cubin -arch=sm_90
    /// let saxpy = module.function::<saxpy>("saxpy")?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn load_cuda(&self, image: &CudaImage) -> Result<CudaModule> {
        CudaModule::load(image, self)
    }
}
