//! CUDA C beside Rust: kernels that are compiled when the program runs, or that nvcc has compiled.
//!
//! - `source`: [`CudaSource`], CUDA C++ for NVRTC, with its options.
//! - `image`: [`CudaImage`], what is loaded: PTX, a cubin or a fatbin; `headers`: whether it is whole.
//! - `module`: [`CudaModule`], an image on a device, with its kernels.
//! - `global`: [`CudaGlobal`], a variable of a module.
//! - `declare`: [`cuda_kernel!`](crate::cuda_kernel), the signature of a kernel, which makes it a type.
//! - `signature`, `ptx`: the check of that signature against the compiled kernel.
//! - `argument`, `function`: a launch.
//!
//! A signature is written once, and each launch is checked against it by the Rust compiler, as for kernels in Rust. What a
//! kernel of CUDA C does with its arguments nobody checks, so its launches are `unsafe`.

mod argument;
mod declare;
mod error;
mod function;
mod global;
mod headers;
mod image;
mod module;
pub(crate) mod ptx;
pub(crate) mod signature;
mod source;

pub use argument::{CudaArray, CudaArrayMut};
pub use error::CudaSourceError;
pub use function::{CudaFunction, CudaKernel};
pub use global::CudaGlobal;
pub use image::CudaImage;
pub use module::CudaModule;
pub use signature::{Parameter, SignatureMismatch};
pub use source::CudaSource;
