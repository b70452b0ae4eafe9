//! A CUDA C++ source with what its compilation needs.
//!
//! In: the text, and NVRTC's options by their meaning. Out: a [`CudaImage`]: machine code for the device, or PTX where NVRTC
//! is older than the device.

use std::fs;
use std::path::{Path, PathBuf};

use cuda_loader::{Nvrtc, NvrtcError, Source};

use super::error::CudaSourceError;
use super::image::CudaImage;
use super::module::CudaModule;
use crate::error::Result;
use crate::gpu::Gpu;

/// CUDA C++ that is compiled when the program runs, by NVRTC. PyCUDA: `SourceModule`; CuPy: `RawModule`.
///
/// NVRTC is opened when it is first used: that of a CUDA toolkit, or of the Python package `nvidia-cuda-nvrtc`. It looks in
/// the file that `OXWARP_NVRTC` names, in `CUDA_HOME` and `CUDA_PATH`, on the dynamic linker's path, in `/usr/local/cuda` and
/// `/opt/cuda`, and in the Python environments of `VIRTUAL_ENV`, of `CONDA_PREFIX` and on `PATH`. CUDA's own headers, such as
/// `cuda_fp16.h`, are found beside it or in the toolkit.
///
/// ```no_run
/// use host_runtime::{CudaSource, Gpu, cuda_kernel};
///
/// cuda_kernel! {
///     /// `x[i] *= factor`
///     unsafe fn scale(n: i32, factor: f32, x: &mut [f32]);
/// }
///
/// let gpu = Gpu::cuda(0)?;
/// let source = CudaSource::new(
///     r#"
///     template <class T>
///     __global__ void scale(int n, T factor, T *x) {
///         int i = blockIdx.x * BLOCK + threadIdx.x;
///         if (i < n) x[i] *= factor;
///     }"#,
/// );
/// let module = source
///     .define("BLOCK", 256)
///     .name_expression("scale<float>")
///     .load(&gpu)?;
/// let scale = module.function::<scale>("scale<float>")?;
///
/// let mut x = gpu.to_device(&[1.0f32, 2.0, 3.0])?;
/// // SAFETY: the kernel writes x[0] to x[n - 1], and x has n elements.
/// unsafe { scale.grid(1).block(256).launch(3, 2.0, &mut x)? };
/// assert_eq!(x.to_vec()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), host_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a source is compiled by `load` or `compile`"]
pub struct CudaSource {
    name: String,
    text: String,
    options: Vec<String>,
    headers: Vec<(String, String)>,
    expressions: Vec<String>,
}

