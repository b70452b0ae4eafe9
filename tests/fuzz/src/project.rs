//! A crate of generated programs: written, built, run.
//!
//! In: programs with their numbers. Out: the built executable, which needs neither this crate nor cargo to run.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use ptx_report::ToolError;

use crate::tree::Program;

/// A program and its number, which decides its inputs.
pub type Numbered = (u64, Program);

/// The folder of the repository.
fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The folder that cargo builds in. The programs' crates share what is built for release there.
fn target() -> PathBuf {
    let set = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    set.unwrap_or_else(|| repository().join("target"))
}

/// Where everything is written.
pub fn folder() -> PathBuf {
    target().join("fuzz")
}

/// Writes a crate of these programs and builds it; its executable. With `checks`, overflow panics.
pub fn build(name: &str, programs: &[Numbered], checks: bool) -> io::Result<PathBuf> {
    let crate_folder = folder().join(name);
    fs::create_dir_all(crate_folder.join("src"))?;
    let repository = repository().canonicalize()?;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\noxwarp = {{ path = {:?} }}\n\n\
         [workspace]\n\n[profile.release.package.{name}]\nopt-level = 1\noverflow-checks = {checks}\n",
        repository
    );
    fs::write(crate_folder.join("Cargo.toml"), manifest)?;
    fs::copy(
        repository.join("Cargo.lock"),
        crate_folder.join("Cargo.lock"),
    )?;
    fs::write(
        crate_folder.join("src/main.rs"),
        include_str!("../template/main.rs"),
    )?;
    fs::write(
        crate_folder.join("src/hash.rs"),
        include_str!("../template/hash.rs"),
    )?;
    fs::write(crate_folder.join("src/programs.rs"), text(programs))?;
    let target = target().canonicalize()?;
    let built = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--quiet"])
        .current_dir(&crate_folder)
        .env("CARGO_TARGET_DIR", &target)
        .status()?;
    if !built.success() {
        return Err(io::Error::other(format!(
            "{} does not build",
            crate_folder.display()
        )));
    }
    Ok(target.join("release").join(name))
}

/// The source of the programs and of their kernels.
fn text(programs: &[Numbered]) -> String {
    let mut text = String::from("use crate::Program;\nuse oxwarp::prelude::*;\n");
    let mut all = String::from("pub static ALL: &[Program] = &[\n");
    for (number, program) in programs {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "mod p{number} {{\nuse crate::hash::*;\n{program}}}\n\
             #[kernel(fma = false)]\nfn k{number}(inputs: &[[u64; 4]], mut out: DisjointSlice<u64>) {{\n\
             let i = thread::index_1d();\n\
             if let Some(out) = out.get_mut(i) {{ *out = p{number}::program(inputs[*i]); }}\n}}"
        );
        let _ = writeln!(
            all,
            "Program {{ number: {number}, native: p{number}::program, \
             launch: |inputs, out| k{number}.for_each(out.len()).launch(inputs, out) }},"
        );
    }
    text + &all + "];\n"
}

/// Assembles the kernels of an executable of [`build`] for `sm_90`, where `ptxas` is found; how many there are.
pub fn assemble(executable: &Path) -> Result<usize, Box<dyn Error>> {
    let output = Command::new(executable).arg("--ptx").output()?;
    let ptx = String::from_utf8(output.stdout)?;
    match ptx_report::assemble(&ptx, 90) {
        Ok(kernels) => Ok(kernels.len()),
        Err(ToolError::NotFound { .. }) if env::var_os("OXWARP_REQUIRE_PTXAS").is_none() => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Runs an executable of [`build`]; the numbers of the programs that differ, with what it says of them, and its last line.
pub fn run(executable: &Path) -> io::Result<(Vec<(u64, String)>, String)> {
    let output = Command::new(executable).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(done) = text.lines().find_map(|line| line.strip_prefix("done ")) else {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!(
            "{} did not end: {error}",
            executable.display()
        )));
    };
    let differences = text.lines().filter_map(|line| {
        let (number, what) = line.strip_prefix("difference ")?.split_once(' ')?;
        Some((number.parse().ok()?, what.to_owned()))
    });
    Ok((differences.collect(), done.to_owned()))
}
