//! A program that is built with `panic = "abort"`: on the simulator, which needs unwinding, a panic in a kernel ends it, and
//! it says why; on a GPU the panic is an error as ever.
//!
//! `tests/abort/program.rs` is built and run by Cargo, in a package of its own, because that is a profile's choice.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use oxwarp::Gpu;

#[test]
fn a_program_that_aborts_on_panics_says_so() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let package = temporary.join("abort");
    fs::create_dir_all(&package).unwrap();
    let program = root.join("tests/abort/program.rs");
    let manifest = format!(
        "[package]\nname = \"panics_abort\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\noxwarp = {{ path = {root:?} }}\n[workspace]\n\
         [profile.dev]\npanic = \"abort\"\n[[bin]]\nname = \"panics_abort\"\npath = {program:?}\n"
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()))
        .args(["run", "--offline", "--quiet", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(temporary.parent().unwrap())
        // For `.cargo/config.toml`.
        .current_dir(root)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    let panic = "index out of bounds: the len is 4 but the index is 70";
    assert!(said.contains(panic), "{said}");
    if Gpu::new().unwrap().is_simulator() {
        let why = "built with `panic = \"abort\"`";
        assert!(!output.status.success() && said.contains(why), "{said}");
    } else {
        assert!(output.status.success(), "{said}");
    }
}
