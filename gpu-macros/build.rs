//! Makes the device compiler a program that the macro can run.
//!
//! A proc-macro cannot ship a binary, but its build script is one, and it links `gpu-compiler`: it copies itself beside
//! the macro and, when it is called with arguments, is the compiler.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    if !arguments.is_empty() {
        return gpu_compiler::command::run(arguments);
    }
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name| env::var_os(name).expect("Cargo sets it");
    let program = PathBuf::from(variable("OUT_DIR")).join("gpu-compiler");
    let this = env::current_exe().expect("a running program has a path");
    fs::copy(this, &program).expect("OUT_DIR can be written to");
    println!("cargo:rustc-env=GPU_COMPILER={}", program.display());
    println!(
        "cargo:rustc-env=HOST_TRIPLE={}",
        variable("HOST").to_string_lossy()
    );
    ExitCode::SUCCESS
}
