//! Barriers of a block, named barriers and fences; and what the simulator says of threads that wait for ever.
#![allow(missing_docs)]

mod common;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use oxwarp::prelude::*;
use oxwarp::sync;
use oxwarp::warp::FULL_MASK;

#[kernel]
fn sum_of_block(x: &[u32], mut out: DisjointSlice<u32, BlockIndex>) {
    let array = shared_array![u32; 1024];
    let t = thread::index_in_block();
    array.set(t, x[t]);
    sync_threads();
    let mut len = block::len();
    while len > 1 {
        let half = len.div_ceil(2);
        if t + half < len {
            array.set(t, array.get(t) + array.get(t + half));
        }
        sync_threads();
        len = half;
    }
    if let Some(out) = out.get_mut(block::index()) {
        *out = array.get(0);
    }
}

#[test]
fn a_reduction_in_shared_memory_of_any_size() {
    let gpu = Gpu::new().unwrap();
    for threads in [1_u32, 2, 31, 100, 127, 1000, 1024] {
        let x = gpu.to_device(&(0..threads).collect::<Vec<_>>()).unwrap();
        let mut out = gpu.zeros::<u32>(2).unwrap();
        launch!(sum_of_block[2, threads](&x, &mut out)).unwrap();
        assert_eq!(out.to_vec().unwrap(), [threads * (threads - 1) / 2; 2]);
    }
}

#[kernel]
fn count_and_or(x: &[i32], mut out: DisjointSlice<[u32; 3]>) {
    let i = thread::index_1d();
    let set = x[*i] != 0;
    let results = [
        sync::sync_threads_count(set),
        sync::sync_threads_and(set).into(),
        sync::sync_threads_or(set).into(),
    ];
    if let Some(out) = out.get_mut(i) {
        *out = results;
    }
}

#[test]
fn barriers_with_a_predicate() {
    let gpu = Gpu::new().unwrap();
    let check = |x: Vec<i32>, right: [u32; 3]| {
        let x = gpu.to_device(&x).unwrap();
        let mut out = gpu.zeros::<[u32; 3]>(100).unwrap();
        launch!(count_and_or[1, 100](&x, &mut out)).unwrap();
        assert_eq!(out.to_vec().unwrap(), [right; 100]);
    };
    let with = |start: i32, at: usize, value: i32| {
        let mut x = vec![start; 100];
        x[at] = value;
        x
    };
    check(vec![1; 100], [100, 1, 1]);
    check(with(1, 31, 0), [99, 0, 1]);
    check(vec![0; 100], [0, 0, 0]);
    check(with(0, 99, -5), [1, 0, 1]);
    check((0..100).collect(), [99, 0, 1]);
}

#[kernel]
fn fences(cells: &[AtomicU32], out: &[AtomicU32]) {
    cells[0].fetch_add(123, Relaxed);
    sync::fence_block();
    sync::fence_device();
    sync::fence_system();
    cells[1].fetch_add(321, Relaxed);
    out[0].store(cells[0].load(Relaxed) + cells[1].load(Relaxed), Relaxed);
}

#[test]
fn fences_order_writes() {
    let gpu = Gpu::new().unwrap();
    let mut cells = gpu.zeros::<u32>(2).unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    launch!(fences[1, 1](&mut cells, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [444]);
}

/// The last block to end adds up what all blocks wrote: CUDA's `threadFenceReduction`.
#[kernel]
fn last_block_sums(x: &[u32], partial: &[AtomicU32], done: &[AtomicU32], out: &[AtomicU32]) {
    let is_last = shared_array![u32; 1];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    let blocks = thread::grid_dim_x();
    let sum = warp::reduce_add(FULL_MASK, x[*i]);
    if t == 0 {
        partial[*block::index()].store(sum, Relaxed);
        sync::fence_device();
        is_last.set(0, u32::from(done[0].fetch_add(1, Relaxed) == blocks - 1));
    }
    sync_threads();
    if is_last.get(0) == 1 && t == 0 {
        sync::fence_device();
        let total = (0..blocks as usize)
            .map(|block| partial[block].load(Relaxed))
            .sum();
        out[0].store(total, Relaxed);
    }
}

#[test]
fn a_fence_publishes_to_the_last_block() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&(0..32 * 200).collect::<Vec<u32>>()).unwrap();
    let mut partial = gpu.zeros::<u32>(200).unwrap();
    let mut done = gpu.zeros::<u32>(1).unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    launch!(last_block_sums[200, 32](&x, &mut partial, &mut done, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [(0..32 * 200).sum::<u32>()]);
}

/// Two warps write, two warps read, and a barrier of its own for each pair. The fifth warp does something else.
#[kernel]
fn pairs_of_warps(mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 64];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    let mut result = 0;
    for round in 0..10 {
        match warp::warp_id() {
            pair @ (0 | 1) => {
                array.set(t, t as u32 + round);
                sync::named_barrier_arrive(1 + pair, 64);
                sync::named_barrier(3 + pair, 64);
            }
            warp @ (2 | 3) => {
                sync::named_barrier(1 + warp - 2, 64);
                result += array.get(t - 64);
                sync::named_barrier(3 + warp - 2, 64);
            }
            _ => result += 1,
        }
    }
    if let Some(out) = out.get_mut(i) {
        *out = result;
    }
}

