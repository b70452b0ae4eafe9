//! `cargo oxwarp new` and `init`: a project that depends on oxwarp and builds without a CUDA toolkit.
//!
//! In: the project's folder and oxwarp's. Out: the dependency in `Cargo.toml`, what the build script of `cust` needs (a
//! folder that stands for a toolkit, and `.cargo/config.toml` that names it), and in a new project a kernel with its
//! launch and its test. What is there already is not changed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::Outcome;
use crate::arguments::Project;

const MAIN: &str = include_str!("../template/main.rs");
/// A linker script without commands.
const LIBCUDA: &str = "/* cuda-loader defines every symbol of the driver */\n";
const ENV: &str = r#"# The build script of `cust` looks for a CUDA toolkit. The driver itself is opened when the program starts.
[env]
CUDA_LIBRARY_PATH = { value = "link", relative = true }
"#;

/// Makes the project, or adds to the one of this folder.
pub fn set_up(project: &Project) -> Outcome<()> {
    let oxwarp = oxwarp(project.oxwarp.as_deref())?;
    let folder = project.new.as_deref().unwrap_or(Path::new("."));
    if project.new.is_some() {
        cargo(["new".as_ref(), folder.as_os_str()])?;
        fs::write(folder.join("src/main.rs"), MAIN)?;
    }
    name_no_toolkit(folder)?;
    let manifest = folder.join("Cargo.toml");
    cargo([
        "add".as_ref(),
        "oxwarp".as_ref(),
        "--path".as_ref(),
        oxwarp.as_os_str(),
        "--manifest-path".as_ref(),
        manifest.as_os_str(),
    ])?;
    if let Some(folder) = &project.new {
        println!("done: cd {} && cargo run", folder.display());
    }
    Ok(())
}

/// The folder of oxwarp.
fn oxwarp(given: Option<&Path>) -> Outcome<PathBuf> {
    let installed_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = given.unwrap_or(&installed_from);
    if !folder.join("gpu-macros").is_dir() {
        let folder = folder.display();
        return Err(format!("oxwarp is not in {folder}: say where with --oxwarp PATH").into());
    }
    Ok(folder.canonicalize()?)
}

fn cargo<const N: usize>(arguments: [&OsStr; N]) -> Outcome<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    match Command::new(cargo).args(arguments).status()?.success() {
        true => Ok(()),
        false => Err(format!("`cargo {}` failed", arguments[0].display()).into()),
    }
}

/// Gives `cust` an empty toolkit.
fn name_no_toolkit(folder: &Path) -> Outcome<()> {
    let config = folder.join(".cargo/config.toml");
    let there = match fs::read_to_string(&config) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    if there.contains("CUDA_LIBRARY_PATH") {
        return Ok(());
    }
    if there.lines().any(|line| line.trim() == "[env]") {
        let config = config.display();
        return Err(format!("{config} has an [env] already: add to it\n{ENV}").into());
    }
    let link = folder.join("link/lib64");
    fs::create_dir_all(&link)?;
    fs::write(link.join("libcuda.so"), LIBCUDA)?;
    fs::create_dir_all(folder.join(".cargo"))?;
    let between = if there.is_empty() { "" } else { "\n" };
    fs::write(config, format!("{there}{between}{ENV}"))?;
    Ok(())
}
