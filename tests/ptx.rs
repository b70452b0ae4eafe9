//! The PTX of kernels: `ptxas` takes it without a warning for every generation since Turing, and it holds the
//! instructions that the source asks for.
//!
//! The device code is this test program's own, with the examples' kernels in it. `ptxas` is found on `PATH`, under
//! `CUDA_HOME`, or in `tools/`, where `scripts/install-ptxas.sh` puts it. Without it the test that needs it says that it
//! was skipped; with `OXWARP_REQUIRE_PTXAS=1` that is a failure.
#![allow(missing_docs, clippy::duplicate_mod)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::{env, fs};

use oxwarp::__private::{DeviceCode, inventory};
use oxwarp::prelude::*;

#[allow(dead_code, missing_docs)]
#[path = "../examples/dot.rs"]
mod dot;
#[allow(dead_code, missing_docs)]
#[path = "../examples/histogram.rs"]
mod histogram;
#[allow(dead_code, missing_docs)]
#[path = "../examples/mandelbrot.rs"]
mod mandelbrot;
#[allow(dead_code, missing_docs)]
#[path = "../examples/matmul.rs"]
mod matmul;
#[allow(dead_code, missing_docs)]
#[path = "../examples/panic.rs"]
mod panic;
#[allow(dead_code, missing_docs)]
#[path = "../examples/saxpy.rs"]
mod saxpy;
#[allow(dead_code, missing_docs)]
#[path = "../examples/vector_add.rs"]
mod vector_add;

#[kernel]
fn own_axpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[*i];
    }
}

#[kernel(fma = false)]
fn own_axpy_exact(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[*i];
    }
}

#[kernel]
fn own_reads_atomics(x: &[AtomicU32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i].load(Relaxed);
    }
}

#[kernel]
fn own_counts(x: &[u32], bins: &[AtomicU32], sums: &[AtomicF32]) {
    for i in thread::grid_stride(x.len()) {
        bins[x[*i] as usize].fetch_add(1, Relaxed);
        sums[0].fetch_add(2.5);
    }
}

#[kernel]
fn own_two_barriers(mut y: DisjointSlice<f32>) {
    let array = shared_array![f32; 128];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    array.set(t, t as f32);
    sync_threads();
    let x = array.get(127 - t);
    sync_threads();
    array.set((t + 1) % 128, x);
    if let Some(y) = y.get_mut(i) {
        *y = array.get(t);
    }
}

/// A barrier in a loop that the compiler must not copy into both branches.
#[kernel]
fn own_barrier_behind_branches(n: u32, mut y: DisjointSlice<u32>) {
    let array = shared_array![u32; 64];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    let mut x = t as u32;
    if n > 3 {
        x = x * 3 + 1;
    } else {
        x ^= n;
    }
    array.set(t, x);
    sync_threads();
    if n > 3 {
        x += array.get((t + 1) % 64);
    }
    if let Some(y) = y.get_mut(i) {
        *y = x;
    }
}

#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Wide([f32; 4]);

#[kernel]
fn own_wide_loads(x: &[Wide], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let Wide([a, b, c, d]) = x[*i];
        *y = (a + b) * (c - d);
    }
}

#[kernel]
fn own_wide_parameter(w: Wide, mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = w.0[0] + w.0[3];
    }
}

#[kernel]
fn own_indexes(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i / 3] + x[x.len() / 2];
    }
}

#[kernel]
fn own_wrapped_indexes(x: &[u32], k: &[i8], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let at = |k: i8| x[(isize::from(k) + 128) as usize];
        *y = at(k[*i]) + at(k[*i].wrapping_add(100));
    }
}

fn codes() -> Vec<&'static DeviceCode> {
    inventory::iter::<DeviceCode>.into_iter().collect()
}

/// The PTX of this program.
fn ptx() -> &'static str {
    let code = codes()
        .into_iter()
        .find(|code| code.crate_name == "ptx")
        .expect("this crate has device code");
    assert_eq!(code.skipped, None);
    code.images[0].ptx.to_str().unwrap()
}

/// The body of a kernel, from its `.entry` to the brace that closes it, and its parameters.
fn kernel(name: &str) -> (&'static str, &'static str) {
    let ptx = ptx();
    let mut found = ptx.match_indices(".entry ").filter_map(|(start, _)| {
        let rest = &ptx[start + ".entry ".len()..];
        let symbol = &rest[..rest.find(['(', '\n'])?];
        // The symbol is the name and the bits of the instance's id.
        (symbol.trim_end().rsplit_once('_')?.0 == name).then_some(rest)
    });
    let rest = found.next().unwrap_or_else(|| panic!("no kernel `{name}`"));
    assert!(found.next().is_none(), "two kernels `{name}`");
    let body = &rest[..rest.find("\n}").unwrap()];
    body.split_at(body.find('{').unwrap())
}

/// A kernel's own instructions: without its exits for panics, which LLVM puts last. These record the panic in host
/// memory, with an atomic claim and accesses of any address space.
fn body(name: &str) -> &'static str {
    let body = kernel(name).1;
    body.split("oxwarp_panic").next().unwrap()
}

