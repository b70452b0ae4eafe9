//! NVRTC, CUDA's compiler of CUDA C++ as a library, opened when it is first asked for.
//!
//! In: CUDA C++ as text and NVRTC's options. Out: a cubin or PTX, or the compiler's log as an error. Nothing of CUDA needs to
//! be there when the program is built or started; [`nvrtc`] looks for the library where a toolkit or NVIDIA's Python
//! package has it, and its error says where it looked. It needs no GPU.
//!
//! `compile` goes from a source to code.

mod compile;

use std::ffi::{NulError, c_char, c_int};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use crate::find::{Wanted, entries};
use crate::table::{functions, open_first};
use crate::{Pointer, reason_of};

pub use compile::{Compiled, Source};

/// The variable that names the library's file and goes before all other places.
pub const NVRTC_VARIABLE: &str = "OXWARP_NVRTC";

const LIBRARY: Wanted = Wanted {
    variable: NVRTC_VARIABLE,
    stem: "libnvrtc.so.",
    names: &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
};

/// NVRTC is nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NvrtcNotFound {
    /// The files and names that were tried.
    pub looked_for: Vec<String>,
}

impl fmt::Display for NvrtcNotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no NVRTC: install a CUDA toolkit or the Python package nvidia-cuda-nvrtc, or let {NVRTC_VARIABLE} name the \
             library; looked for {}",
            self.looked_for.join(", ")
        )
    }
}

impl std::error::Error for NvrtcNotFound {}

/// Why NVRTC made no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NvrtcError {
    /// The source has errors; the log has their lines.
    Compilation {
        /// The name that the source was given.
        name: String,
        /// What the compiler said.
        log: String,
    },
    /// Another failure of a call.
    Call {
        /// The function, as in `nvrtc.h`.
        call: &'static str,
        /// The `nvrtcResult`.
        code: u32,
        /// NVRTC's name of it.
        text: String,
        /// What the compiler said, such as the option that it does not take; it may be empty.
        log: String,
    },
    /// A text that goes to NVRTC has a zero byte in it.
    ZeroByte(NulError),
}

impl fmt::Display for NvrtcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compilation { name, log } => write!(f, "{name} does not compile:\n{log}"),
            Self::Call {
                call,
                code,
                text,
                log,
            } => {
                let gap = if log.is_empty() { "" } else { ": " };
                write!(f, "{call} failed with {text} {code}{gap}{log}")
            }
            Self::ZeroByte(error) => write!(f, "a text for NVRTC has a zero byte: {error}"),
        }
    }
}

impl std::error::Error for NvrtcError {}

impl From<NulError> for NvrtcError {
    fn from(error: NulError) -> Self {
        Self::ZeroByte(error)
    }
}

functions! {
    pub(self) Nvrtc, NvrtcError, "nvrtcGetErrorString";
    get_version: "nvrtcVersion"(major: *mut c_int, minor: *mut c_int);
    create_program: "nvrtcCreateProgram"(program: *mut Pointer, source: *const c_char, name: *const c_char, headers: c_int, texts: *const *const c_char, include_names: *const *const c_char);
    add_expression: "nvrtcAddNameExpression"(program: Pointer, expression: *const c_char);
    lowered_name: "nvrtcGetLoweredName"(program: Pointer, expression: *const c_char, symbol: *mut *const c_char);
    architecture_count: "nvrtcGetNumSupportedArchs"(count: *mut c_int);
    supported_architectures: "nvrtcGetSupportedArchs"(architectures: *mut c_int);
    compile_program: "nvrtcCompileProgram"(program: Pointer, count: c_int, options: *const *const c_char);
    destroy_program: "nvrtcDestroyProgram"(program: *mut Pointer);
    log_size: "nvrtcGetProgramLogSize"(program: Pointer, bytes: *mut usize);
    log: "nvrtcGetProgramLog"(program: Pointer, text: *mut c_char);
    cubin_size: "nvrtcGetCUBINSize"(program: Pointer, bytes: *mut usize);
    cubin: "nvrtcGetCUBIN"(program: Pointer, code: *mut c_char);
    ptx_size: "nvrtcGetPTXSize"(program: Pointer, bytes: *mut usize);
    ptx: "nvrtcGetPTX"(program: Pointer, text: *mut c_char);
}