#[test]
fn named_barriers_join_parts_of_a_block() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(160).unwrap();
    launch!(pairs_of_warps[1, 160](&mut out)).unwrap();
    for (t, out) in (0..).zip(out.to_vec().unwrap()) {
        let right = match t {
            0..64 => 0,
            64..128 => (t - 64) * 10 + 45,
            _ => 10,
        };
        assert_eq!(out, right, "thread {t}");
    }
}

#[kernel]
fn returns_before_the_barrier(ended: &[AtomicU32]) {
    if thread::index_in_block() >= 40 {
        return;
    }
    sync_threads();
    if sync::sync_threads_count(true) == 40 {
        ended[0].fetch_add(1, Relaxed);
    }
}

#[test]
fn threads_that_returned_do_not_count() {
    let gpu = Gpu::new().unwrap();
    let mut ended = gpu.zeros::<u32>(1).unwrap();
    launch!(returns_before_the_barrier[3, 64](&mut ended)).unwrap();
    assert_eq!(ended.to_vec().unwrap(), [120]);
}

#[kernel]
fn impossible_barrier(id: u32, threads: u32) {
    sync::named_barrier(id, threads);
}

#[test]
fn a_named_barrier_that_cannot_be_is_a_panic() {
    let gpu = Gpu::new().unwrap();
    let message = |id, threads| {
        let launch = impossible_barrier().on(&gpu).grid(1).block(64);
        launch.launch(id, threads).unwrap();
        gpu.synchronize().unwrap_err().to_string()
    };
    for (id, threads) in [(0, 64), (16, 64)] {
        assert!(message(id, threads).contains("must be 1 to 15"));
    }
    for (id, threads) in [(1, 0), (1, 63), (1, 96)] {
        assert!(message(id, threads).contains("multiple of 32"));
    }
}

/// On a GPU these kernels would have unspecified results, or not end.
mod on_the_simulator {
    use super::*;

    fn error(gpu: &Gpu, launched: oxwarp::Result<()>) -> String {
        launched.unwrap();
        gpu.synchronize().unwrap_err().to_string()
    }

    #[kernel]
    fn barrier_in_both_branches() {
        if thread::index_in_block() < 10 {
            sync_threads();
            sync::fence_block();
        } else {
            sync_threads();
        }
    }

    #[test]
    fn barriers_in_different_places() {
        let gpu = Gpu::cpu();
        let launch = barrier_in_both_branches().on(&gpu).grid(4).block(64);
        let error = error(&gpu, launch.launch());
        for part in [
            "kernel `barrier_in_both_branches`",
            "different barriers",
            "thread (0, 0, 0) and 9 more wait in sync_threads",
            "thread (10, 0, 0) and 53 more wait in sync_threads",
            file!(),
        ] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[kernel]
    fn waits_for_a_lane_at_the_barrier() {
        if warp::lane_id() == 9 {
            sync_threads();
        }
        warp::ballot(FULL_MASK, true);
    }

    #[test]
    fn a_warp_and_a_barrier_wait_for_each_other() {
        let gpu = Gpu::cpu();
        let launch = waits_for_a_lane_at_the_barrier().on(&gpu).grid(1).block(32);
        let error = error(&gpu, launch.launch());
        for part in [
            "no thread of the block can go on",
            "wait in ballot",
            "(9, 0, 0) waits in sync_threads",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[kernel]
    fn reads_an_absent_lane(mut out: DisjointSlice<u32>) {
        let x = warp::shuffle_down(FULL_MASK, 1_u32, 1);
        if let Some(out) = out.get_mut(thread::index_1d()) {
            *out = x;
        }
    }

    #[test]
    fn a_shuffle_that_names_an_absent_lane() {
        let gpu = Gpu::cpu();
        let mut out = gpu.zeros::<u32>(20).unwrap();
        let error = error(&gpu, launch!(reads_an_absent_lane[1, 20](&mut out)));
        assert!(
            error.contains("lane 19 reads the value of lane 20"),
            "{error}"
        );
        assert!(error.contains(file!()), "{error}");
    }

    #[kernel]
    fn too_few_for_a_named_barrier() {
        if thread::index_in_block() < 32 {
            sync::named_barrier(1, 64);
        }
    }

    #[test]
    fn a_named_barrier_that_nobody_completes() {
        let gpu = Gpu::cpu();
        let launch = too_few_for_a_named_barrier().on(&gpu).grid(1).block(64);
        let error = error(&gpu, launch.launch());
        assert!(
            error.contains("and 31 more wait in named_barrier"),
            "{error}"
        );
    }
}
