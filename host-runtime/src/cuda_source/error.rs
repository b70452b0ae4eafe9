//! What can go wrong with CUDA C: from the compiler that is not there to a signature that is not the kernel's.

use std::fmt;
use std::path::PathBuf;

use cuda_loader::{DriverError, NvrtcError, NvrtcNotFound};

use super::signature::SignatureMismatch;

/// What went wrong between a CUDA C source, or a file of device code, and a kernel that can be launched.
///
/// Each names the source or file as [`CudaSource::file_name`](super::CudaSource::file_name) or its path does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CudaSourceError {
    /// The device is the CPU simulator.
    #[error(
        "`{module}` is CUDA code, which the CPU simulator cannot run: choose a CUDA device (`Gpu::cuda(0)`, or \
         `OXWARP_DEVICE=cuda` for `Gpu::new()`), or write the kernel in Rust, with `#[kernel]`"
    )]
    Simulator {
        /// The source or file.
        module: String,
    },

    /// NVRTC is in none of the places where it may be.
    #[error(transparent)]
    NoCompiler(#[from] NvrtcNotFound),

    /// The source has errors. The log names them with their lines.
    #[error("{module} does not compile:\n{log}")]
    Compilation {
        /// The source.
        module: String,
        /// What the compiler said.
        log: String,
    },

    /// NVRTC did not take what it was given, such as an option or a name expression.
    #[error("{module} was not compiled with `{options}`: {error}")]
    Compiler {
        /// The source.
        module: String,
        /// NVRTC's options.
        options: String,
        /// What NVRTC said.
        error: NvrtcError,
    },

    /// NVRTC makes no code that the device runs.
    #[error(
        "NVRTC of CUDA {}.{} makes code for compute capability {} and newer, but {device} has {}.{}: install an older one, \
         such as the Python package nvidia-cuda-nvrtc-cu12, and let OXWARP_NVRTC name its library",
        .version.0, .version.1, decimal(*.oldest), .compute_capability.0, .compute_capability.1
    )]
    DeviceTooOld {
        /// NVRTC's version.
        version: (u32, u32),
        /// The lowest compute capability that it compiles for: 75 for 7.5.
        oldest: u32,
        /// The device.
        device: String,
        /// Its compute capability.
        compute_capability: (u32, u32),
    },

    /// A file cannot be read.
    #[error("cannot read `{}`: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },

    /// A file or memory is no device code, or is damaged.
    #[error("`{module}` is no whole cubin, fatbin or PTX: {reason}")]
    NotAnImage {
        /// The file, or the name that was given.
        module: String,
        /// What is wrong with it.
        reason: String,
    },

    /// Machine code for another GPU.
    #[error(
        "`{module}` is machine code for {target}, which {device} of compute capability {}.{} cannot run: compile it for \
         sm_{0}{1}, or to PTX (compute_{0}{1} or lower), which the driver compiles for any newer GPU",
        .compute_capability.0, .compute_capability.1
    )]
    OtherArchitecture {
        /// The file or source.
        module: String,
        /// What it is for, such as `sm_80`.
        target: String,
        /// The device.
        device: String,
        /// Its compute capability.
        compute_capability: (u32, u32),
    },

    /// The driver is too old for the PTX.
    #[error(
        "the NVIDIA driver supports CUDA {}.{}, which does not know PTX ISA {ptx_version} of `{module}`: update the \
         driver, or compile with the NVRTC or nvcc of that CUDA version",
        .driver_version.0, .driver_version.1
    )]
    DriverTooOld {
        /// The file or source.
        module: String,
        /// The newest CUDA version of the driver.
        driver_version: (u32, u32),
        /// What the PTX says in `.version`.
        ptx_version: String,
    },

    /// The driver did not accept the code.
    #[error("`{module}` did not load: {error}{}{log}", if .log.is_empty() { "" } else { "\n" })]
    Load {
        /// The file or source.
        module: String,
        /// The driver's error.
        error: DriverError,
        /// What the driver's compiler said.
        log: String,
    },

    /// The module has no kernel of this name.
    #[error("`{module}` has no kernel `{name}`{}", kernels_there(.kernels.as_deref(), .name))]
    NoKernel {
        /// The file or source.
        module: String,
        /// The name that was asked for.
        name: String,
        /// The kernels that it has, if they can be listed: from the PTX, or by a driver of CUDA 12.4 or newer.
        kernels: Option<Vec<String>>,
    },

    /// The declared signature is not that of the compiled kernel.
    #[error("kernel `{name}` of `{module}` is not as `{declared}` declares it: {mismatch}")]
    Signature {
        /// The file or source.
        module: String,
        /// The kernel.
        name: String,
        /// The declaration.
        declared: &'static str,
        /// What differs.
        mismatch: SignatureMismatch,
    },

    /// The module has no variable of this name.
    #[error(
        "`{module}` has no `__constant__` or `__device__` variable `{name}`: declare it `extern \"C\"`, or ask for it by a \
         name expression such as `&{name}`; one that no kernel uses may be left out by the compiler"
    )]
    NoGlobal {
        /// The file or source.
        module: String,
        /// The name that was asked for.
        name: String,
    },

    /// A variable is not made of whole elements of the type.
    #[error(
        "the variable `{name}` of `{module}` has {bytes} bytes, which are not elements of `{element}`, of {element_bytes} \
         bytes each"
    )]
    GlobalType {
        /// The file or source.
        module: String,
        /// The variable.
        name: String,
        /// Its bytes.
        bytes: usize,
        /// The type that was asked for.
        element: &'static str,
        /// Bytes of that type.
        element_bytes: usize,
    },

    /// A variable is written with too few or too many elements.
    #[error("the variable `{name}` of `{module}` has {len} elements, but {given} were given")]
    GlobalLength {
        /// The file or source.
        module: String,
        /// The variable.
        name: String,
        /// Its elements.
        len: usize,
        /// The elements that were given.
        given: usize,
    },

    /// A view with gaps or in another order than row-major: a CUDA C kernel gets only the address of its first element.
    #[error(
        "a view of shape {shape:?} with strides {strides:?} is not in standard (row-major) layout, but a kernel of CUDA C \
         gets only its address: pass a copy, or declare the parameter as a pointer and pass the strides too"
    )]
    NotStandardLayout {
        /// Its extents.
        shape: Vec<usize>,
        /// The distances of neighbours, in elements.
        strides: Vec<isize>,
    },
}

/// `9.0` of 90.
fn decimal(capability: u32) -> String {
    format!("{}.{}", capability / 10, capability % 10)
}

fn kernels_there(kernels: Option<&[String]>, name: &str) -> impl fmt::Display {
    match kernels {
        None => String::new(),
        Some([]) => "; it has none".to_owned(),
        Some(kernels) => {
            let there = format!("; it has: {}", kernels.join(", "));
            let mangled = |kernel: &String| kernel.starts_with("_Z") && kernel.contains(name);
            let advice = if kernels.iter().any(mangled) {
                ". C++ adds the parameters to a name: declare the kernel `extern \"C\"`, or give its name with \
                 `name_expression` before it is compiled"
            } else {
                ""
            };
            there + advice
        }
    }
}
