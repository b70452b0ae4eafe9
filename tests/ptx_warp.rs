//! Each barrier, fence and warp operation is the instruction that CUDA C gives, and costs no more than that.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use oxwarp::__private::{DeviceCode, inventory};
use oxwarp::prelude::*;
use oxwarp::sync;
use oxwarp::warp::FULL_MASK;

/// A kernel that writes what an expression of the thread's `x` gives.
macro_rules! kernels {
    ($($name:ident($x:ident: $in:ty) -> $out:ty $body:block)*) => {$(
        #[kernel]
        fn $name(x: &[$in], mut out: DisjointSlice<$out>) {
            let i = thread::index_1d();
            let $x = x[*i];
            let result: $out = $body;
            if let Some(out) = out.get_mut(i) {
                *out = result;
            }
        }
    )*};
}

kernels! {
    idx(x: f32) -> f32 { warp::shuffle_idx(FULL_MASK, x, 4) }
    up(x: u32) -> u32 { warp::shuffle_up(FULL_MASK, x, 1) }
    down(x: u64) -> u64 { warp::shuffle_down(FULL_MASK, x, 2) }
    xor(x: [f32; 3]) -> [f32; 3] { warp::shuffle_xor(FULL_MASK, x, 16) }
    byte(x: u8) -> u8 { warp::shuffle_xor(FULL_MASK, x, 1) }
    all(x: u32) -> u32 { warp::vote_all(FULL_MASK, x > 0).into() }
    any(x: u32) -> u32 { warp::vote_any(FULL_MASK, x > 0).into() }
    uni(x: u32) -> u32 { warp::vote_uni(FULL_MASK, x > 0).into() }
    ballot(x: u32) -> u32 { warp::ballot(FULL_MASK, x > 0) }
    ballot_of_mask(x: u32) -> u32 { warp::ballot(x, true) }
    match_any(x: u32) -> u32 { warp::match_any(FULL_MASK, x) }
    match_any_wide(x: f64) -> u32 { warp::match_any(FULL_MASK, x) }
    match_all(x: i32) -> u32 { warp::match_all(FULL_MASK, x) }
    match_all_wide(x: i64) -> u32 { warp::match_all(FULL_MASK, x) }
    active(x: u32) -> u32 { x + warp::active_mask() }
    registers(x: u32) -> u32 {
        x + (warp::lane_id() ^ warp::lanemask_lt() ^ warp::lanemask_le() ^ warp::lanemask_ge() ^ warp::lanemask_gt())
    }
    own_mask(x: u32) -> u32 { x + warp::lanemask_eq() }
    sync_warp(x: u32) -> u32 { warp::sync_warp(FULL_MASK); x }
    barrier_count(x: u32) -> u32 { sync::sync_threads_count(x > 0) }
    barrier_and(x: u32) -> u32 { sync::sync_threads_and(x > 0).into() }
    barrier_or(x: u32) -> u32 { sync::sync_threads_or(x > 0).into() }
    named(x: u32) -> u32 { sync::named_barrier(3, 64); x }
    named_arrive(x: u32) -> u32 { sync::named_barrier_arrive(3, 64); x }
    fence_block(x: u32) -> u32 { sync::fence_block(); x }
    fence_device(x: u32) -> u32 { sync::fence_device(); x }
    fence_system(x: u32) -> u32 { sync::fence_system(); x }
    tile_sum(x: f32) -> f32 { group::tile::<8>().reduce_add(x) }
    warp_sum(x: u32) -> u32 { group::warp().reduce_add(x) }
    warp_scan(x: u32) -> u32 { group::warp().inclusive_add(x) }
    coalesced(x: u32) -> u32 { group::coalesced().shuffle_idx(x, 0) }
}

fn code() -> &'static DeviceCode {
    let mut codes = inventory::iter::<DeviceCode>.into_iter();
    let code = codes.find(|code| code.crate_name == "ptx_warp");
    code.expect("this crate has device code")
}

/// The instructions of a kernel.
fn instructions(kernel: &str) -> Vec<&'static str> {
    assert_eq!(code().skipped, None);
    let ptx = code().images[0].ptx.to_str().unwrap();
    let mut symbols = code()
        .kernels
        .iter()
        .map(|kernel| kernel.symbol.to_str().unwrap());
    let symbol = symbols
        .find(|symbol| symbol.rsplit_once('_').unwrap().0 == kernel)
        .unwrap_or_else(|| panic!("no kernel `{kernel}`"));
    let start = ptx.find(&format!(".entry {symbol}(")).unwrap();
    let body = &ptx[start..];
    let body = &body[..body.find("\n}").unwrap()];
    body.lines()
        .map(str::trim)
        .filter(|line| line.ends_with(';') && !line.starts_with(['.', '/']))
        .collect()
}

