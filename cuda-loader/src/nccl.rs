//! NCCL, NVIDIA's library of exchange between GPUs, opened when it is first asked for.
//!
//! Nothing of it needs to be there when the program is built or started; [`nccl`] looks for the library where a system
//! package, a toolkit or NVIDIA's Python package has it, and its error says where it looked.

use std::ffi::c_int;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use crate::find::Wanted;
use crate::table::{functions, open_first};
use crate::{Pointer, reason_of};

/// The variable that names the library's file and goes before all other places.
pub const NCCL_VARIABLE: &str = "OXWARP_NCCL";

const LIBRARY: Wanted = Wanted {
    variable: NCCL_VARIABLE,
    stem: "libnccl.so.",
    names: &["libnccl.so.2", "libnccl.so"],
};

/// NCCL is nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NcclNotFound {
    /// The files and names that were tried.
    pub looked_for: Vec<String>,
}

impl fmt::Display for NcclNotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no NCCL: install it or the Python package nvidia-nccl, or let {NCCL_VARIABLE} name the library; looked for {}",
            self.looked_for.join(", ")
        )
    }
}

impl std::error::Error for NcclNotFound {}

/// A call of NCCL that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NcclError {
    /// The function, as in `nccl.h`.
    pub call: &'static str,
    /// The `ncclResult_t`.
    pub code: u32,
    /// NCCL's sentence on it.
    pub text: String,
}

impl fmt::Display for NcclError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, code, text } = self;
        write!(
            f,
            "{call} failed with {code}: {text} (the variable NCCL_DEBUG=WARN makes NCCL say more)"
        )
    }
}

impl std::error::Error for NcclError {}

functions! {
    pub Nccl, NcclError, "ncclGetErrorString";
    get_version: "ncclGetVersion"(version: *mut c_int);
    init_all: "ncclCommInitAll"(communicators: *mut Pointer, count: c_int, devices: *const c_int);
    destroy: "ncclCommDestroy"(communicator: Pointer);
    group_start: "ncclGroupStart"();
    group_end: "ncclGroupEnd"();
    all_reduce: "ncclAllReduce"(source: Pointer, destination: Pointer, count: usize, element: u32, operation: u32, communicator: Pointer, stream: Pointer);
    broadcast: "ncclBroadcast"(source: Pointer, destination: Pointer, count: usize, element: u32, root: c_int, communicator: Pointer, stream: Pointer);
    all_gather: "ncclAllGather"(source: Pointer, destination: Pointer, count: usize, element: u32, communicator: Pointer, stream: Pointer);
}

/// The opened library.
pub struct Nccl {
    functions: Functions,
    place: PathBuf,
    /// Keeps the functions in place.
    _library: Library,
}

impl fmt::Debug for Nccl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nccl({})", self.place.display())
    }
}

/// NCCL, opened on the first call for the life of the process; the answer does not change later.
///
/// It is looked for in `OXWARP_NCCL` (the library's file), in the toolkits that `CUDA_HOME` and `CUDA_PATH` name, under the
/// dynamic linker's search path, in `/usr/local/cuda` and `/opt/cuda`, and in the package `nvidia-nccl` of the active
/// virtual environment, of the user, and of each Python on `PATH`.
///
/// # Errors
///
/// If it is in none of these places, or does not load.
pub fn nccl() -> Result<&'static Nccl, &'static NcclNotFound> {
    static NCCL: OnceLock<Result<Nccl, NcclNotFound>> = OnceLock::new();
    NCCL.get_or_init(|| open(LIBRARY.candidates())).as_ref()
}

fn open(candidates: Vec<PathBuf>) -> Result<Nccl, NcclNotFound> {
    open_first(candidates, open_at).map_err(|looked_for| NcclNotFound { looked_for })
}

fn open_at(place: &Path) -> Result<Nccl, String> {
    // SAFETY: the library's initialiser may run in any process and on any thread.
    let library = unsafe { Library::new(place) }.map_err(|error| reason_of(&error))?;
    Ok(Nccl {
        functions: Functions::of(&library)?,
        place: place.to_owned(),
        _library: library,
    })
}

impl Nccl {
    /// The file that was opened, or the name that the dynamic linker found.
    pub fn place(&self) -> &Path {
        &self.place
    }

    fn failure(&self, call: &'static str, code: u32) -> NcclError {
        let text = self.functions.text_of(code);
        NcclError { call, code, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_said() {
        let places = ["nowhere/libnccl.so.2", "libnccl-that-is-not-there.so"];
        let error = open(places.map(PathBuf::from).to_vec())
            .unwrap_err()
            .to_string();
        for part in ["no NCCL", NCCL_VARIABLE, places[0], places[1]] {
            assert!(error.contains(part), "{error}");
        }
    }
}