fn count(text: &str, what: &str) -> usize {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//") && line.contains(what))
        .count()
}

/// Loads or stores through addresses of no known space, which are slower.
fn generic_accesses(text: &str) -> Vec<&str> {
    let accesses = text.lines().map(str::trim).filter(|line| {
        let spaces = [".global", ".shared", ".param", ".local", ".const"];
        let access = line
            .split_whitespace()
            .find(|word| word.starts_with("ld.") || word.starts_with("st."));
        access.is_some_and(|access| !spaces.iter().any(|space| access.contains(space)))
    });
    accesses.collect()
}

#[test]
fn the_default_target_is_the_lowest() {
    let code = codes()
        .into_iter()
        .find(|code| code.crate_name == "ptx")
        .unwrap();
    assert_eq!(
        code.images
            .iter()
            .map(|image| image.target)
            .collect::<Vec<_>>(),
        [75]
    );
    assert_eq!(count(ptx(), ".version 6.4"), 1);
    assert_eq!(count(ptx(), ".target sm_75"), 1);
    for kernel in code.kernels {
        let entry = format!(".entry {}(", kernel.symbol.to_str().unwrap());
        assert_eq!(count(ptx(), &entry), 1, "{entry}");
    }
}

#[test]
fn slices_are_read_through_the_read_only_cache() {
    for (name, loads) in [("own_axpy", 1), ("own_indexes", 2)] {
        assert_eq!(count(body(name), "ld.global.nc"), loads, "{}", body(name));
    }
    assert!(count(body("own_counts"), "ld.global.nc") >= 1);
    for name in [
        "own_axpy",
        "own_indexes",
        "own_axpy_exact",
        "own_wide_loads",
    ] {
        assert!(
            generic_accesses(body(name)).is_empty(),
            "{:?}",
            generic_accesses(body(name))
        );
    }
}

#[test]
fn atomics_are_not_read_through_the_read_only_cache() {
    let text = body("own_reads_atomics");
    assert_eq!(count(text, ".nc"), 0, "{text}");
    assert!(count(text, "ld.") > 0, "{text}");
}

#[test]
fn atomic_additions_are_one_instruction() {
    let text = body("own_counts");
    let additions = |kind: &str| count(text, &format!(".add.{kind}"));
    // LLVM may copy the loop for the case that there is no sum to add to, in which the first trip panics.
    assert!((1..=2).contains(&additions("u32")), "{text}");
    assert_eq!(additions("f32"), 1, "{text}");
    assert!(text.contains("red.") || text.contains("atom."), "{text}");
    assert_eq!(count(text, ".cas"), 0, "{text}");
}

#[test]
fn products_and_sums_are_contracted_where_allowed() {
    assert_eq!(
        count(body("own_axpy"), "fma.rn.f32"),
        1,
        "{}",
        body("own_axpy")
    );
    let exact = body("own_axpy_exact");
    assert_eq!(count(exact, "fma."), 0, "{exact}");
    assert_eq!(
        (count(exact, "mul.rn.f32"), count(exact, "add.rn.f32")),
        (1, 1),
        "{exact}"
    );
}

#[test]
fn shared_arrays_are_in_shared_memory() {
    for name in ["own_two_barriers", "own_barrier_behind_branches"] {
        let text = body(name);
        assert!(
            count(text, "ld.shared") > 0 && count(text, "st.shared") > 0,
            "{text}"
        );
        assert!(
            generic_accesses(text).is_empty(),
            "{:?}",
            generic_accesses(text)
        );
    }
    assert_eq!(count(ptx(), "[512]"), 1, "the array of own_two_barriers");
}

#[test]
fn barriers_are_as_many_as_in_the_source() {
    for (name, barriers) in [
        ("own_two_barriers", 2),
        ("own_barrier_behind_branches", 1),
        ("own_axpy", 0),
    ] {
        let found = count(body(name), "bar.sync") + count(body(name), "barrier.sync");
        assert_eq!(found, barriers, "{}", body(name));
    }
}

#[test]
fn aligned_elements_are_loaded_at_once() {
    let text = body("own_wide_loads");
    let wide = count(text, "ld.global.nc.v4") + count(text, "ld.global.nc.b128");
    assert_eq!((wide, count(text, "ld.global.nc")), (1, 1), "{text}");
}

#[test]
fn a_narrow_index_that_wraps_has_its_own_address() {
    let text = body("own_wrapped_indexes");
    assert_eq!(count(text, "ld.global.nc.b32"), 2, "{text}");
    assert_eq!(count(text, "+512]"), 2, "the middle of `x`: {text}");
    assert_eq!(count(text, "cvt.s64.s8"), 2, "{text}");
}

#[test]
fn parameters_keep_their_alignment() {
    assert!(
        kernel("own_wide_parameter").0.contains(".param .align 16"),
        "{}",
        kernel("own_wide_parameter").0
    );
    assert!(
        kernel("own_axpy").0.contains(".param .align 8"),
        "{}",
        kernel("own_axpy").0
    );
}

