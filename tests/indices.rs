//! Where a thread is: indices in one, two and three dimensions, grid-stride loops, one element a block.
#![allow(missing_docs)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use ndarray::Array2;
use oxwarp::Dim3;
use oxwarp::prelude::*;

#[kernel]
fn own_number(mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out += 1 + *i as u64;
    }
}

#[kernel]
fn own_place(mut out: DisjointSlice<u32, ThreadIndex2d>) {
    let i = thread::index_2d();
    if let Some(out) = out.get_mut(i) {
        *out += (i.row() * 1000 + i.col()) as u32 + 1;
    }
}

#[kernel]
fn transpose(a: &[f32], mut out: DisjointSlice<f32, ThreadIndex2d>) {
    let i = thread::index_2d();
    let [rows, _] = out.shape();
    if let Some(out) = out.get_mut(i) {
        *out = a[i.col() * rows + i.row()];
    }
}

/// Each thread of a launch of three dimensions adds its own position to a cell that only it should touch.
#[kernel]
fn positions(cells: &[AtomicU64]) {
    let (t, b) = (thread::thread_idx(), thread::block_idx());
    let (block, grid) = (thread::block_dim(), thread::grid_dim());
    let number = b.linear_in(grid) * block.count() + t.linear_in(block);
    let position = [b.x, b.y, b.z, t.x, t.y, t.z];
    let code = position
        .iter()
        .fold(0u64, |code, &x| code * 100 + u64::from(x));
    cells[number as usize].fetch_add(code + 1, Relaxed);
}

#[kernel]
fn extents(mut out: DisjointSlice<u32, BlockIndex>) {
    let (block, grid) = (thread::block_dim(), thread::grid_dim());
    let values = [
        block.x,
        block.y,
        block.z,
        grid.x,
        grid.y,
        grid.z,
        block::len() as u32,
    ];
    let same = [
        thread::block_dim_x(),
        thread::block_dim_y(),
        thread::block_dim_z(),
        thread::grid_dim_x(),
        thread::grid_dim_y(),
        thread::grid_dim_z(),
        block::len() as u32,
    ];
    let differ = values.iter().zip(&same).any(|(a, b)| a != b);
    if let Some(out) = out.get_mut(block::index()) {
        *out = values.iter().fold(0, |code, &x| code * 10 + x) + u32::from(differ) * 1_000_000_000;
    }
}

#[kernel]
fn visits(counts: &[AtomicU32]) {
    for i in thread::grid_stride(counts.len()) {
        counts[*i].fetch_add(1, Relaxed);
    }
}

#[kernel]
fn add_stride(a: &[f32], mut c: DisjointSlice<f32>) {
    for i in thread::grid_stride(c.len()) {
        if let Some(c) = c.get_mut(i) {
            *c += a[*i];
        }
    }
}

/// Only the first thread of a block may write the block's element.
#[kernel]
fn writers(counts: &[AtomicU32], mut out: DisjointSlice<u32, BlockIndex>) {
    let b = block::index();
    if let Some(out) = out.get_mut(b) {
        *out = thread::index_in_block() as u32 + 7;
        counts[*b].fetch_add(1, Relaxed);
    }
}

#[test]
fn one_dimension_gives_each_thread_its_own_element() {
    let gpu = Gpu::new().unwrap();
    let cases = [
        (1, 1, 1),
        (1000, 4, 256),
        (1024, 4, 256),
        (33, 33, 1),
        (5000, 5, 1024),
        (7, 100, 64),
    ];
    for (len, grid, block) in cases {
        let mut out = gpu.zeros::<u64>(len).unwrap();
        launch!(own_number[grid, block](&mut out)).unwrap();
        let expected: Vec<u64> = (0..len)
            .map(|i| if i < grid * block { 1 + i as u64 } else { 0 })
            .collect();
        assert_eq!(out.to_vec().unwrap(), expected, "{len} {grid} {block}");
    }
}

