//! One crate, several targets: each has its own branches, and the PTX version that these need.
//!
//! `tests/targets/program.rs` is built and run by Cargo, in a package of its own, because targets are a package's
//! choice. What a target lacks is an error: see `tests/device_errors.rs`.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

mod device_code;

/// What the program prints.
fn output() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let package = temporary.join("targets");
    fs::create_dir_all(&package).unwrap();
    let program = root.join("tests/targets/program.rs");
    let manifest = format!(
        "[package]\nname = \"targets\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [package.metadata.oxwarp]\ntargets = [\"sm_75\", \"sm_89\", \"sm_90\"]\n\
         [dependencies]\noxwarp = {{ path = {root:?} }}\n[workspace]\n\
         [[bin]]\nname = \"targets\"\npath = {program:?}\n"
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()))
        .args(["run", "--offline", "--quiet", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(temporary.parent().unwrap())
        .env_remove("OXWARP_TARGETS")
        // For `.cargo/config.toml`.
        .current_dir(root)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_target_has_its_own_branches_and_ptx_version() {
    let output = output();
    let [result, lowest, conversion, same] = output
        .split("\nsm_")
        .collect::<Vec<_>>()
        .try_into()
        .unwrap_or_else(|_| panic!("{output}"));
    let powers: Vec<String> = (7..16)
        .map(|power| format!("{:x}", power << 11 | 7 << 3))
        .collect();
    assert_eq!(result, format!("[{}]", powers.join(", ")));
    device_code::contains(lowest, &["75\n", ".version 6.3\n", ".target sm_75"]);
    assert!(!lowest.contains("cvt.rn.satfinite"), "{lowest}");
    for (text, target) in [(conversion, 89), (same, 90)] {
        let target_line = format!(".target sm_{target}");
        device_code::contains(text, &[".version 8.1\n", &target_line, "cvt.rn.satfinite"]);
    }
    for (ptx, target) in [(lowest, 75), (conversion, 89), (same, 90)] {
        let (_, ptx) = ptx.split_once('\n').unwrap();
        device_code::assemble(target, ptx);
    }
}