#[test]
fn nothing_spills_and_nothing_formats() {
    for name in [
        "own_axpy",
        "own_indexes",
        "own_counts",
        "own_two_barriers",
        "own_wide_loads",
    ] {
        let text = body(name);
        assert_eq!(count(text, ".local"), 0, "{text}");
        assert!(!text.contains("fmt"), "{text}");
        assert_eq!(count(text, ".maxntid"), 0);
    }
    assert_eq!(count(ptx(), "3fmt"), 0, "core::fmt");
}

/// The bytes of PTX without what nvcc writes with `-lineinfo` only: places in the source, and labels for them.
fn bytes(text: &str) -> usize {
    let lines = text.lines().filter(|line| {
        let line = line.trim();
        let for_lines = [".loc", "//", "$L__tmp", "$L__func"];
        !line.is_empty() && !for_lines.iter().any(|start| line.starts_with(start))
    });
    lines.map(|line| line.len() + 1).sum()
}

/// Its exits for panics are counted, which the twin has not. The functions that they call are a module's, for all kernels.
#[test]
fn add_is_at_most_a_third_longer_than_nvccs() {
    // `nvcc -ptx -arch=sm_75` of CUDA 13.0.88, from `.visible .entry` to its last `}`, counted in the same way:
    //   extern "C" __global__ void add(const float* a, size_t a_len, const float* b, size_t b_len, float* c, size_t c_len) {
    //       size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    //       if (i < c_len) c[i] = a[i] + b[i];
    //   }
    let nvccs = 961;
    let (parameters, body) = kernel("add");
    let text = format!(".visible .entry {parameters}{body}}}");
    assert_eq!(count(&text, "call.uni oxwarp_panic_index"), 2, "{text}");
    assert!(
        bytes(&text) * 10 <= nvccs * 13,
        "{} bytes\n{text}",
        bytes(&text)
    );
}

/// A check that passes goes on with the next line.
#[test]
fn exits_are_out_of_the_way() {
    for name in ["own_axpy", "own_indexes", "add"] {
        let (text, exits) = (body(name), kernel(name).1);
        assert!(exits.contains("oxwarp_panic_index"), "{exits}");
        let own = text.split("ret;").next().unwrap();
        assert_eq!(count(own, "bra.uni"), 0, "{text}");
    }
}

#[test]
fn lines_of_the_source_are_there() {
    let line = line!();
    let file = ptx()
        .lines()
        .find(|line| line.trim_start().starts_with(".file") && line.contains("tests/ptx.rs"))
        .expect("a .file");
    let number = file.split_whitespace().nth(1).unwrap();
    let text = body("own_axpy");
    let lines: Vec<u32> = text
        .lines()
        .filter_map(|line| {
            line.trim()
                .strip_prefix(".loc")?
                .trim()
                .strip_prefix(number)?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert!(lines.iter().any(|&at| at > 1 && at < line), "{text}");
}

/// The examples' kernels have what their source says.
#[test]
fn examples() {
    assert_eq!(
        count(body("add"), "ld.global.nc.f32") + count(body("add"), "ld.global.nc.b32"),
        2
    );
    // The loop without checks, and the loop as it was.
    assert_eq!(count(body("saxpy"), "fma.rn.f32"), 2);
    assert_eq!(
        count(body("dot"), "bar.sync") + count(body("dot"), "barrier.sync"),
        // Before the loop, and in its copies with and without checks.
        3
    );
    assert!(count(body("dot"), "ld.shared") > 0);
    assert!(count(body("histogram"), ".add.u32") > 0);
}

/// The program `ptxas`, or `None`.
fn find_ptxas() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let cuda = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(env::var_os)
        .map(|home| Path::new(&home).join("bin"));
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools");
    let folders: Vec<PathBuf> = env::split_paths(&path).chain(cuda).chain([tools]).collect();
    folders
        .into_iter()
        .map(|folder| folder.join("ptxas"))
        .find(|program| program.is_file())
}

#[test]
fn ptxas_takes_it_without_a_warning() {
    let Some(ptxas) = find_ptxas() else {
        let required = env::var("OXWARP_REQUIRE_PTXAS").is_ok_and(|value| value == "1");
        assert!(
            !required,
            "OXWARP_REQUIRE_PTXAS is set, but there is no ptxas: run scripts/install-ptxas.sh"
        );
        eprintln!("skipped: there is no ptxas; scripts/install-ptxas.sh installs it");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for code in codes() {
        for image in code.images {
            let source = folder.join(format!("{}-sm_{}.ptx", code.crate_name, image.target));
            fs::write(&source, image.ptx.to_bytes()).unwrap();
            for target in [75, 80, 90, 100] {
                let output = Command::new(&ptxas)
                    .args([
                        "--warn-on-spills",
                        "--warn-on-local-memory-usage",
                        "-arch",
                        &format!("sm_{target}"),
                        "-o",
                    ])
                    .arg(source.with_extension(format!("{target}.cubin")))
                    .arg(&source)
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&output.stderr)
                    + String::from_utf8_lossy(&output.stdout);
                assert!(
                    output.status.success() && said.trim().is_empty(),
                    "sm_{target}: {said}"
                );
            }
        }
    }
}