#[test]
fn two_dimensions_give_each_thread_its_own_row_and_column() {
    let gpu = Gpu::new().unwrap();
    let cases = [
        (37, 53, (4, 3), (16, 16)),
        (5, 100, (1, 5), (128, 1)),
        (64, 1, (1, 8), (1, 8)),
    ];
    for (rows, cols, grid, block) in cases {
        let mut out = gpu.zeros_nd::<u32, _>((rows, cols)).unwrap();
        launch!(own_place[grid, block](&mut out)).unwrap();
        let expected =
            Array2::from_shape_fn((rows, cols), |(row, col)| (row * 1000 + col) as u32 + 1);
        assert_eq!(out.to_host().unwrap(), expected);
    }
}

#[test]
fn a_transpose_reads_rows_and_writes_columns() {
    let gpu = Gpu::new().unwrap();
    let host = Array2::from_shape_fn((30, 70), |(row, col)| (row * 70 + col) as f32);
    let a = gpu.to_device(&host).unwrap();
    let mut out = gpu.zeros_nd::<f32, _>((70, 30)).unwrap();
    launch!(transpose[(2, 5), (16, 16)](&a, &mut out)).unwrap();
    // `a` is read as 30 rows of 70, at (col, row).
    let expected = Array2::from_shape_fn((70, 30), |(row, col)| (col * 70 + row) as f32);
    assert_eq!(out.to_host().unwrap(), expected);
}

#[test]
fn three_dimensions_number_every_thread_once() {
    let gpu = Gpu::new().unwrap();
    let (grid, block) = (Dim3 { x: 3, y: 2, z: 4 }, Dim3 { x: 5, y: 3, z: 2 });
    let mut cells = gpu.zeros::<u64>(24 * 30).unwrap();
    launch!(positions[grid, block](&mut cells)).unwrap();
    let mut expected = Vec::new();
    for b in 0..24u64 {
        for t in 0..30u64 {
            let position = [b % 3, b / 3 % 2, b / 6, t % 5, t / 5 % 3, t / 15];
            expected.push(position.iter().fold(0, |code, x| code * 100 + x) + 1);
        }
    }
    assert_eq!(cells.to_vec().unwrap(), expected);
}

#[test]
fn extents_are_those_of_the_launch() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(2 * 3 * 4).unwrap();
    launch!(extents[(2, 3, 4), (3, 1, 2)](&mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), vec![3_122_346; 24]);
}

#[test]
fn a_grid_stride_loop_visits_everything_once() {
    let gpu = Gpu::new().unwrap();
    for (len, grid, block) in [
        (1000usize, 1, 32),
        (1000, 3, 64),
        (10, 2, 256),
        (0, 1, 1),
        (4097, 1, 1),
    ] {
        let mut counts = gpu.zeros::<u32>(len).unwrap();
        launch!(visits[grid, block](&mut counts)).unwrap();
        assert_eq!(
            counts.to_vec().unwrap(),
            vec![1; len],
            "{len} {grid} {block}"
        );
        let a = gpu.full(len, 2.5f32).unwrap();
        let mut c = gpu.full(len, 1.0f32).unwrap();
        launch!(add_stride[grid, block](&a, &mut c)).unwrap();
        assert_eq!(c.to_vec().unwrap(), vec![3.5; len], "{len} {grid} {block}");
    }
}

#[test]
fn a_block_has_one_writer() {
    let gpu = Gpu::new().unwrap();
    let mut counts = gpu.zeros::<u32>(6).unwrap();
    let mut out = gpu.zeros::<u32>(5).unwrap();
    launch!(writers[6, 96](&mut counts, &mut out)).unwrap();
    assert_eq!(counts.to_vec().unwrap(), [1, 1, 1, 1, 1, 0]);
    assert_eq!(out.to_vec().unwrap(), [7; 5]);
}
