//! What a device cannot run is an error of `cargo build` at the user's own line, with the name of the function and what
//! to do instead.
//!
//! Each file in `tests/device_errors/` is a program with one fault, whose error must stand at the line marked
//! `//~ text` and hold that text. All are built by one run of Cargo, in a package that this test writes into Cargo's
//! folder for temporary files: they share their dependencies, with the workspace's lock file and target folder.

#![cfg(target_arch = "x86_64")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

use serde_json::Value;

/// The errors of each program.
static ERRORS: LazyLock<BTreeMap<String, Vec<Value>>> = LazyLock::new(build);

fn build() -> BTreeMap<String, Vec<Value>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let package = temporary.join("device_errors");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("Cargo.toml"), manifest(root)).unwrap();
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()))
        .args([
            "build",
            "--offline",
            "--quiet",
            "--bins",
            "--keep-going",
            "--message-format=json",
        ])
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(temporary.parent().unwrap())
        // For `.cargo/config.toml`.
        .current_dir(root)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut errors: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        if message["reason"] == "compiler-message" && message["message"]["level"] == "error" {
            let program = message["target"]["name"].as_str().unwrap().to_owned();
            errors
                .entry(program)
                .or_default()
                .push(message["message"].clone());
        }
    }
    assert!(
        !errors.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    errors
}

fn manifest(root: &Path) -> String {
    let folder = folder();
    let mut manifest = format!(
        "[package]\nname = \"device_errors\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\noxwarp = {{ path = {root:?} }}\nhost_only = {{ path = \"host_only\" }}\n[workspace]\n\
         [package.metadata.oxwarp]\ntargets = [\"sm_75\", \"sm_90\"]\n"
    );
    for file in programs() {
        let name = file.file_stem().unwrap().to_str().unwrap();
        manifest.push_str(&format!("[[bin]]\nname = {name:?}\npath = {file:?}\n"));
    }
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("device_errors/host_only");
    fs::create_dir_all(&library).unwrap();
    let path = folder.join("host_only/lib.rs");
    let text = format!(
        "[package]\nname = \"host_only\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = {path:?}\n"
    );
    fs::write(library.join("Cargo.toml"), text).unwrap();
    manifest
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device_errors")
}

fn programs() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// Checks the one error of a program: at the marked line, with the marked text and with `help`. `at` is text that names
/// a further place.
fn check(program: &str, help: &str, further_places: &[&str]) {
    let path = folder().join(program).with_extension("rs");
    let source = fs::read_to_string(&path).unwrap();
    let (line, marked) = source
        .lines()
        .enumerate()
        .find_map(|(index, line)| Some((index as u64 + 1, line.split_once("//~ ")?.1)))
        .unwrap();
    let errors = ERRORS
        .get(program)
        .unwrap_or_else(|| panic!("{program} was built without an error"));
    let device: Vec<&Value> = errors
        .iter()
        .filter(|error| !error["spans"].as_array().unwrap().is_empty())
        .collect();
    let rendered: String = errors
        .iter()
        .filter_map(|error| error["rendered"].as_str())
        .collect();
    assert_eq!(device.len(), 1, "{program}: one error\n{rendered}");
    let span = &device[0]["spans"][0];
    assert_eq!(span["line_start"], line, "{program}: the line\n{rendered}");
    assert!(
        path.ends_with(span["file_name"].as_str().unwrap()),
        "{program}: the file\n{rendered}"
    );
    for text in further_places.iter().chain([&marked, &help]) {
        assert!(
            rendered.contains(text),
            "{program}: no `{text}` in\n{rendered}"
        );
    }
}

const OF_THE_SYSTEM: &str =
    "help: it needs the operating system, which a kernel cannot reach: call it on the host";

macro_rules! cases {
    ($($program:ident: $help:expr $(, at $place:literal)*;)*) => {
        $(#[test]
        fn $program() {
            check(stringify!($program), $help, &[$($place),*]);
        })*

        #[test]
        fn every_program_is_a_case() {
            let mut files: Vec<_> =
                programs().iter().map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
            files.sort();
            let mut cases = vec![$(stringify!($program)),*];
            cases.sort();
            assert_eq!(files, cases);
        }
    };
}

cases! {
    std_fs: OF_THE_SYSTEM, at "in the kernel `read_file`";
    constants: "in statics of 40000 and 30000; there are 65536";
    stdout: "help: a kernel prints with `print!`, `println!`, `eprint!` and `eprintln!`", at "in the kernel `prints`";
    external_c: "help: a kernel can call Rust functions; write this one in Rust";
    other_crate: "help: the crate `host_only` compiled it for the host only: put `rustflags = [\"-Cembed-bitcode=yes\"]` under `[build]` in \
                  .cargo/config.toml, mark it `#[inline]` there, or make it generic";
    instance_of_another_crate: "help: a crate that this one depends on compiled it, for the host only: put `rustflags = [\"-Cembed-bitcode=yes\"]`";
    inline_assembly: "help: write it in Rust, or keep it out of the kernel";
    simd: "help: use portable Rust instead of `core::arch`";
    helper: OF_THE_SYSTEM, at "helper.rs:5:", at "helper.rs:9:";
    outlined_helper: OF_THE_SYSTEM, at "outlined_helper.rs:6:";
    second_kernel: OF_THE_SYSTEM, at "in the kernel `bad`";
    closure: OF_THE_SYSTEM, at "in the kernel `map`", at "closure.rs:10:";
    captured_reference: "help: pass slices as parameters of their own";
    lower_sm: "help: compile it for sm_80 with `targets = [\"sm_80\"]` under `[package.metadata.oxwarp]` in Cargo.toml",
        at "`if target::sm() >= 80 {", at "lower_sm.rs:7:";
    async_copy: "help: compile it for sm_80";
    cluster: "help: compile it for sm_90";
    linked_for_newer: "help: make the file for sm_75, or compile the crate for sm_100";
    linked_missing: "help: in CUDA C write `extern \"C\"` before it";
    matrix_units: "OXWARP_TARGETS=sm_80";
    second_target: "OXWARP_TARGETS=sm_100";
    thread_local: "help: use a local variable, passed on by reference";
    own_closure: OF_THE_SYSTEM, at "own_closure.rs:14:";
    thread_spawn: OF_THE_SYSTEM, at "more of what it needs cannot run on a GPU either";
    random_state: OF_THE_SYSTEM, at "places in the standard library", at "random_state.rs:6:";
}