fn count(kernel: &str, instruction: &str) -> usize {
    let of_kernel = instructions(kernel);
    of_kernel
        .iter()
        .filter(|line| line.contains(instruction))
        .count()
}

/// Each kernel has the instruction so often, and no other of the kind.
#[test]
fn each_operation_is_its_instruction() {
    let cases = [
        ("idx", "shfl.sync.idx.b32", 1),
        ("up", "shfl.sync.up.b32", 1),
        ("down", "shfl.sync.down.b32", 2),
        ("xor", "shfl.sync.bfly.b32", 3),
        ("byte", "shfl.sync.bfly.b32", 1),
        ("all", "vote.sync.all.pred", 1),
        ("any", "vote.sync.any.pred", 1),
        ("uni", "vote.sync.uni.pred", 1),
        ("ballot", "vote.sync.ballot.b32", 1),
        ("ballot_of_mask", "vote.sync.ballot.b32", 1),
        ("match_any", "match.any.sync.b32", 1),
        ("match_any_wide", "match.any.sync.b64", 1),
        ("match_all", "match.all.sync.b32", 1),
        ("match_all_wide", "match.all.sync.b64", 1),
        ("active", "activemask.b32", 1),
        ("registers", "%laneid", 1),
        ("registers", "%lanemask_", 4),
        ("own_mask", "%lanemask_eq", 1),
        ("sync_warp", "bar.warp.sync", 1),
        ("barrier_count", ".red.popc.u32", 1),
        ("barrier_and", ".red.and.pred", 1),
        ("barrier_or", ".red.or.pred", 1),
        ("named", "barrier.sync", 1),
        ("named_arrive", "barrier.arrive", 1),
        ("fence_block", "membar.cta", 1),
        ("fence_device", "membar.gl", 1),
        ("fence_system", "membar.sys", 1),
        ("tile_sum", "shfl.sync.bfly.b32", 3),
        ("warp_sum", "shfl.sync.bfly.b32", 5),
        ("warp_scan", "shfl.sync.up.b32", 5),
        ("coalesced", "shfl.sync.idx.b32", 1),
    ];
    let kinds = ["shfl.", "vote.", "match.", "membar.", "fence."];
    for (kernel, instruction, times) in cases {
        let lines = instructions(kernel);
        assert_eq!(count(kernel, instruction), times, "{kernel}: {lines:#?}");
        let kind = kinds.iter().find(|kind| instruction.starts_with(**kind));
        if let Some(kind) = kind {
            assert_eq!(count(kernel, kind), times, "{kernel}: {lines:#?}");
        }
    }
}

/// A constant full mask needs no check, and no shuffle goes through memory.
#[test]
fn shuffles_cost_nothing_else() {
    for kernel in [
        "idx",
        "up",
        "down",
        "xor",
        "byte",
        "ballot",
        "match_any",
        "warp_sum",
    ] {
        let lines = instructions(kernel);
        assert_eq!(count(kernel, "%lanemask"), 0, "{kernel}: {lines:#?}");
        assert_eq!(count(kernel, ".local"), 0, "{kernel}: {lines:#?}");
    }
    assert_eq!(count("ballot_of_mask", "%lanemask_eq"), 1);
    // The order of the lanes is no matter where it changes nothing.
    assert_eq!(
        count("warp_sum", "selp"),
        0,
        "{:#?}",
        instructions("warp_sum")
    );
}

fn find_ptxas() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let cuda = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(env::var_os);
    let cuda = cuda.map(|home| Path::new(&home).join("bin"));
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools");
    let mut folders = env::split_paths(&path).chain(cuda).chain([tools]);
    folders.find_map(|folder| Some(folder.join("ptxas")).filter(|ptxas| ptxas.is_file()))
}

#[test]
fn ptxas_takes_it() {
    let Some(ptxas) = find_ptxas() else {
        let required = env::var("OXWARP_REQUIRE_PTXAS").is_ok_and(|value| value == "1");
        assert!(
            !required,
            "OXWARP_REQUIRE_PTXAS is set, but there is no ptxas"
        );
        eprintln!("skipped: there is no ptxas; scripts/install-ptxas.sh installs it");
        return;
    };
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ptx_warp.ptx");
    fs::write(&source, code().images[0].ptx.to_bytes()).unwrap();
    for target in ["sm_75", "sm_80", "sm_90", "sm_100"] {
        let output = Command::new(&ptxas)
            .args(["-arch", target, "-o"])
            .arg(source.with_extension("cubin"))
            .arg(&source)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && said.trim().is_empty(),
            "{target}: {said}"
        );
    }
}