/// The opened library.
pub struct Nvrtc {
    functions: Functions,
    place: PathBuf,
    /// Keep the functions in place.
    _libraries: Libraries,
}

/// NVRTC, and the library of its built-in functions, which it opens by name when it compiles: that finds one that is
/// already loaded, or one on the dynamic linker's path, but not one in NVRTC's own folder.
struct Libraries {
    _builtins: Option<Library>,
    nvrtc: Library,
}

impl Libraries {
    fn open(place: &Path) -> Result<Self, libloading::Error> {
        let folder = place.parent().map(entries).unwrap_or_default();
        let builtins = folder.iter().find(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("libnvrtc-builtins.so."))
        });
        // SAFETY: the initialisers of both may run in any process and on any thread.
        unsafe {
            Ok(Libraries {
                _builtins: builtins.and_then(|path| Library::new(path).ok()),
                nvrtc: Library::new(place)?,
            })
        }
    }
}

impl fmt::Debug for Nvrtc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nvrtc({})", self.place.display())
    }
}

/// NVRTC, opened on the first call for the life of the process; the answer does not change later.
///
/// It is looked for in `OXWARP_NVRTC` (the library's file), in the toolkits that `CUDA_HOME` and `CUDA_PATH` name, under
/// the dynamic linker's search path, in `/usr/local/cuda` and `/opt/cuda`, and in the package `nvidia-cuda-nvrtc` of the
/// active virtual environment, of the user, and of each Python on `PATH`.
///
/// # Errors
///
/// If it is in none of these places, or does not load.
pub fn nvrtc() -> Result<&'static Nvrtc, &'static NvrtcNotFound> {
    static NVRTC: OnceLock<Result<Nvrtc, NvrtcNotFound>> = OnceLock::new();
    NVRTC.get_or_init(|| open(LIBRARY.candidates())).as_ref()
}

fn open(candidates: Vec<PathBuf>) -> Result<Nvrtc, NvrtcNotFound> {
    open_first(candidates, open_at).map_err(|looked_for| NvrtcNotFound { looked_for })
}

fn open_at(place: &Path) -> Result<Nvrtc, String> {
    let libraries = Libraries::open(place).map_err(|error| reason_of(&error))?;
    Ok(Nvrtc {
        functions: Functions::of(&libraries.nvrtc)?,
        place: place.to_owned(),
        _libraries: libraries,
    })
}

impl Nvrtc {
    /// The file that was opened, or the name that the dynamic linker found.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Its version, as `(13, 0)`: that of the toolkit that it is of.
    ///
    /// # Errors
    ///
    /// If NVRTC does not say.
    pub fn version(&self) -> Result<(u32, u32), NvrtcError> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are valid for writes.
        unsafe { self.get_version(&mut major, &mut minor) }?;
        Ok((major.unsigned_abs(), minor.unsigned_abs()))
    }

    /// The compute capabilities that it compiles for, in order: 90 for 9.0.
    ///
    /// # Errors
    ///
    /// If NVRTC does not say.
    pub fn architectures(&self) -> Result<Vec<u32>, NvrtcError> {
        let mut count = 0;
        // SAFETY: the number may be written.
        unsafe { self.architecture_count(&mut count) }?;
        let mut all = vec![0; count.unsigned_abs() as usize];
        // SAFETY: there is room for as many as it said.
        unsafe { self.supported_architectures(all.as_mut_ptr()) }?;
        Ok(all.into_iter().map(c_int::unsigned_abs).collect())
    }

    fn failure(&self, call: &'static str, code: u32) -> NvrtcError {
        NvrtcError::Call {
            call,
            code,
            text: self.functions.text_of(code),
            log: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_in_the_error() {
        let places = vec![PathBuf::from("/no/such/libnvrtc.so.13"), "libc.so.6".into()];
        let error = open(places).unwrap_err().to_string();
        assert!(error.contains("/no/such/libnvrtc.so.13 ("), "{error}");
        assert!(
            error.contains("libc.so.6 (it has no nvrtcVersion)"),
            "{error}"
        );
        assert!(error.contains("nvidia-cuda-nvrtc"), "{error}");
    }
}
