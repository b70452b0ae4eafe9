//! The running rustc's own LLVM and libraries.

use std::fs;
use std::path::{Path, PathBuf};

use super::rustc::Invocation;

/// Where the parts of a toolchain are.
#[derive(Debug)]
pub struct Toolchain {
    /// The compiler.
    pub rustc: PathBuf,
    /// Its LLVM, a shared library.
    pub llvm: PathBuf,
    /// The folder with `libcore-*.rlib` for the crate's target.
    pub libraries: PathBuf,
}

/// A toolchain that no device code can be made with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "this rustc ({}) has no LLVM of its own as a shared library; rustup's on Linux and Debian's have one",
        rustc.display()
    )]
    NoLlvm { rustc: PathBuf },
    #[error("this rustc's core library is not in {}", folder.display())]
    NoCore { folder: PathBuf },
}

/// Finds the toolchain of `invocation`, which is this process.
pub fn find(invocation: &Invocation) -> Result<Toolchain, Error> {
    let rustc = invocation.program.clone();
    let llvm = loaded_llvm().ok_or_else(|| Error::NoLlvm {
        rustc: rustc.clone(),
    })?;
    let sysroot = match invocation.sysroot() {
        Some(sysroot) => PathBuf::from(sysroot),
        None => rustc.ancestors().nth(2).unwrap_or(Path::new("/")).into(),
    };
    let target = invocation.target().unwrap_or(env!("HOST_TRIPLE"));
    let libraries = sysroot.join("lib/rustlib").join(target).join("lib");
    if !has_core(&libraries) {
        return Err(Error::NoCore { folder: libraries });
    }
    Ok(Toolchain {
        rustc,
        llvm,
        libraries,
    })
}

/// The LLVM that this process has loaded: a library of its own, or linked into rustc's driver.
fn loaded_llvm() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let mapped: Vec<&str> = maps
        .lines()
        .filter_map(|line| line.split_once('/'))
        .map(|(_, path)| path)
        .collect();
    let named = |prefix: &str| {
        let path = mapped.iter().find(|path| {
            path.rsplit('/')
                .next()
                .is_some_and(|name| name.starts_with(prefix))
        })?;
        Some(PathBuf::from(format!("/{path}")))
    };
    named("libLLVM").or_else(|| named("librustc_driver"))
}

fn has_core(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libcore-") && name.ends_with(".rlib")
    })
}
