//! A panic ends the launch with an error that says what, where and which thread, and the next launch works.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::{dim, launch, launch_1d, panic_of};
use gpu_sim::Fault;
use gpu_std::{Dim3, shared_array, sync_threads, thread};

fn is(block: Dim3, thread: Dim3) -> bool {
    (thread::block_idx(), thread::thread_idx()) == (block, thread)
}

#[test]
fn an_index_out_of_bounds() {
    let data = [1_u32; 10];
    let line = line!() + 2;
    let result = launch_1d(1, 32, || {
        std::hint::black_box(data[*thread::index_1d()]);
    });
    let panic = panic_of(result);
    assert_eq!(
        panic.message,
        "index out of bounds: the len is 10 but the index is 10"
    );
    assert_eq!((panic.file.as_str(), panic.line), (file!(), line));
    assert_eq!(panic.column, 30);
    assert_eq!((panic.block, panic.thread), (dim(0, 0, 0), dim(10, 0, 0)));
}

#[test]
fn block_and_thread_in_three_dimensions() {
    let (block, thread) = (dim(1, 2, 0), dim(2, 0, 3));
    let result = launch(dim(2, 3, 2), dim(4, 2, 4), || {
        assert!(!is(block, thread), "this one");
    });
    let panic = panic_of(result);
    assert_eq!(panic.message, "this one");
    assert_eq!((panic.block, panic.thread), (block, thread));
}

#[test]
fn unwrap_of_none_and_a_formatted_message() {
    let none = std::hint::black_box(None::<u32>);
    let panic = panic_of(launch_1d(1, 1, || {
        none.unwrap();
    }));
    assert_eq!(panic.message, "called `Option::unwrap()` on a `None` value");
    let panic = panic_of(launch_1d(1, 8, || {
        let t = thread::index_in_block();
        assert!(t != 5, "thread {t} of {}", gpu_std::block::len());
    }));
    assert_eq!(panic.message, "thread 5 of 8");
    assert_eq!(
        Fault::from(panic.clone()).to_string(),
        format!(
            "thread 5 of 8 ({}:{}:{}, block (0, 0, 0), thread (5, 0, 0))",
            panic.file, panic.line, panic.column
        )
    );
}

#[test]
fn shared_arrays_blame_the_caller() {
    let line = line!() + 2;
    let panic = panic_of(launch_1d(1, 1, || {
        shared_array![u32; 4].get(std::hint::black_box(4));
    }));
    assert_eq!(
        panic.message,
        "index out of bounds: the len is 4 but the index is 4"
    );
    assert_eq!((panic.file.as_str(), panic.line), (file!(), line));
}

#[test]
fn the_first_in_the_order_of_threads() {
    for _ in 0..20 {
        let panic = panic_of(launch_1d(1, 64, || {
            let t = thread::index_in_block();
            sync_threads();
            assert!(t < 40, "{t}");
        }));
        assert_eq!(panic.message, "40");
        assert_eq!(panic.thread, dim(40, 0, 0));
    }
}

#[test]
fn others_wait_at_a_barrier() {
    let went_on = AtomicU32::new(0);
    for _ in 0..20 {
        let panic = panic_of(launch_1d(8, 64, || {
            let t = thread::index_in_block();
            assert!(t != 33, "before the barrier");
            sync_threads();
            went_on.fetch_add(1, Ordering::Relaxed);
        }));
        assert_eq!(panic.message, "before the barrier");
        assert_eq!(panic.thread, dim(33, 0, 0));
    }
    assert_eq!(went_on.load(Ordering::Relaxed), 0);
}

#[test]
fn others_wait_for_what_the_panicked_thread_would_have_written() {
    let panic = panic_of(launch_1d(2, 32, || {
        let done = shared_array![u32; 1];
        if thread::index_in_block() == 0 {
            done.set(0, 0);
        }
        sync_threads();
        while done.get(0) == 0 {
            assert!(thread::index_in_block() != 7, "never done");
            sync_threads();
        }
    }));
    assert_eq!(panic.message, "never done");
}

#[test]
fn the_panicking_thread_drops_what_it_owns() {
    let owned = Arc::new(());
    let result = launch_1d(1, 1, || {
        let _mine = Arc::clone(&owned);
        sync_threads();
        panic!("with a value alive");
    });
    assert_eq!(panic_of(result).message, "with a value alive");
    assert_eq!(Arc::strong_count(&owned), 1);
}

#[test]
fn a_barrier_in_a_destructor_does_not_hold_a_panic_up() {
    struct Syncs;
    impl Drop for Syncs {
        fn drop(&mut self) {
            sync_threads();
        }
    }
    let panic = panic_of(launch_1d(1, 4, || {
        let _syncs = Syncs;
        assert!(thread::index_in_block() != 2, "unwinds over a barrier");
    }));
    assert_eq!(panic.message, "unwinds over a barrier");
}

#[test]
fn the_next_launch_works() {
    for round in 0..50 {
        let result = launch_1d(16, 64, || {
            sync_threads();
            assert!(*thread::index_1d() != 16 * round, "round {round}");
            sync_threads();
        });
        assert_eq!(panic_of(result).message, format!("round {round}"));
        let runs = AtomicU32::new(0);
        launch_1d(16, 64, || {
            runs.fetch_add(1, Ordering::Relaxed);
            sync_threads();
            assert!(!std::thread::panicking());
        })
        .unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 16 * 64);
    }
}

#[test]
fn other_blocks_are_stopped() {
    let (blocks, others) = (u32::MAX / 2, AtomicU32::new(0));
    let panic = panic_of(launch_1d(blocks, 1, || {
        assert!(thread::block_idx_x() != 0, "at once");
        others.fetch_add(1, Ordering::Relaxed);
    }));
    assert_eq!(panic.message, "at once");
    assert!(others.load(Ordering::Relaxed) < blocks / 2);
}
