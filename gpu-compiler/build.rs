//! Compiles the `libm` crate to bitcode, for the mathematical functions where CUDA's libdevice is not installed.
//!
//! Cargo does not tell a build script where a dependency's source is, but it has compiled `libm` for this script, and
//! the dep-info beside that library names the source.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Makes Cargo build the library, and so write its dep-info.
    let _ = libm::sqrt(4.0);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    let source = libm_source(&out).expect("the dep-info of the `libm` crate names its src/lib.rs");
    compile(&source, &out.join("libm.bc"));
}

fn compile(source: &Path, bitcode: &Path) {
    let rustc = env::var_os("RUSTC").expect("Cargo sets RUSTC");
    let status = Command::new(rustc)
        .args([
            "--edition=2021",
            "--crate-name=libm",
            "--crate-type=lib",
            "--emit=llvm-bc",
            "--cap-lints=allow",
        ])
        .args([
            "-Copt-level=3",
            "-Cno-prepopulate-passes",
            "-Ccodegen-units=1",
            "-Cpanic=abort",
        ])
        // Small functions too, which rustc would otherwise leave for other crates to instantiate.
        .arg("-Clink-dead-code=yes")
        .arg("-o")
        .args([bitcode, source])
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "rustc cannot compile {}",
        source.display()
    );
}

/// `src/lib.rs` of the `libm` crate, from the newest dep-info of it in the folders around `out`.
fn libm_source(out: &Path) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = out
        .ancestors()
        .skip(1)
        .take(4)
        .flat_map(|folder| dep_infos(&folder.join("deps")))
        .collect();
    found.sort_by_key(|path| fs::metadata(path).and_then(|meta| meta.modified()).ok());
    found.iter().rev().find_map(|dep_info| source_in(dep_info))
}

fn dep_infos(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let is_libm = |path: &PathBuf| {
        path.extension() == Some(OsStr::new("d"))
            && path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("libm-"))
    };
    entries.filter(is_libm).collect()
}

fn source_in(dep_info: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(dep_info).ok()?;
    let rule = text
        .lines()
        .find_map(|line| line.split_once(": "))?
        .1
        .replace("\\ ", "\0");
    let paths = rule
        .split(' ')
        .map(|path| PathBuf::from(path.replace('\0', " ")));
    paths
        .into_iter()
        .find(|path| path.ends_with("src/lib.rs") && path.is_file())
}
