//! Launches a closure as a kernel, so that a test's kernel stands beside what it checks.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::ptr;

use gpu_sim::{Checks, Dim3, Fault, KernelPanic, Launch};

/// What every GPU gives a block.
pub const SHARED_LIMIT: usize = 48 << 10;

pub fn dim(x: u32, y: u32, z: u32) -> Dim3 {
    Dim3 { x, y, z }
}

/// Runs `kernel` in every thread.
pub fn launch<K: Fn() + Sync>(grid: Dim3, block: Dim3, kernel: K) -> Result<(), Fault> {
    launch_as(grid, block, false, Checks::default(), kernel)
}

/// Runs `kernel` in every thread, with clusters of so many blocks.
pub fn launch_in_clusters<K: Fn() + Sync>(
    [grid, cluster, block]: [Dim3; 3],
    checks: Checks,
    kernel: K,
) -> Result<(), Fault> {
    let launch = Launch {
        cluster,
        ..launch_of(grid, block, checks, &kernel)
    };
    // SAFETY: the parameter is a `K`, which is `Sync` and outlives the launch.
    unsafe { gpu_sim::run(&launch) }
}

/// Runs `kernel` in every thread of one block, with checks.
pub fn launch_checked<K: Fn() + Sync>(
    threads: u32,
    checks: Checks,
    kernel: K,
) -> Result<(), Fault> {
    launch_as(dim(1, 1, 1), dim(threads, 1, 1), false, checks, kernel)
}

/// Runs `kernel` in every thread, one block after the other on this OS thread.
pub fn launch_in_order<K: Fn() + Sync>(grid: Dim3, block: Dim3, kernel: K) -> Result<(), Fault> {
    launch_as(grid, block, true, Checks::default(), kernel)
}

fn launch_as<K: Fn() + Sync>(
    grid: Dim3,
    block: Dim3,
    in_order: bool,
    checks: Checks,
    kernel: K,
) -> Result<(), Fault> {
    let launch = Launch {
        in_order,
        ..launch_of(grid, block, checks, &kernel)
    };
    // SAFETY: the parameter is a `K`, which is `Sync` and outlives the launch.
    unsafe { gpu_sim::run(&launch) }
}

fn launch_of<K: Fn() + Sync>(grid: Dim3, block: Dim3, checks: Checks, kernel: &K) -> Launch {
    Launch {
        grid,
        block,
        cluster: dim(1, 1, 1),
        entry: call::<K>,
        params: ptr::from_ref(kernel).cast(),
        shared_limit: SHARED_LIMIT,
        dynamic_shared: 0,
        in_order: false,
        checks,
        constants: ptr::null(),
    }
}

/// Runs `kernel` in every thread of a grid and blocks of one dimension.
pub fn launch_1d<K: Fn() + Sync>(blocks: u32, threads: u32, kernel: K) -> Result<(), Fault> {
    launch(dim(blocks, 1, 1), dim(threads, 1, 1), kernel)
}

/// The panic that ended a launch.
pub fn panic_of(result: Result<(), Fault>) -> KernelPanic {
    match result {
        Err(Fault::Panic(panic)) => panic,
        other => panic!("expected a panic of the kernel, got {other:?}"),
    }
}

unsafe fn call<K: Fn()>(kernel: *const u8) {
    // SAFETY: `launch` passes a `K`.
    unsafe { (*kernel.cast::<K>())() }
}

/// Numbers without a pattern, the same in every run.
pub fn random(len: usize) -> Vec<u32> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as u32
    };
    (0..len).map(|_| next()).collect()
}
