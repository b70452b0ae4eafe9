//! `cargo oxwarp new` and `init`: the files that a project has then, and those that were there.
#![allow(missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An empty folder that is outside of this workspace.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("oxwarp-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn oxwarp(folder: &Path, arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_cargo-oxwarp"))
        .arg("oxwarp")
        .args(arguments)
        .current_dir(folder)
        .output();
    command.unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_new_project_has_what_it_needs() {
    let folder = folder("new");
    let output = oxwarp(&folder, &["new", "two words/waves"]);
    assert!(output.status.success(), "{}", said(&output));
    let project = folder.join("two words/waves");
    let read = |name: &str| fs::read_to_string(project.join(name)).unwrap();
    assert!(
        read("Cargo.toml").contains("oxwarp = {"),
        "{}",
        read("Cargo.toml")
    );
    assert!(read(".cargo/config.toml").contains("CUDA_LIBRARY_PATH"));
    assert!(read("src/main.rs").contains("#[kernel]"));
    assert!(read("link/lib64/libcuda.so").contains("cuda-loader"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_project_keeps_its_settings() {
    let folder = folder("init");
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"waves\"\nedition = \"2024\"\n",
    );
    write("src/main.rs", "fn main() {}\n");
    write(".cargo/config.toml", "[build]\njobs = 2\n");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();

    for _ in 0..2 {
        let output = oxwarp(&folder, &["init"]);
        assert!(output.status.success(), "{}", said(&output));
        let config = read(".cargo/config.toml");
        assert!(config.starts_with("[build]\njobs = 2\n"), "{config}");
        assert_eq!(config.matches("[env]").count(), 1, "{config}");
        assert_eq!(read("src/main.rs"), "fn main() {}\n");
        assert!(read("Cargo.toml").contains("oxwarp = {"));
    }

    write(".cargo/config.toml", "[env]\nA = \"b\"\n");
    let output = oxwarp(&folder, &["init"]);
    assert!(!output.status.success());
    assert!(
        said(&output).contains("CUDA_LIBRARY_PATH = "),
        "{}",
        said(&output)
    );

    let output = oxwarp(&folder, &["init", "--oxwarp", "nowhere"]);
    assert!(
        said(&output).contains("nowhere: say where with --oxwarp"),
        "{}",
        said(&output)
    );
    fs::remove_dir_all(folder).unwrap();
}
