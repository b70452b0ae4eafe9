//! Threads that wait for what never comes: an error that says where they stand, and no hang.

mod common;

use common::{dim, launch_1d, panic_of};
use gpu_sim::{Fault, SyncFault};
use gpu_std::warp::{self, FULL_MASK};
use gpu_std::{grid, group, sync, sync_threads, thread};

fn fault_of(result: Result<(), Fault>) -> SyncFault {
    match result {
        Err(Fault::Synchronisation(fault)) => *fault,
        other => panic!("expected a fault of synchronisation, got {other:?}"),
    }
}

#[test]
#[expect(clippy::if_same_then_else, reason = "the places are what differs")]
fn barriers_in_different_places() {
    let first_line = line!() + 3;
    let fault = fault_of(launch_1d(3, 64, || {
        if thread::index_in_block() < 20 {
            sync_threads();
        } else {
            sync_threads();
        }
    }));
    assert!(fault.message.contains("different barriers"), "{fault}");
    let [a, b] = &fault.waiting[..] else {
        panic!("two places: {fault}")
    };
    assert_eq!((a.threads, a.first, a.line), (20, dim(0, 0, 0), first_line));
    assert_eq!(
        (b.threads, b.first, b.line),
        (44, dim(20, 0, 0), first_line + 2)
    );
    assert_eq!((a.operation, a.file.as_str()), ("sync_threads", file!()));
    assert!(
        fault
            .to_string()
            .contains("and 19 more wait in sync_threads at"),
        "{fault}"
    );
}

#[test]
fn barriers_of_different_kinds_in_one_place() {
    let fault = fault_of(launch_1d(1, 64, || {
        let at = |first| {
            if first {
                group::block().sync()
            } else {
                assert!(group::block().all(true))
            }
        };
        at(thread::index_in_block() < 32);
    }));
    assert_eq!(fault.waiting.len(), 2, "{fault}");
}

#[test]
fn a_warp_waits_for_lanes_that_wait_at_a_barrier() {
    let fault = fault_of(launch_1d(2, 64, || {
        if thread::index_in_block() == 40 {
            sync_threads();
        } else {
            warp::sync_warp(FULL_MASK);
        }
    }));
    let operations: Vec<_> = fault
        .waiting
        .iter()
        .map(|at| (at.operation, at.threads))
        .collect();
    assert_eq!(operations, [("sync_warp", 31), ("sync_threads", 1)]);
}

#[test]
fn a_shuffle_from_a_lane_that_returned() {
    let fault = fault_of(launch_1d(1, 32, || {
        if warp::lane_id() != 7 {
            warp::shuffle_idx(FULL_MASK, 1_u32, 7);
        }
    }));
    assert!(fault.message.contains("lane 7, which has ended"), "{fault}");
    assert!(fault.waiting[0].line > 0);
}

#[test]
fn a_shuffle_from_a_lane_that_does_not_exist() {
    let fault = fault_of(launch_1d(1, 40, || {
        warp::shuffle_down(FULL_MASK, 1_u32, 1);
    }));
    assert!(
        fault.message.contains("lane 7 reads the value of lane 8"),
        "{fault}"
    );
}

#[test]
fn a_shuffle_from_a_lane_outside_of_the_mask() {
    let fault = fault_of(launch_1d(1, 32, || {
        if warp::lane_id() < 16 {
            warp::shuffle_xor(0xFFFF, 1_u32, 16);
        }
    }));
    assert!(
        fault.message.contains("not in the mask 0x0000ffff"),
        "{fault}"
    );
}

#[test]
fn masks_that_do_not_agree() {
    let fault = fault_of(launch_1d(1, 32, || {
        let mask = if warp::lane_id() == 0 {
            0b11
        } else {
            FULL_MASK
        };
        warp::ballot(mask, true);
    }));
    assert!(
        fault.message.contains("no thread of the block can go on"),
        "{fault}"
    );
}

#[test]
fn different_operations_of_one_mask() {
    let fault = fault_of(launch_1d(1, 32, || {
        if warp::lane_id() < 3 {
            warp::vote_any(FULL_MASK, true);
        } else {
            warp::vote_all(FULL_MASK, true);
        }
    }));
    assert!(fault.message.contains("different operations"), "{fault}");
}

