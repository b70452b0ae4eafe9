//! The compiler as a program: arguments in, files out, errors on standard error.
//!
//! `gpu-macros` runs it through its build script's executable, so that no second installation step is needed and an
//! internal error of LLVM, which aborts, does not take the user's rustc with it.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::compile;
use crate::request::Request;

/// Runs one compilation. The exit code is 0 if the report was written, also where it holds errors of the user's code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Request::from_arguments(arguments).and_then(|request| compile(&request)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
