//! Mistakes with barriers, of a block, a part of it, or the grid.

use oxwarp::prelude::*;
use oxwarp::sync;

use crate::{Case, right, wrong};

pub const CASES: &[Case] = &[
    wrong(
        "barrier_in_a_branch",
        |gpu| barrier_in_a_branch().on(gpu).grid(1).block(64).launch(),
        &[
            "threads of one block wait at different barriers at the same time (block (0, 0, 0))",
            "thread (0, 0, 0) and 31 more wait in sync_threads at tests/checks/barriers.rs:",
            "thread (32, 0, 0) and 31 more wait in sync_threads at tests/checks/barriers.rs:",
        ],
    ),
    right(
        "early_return",
        |gpu| launch!(early_return[1, 64](&mut gpu.zeros::<u32>(40)?)),
    ),
    right(
        "named_barriers",
        |gpu| launch!(producer[1, 64](64, &mut gpu.zeros::<u32>(32)?)),
    ),
    wrong(
        "named_barrier_of_too_few",
        |gpu| launch!(producer[1, 64](32, &mut gpu.zeros::<u32>(32)?)),
        &["data race on element", "`race`"],
    ),
];

#[kernel]
fn barrier_in_a_branch() {
    if thread::index_in_block() < 32 {
        sync_threads();
        sync::fence_block();
    }
    sync_threads();
}

/// Threads that have ended do not count at a barrier.
#[kernel]
fn early_return(mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 64];
    let t = thread::index_in_block();
    array.set(t, 1);
    if t >= out.len() {
        return;
    }
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(63 - t);
    }
}

/// One warp writes, the other reads.
#[kernel]
fn producer(threads: u32, mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 32];
    let t = thread::index_in_block();
    if t >= 32 {
        array.set(t - 32, t as u32);
        sync::named_barrier_arrive(1, threads);
    } else {
        sync::named_barrier(1, threads);
        if let Some(out) = out.get_mut(thread::index_1d()) {
            *out = array.get(31 - t);
        }
    }
}