#[test]
fn a_mask_without_its_own_lane() {
    let panic = panic_of(launch_1d(1, 32, || {
        warp::sync_warp(1);
    }));
    assert!(
        panic.message.contains("lacks the lane"),
        "{}",
        panic.message
    );
    assert_eq!(panic.file, file!());
}

#[test]
fn tiles_do_not_divide_the_block() {
    let panic = panic_of(launch_1d(1, 40, || {
        group::warp();
    }));
    assert!(panic.message.contains("do not divide"), "{}", panic.message);
    launch_1d(1, 40, || {
        group::tile::<8>();
    })
    .unwrap();
}

#[test]
fn a_named_barrier_that_too_few_come_to() {
    let fault = fault_of(launch_1d(1, 96, || {
        if thread::index_in_block() < 64 {
            sync::named_barrier(3, 96);
        }
    }));
    assert_eq!(fault.waiting[0].operation, "named_barrier");
    assert_eq!(fault.waiting[0].threads, 64);
}

#[test]
fn a_named_barrier_for_two_numbers_of_threads() {
    let fault = fault_of(launch_1d(1, 96, || {
        let threads = if thread::index_in_block() == 0 {
            64
        } else {
            96
        };
        sync::named_barrier(3, threads);
    }));
    assert!(fault.message.contains("64 elsewhere"), "{fault}");
}

#[test]
fn a_named_barrier_that_cannot_be() {
    for (id, threads) in [(0, 32), (16, 32), (1, 0), (1, 33), (1, 128)] {
        panic_of(launch_1d(1, 96, || sync::named_barrier(id, threads)));
    }
}

#[test]
fn a_block_waits_for_the_grid_and_for_itself() {
    let fault = fault_of(launch_1d(3, 64, || {
        if thread::index_in_block() < 10 {
            grid::sync();
        } else {
            sync_threads();
        }
    }));
    let operations: Vec<_> = fault
        .waiting
        .iter()
        .map(|at| (at.operation, at.threads))
        .collect();
    assert_eq!(operations, [("grid::sync", 10), ("sync_threads", 54)]);
    assert!(fault.waiting[0].line > 0);
}

#[test]
fn a_grid_that_some_blocks_left() {
    for blocks in [2, 5, 60] {
        let fault = fault_of(launch_1d(blocks, 64, || {
            if thread::block_idx_x() > 0 {
                grid::sync();
            }
        }));
        assert!(
            fault
                .message
                .contains("64 threads of the grid ended before the grid barrier"),
            "{fault}"
        );
        assert_eq!((fault.waiting.len(), fault.waiting[0].threads), (1, 64));
    }
}

#[test]
fn a_grid_barrier_in_different_places_of_a_block() {
    let fault = fault_of(launch_1d(2, 32, || {
        #[expect(clippy::if_same_then_else, reason = "the places are what differs")]
        if thread::index_in_block() < 3 {
            grid::sync();
        } else {
            grid::sync();
        }
    }));
    assert_eq!(fault.waiting.len(), 2, "{fault}");
}

#[test]
fn a_grid_that_is_too_large_to_wait_for() {
    let threads = gpu_sim::COOPERATIVE_THREADS as u32;
    launch_1d(threads / 64, 64, grid::sync).unwrap();
    for _ in 0..2 {
        assert_eq!(
            launch_1d(threads / 64 + 1, 64, grid::sync),
            Err(Fault::CooperativeGrid)
        );
    }
    // Without a barrier of the grid it is not.
    launch_1d(threads, 64, sync_threads).unwrap();
}

#[test]
fn grids_of_several_host_threads_take_turns() {
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..10 {
                    launch_1d(64, 64, || {
                        grid::sync();
                        sync_threads();
                        grid::sync();
                    })
                    .unwrap();
                    launch_1d(8, 64, sync_threads).unwrap();
                }
            });
        }
    });
}

#[test]
fn the_next_launch_works() {
    for _ in 0..20 {
        fault_of(launch_1d(4, 64, || {
            if thread::index_in_block() == 0 {
                sync_threads();
            } else {
                warp::ballot(FULL_MASK, true);
                sync_threads();
            }
        }));
        launch_1d(4, 64, || {
            assert_eq!(warp::ballot(FULL_MASK, true), FULL_MASK);
            sync_threads();
        })
        .unwrap();
    }
}
