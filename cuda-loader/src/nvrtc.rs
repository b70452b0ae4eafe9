//! NVRTC, CUDA's compiler of CUDA C++ as a library, opened when it is first asked for.
//!
//! In: CUDA C++ as text and NVRTC's options. Out: a cubin or PTX, or the compiler's log as an error. Nothing of CUDA needs to
//! be there when the program is built or started; [`nvrtc`] looks for the library where a toolkit or NVIDIA's Python
//! package has it, and its error says where it looked. It needs no GPU.

use std::env;
use std::ffi::{CStr, CString, NulError, c_char, c_int};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::OnceLock;

use libloading::Library;

use crate::{Pointer, reason_of};

/// The variable that names the library's file and goes before all other places.
pub const NVRTC_VARIABLE: &str = "OXWARP_NVRTC";

/// What the dynamic linker is asked for, newest first.
const NAMES: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

/// `NVRTC_ERROR_COMPILATION`.
const COMPILATION: u32 = 6;

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
    },
    /// A text that goes to NVRTC has a zero byte in it.
    ZeroByte(NulError),
}

impl fmt::Display for NvrtcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compilation { name, log } => write!(f, "{name} does not compile:\n{log}"),
            Self::Call { call, code, text } => write!(f, "{call} failed with {text} {code}"),
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

/// What NVRTC made of a source.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The machine code for a real architecture (`--gpu-architecture=sm_90`); empty for a virtual one (`compute_90`).
    pub cubin: Vec<u8>,
    /// The PTX.
    pub ptx: String,
    /// What the compiler said: warnings, and what options such as `--ptxas-options=-v` ask for.
    pub log: String,
}

macro_rules! functions {
    ($($name:ident: $symbol:literal ($($parameter:ident: $type:ty),*);)*) => {
        struct Functions {
            $($name: unsafe extern "C" fn($($type),*) -> u32,)*
            /// Returns a text, not a code.
            error_string: unsafe extern "C" fn(u32) -> *const c_char,
        }

        impl Functions {
            /// The functions, or the name of the first that the library lacks.
            fn of(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: crate::symbol(library, $symbol).ok_or($symbol)?,)*
                    error_string: crate::symbol(library, "nvrtcGetErrorString").ok_or("nvrtcGetErrorString")?,
                })
            }
        }

        impl Nvrtc {
            $(
                /// # Safety
                ///
                /// What NVRTC's documentation demands of the arguments.
                unsafe fn $name(&self, $($parameter: $type),*) -> Result<(), NvrtcError> {
                    // SAFETY: as the caller promises; the type is the function's.
                    match unsafe { (self.functions.$name)($($parameter),*) } {
                        0 => Ok(()),
                        code => Err(self.failure($symbol, code)),
                    }
                }
            )*
        }
    };
}

functions! {
    get_version: "nvrtcVersion"(major: *mut c_int, minor: *mut c_int);
    create_program: "nvrtcCreateProgram"(program: *mut Pointer, source: *const c_char, name: *const c_char, headers: c_int, texts: Pointer, include_names: Pointer);
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
    NVRTC.get_or_init(|| open(candidates())).as_ref()
}

fn open(candidates: Vec<PathBuf>) -> Result<Nvrtc, NvrtcNotFound> {
    let mut looked_for = Vec::new();
    for place in candidates {
        let reason = match Libraries::open(&place) {
            Ok(libraries) => match Functions::of(&libraries.nvrtc) {
                Ok(functions) => {
                    return Ok(Nvrtc {
                        functions,
                        place,
                        _libraries: libraries,
                    });
                }
                Err(symbol) => format!("it has no {symbol}"),
            },
            Err(error) => reason_of(&error),
        };
        looked_for.push(format!("{} ({reason})", place.display()));
    }
    Err(NvrtcNotFound { looked_for })
}

/// Files, and names for the dynamic linker, in the order in which they are tried.
fn candidates() -> Vec<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    if let Some(file) = variable(NVRTC_VARIABLE) {
        return vec![file.into()];
    }
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable);
    let usual = ["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from);
    let path = variable("PATH").unwrap_or_default();
    let prefixes = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(variable)
        .map(PathBuf::from)
        .chain(variable("HOME").map(|home| Path::new(&home).join(".local")))
        .chain(env::split_paths(&path).filter_map(of_python));
    let in_folder = |root: PathBuf| [root.join("lib64"), root.join("lib")];
    let mut found = Vec::new();
    for folder in toolkits.map(PathBuf::from).flat_map(in_folder) {
        found.extend(libraries_in(&folder));
    }
    found.extend(NAMES.map(PathBuf::from));
    for folder in usual
        .into_iter()
        .flat_map(in_folder)
        .chain(prefixes.flat_map(|prefix| python_packages(&prefix)))
    {
        found.extend(libraries_in(&folder));
    }
    found
}

/// The environment of a folder of programs that has a Python.
fn of_python(programs: PathBuf) -> Option<PathBuf> {
    let there = programs.join("python3").is_file();
    there
        .then(|| programs.parent().map(Path::to_owned))
        .flatten()
}

