//! Threads that wait on plain instructions of the host: others of the block run meanwhile, and a wait without an end is found.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::hint::{black_box, spin_loop};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use common::launch_1d;
use gpu_sim::{Fault, SyncFault};
use gpu_std::{sync_threads, thread};

fn fault_of(result: Result<(), Fault>) -> SyncFault {
    match result {
        Err(Fault::Synchronisation(fault)) => *fault,
        other => panic!("expected a fault of synchronisation, got {other:?}"),
    }
}

#[test]
fn a_flag_that_a_later_thread_sets() {
    let (flag, seen) = (AtomicU32::new(0), AtomicU32::new(0));
    launch_1d(1, 32, || {
        if thread::index_in_block() == 31 {
            flag.store(7, Release);
        } else {
            while flag.load(Acquire) == 0 {}
        }
        seen.fetch_add(flag.load(Relaxed), Relaxed);
    })
    .unwrap();
    assert_eq!(seen.into_inner(), 32 * 7);
}

#[test]
fn registers_survive_the_interruption() {
    let flag = AtomicU32::new(0);
    let sums: Vec<AtomicU32> = (0..8).map(|_| AtomicU32::new(0)).collect();
    launch_1d(1, 8, || {
        let t = thread::index_in_block();
        // Each by itself, so that an optimised build has them in registers.
        let integer = |i| black_box((t * 100 + i) as u64);
        let float = |i| black_box((t * 1000 + i) as f64);
        let integers = [0, 1, 2, 3, 4, 5].map(integer);
        let floats = [0, 1, 2, 3, 4, 5, 6, 7].map(float);
        if t == 7 {
            flag.store(1, Release);
        }
        while flag.load(Acquire) == 0 {
            spin_loop();
        }
        let sum = integers.iter().sum::<u64>() + floats.iter().sum::<f64>() as u64;
        sums[t].store(sum as u32, Relaxed);
    })
    .unwrap();
    for (t, sum) in sums.iter().enumerate() {
        assert_eq!(sum.load(Relaxed) as usize, 8600 * t + 15 + 28);
    }
}

#[test]
fn each_thread_waits_for_the_next() {
    let flags: Vec<AtomicU32> = (0..17).map(|_| AtomicU32::new(0)).collect();
    flags[16].store(1, Relaxed);
    launch_1d(1, 16, || {
        let t = thread::index_in_block();
        while flags[t + 1].load(Acquire) == 0 {}
        flags[t].store(1, Release);
    })
    .unwrap();
    assert!(flags.iter().all(|flag| flag.load(Relaxed) == 1));
}

#[test]
fn a_lock_that_its_holder_keeps_over_a_wait() {
    let (lock, started, count) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    launch_1d(4, 8, || {
        let t = thread::index_in_block();
        if t == 7 {
            started.store(1, Release);
        }
        while lock.compare_exchange(0, 1, AcqRel, Relaxed).is_err() {}
        // The first holds the lock until the last has started.
        while started.load(Acquire) == 0 {}
        count.store(count.load(Relaxed) + 1, Relaxed);
        lock.store(0, Release);
    })
    .unwrap();
    assert_eq!(count.into_inner(), 32);
}

#[test]
fn a_wait_that_counts() {
    let (flag, tries) = (AtomicU32::new(0), AtomicU32::new(0));
    launch_1d(1, 2, || {
        let mut count = 0;
        if thread::index_in_block() == 1 {
            flag.store(1, Release);
        }
        while flag.load(Acquire) == 0 {
            count += 1;
        }
        tries.fetch_add(count, Relaxed);
    })
    .unwrap();
    assert!(tries.into_inner() > 0);
}

#[test]
fn a_flag_that_nobody_sets() {
    let flag = AtomicU32::new(0);
    let line_of_loop = line!() + 3;
    let fault = fault_of(launch_1d(3, 32, || {
        if thread::index_in_block() > 1 {
            while flag.load(Acquire) == 0 {}
        }
        sync_threads();
    }));
    assert!(fault.message.contains("go round in a loop"), "{fault}");
    let mut standing: Vec<_> = fault
        .waiting
        .iter()
        .map(|at| (at.operation, at.threads))
        .collect();
    standing.sort_unstable();
    let in_loops: usize = standing
        .iter()
        .filter(|at| at.0 == "a loop")
        .map(|at| at.1)
        .sum();
    assert_eq!(in_loops, 30, "{fault}");
    assert!(standing.contains(&("sync_threads", 2)), "{fault}");
    // Without debug information there is no line, but a function.
    for at in fault.waiting.iter().filter(|at| at.operation == "a loop") {
        match at.line {
            0 => assert!(at.function.contains("spins::"), "{fault}"),
            line => {
                assert!(at.file.ends_with("tests/spins.rs"), "{fault}");
                assert_eq!(line, line_of_loop, "{fault}");
            }
        }
    }
    launch_1d(3, 32, sync_threads).unwrap();
}

#[test]
fn an_empty_loop() {
    let fault = fault_of(launch_1d(1, 4, || {
        loop {
            spin_loop();
        }
    }));
    let in_loops: usize = fault.waiting.iter().map(|at| at.threads).sum();
    assert_eq!(in_loops, 4, "{fault}");
}

/// Long enough for many looks at it, and for the limit of a turn.
const LONG: u64 = 1_000_000_000;

#[test]
fn a_long_computation_is_right_while_others_wait_for_it() {
    let result = AtomicU32::new(0);
    let steps = if cfg!(debug_assertions) {
        LONG / 10
    } else {
        LONG
    };
    let compute = || {
        let mut value = 1_u32;
        for step in 0..black_box(steps) {
            value = value.wrapping_mul(1_664_525).wrapping_add(step as u32 | 1);
        }
        value | 1
    };
    launch_1d(1, 4, || {
        if thread::index_in_block() == 2 {
            result.store(compute(), Release);
        }
        while result.load(Acquire) == 0 {}
    })
    .unwrap();
    assert_eq!(result.into_inner(), compute());
}

#[test]
fn a_count_in_memory_is_no_standstill() {
    let left = AtomicU32::new(0);
    let from = if cfg!(debug_assertions) {
        10_000_000
    } else {
        100_000_000
    };
    launch_1d(1, 2, || {
        if thread::index_in_block() == 0 {
            left.store(from, Relaxed);
            while left.fetch_sub(1, AcqRel) != 1 {}
        }
    })
    .unwrap();
    assert_eq!(left.into_inner(), 0);
}
