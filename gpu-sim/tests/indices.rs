//! Every thread of a grid runs exactly once, and reads its own place.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};

use common::{dim, launch, launch_1d, launch_in_order};
use gpu_std::{Dim3, block, thread};

fn counters(len: u64) -> Vec<AtomicU32> {
    (0..len).map(|_| AtomicU32::new(0)).collect()
}

fn assert_each_once(counters: &[AtomicU32]) {
    for (cell, count) in counters.iter().enumerate() {
        assert_eq!(count.load(Ordering::Relaxed), 1, "cell {cell}");
    }
}

/// The thread's position in the whole launch.
fn global() -> Dim3 {
    let (block, size, thread) = (
        thread::block_idx(),
        thread::block_dim(),
        thread::thread_idx(),
    );
    dim(
        block.x * size.x + thread.x,
        block.y * size.y + thread.y,
        block.z * size.z + thread.z,
    )
}

#[test]
fn three_dimensions() {
    let whole = dim(9, 9, 9);
    for (grid, block) in [
        (dim(3, 3, 3), dim(3, 3, 3)),
        (dim(9, 1, 3), dim(1, 9, 3)),
        (dim(1, 1, 1), whole),
        (whole, dim(1, 1, 1)),
    ] {
        let cells = counters(whole.count());
        launch(grid, block, || {
            assert_eq!((thread::grid_dim(), thread::block_dim()), (grid, block));
            cells[global().linear_in(whole) as usize].fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
        assert_each_once(&cells);
    }
}

#[test]
fn three_dimensions_with_a_barrier() {
    let whole = dim(9, 9, 9);
    let cells = counters(whole.count());
    launch(dim(3, 3, 3), dim(3, 3, 3), || {
        let before = (thread::block_idx(), thread::thread_idx());
        gpu_std::sync_threads();
        assert_eq!(before, (thread::block_idx(), thread::thread_idx()));
        cells[global().linear_in(whole) as usize].fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    assert_each_once(&cells);
}

#[test]
fn two_dimensions() {
    let (rows, cols) = (6 * 4, 5 * 7);
    let cells = counters(rows * cols);
    launch(dim(5, 6, 1), dim(7, 4, 1), || {
        let i = thread::index_2d();
        cells[i.row() * cols as usize + i.col()].fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    assert_each_once(&cells);
}

#[test]
fn one_dimension_with_many_small_blocks() {
    let cells = counters(10_007 * 3);
    launch_1d(10_007, 3, || {
        cells[*thread::index_1d()].fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    assert_each_once(&cells);
}

#[test]
fn a_grid_stride_loop_visits_every_element_once() {
    let cells = counters(1000);
    launch_1d(3, 32, || {
        for i in thread::grid_stride(cells.len()) {
            cells[*i].fetch_add(1, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_each_once(&cells);
}

#[test]
fn block_number_and_length() {
    let blocks = counters(2 * 3 * 4);
    launch(dim(2, 3, 4), dim(4, 2, 2), || {
        assert_eq!(block::len(), 16);
        assert!(thread::index_in_block() < 16);
        blocks[*block::index()].fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    assert!(
        blocks
            .iter()
            .all(|count| count.load(Ordering::Relaxed) == 16)
    );
}

#[test]
fn a_grid_or_block_of_zero_runs_nothing() {
    launch_1d(0, 256, || panic!("no thread")).unwrap();
    launch_1d(256, 0, || panic!("no thread")).unwrap();
    launch(dim(1, 1, 1), dim(1, 0, 1), || panic!("no thread")).unwrap();
}

#[test]
fn in_order_blocks_and_threads_come_one_after_the_other_on_the_callers_thread() {
    let caller = std::thread::current().id();
    let seen = std::sync::Mutex::new(Vec::new());
    launch_in_order(dim(5, 2, 1), dim(2, 3, 1), || {
        assert_eq!(std::thread::current().id(), caller);
        seen.lock()
            .unwrap()
            .push((*block::index(), thread::index_in_block()));
    })
    .unwrap();
    let expected: Vec<_> = (0..10)
        .flat_map(|block| (0..6).map(move |thread| (block, thread)))
        .collect();
    assert_eq!(*seen.lock().unwrap(), expected);
}
