//! The barrier that device code waits at, with threads of the host in the place of blocks.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use gpu_sim as _;
use gpu_std::grid::GridBarrier;

const BLOCKS: u32 = 3;
const ROUNDS: u32 = 40;

#[test]
fn nobody_passes_before_all_have_come() {
    let (barrier, come) = (GridBarrier::default(), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..BLOCKS {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    come.fetch_add(1, Relaxed);
                    assert!(barrier.wait(BLOCKS));
                    assert!(come.load(Relaxed) >= round * BLOCKS);
                    assert!(barrier.wait(BLOCKS));
                    assert!(come.load(Relaxed) < (round + 1) * BLOCKS + 1);
                }
                // As a device thread does that returns: the others pass the barriers that it passed all the same.
                barrier.ended.store(1, Relaxed);
            });
        }
    });
    assert_eq!(barrier.generation.load(Relaxed), 2 * ROUNDS);
}

#[test]
fn those_that_wait_for_one_that_ended_stop() {
    for round in 0..20 {
        let (barrier, stopped) = (GridBarrier::default(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for block in 0..BLOCKS {
                let (barrier, stopped) = (&barrier, &stopped);
                scope.spawn(move || {
                    assert!(barrier.wait(BLOCKS));
                    let ends = block == round % BLOCKS;
                    if ends {
                        barrier.ended.store(1, Relaxed);
                    } else if !barrier.wait(BLOCKS) {
                        stopped.fetch_add(1, Relaxed);
                    }
                });
            }
        });
        assert_eq!(stopped.load(Relaxed), BLOCKS as usize - 1);
    }
}

#[test]
fn the_last_to_come_does_not_open_it_for_a_thread_that_ended() {
    let barrier = GridBarrier::default();
    barrier.ended.store(1, Relaxed);
    assert!(!barrier.wait(1));
    assert!(GridBarrier::default().wait(1));
}
