//! The code of the benchmark's kernels is what `code.md` says: instructions, registers, spills and the checks
//! that are left in loops. A change of the compiler that costs or saves any of them shows in that file, for review.
//!
//! The table is of the release profile, so this builds the benchmark in it and asks that program. It needs `ptxas` in
//! `tools/` (`scripts/install-ptxas.sh`), and no GPU. `OXWARP_BLESS=1` writes the file anew.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

const BLESS: &str = "OXWARP_BLESS=1 cargo test --test cuda_c_code";

#[test]
fn the_code_is_as_committed() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(2).unwrap();
    if !root.join("tools/ptxas").is_file() {
        let required = env::var("OXWARP_REQUIRE_PTXAS").is_ok_and(|value| value == "1");
        assert!(
            !required,
            "there is no tools/ptxas: run scripts/install-ptxas.sh"
        );
        eprintln!("skipped: there is no tools/ptxas; scripts/install-ptxas.sh installs it");
        return;
    }
    let output = Command::new(benchmark(root))
        .arg("--code")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let now = String::from_utf8(output.stdout).unwrap();
    let file = package.join("code.md");
    if env::var_os("OXWARP_BLESS").is_some() {
        fs::write(&file, now).unwrap();
        return;
    }
    let committed = fs::read_to_string(&file).unwrap();
    let changes: Vec<String> = difference(&committed, &now);
    assert!(
        changes.is_empty(),
        "the code of the benchmark's kernels has changed; if that is meant, run `{BLESS}` and commit the file\n{}",
        changes.join("\n")
    );
}

/// The lines of one and not of the other.
fn difference(committed: &str, now: &str) -> Vec<String> {
    let only = |sign: char, of: &str, other: &str| -> Vec<String> {
        let lines = of
            .lines()
            .filter(|line| !other.lines().any(|there| there == *line));
        lines.map(|line| format!("{sign}{line}")).collect()
    };
    let mut changes = only('-', committed, now);
    changes.extend(only('+', now, committed));
    changes
}

/// Builds the benchmark as `cargo bench` does.
fn benchmark(root: &Path) -> PathBuf {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()))
        .args([
            "build",
            "--offline",
            "--quiet",
            "--release",
            "--bench",
            "cuda_c",
            "--message-format=json",
        ])
        .arg("--target-dir")
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap())
        .current_dir(root)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let programs = messages
        .into_iter()
        .filter(|message| message["target"]["name"] == "cuda_c");
    let paths: Vec<PathBuf> = programs
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .collect();
    paths
        .into_iter()
        .next_back()
        .expect("Cargo names the program")
}
