//! A thread whose stack is full ends its launch, and the process goes on.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::hint::black_box;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use common::launch_1d;
use gpu_sim::{DeviceMemory, Fault, KernelPanic};
use gpu_std::{sync_threads, thread};

fn panic_of(launch: impl FnOnce() -> Result<(), Fault>) -> KernelPanic {
    let _memory = DeviceMemory::new(false, false);
    match launch() {
        Err(Fault::Panic(panic)) => panic,
        other => panic!("expected a panic, got {other:?}"),
    }
}

#[inline(never)]
fn depth(left: u32) -> u32 {
    let kept = black_box([left; 16]);
    match left {
        0 => kept[3],
        _ => depth(left - 1).wrapping_add(kept[7]),
    }
}

#[test]
fn recursion_without_an_end_is_a_panic() {
    for _ in 0..3 {
        let panic = panic_of(|| {
            launch_1d(2, 8, || {
                if thread::index_in_block() == 5 {
                    black_box(depth(u32::MAX));
                }
            })
        });
        assert!(panic.message.starts_with("stack overflow"), "{panic}");
        assert!(panic.message.contains("256 KiB"), "{panic}");
        assert_eq!(panic.thread.x, 5);
    }
}

#[test]
fn a_large_array_is_a_panic() {
    let panic = panic_of(|| {
        launch_1d(1, 1, || {
            let array = black_box([thread::index_in_block() as u8; 300 << 10]);
            black_box(&array);
        })
    });
    assert!(panic.message.starts_with("stack overflow"), "{panic}");
}

#[test]
fn threads_at_a_barrier_end_with_it() {
    let reached = AtomicU32::new(0);
    let panic = panic_of(|| {
        launch_1d(1, 32, || {
            if thread::index_in_block() == 31 {
                black_box(depth(u32::MAX));
            }
            sync_threads();
            reached.fetch_add(1, Relaxed);
        })
    });
    assert!(panic.message.starts_with("stack overflow"), "{panic}");
    assert_eq!(reached.into_inner(), 0);
}

#[test]
fn deep_recursion_that_fits_is_right() {
    let sums: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
    launch_1d(1, 4, || {
        let t = thread::index_in_block();
        sums[t].store(depth(200 + t as u32), Relaxed);
    })
    .unwrap();
    for (t, sum) in sums.iter().enumerate() {
        assert_eq!(sum.load(Relaxed), (1..=200 + t as u32).sum::<u32>());
    }
}
