//! The command on a program's file: what it writes, and what it says of names that are not there.
#![allow(missing_docs)]

use std::path::PathBuf;
use std::process::{Command, Output};

use oxwarp::prelude::*;

#[kernel]
fn own(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i];
    }
}

/// A file with the PTX of two kernels in it, as a program has it.
fn program(name: &str) -> PathBuf {
    let ptx = ".version 7.0
.target sm_80
.address_size 64
.visible .entry add_0123456789abcdef0123456789abcdef(
	.param .b64 p
)
{
	.reg .b64 	%rd<2>;
	.reg .b32 	%r<2>;
	ld.param.b64 	%rd1, [p];
	cvta.to.global.u64 	%rd1, %rd1;
	ld.global.b32 	%r1, [%rd1];
	st.global.b32 	[%rd1], %r1;
	ret;
}
.visible .entry nothing_fedcba9876543210fedcba9876543210()
{
	ret;
}
";
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, [b"\x7fELF\0", ptx.as_bytes(), b"\0rest"].concat()).unwrap();
    file
}

fn explain(program: &PathBuf, arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_cargo-oxwarp"))
        .args(["oxwarp", "explain"])
        .args(arguments)
        .arg("--program")
        .arg(program)
        .output();
    command.unwrap()
}

/// This very program has a kernel too.
#[test]
fn a_kernel_is_found_in_a_real_program() {
    let program = std::env::current_exe().unwrap();
    let output = explain(&program, &["own", "--ptx"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{output:?}",
        output = output.stderr
    );
    for part in ["kernel `own`, PTX for sm_", ".visible .entry own_"] {
        assert!(said.contains(part), "no {part} in\n{said}");
    }
}

#[test]
fn a_kernel_of_a_program_is_explained() {
    let program = program("explained");
    let output = explain(&program, &["add", "--target", "sm_90", "--ptx"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    for part in [
        "kernel `add`, PTX for sm_80",
        "loads           global 1 of 4 bytes; parameter 1 of 8 bytes",
        "ptxas sm_90",
        ".visible .entry add_",
    ] {
        assert!(said.contains(part), "no {part} in\n{said}");
    }
    assert!(!said.contains("nothing"), "{said}");
    let all = String::from_utf8(explain(&program, &[]).stdout).unwrap();
    assert!(
        all.contains("kernel `add`") && all.contains("kernel `nothing`"),
        "{all}"
    );
}

#[test]
fn a_name_that_is_not_there_is_an_error_with_those_that_are() {
    let output = explain(&program("missing"), &["sub"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        said.contains("no kernel of that name") && said.contains("there are add, nothing"),
        "{said}"
    );
}
