//! The command `cargo oxwarp`: `new` and `init` set up a project, `explain` says what the kernels of a program do.
//!
//! In: the command line. Out: files of a project; or a report of each kernel, without a GPU and without a run.

mod arguments;
mod build;
mod embedded;
mod explain;
mod project;

use std::error::Error;
use std::process::ExitCode;

use arguments::{Command, USAGE};

/// A result of the command: the error is for people.
type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo oxwarp: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    match Command::parse(std::env::args().skip(1))? {
        Command::Help => print!("{USAGE}"),
        Command::Project(project) => project::set_up(&project)?,
        Command::Explain(explain) => explain::explain(&explain)?,
    }
    Ok(())
}