impl CudaSource {
    /// A source in memory. Messages call it `cuda_source.cu`, if [`file_name`](Self::file_name) says nothing else.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            name: "cuda_source.cu".to_owned(),
            text: text.into(),
            options: Vec::new(),
            headers: Vec::new(),
            expressions: Vec::new(),
        }
    }

    /// A file, whose folder is searched for its headers. Messages call it by its path.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not UTF-8.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|error| CudaSourceError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        let source = Self::new(text).file_name(path.display().to_string());
        Ok(match path.parent() {
            Some(folder) if folder != Path::new("") => source.include_path(folder),
            _ => source.include_path("."),
        })
    }

    /// Sets what messages call the source: `saxpy.cu` in `saxpy.cu(3): error: ...`.
    pub fn file_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Searches a folder for headers, after those that were given before and before CUDA's own. nvcc: `-I`.
    pub fn include_path(self, folder: impl Into<PathBuf>) -> Self {
        self.option(format!("--include-path={}", folder.into().display()))
    }

    /// Gives a header in memory: what `#include "name"` inserts.
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.headers.push((name.into(), text.into()));
        self
    }

    /// Defines a macro of the preprocessor. nvcc: `-Dname=value`.
    pub fn define(self, name: &str, value: impl std::fmt::Display) -> Self {
        self.option(format!("--define-macro={name}={value}"))
    }

    /// Passes an option to NVRTC, such as `--use_fast_math`, `-std=c++20` or `--maxrregcount=32`. Without another `-std` it
    /// compiles C++17.
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Instantiates a template, or names a function or variable as C++ does: `scale<float>`, `linalg::dot`, `&table<int>`.
    /// It is found under this name in the module. CuPy: `name_expressions`; CUDA C: `nvrtcAddNameExpression`.
    pub fn name_expression(mut self, expression: impl Into<String>) -> Self {
        self.expressions.push(expression.into());
        self
    }

    /// Compiles the source for the device and loads it there. The code of each call is a module of its own.
    ///
    /// # Errors
    ///
    /// If the device is the simulator, there is no NVRTC, the source has errors or the device does not load the code: see
    /// [`CudaSourceError`].
    pub fn load(&self, gpu: &Gpu) -> Result<CudaModule> {
        let compute_capability =
            gpu.compute_capability()
                .ok_or_else(|| CudaSourceError::Simulator {
                    module: self.name.clone(),
                })?;
        let nvrtc = self.compiler()?;
        let architecture = self.architecture_for(nvrtc, gpu, compute_capability)?;
        gpu.load_cuda(&self.compile_with(nvrtc, &architecture)?)
    }

    /// Compiles the source for an architecture: to machine code for `sm_90`, which runs on GPUs of compute capability 9.0 and
    /// later ones of 9, or to PTX for `compute_90`, which the driver compiles for any GPU of 9.0 or newer. It needs no GPU.
    ///
    /// # Errors
    ///
    /// If there is no NVRTC, or the source has errors.
    ///
    /// ```no_run
    /// use host_runtime::CudaSource;
    ///
    /// let source = "extern \"C\" __global__ void one(int *x) { *x = 1; }";
    /// let image = CudaSource::new(source).compile("sm_90")?;
    /// std::fs::write("one.cubin", image.bytes())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compile(&self, architecture: &str) -> Result<CudaImage> {
        self.compile_with(self.compiler()?, architecture)
    }

    fn compiler(&self) -> Result<&'static Nvrtc> {
        let nvrtc = cuda_loader::nvrtc().map_err(|error| CudaSourceError::from(error.clone()))?;
        Ok(nvrtc)
    }

    /// The device's own architecture, or else the newest that NVRTC knows of those that the device runs.
    fn architecture_for(
        &self,
        nvrtc: &Nvrtc,
        gpu: &Gpu,
        compute_capability: (u32, u32),
    ) -> Result<String> {
        let known = nvrtc
            .architectures()
            .map_err(|error| self.failure(error, &[]))?;
        let (major, minor) = compute_capability;
        let Some(architecture) = best_architecture(&known, major * 10 + minor) else {
            return Err(CudaSourceError::DeviceTooOld {
                version: nvrtc.version().map_err(|error| self.failure(error, &[]))?,
                oldest: known.iter().copied().min().unwrap_or_default(),
                device: gpu.label(),
                compute_capability,
            }
            .into());
        };
        Ok(architecture)
    }

    fn compile_with(&self, nvrtc: &Nvrtc, architecture: &str) -> Result<CudaImage> {
        let architecture = format!("--gpu-architecture={architecture}");
        let options = self.options.iter().map(String::as_str);
        let options: Vec<_> = [architecture.as_str()].into_iter().chain(options).collect();
        let headers: Vec<_> = self
            .headers
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let expressions: Vec<_> = self.expressions.iter().map(String::as_str).collect();
        let mut compiled = nvrtc
            .compile(&Source {
                name: &self.name,
                text: &self.text,
                options: &options,
                headers: &headers,
                expressions: &expressions,
            })
            .map_err(|error| self.failure(error, &options))?;
        let symbols = std::mem::take(&mut compiled.symbols);
        let symbols = self.expressions.iter().cloned().zip(symbols);
        Ok(CudaImage::of_compiled(self.name.clone(), compiled).with_symbols(symbols))
    }

    fn failure(&self, error: NvrtcError, options: &[&str]) -> CudaSourceError {
        match error {
            NvrtcError::Compilation { name, log } => {
                CudaSourceError::Compilation { module: name, log }
            }
            error => CudaSourceError::Compiler {
                module: self.name.clone(),
                options: options.join(" "),
                error,
            },
        }
    }
}

/// What NVRTC compiles for, for a device of this compute capability: `None` if it is older than all of `known`.
fn best_architecture(known: &[u32], device: u32) -> Option<String> {
    let best = known.iter().filter(|&&known| known <= device).max()?;
    Some(if *best == device {
        format!("sm_{best}")
    } else {
        format!("compute_{best}")
    })
}

impl Gpu {
    /// Compiles CUDA C++ for this device and loads it: `CudaSource::new(source).load(&gpu)`. PyCUDA: `SourceModule(source)`.
    ///
    /// # Errors
    ///
    /// As for [`CudaSource::load`].
    ///
    /// ```
    /// use host_runtime::{Error, Gpu};
    ///
    /// let source = r#"extern "C" __global__ void one(int *x) { *x = 1; }"#;
    /// match Gpu::cpu().compile_cuda(source) {
    ///     Err(Error::CudaSource(error)) => println!("{error}"),
    ///     _ => unreachable!("the simulator does not run CUDA C"),
    /// }
    /// ```
    pub fn compile_cuda(&self, source: impl Into<String>) -> Result<CudaModule> {
        CudaSource::new(source).load(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_architecture_is_chosen() {
        let best = |device| best_architecture(&[75, 80, 90, 100], device);
        assert_eq!(best(90).unwrap(), "sm_90");
        assert_eq!(best(89).unwrap(), "compute_80");
        assert_eq!(best(120).unwrap(), "compute_100");
        assert_eq!(best(70), None);
    }
}
