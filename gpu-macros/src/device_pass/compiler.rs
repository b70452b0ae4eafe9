//! `gpu-compiler`, in a process of its own: an internal error of LLVM ends that process, not the user's rustc.

use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpu_compiler::report::Report;
use gpu_compiler::request::Request;

use super::rustc::Invocation;
use super::settings::Settings;
use super::toolchain::Toolchain;
use super::{Error, Outcome};

/// The build script of this crate, which is the compiler when it gets arguments.
const PROGRAM: &str = env!("GPU_COMPILER");

/// Compiles `bitcode`, with files in `folder`.
pub fn compile(
    invocation: &Invocation,
    toolchain: &Toolchain,
    settings: &Settings,
    bitcode: &Path,
    folder: &Path,
    cache: Option<PathBuf>,
) -> Result<Outcome, Error> {
    let request = Request {
        llvm: toolchain.llvm.clone(),
        rust_libraries: toolchain.libraries.clone(),
        dependencies: invocation.libraries(),
        dependency_folders: invocation.library_folders(),
        bitcode: bitcode.into(),
        output: folder.into(),
        targets: settings.targets.clone(),
        libdevice: settings.libdevice.clone(),
        fma: settings.fma,
        steps: settings.steps.clone(),
        cache,
    };
    run(&request)?;
    let report = Report::parse(&read(&folder.join(Report::FILE))?)
        .ok_or_else(|| Error::Compiler("its report is not readable".into()))?;
    let mut images = Vec::new();
    if report.diagnostics.is_empty() && !report.kernels.is_empty() {
        for &target in &settings.targets {
            let ptx = read(&folder.join(format!("{target}.ptx")))?;
            images.push((
                target,
                CString::new(ptx)
                    .map_err(|_| Error::Compiler("its PTX holds a zero byte".into()))?,
            ));
        }
    }
    Ok(Outcome::Compiled { images, report })
}

fn run(request: &Request) -> Result<(), Error> {
    let output = Command::new(PROGRAM)
        .args(request.to_arguments())
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| Error::Run {
            program: PROGRAM.into(),
            cause,
        })?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Ok(()),
        Some(_) => Err(Error::Compiler(said.trim().into())),
        None => Err(Error::Compiler(format!(
            "it crashed ({}); this is a fault of oxwarp, please report it\n{said}",
            output.status
        ))),
    }
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|cause| Error::File {
        path: PathBuf::from(path),
        cause,
    })
}
