//! The device pass: once in a crate's compilation, from the rustc that runs now to PTX.
//!
//! A proc-macro runs inside the rustc that compiles its user's crate and sees that process's command line. The first
//! macro of the crate that expands runs the same rustc with the same arguments once more, for LLVM bitcode
//! ([`rustc`]), and gives that to `gpu-compiler` in a process of its own ([`compiler`]). Whatever the source says is
//! compiled twice by the same compiler, so types, layouts and `TypeId`s agree.

mod cache;
mod compiler;
mod rustc;
mod settings;
mod toolchain;

use std::env;
use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gpu_compiler::Target;
use gpu_compiler::report::Report;

pub use rustc::Invocation;
pub use settings::{TRACKED_VARIABLES, manifest, read as settings};

/// Set in the second rustc, so that its macros do not start a third.
const INSIDE: &str = "OXWARP_DEVICE_PASS";

/// What became of the crate's device code.
#[derive(Debug)]
pub enum Outcome {
    /// This is the second rustc.
    Inside,
    /// PTX for each target, and what the compiler reports.
    Compiled {
        images: Vec<(Target, CString)>,
        report: Report,
    },
    /// There was no reason, or no way, to run it.
    Skipped(&'static str),
    /// It failed.
    Failed(Error),
}

/// The outcome for the crate that is being compiled; the first call does the work.
pub fn outcome() -> &'static Outcome {
    static OUTCOME: OnceLock<Outcome> = OnceLock::new();
    OUTCOME.get_or_init(|| match run() {
        Ok(outcome) => outcome,
        Err(error) => Outcome::Failed(error),
    })
}

/// Why no device code could be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Settings(#[from] settings::Error),
    #[error(transparent)]
    Toolchain(#[from] toolchain::Error),
    #[error("cannot run `{}`: {cause}", program.display())]
    Run {
        program: PathBuf,
        cause: std::io::Error,
    },
    #[error("{}: {cause}", path.display())]
    File {
        path: PathBuf,
        cause: std::io::Error,
    },
    #[error("the second run of rustc, for device code, failed:\n{0}")]
    Rustc(String),
    #[error("the device compiler failed: {0}")]
    Compiler(String),
}

fn run() -> Result<Outcome, Error> {
    if env::var_os(INSIDE).is_some() {
        return Ok(Outcome::Inside);
    }
    let invocation = match rustc::Invocation::of_this_process() {
        Ok(invocation) => invocation,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    let settings = settings::read()?;
    let toolchain = toolchain::find(&invocation)?;
    let folder = Folder::create(&invocation.scratch())?;
    let bitcode = folder.0.join("crate.bc");
    invocation.write_bitcode(&toolchain.rustc, &bitcode)?;
    let compiled = compiler::compile(
        &invocation,
        &toolchain,
        &settings,
        &bitcode,
        &folder.0,
        cache::folder(&invocation),
    )?;
    cache::tell(&compiled);
    Ok(compiled)
}

/// The compute capabilities that there is device code for.
pub fn known_targets() -> Vec<u32> {
    let known = |number: &u32| format!("sm_{number}").parse::<Target>().is_ok();
    (0..1000).filter(known).collect()
}

/// A folder that goes away with its value.
struct Folder(PathBuf);

impl Folder {
    fn create(path: &Path) -> Result<Self, Error> {
        fs::create_dir_all(path).map_err(|cause| Error::File {
            path: path.into(),
            cause,
        })?;
        Ok(Folder(path.into()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is a few files in the target folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}