/// The library folders of NVIDIA's packages in the Python environment `prefix`.
fn python_packages(prefix: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for python in entries(&prefix.join("lib")) {
        for packages in ["site-packages", "dist-packages"] {
            let packages = entries(&python.join(packages).join("nvidia"));
            folders.extend(packages.into_iter().map(|package| package.join("lib")));
        }
    }
    folders
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The files of NVRTC in a folder, the newest major version first.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let major = |path: &PathBuf| -> Option<u32> {
        let name = path.file_name()?.to_str()?.strip_prefix("libnvrtc.so.")?;
        name.parse().ok()
    };
    let mut found: Vec<_> = entries(folder)
        .into_iter()
        .filter_map(|path| Some((major(&path)?, path)))
        .collect();
    found.sort_by_key(|(major, _)| std::cmp::Reverse(*major));
    found.into_iter().map(|(_, path)| path).collect()
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

    /// Compiles a CUDA C++ source, which messages call `name`.
    ///
    /// The toolkit's own headers (`cuda_fp16.h`) are found where NVRTC's library lies beside them, after the folders that
    /// `options` name.
    ///
    /// ```no_run
    /// let nvrtc = cuda_loader::nvrtc()?;
    /// let source = "extern \"C\" __global__ void one(int *x) { *x = 1; }";
    /// let compiled = nvrtc.compile("one.cu", source, &["--gpu-architecture=sm_90"])?;
    /// assert!(!compiled.cubin.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the source has errors, or NVRTC does not take the options.
    pub fn compile(
        &self,
        name: &str,
        source: &str,
        options: &[&str],
    ) -> Result<Compiled, NvrtcError> {
        let program = Program::create(self, &CString::new(name)?, &CString::new(source)?)?;
        let mut texts = Vec::new();
        for option in options {
            texts.push(CString::new(*option)?);
        }
        if let Some(folder) = self.headers() {
            texts.push(CString::new(format!("--include-path={folder}"))?);
        }
        let pointers: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
        // SAFETY: the program lives, and there are so many terminated options.
        let compiled = unsafe {
            self.compile_program(program.handle, pointers.len() as c_int, pointers.as_ptr())
        };
        match compiled {
            Ok(()) => Ok(Compiled {
                cubin: program.text(Self::cubin_size, Self::cubin)?,
                ptx: terminated(program.text(Self::ptx_size, Self::ptx)?),
                log: terminated(program.text(Self::log_size, Self::log)?),
            }),
            Err(NvrtcError::Call {
                code: COMPILATION, ..
            }) => Err(NvrtcError::Compilation {
                name: name.to_owned(),
                log: terminated(program.text(Self::log_size, Self::log)?),
            }),
            Err(error) => Err(error),
        }
    }

    /// The folder of the toolkit's headers.
    fn headers(&self) -> Option<String> {
        let root = self.place.parent()?.parent()?;
        let folder = root.join("include");
        let text = folder.to_str()?.to_owned();
        folder.join("cuda_fp16.h").is_file().then_some(text)
    }

    fn failure(&self, call: &'static str, code: u32) -> NvrtcError {
        // SAFETY: NVRTC takes any code, and gives a terminated constant string.
        let text = unsafe { CStr::from_ptr((self.functions.error_string)(code)) };
        NvrtcError::Call {
            call,
            code,
            text: text.to_string_lossy().into_owned(),
        }
    }
}

/// An `nvrtcProgram`.
struct Program<'a> {
    nvrtc: &'a Nvrtc,
    handle: Pointer,
}

impl<'a> Program<'a> {
    fn create(nvrtc: &'a Nvrtc, name: &CStr, source: &CStr) -> Result<Self, NvrtcError> {
        let mut handle = null_mut();
        // SAFETY: both texts are terminated, there are no headers, and the handle may be written.
        unsafe {
            nvrtc.create_program(
                &mut handle,
                source.as_ptr(),
                name.as_ptr(),
                0,
                null_mut(),
                null_mut(),
            )
        }?;
        Ok(Program { nvrtc, handle })
    }

    /// What one of the pairs of functions, of size and of bytes, gives.
    fn text(
        &self,
        size: unsafe fn(&Nvrtc, Pointer, *mut usize) -> Result<(), NvrtcError>,
        get: unsafe fn(&Nvrtc, Pointer, *mut c_char) -> Result<(), NvrtcError>,
    ) -> Result<Vec<u8>, NvrtcError> {
        let mut bytes = 0;
        // SAFETY: the program lives, and the size may be written.
        unsafe { size(self.nvrtc, self.handle, &mut bytes) }?;
        let mut text = vec![0u8; bytes];
        if bytes > 0 {
            // SAFETY: the program lives, and there is room for as many bytes as it said.
            unsafe { get(self.nvrtc, self.handle, text.as_mut_ptr().cast()) }?;
        }
        Ok(text)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the program lives and is not used again. A failure leaks it.
        let _ = unsafe { self.nvrtc.destroy_program(&mut self.handle) };
    }
}

/// A text that C terminated.
fn terminated(mut bytes: Vec<u8>) -> String {
    bytes.truncate(
        bytes
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(bytes.len()),
    );
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
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

    #[test]
    fn a_source_compiles_or_its_log_is_the_error() {
        let Ok(nvrtc) = nvrtc() else {
            eprintln!("skipped: {}", nvrtc().unwrap_err());
            return;
        };
        assert!(nvrtc.version().unwrap() >= (12, 0));
        let source = |body: &str| format!("extern \"C\" __global__ void f(int *x) {{\n{body}\n}}");
        let options = ["--gpu-architecture=sm_90"];
        let compiled = nvrtc.compile("f.cu", &source("*x = 1;"), &options).unwrap();
        assert!(compiled.cubin.starts_with(b"\x7fELF"));
        assert!(compiled.ptx.contains(".entry f("));

        let error = nvrtc
            .compile("f.cu", &source("*x = y;"), &options)
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("f.cu(2): error: identifier \"y\""),
            "{error}"
        );
        let error = nvrtc
            .compile("f.cu", "", &["--no-such-option"])
            .unwrap_err();
        assert!(matches!(&error, NvrtcError::Call { .. }), "{error}");
        let error = nvrtc.compile("a\0b", "", &[]).unwrap_err();
        assert!(error.to_string().contains("zero byte"), "{error}");
    }
}
