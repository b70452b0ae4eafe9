//! A barrier lets nobody pass before all threads of the block that still run have come to it.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};

use common::{dim, launch, launch_1d, random};
use gpu_std::intrinsics;
use gpu_std::{block, shared_array, sync_threads, thread};

#[test]
fn block_reduction_of_random_data() {
    const BLOCK: usize = 256;
    let data = random(BLOCK * 100);
    let sums: Vec<AtomicU32> = (0..100).map(|_| AtomicU32::new(0)).collect();
    launch_1d(100, BLOCK as u32, || {
        let temp = shared_array![u32; BLOCK];
        let t = thread::index_in_block();
        temp.set(t, data[*thread::index_1d()]);
        sync_threads();
        let mut stride = block::len() / 2;
        while stride > 0 {
            if t < stride {
                temp.set(t, temp.get(t).wrapping_add(temp.get(t + stride)));
            }
            sync_threads();
            stride /= 2;
        }
        if t == BLOCK - 1 {
            sums[*block::index()].store(temp.get(0), Ordering::Relaxed);
        }
    })
    .unwrap();
    for (sum, data) in sums.iter().zip(data.chunks(BLOCK)) {
        let right = data.iter().fold(0, |sum: u32, &x| sum.wrapping_add(x));
        assert_eq!(sum.load(Ordering::Relaxed), right);
    }
}

#[test]
fn every_round_of_a_loop_sees_all_of_the_round_before() {
    const THREADS: u32 = 97;
    let arrived = AtomicU32::new(0);
    launch_1d(1, THREADS, || {
        for round in 1..=50 {
            arrived.fetch_add(1, Ordering::Relaxed);
            sync_threads();
            assert_eq!(arrived.load(Ordering::Relaxed), round * THREADS);
            sync_threads();
        }
    })
    .unwrap();
}

#[test]
fn values_travel_through_the_block() {
    let data = random(64);
    launch(dim(4, 4, 1), dim(8, 8, 1), || {
        let ring = shared_array![u32; 64];
        let t = thread::index_in_block();
        ring.set(t, data[t]);
        sync_threads();
        for _ in 0..64 {
            let next = ring.get((t + 1) % 64);
            sync_threads();
            ring.set(t, next);
            sync_threads();
        }
        assert_eq!(ring.get(t), data[t]);
    })
    .unwrap();
}

#[test]
fn threads_that_returned_do_not_count() {
    let passed = AtomicU32::new(0);
    launch_1d(20, 100, || {
        let t = thread::index_in_block();
        if t.is_multiple_of(3) {
            return;
        }
        sync_threads();
        if t.is_multiple_of(2) {
            return;
        }
        sync_threads();
        passed.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    let right = (0..100).filter(|t| t % 3 != 0 && t % 2 != 0).count() as u32;
    assert_eq!(passed.load(Ordering::Relaxed), 20 * right);
}

#[test]
fn threads_that_exited_do_not_count() {
    let (exited, passed) = (AtomicU32::new(0), AtomicU32::new(0));
    launch_1d(20, 64, || {
        let t = thread::index_in_block();
        if t < 16 {
            exited.fetch_add(1, Ordering::Relaxed);
            intrinsics::exit();
        }
        sync_threads();
        if t < 32 {
            exited.fetch_add(1, Ordering::Relaxed);
            intrinsics::exit();
        }
        sync_threads();
        passed.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!(exited.load(Ordering::Relaxed), 20 * 32);
    assert_eq!(passed.load(Ordering::Relaxed), 20 * 32);
}

#[test]
fn blocks_with_and_without_barriers_in_one_launch() {
    let runs = AtomicU32::new(0);
    launch_1d(300, 33, || {
        if block::index().is_multiple_of(3) {
            sync_threads();
        }
        runs.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 300 * 33);
}

#[test]
fn a_block_of_1024_threads() {
    let count = AtomicU32::new(0);
    launch_1d(4, 1024, || {
        count.fetch_add(1, Ordering::Relaxed);
        sync_threads();
        assert!(count.load(Ordering::Relaxed) >= 1024);
    })
    .unwrap();
}

#[test]
fn many_host_threads_launch_at_once() {
    std::thread::scope(|scope| {
        for host_thread in 0..16 {
            scope.spawn(move || {
                for _ in 0..10 {
                    let sum = AtomicU32::new(0);
                    launch_1d(50, 40, || {
                        let first = shared_array![u32; 1];
                        if thread::index_in_block() == 39 {
                            first.set(0, host_thread);
                        }
                        sync_threads();
                        sum.fetch_add(first.get(0), Ordering::Relaxed);
                    })
                    .unwrap();
                    assert_eq!(sum.load(Ordering::Relaxed), 50 * 40 * host_thread);
                }
            });
        }
    });
}
