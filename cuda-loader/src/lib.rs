//! Opens the NVIDIA driver when the program starts to use it, so that one binary runs with or without a driver.
//!
//! `cust` is written to be linked against libcuda. This crate defines every `cu*` function that `cust` refers to as a
//! forwarder to a `libcuda.so.1` that is opened on the first call; without a driver, or without that function in the
//! driver, a forwarder returns an error code. The linker is therefore content without a CUDA toolkit, and the program
//! does not need libcuda to start.
//!
//! [`driver`] gives the same functions, and a few that `cust` has not, as methods that return a [`DriverError`].
//!
//! [`nvrtc`] opens NVRTC, the compiler of CUDA C++, in the same way, and [`nccl`] NCCL, the library of exchange between
//! GPUs.
//!
//! `cust` reads a result code as a Rust enum, so a code that its bindings do not know would be undefined behaviour. The
//! forwarders give `cust` [`UNKNOWN`] in that case; [`last_error`] has the driver's own code either way.

mod calls;
mod find;
mod forward;
mod nccl;
mod nvrtc;
pub mod nvtx;
mod table;

use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ushort, c_void};
use std::fmt;
use std::ptr::null;
use std::sync::OnceLock;

use libloading::Library;

pub use forward::{known_to_cust, last_error};
pub use nccl::{NCCL_VARIABLE, Nccl, NcclError, NcclNotFound, nccl};
pub use nvrtc::{Compiled, NVRTC_VARIABLE, Nvrtc, NvrtcError, NvrtcNotFound, Source, nvrtc};

/// A pointer or handle of any kind in a driver call.
pub type Pointer = *mut c_void;

/// `CUDA_ERROR_INVALID_VALUE`.
pub const INVALID_VALUE: u32 = 1;
/// `CUDA_ERROR_OUT_OF_MEMORY`.
pub const OUT_OF_MEMORY: u32 = 2;
/// `CUDA_ERROR_STUB_LIBRARY`: what forwarders return when there is no driver.
pub const STUB_LIBRARY: u32 = 34;
/// `CUDA_ERROR_NO_DEVICE`.
pub const NO_DEVICE: u32 = 100;
/// `CUDA_ERROR_NO_BINARY_FOR_GPU`.
pub const NO_BINARY_FOR_GPU: u32 = 209;
/// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`.
pub const UNSUPPORTED_PTX_VERSION: u32 = 222;
/// `CUDA_ERROR_NOT_FOUND`.
pub const NOT_FOUND: u32 = 500;
/// `CUDA_ERROR_NOT_READY`: a query's answer, not a failure.
pub const NOT_READY: u32 = 600;
/// `CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES`.
pub const LAUNCH_OUT_OF_RESOURCES: u32 = 701;
/// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED`.
pub const PEER_ACCESS_ALREADY_ENABLED: u32 = 704;
/// `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`.
pub const COOPERATIVE_LAUNCH_TOO_LARGE: u32 = 720;
/// `CUDA_ERROR_NOT_SUPPORTED`: what forwarders return when the driver lacks the function.
pub const NOT_SUPPORTED: u32 = 801;
/// `CUDA_ERROR_INVALID_CLUSTER_SIZE`.
pub const INVALID_CLUSTER_SIZE: u32 = 912;
/// `CUDA_ERROR_UNKNOWN`.
pub const UNKNOWN: u32 = 999;

/// The library that is looked for, through the dynamic linker's search path.
#[cfg(not(windows))]
pub const LIBRARY: &str = "libcuda.so.1";
/// The library that is looked for, through the system's search path.
#[cfg(windows)]
pub const LIBRARY: &str = "nvcuda.dll";

/// The driver could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The file that was looked for.
    pub library: &'static str,
    /// What the dynamic linker said.
    pub reason: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no NVIDIA driver: {} did not load: {}",
            self.library, self.reason
        )
    }
}

impl std::error::Error for LoadError {}

/// A driver call that did not return `CUDA_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// The function, as in `cuda.h`.
    pub call: &'static str,
    /// The `CUresult`.
    pub code: u32,
}

impl DriverError {
    /// The code's name, such as `CUDA_ERROR_OUT_OF_MEMORY`; empty if the driver does not know it.
    pub fn name(&self) -> &'static str {
        text_of(self.code, |driver, code, text| {
            // SAFETY: `text` is valid for a write of one pointer.
            unsafe { driver.cuGetErrorName(code, text) }
        })
        .unwrap_or(match self.code {
            STUB_LIBRARY => "CUDA_ERROR_STUB_LIBRARY",
            NOT_SUPPORTED => "CUDA_ERROR_NOT_SUPPORTED",
            _ => "",
        })
    }

    /// The driver's sentence on the code; empty if it has none.
    pub fn description(&self) -> &'static str {
        text_of(self.code, |driver, code, text| {
            // SAFETY: `text` is valid for a write of one pointer.
            unsafe { driver.cuGetErrorString(code, text) }
        })
        .unwrap_or(match self.code {
            STUB_LIBRARY => "no NVIDIA driver is installed",
            NOT_SUPPORTED => "the driver lacks this function",
            _ => "",
        })
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} failed with {} {}: {}",
            self.call,
            self.name(),
            self.code,
            self.description()
        )
    }
}

impl std::error::Error for DriverError {}

