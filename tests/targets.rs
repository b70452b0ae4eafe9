//! One crate, several targets: each has its own branches, and the PTX version that these need.
//!
//! `tests/targets/program.rs` is built and run by Cargo, in a package of its own, because targets are a package's
//! choice. What a target lacks is an error: see `tests/device_errors.rs`. A second crate of it has a linked function.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

mod device_code;

/// A linked function that multiplies its argument.
fn scale(factor: u32) -> String {
    format!(
        ".version 6.3\n.target sm_75\n.address_size 64\n\
         .visible .func (.param .b32 result) scale(.param .b32 x)\n{{\n\t.reg .b32 %r<3>;\n\
         \tld.param.b32 %r1, [x];\n\tmul.lo.u32 %r2, %r1, {factor};\n\tst.param.b32 [result], %r2;\n\tret;\n}}\n"
    )
}

/// What the program prints, with `ptx` linked.
fn output(ptx: String) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let package = temporary.join("targets");
    fs::create_dir_all(&package).unwrap();
    let program = root.join("tests/targets/program.rs");
    let manifest = format!(
        "[package]\nname = \"targets\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [package.metadata.oxwarp]\ntargets = [\"sm_75\", \"sm_89\", \"sm_90\"]\n\
         [dependencies]\noxwarp = {{ path = {root:?} }}\nlinked = {{ path = \"linked\" }}\n[workspace]\n\
         [[bin]]\nname = \"targets\"\npath = {program:?}\n"
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::create_dir_all(package.join("linked")).unwrap();
    let library = root.join("tests/targets/library.rs");
    let manifest = format!(
        "[package]\nname = \"linked\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\noxwarp = {{ path = {root:?} }}\n[lib]\npath = {library:?}\n"
    );
    fs::write(package.join("linked/Cargo.toml"), manifest).unwrap();
    fs::write(package.join("linked/scale.ptx"), ptx).unwrap();
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

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn a_linked_function_of_another_crate_follows_its_file() {
    let _lock = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for factor in [3, 1234] {
        let output = output(scale(factor));
        assert_eq!(
            output
                .matches(&format!("mul.lo.u32 %r2, %r1, {factor};"))
                .count(),
            3,
            "{output}"
        );
        assert_eq!(output.matches("mul.lo.u32 %r2, %r1, ").count(), 3);
    }
}

#[test]
fn each_target_has_its_own_branches_and_ptx_version() {
    let _lock = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let output = output(scale(3));
    let [result, lowest, conversion, same] = output
        .split("\nsm_")
        .collect::<Vec<_>>()
        .try_into()
        .unwrap_or_else(|_| panic!("{output}"));
    let powers: Vec<String> = (7..16)
        .map(|power| format!("{:x}", power << 11 | 7 << 3))
        .collect();
    assert_eq!(result, format!("[{}]\n[0, 3, 6, 9, 12]", powers.join(", ")));
    device_code::contains(lowest, &["75\n", ".version 6.4\n", ".target sm_75"]);
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
