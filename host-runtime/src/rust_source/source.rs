//! A Rust source, and the kernel that it becomes.

use std::any::TypeId;
use std::fs;
use std::path::Path;

use super::build;
use super::declaration::RustKernel;
use super::error::RustSourceError;
use super::kernel::RunTimeKernel;
use crate::error::Result;
use crate::gpu::Gpu;

/// Rust source of a kernel that is compiled when the program runs, as PyCUDA's `SourceModule` and Numba's `@cuda.jit` do.
/// `rust_kernel!` of the crate `oxwarp`, which has an example, declares the signature that it is launched with.
///
/// The source is the root of a crate of its own: items, `use` of std and of the crates that the program's own crate depends on,
/// and a function with the declared name and parameters. The prelude of `oxwarp` is in scope. What the function gets wrong is
/// an error with rustc's text; it panics like any kernel, with the source's name and line. It runs on the simulator too, with
/// all of its checks.
///
/// It is compiled by the rustc that compiled the program, against the same libraries, in one to three seconds; so it works
/// where the program was built, with its target folder. The last 64 that were compiled are kept there: the same source is only
/// loaded, within milliseconds, also by a later run of the program. A source stays loaded until the program ends.
///
/// `unsafe` in the source is an error, so that a wrong source cannot make the program unsound, unless
/// [`with_unsafe_code`](Self::with_unsafe_code) allows it.
#[derive(Clone, Debug)]
#[must_use = "a source is compiled by `kernel`"]
pub struct RustSource {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) unsafe_code: bool,
}

impl RustSource {
    /// A source in memory. Messages call it `source.rs`, if [`file_name`](Self::file_name) says nothing else.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            name: "source.rs".to_owned(),
            text: text.into(),
            unsafe_code: false,
        }
    }

    /// A file. Messages call it by its name without folders.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not UTF-8.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|error| RustSourceError::File {
            source_name: path.display().to_string(),
            path: path.to_owned(),
            error,
        })?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Self::new(text).file_name(name.to_string_lossy()))
    }

    /// Sets what messages call the source. Characters that a file's name should not have become `_`.
    pub fn file_name(mut self, name: impl Into<String>) -> Self {
        let plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
        let name: String = name.into();
        self.name = name.replace(|letter| !plain(letter), "_");
        self
    }

    /// Allows `unsafe` in the source.
    ///
    /// # Safety
    ///
    /// The source is sound, as any Rust code that the program is compiled with.
    pub unsafe fn with_unsafe_code(mut self) -> Self {
        self.unsafe_code = true;
        self
    }

    /// Compiles the source and gives its kernel: `source.kernel::<scale>(&gpu)?`. The device code is for the GPU of `gpu` and
    /// newer ones; launches go to any of them.
    ///
    /// # Errors
    ///
    /// If the source has errors or no function of this signature ([`RustSourceError::Compilation`]), or the compiler or the
    /// program's libraries are not there as they were.
    pub fn kernel<K: RustKernel>(&self, gpu: &Gpu) -> Result<K> {
        let entry = build::entry::<K>(self, gpu.compute_capability())?;
        if entry.signature != TypeId::of::<K::Signature>() {
            return Err(RustSourceError::Types {
                source_name: self.name.clone(),
                kernel: K::NAME,
            }
            .into());
        }
        Ok(K::of(RunTimeKernel::new((entry.record)())))
    }
}