/// Asks the driver for a text that it keeps for the life of the process.
fn text_of(
    code: u32,
    ask: impl FnOnce(&Driver, c_uint, Pointer) -> Result<(), DriverError>,
) -> Option<&'static str> {
    let driver = driver().ok()?;
    let mut text: *const c_char = null();
    ask(driver, code, (&raw mut text).cast()).ok()?;
    if text.is_null() {
        return None;
    }
    // SAFETY: the driver gave a terminated constant string, and is never unloaded.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// The driver, opened on the first call for the life of the process; the answer does not change later.
///
/// # Errors
///
/// If the driver's library is not there or does not load.
pub fn driver() -> Result<&'static Driver, &'static LoadError> {
    static DRIVER: OnceLock<Result<Driver, LoadError>> = OnceLock::new();
    DRIVER.get_or_init(|| open(LIBRARY)).as_ref()
}

fn open(name: &'static str) -> Result<Driver, LoadError> {
    // SAFETY: the driver's initialisers may run in any process and on any thread.
    match unsafe { Library::new(name) } {
        Ok(library) => Ok(Driver::of(library)),
        Err(error) => Err(LoadError {
            library: name,
            reason: reason_of(&error),
        }),
    }
}

/// What the dynamic linker said, which `libloading` keeps as the source of its own error.
fn reason_of(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// One entry of the table: the function, if this driver has it.
fn symbol<F: Copy>(library: &Library, name: &str) -> Option<F> {
    // SAFETY: the caller names the function type that `cuda.h` gives this name; the type is a function pointer.
    unsafe { library.get::<F>(name.as_bytes()) }
        .ok()
        .map(|symbol| *symbol)
}

macro_rules! driver_struct {
    (
        exported { $(fn $name:ident($($parameter:ident: $type:ty),*);)* }
        extra { $(fn $extra:ident($($extra_parameter:ident: $extra_type:ty),*);)* }
    ) => {
        driver_struct! {
            all {
                $(fn $name($($parameter: $type),*);)*
                $(fn $extra($($extra_parameter: $extra_type),*);)*
            }
        }
    };
    (all { $(fn $name:ident($($parameter:ident: $type:ty),*);)* }) => {
        /// The functions of an opened driver. A method is named as its function in `cuda.h`, takes the same arguments,
        /// and fails with [`NOT_SUPPORTED`] where the driver is too old to have it.
        #[allow(non_snake_case)]
        pub struct Driver {
            $($name: Option<unsafe extern "C" fn($($type),*) -> u32>,)*
            /// Keeps the functions in place.
            _library: Library,
        }

        #[allow(non_snake_case, clippy::too_many_arguments)]
        impl Driver {
            fn of(library: Library) -> Self {
                Self {
                    $($name: symbol(&library, stringify!($name)),)*
                    _library: library,
                }
            }

            $(
                #[doc = concat!("`", stringify!($name), "` of the CUDA driver API.")]
                ///
                /// # Errors
                ///
                /// If the driver returns another code than `CUDA_SUCCESS`, or lacks the function.
                ///
                /// # Safety
                ///
                /// What the driver's documentation demands of the arguments.
                #[inline]
                pub unsafe fn $name(&self, $($parameter: $type),*) -> Result<(), DriverError> {
                    let code = match self.$name {
                        // SAFETY: the caller's arguments are valid, and the type is the function's.
                        Some(function) => unsafe { function($($parameter),*) },
                        None => NOT_SUPPORTED,
                    };
                    match code {
                        0 => Ok(()),
                        code => Err(DriverError { call: stringify!($name), code }),
                    }
                }
            )*
        }
    };
}

calls::driver_calls!(driver_struct);

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({LIBRARY})")
    }
}

impl Driver {
    /// The newest CUDA version that the driver supports, as `(13, 0)`.
    ///
    /// # Errors
    ///
    /// If the driver does.
    pub fn version(&self) -> Result<(u32, u32), DriverError> {
        let mut version: c_int = 0;
        // SAFETY: the pointer is valid for a write of a `c_int`.
        unsafe { self.cuDriverGetVersion((&raw mut version).cast()) }?;
        let version = version.unsigned_abs();
        Ok((version / 1000, version % 1000 / 10))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_an_error_with_its_name() {
        let error = open("liboxwarp-has-no-such-driver.so.1")
            .map(drop)
            .unwrap_err();
        assert_eq!(error.library, "liboxwarp-has-no-such-driver.so.1");
        let text = error.to_string();
        assert!(
            text.matches("liboxwarp-has-no-such-driver.so.1").count() >= 2,
            "{text}"
        );
    }

    #[test]
    fn a_library_without_the_functions_gives_error_values() {
        #[cfg(target_os = "linux")]
        {
            let driver = open("libc.so.6").unwrap();
            // SAFETY: libc has no such function, so nothing is called.
            let error = unsafe { driver.cuInit(0) }.unwrap_err();
            assert_eq!((error.call, error.code), ("cuInit", NOT_SUPPORTED));
            assert_eq!(driver.version().unwrap_err().call, "cuDriverGetVersion");
        }
    }

    #[test]
    fn the_driver_is_opened_once() {
        match (driver(), driver()) {
            (Ok(one), Ok(two)) => assert!(std::ptr::eq(one, two)),
            (Err(one), Err(two)) => assert!(std::ptr::eq(one, two)),
            _ => panic!("two answers"),
        }
    }
}
