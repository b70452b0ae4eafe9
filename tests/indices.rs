//! Where a thread is: indices in one, two and three dimensions, grid-stride loops, one element a block.
#![allow(missing_docs)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use ndarray::{Array1, Array2, Array3};
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

/// Planes, rows and columns, each cell once, in a launch of every shape.
#[kernel]
fn own_cell(mut out: DisjointSlice<u32, ThreadIndex3d>) {
    let i = thread::index_3d();
    let [planes, rows, cols] = out.shape();
    if let Some(out) = out.get_mut(i) {
        assert!(i.plane() < planes && i.row() < rows && i.col() < cols);
        *out += (i.plane() * 10_000 + i.row() * 100 + i.col()) as u32 + 1;
    }
}

/// Everything that says how large the launch is, in one number each.
#[kernel]
fn sizes(mut out: DisjointSlice<[usize; 6]>) {
    let ((rows, cols), (planes, rows3, cols3)) = (thread::grid_size_2d(), thread::grid_size_3d());
    if let Some(out) = out.get_mut(thread::index()) {
        *out = [thread::grid_size_1d(), rows, cols, planes, rows3, cols3];
    }
}

#[kernel]
fn visits_2d(counts: ArrayView2<AtomicU32>, mut own: DisjointSlice<u32, ThreadIndex2d>) {
    for i in thread::grid_stride_2d(counts.dim()) {
        counts[*i].fetch_add(1, Relaxed);
    }
    for (i, own) in own.grid_stride_mut() {
        *own += (i.row() * 1000 + i.col()) as u32;
    }
}

#[kernel]
fn visits_3d(counts: ArrayView3<AtomicU32>, mut own: DisjointSlice<u32, ThreadIndex3d>) {
    for i in thread::grid_stride_3d(counts.shape()) {
        counts[*i].fetch_add(1, Relaxed);
    }
    for (i, own) in own.grid_stride_mut() {
        *own += (i.plane() * 10_000 + i.row() * 100 + i.col()) as u32;
    }
}

/// `c = a * diag(b)`, as Numba's suite computes it: with more threads than columns.
#[kernel]
fn scale_columns(a: ArrayView2<f32>, b: &[f32], mut c: DisjointSlice<f32, ThreadIndex2d>) {
    for (i, c) in c.grid_stride_mut() {
        *c = a[*i] * b[i.col()];
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

#[test]
fn three_dimensions_give_each_thread_its_own_cell() {
    let gpu = Gpu::new().unwrap();
    for (shape, grid, block) in [
        ((9, 9, 9), (3, 3, 3), (3, 3, 3)),
        ((4, 5, 6), (2, 3, 1), (4, 2, 4)),
        ((1, 1, 7), (1, 1, 1), (8, 1, 1)),
        ((7, 1, 1), (1, 1, 4), (1, 1, 2)),
        ((0, 3, 3), (1, 1, 1), (3, 3, 1)),
    ] {
        let mut out = gpu.zeros_nd::<u32, _>(shape).unwrap();
        launch!(own_cell[grid, block](&mut out)).unwrap();
        let expected = Array3::from_shape_fn(shape, |(plane, row, col)| {
            (plane * 10_000 + row * 100 + col) as u32 + 1
        });
        assert_eq!(out.to_host().unwrap(), expected, "{shape:?}");
    }
}

#[test]
fn threads_beyond_the_grid_leave_their_cells() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros_nd::<u32, _>((3, 3, 3)).unwrap();
    launch!(own_cell[1, (2, 3, 2)](&mut out)).unwrap();
    let expected = Array3::from_shape_fn((3, 3, 3), |(plane, row, col)| {
        if plane < 2 && col < 2 {
            (plane * 10_000 + row * 100 + col) as u32 + 1
        } else {
            0
        }
    });
    assert_eq!(out.to_host().unwrap(), expected);
}

#[test]
fn a_thread_for_each_element_of_an_array_of_any_shape() {
    let gpu = Gpu::new().unwrap();
    for (rows, cols) in [(37, 53), (1, 100), (100, 1), (0, 3)] {
        let mut out = gpu.zeros_nd::<u32, _>((rows, cols)).unwrap();
        own_place.for_each(out.dim()).launch(&mut out).unwrap();
        let expected =
            Array2::from_shape_fn((rows, cols), |(row, col)| (row * 1000 + col) as u32 + 1);
        assert_eq!(out.to_host().unwrap(), expected);
    }
    let mut out = gpu.zeros_nd::<u32, _>((5, 6, 70)).unwrap();
    let launch = own_cell.for_each([5, 6, 70]).block((10, 2, 2));
    launch.launch(&mut out).unwrap();
    let expected = Array3::from_shape_fn((5, 6, 70), |(plane, row, col)| {
        (plane * 10_000 + row * 100 + col) as u32 + 1
    });
    assert_eq!(out.to_host().unwrap(), expected);
}

#[test]
fn the_size_of_a_launch_in_each_dimension() {
    let gpu = Gpu::new().unwrap();
    for (grid, block, size) in [
        ((7, 1, 1), (3, 1, 1), [21, 1, 21, 1, 1, 21]),
        ((4, 3, 1), (5, 6, 1), [20, 18, 20, 1, 18, 20]),
        ((3, 3, 3), (3, 3, 3), [9, 9, 9, 9, 9, 9]),
        ((1, 2, 3), (4, 5, 6), [4, 10, 4, 18, 10, 4]),
    ] {
        let threads = size[3] * size[4] * size[5];
        let mut out = gpu.full(threads + 1, [0usize; 6]).unwrap();
        launch!(sizes[grid, block](&mut out)).unwrap();
        let mut expected = vec![size; threads];
        expected.push([0; 6]);
        assert_eq!(out.to_vec().unwrap(), expected, "{grid:?} {block:?}");
    }
}

#[test]
fn grid_stride_loops_of_two_and_three_dimensions() {
    let gpu = Gpu::new().unwrap();
    for shape in [(10, 13), (1, 1), (0, 5), (5, 0), (3, 100)] {
        for (grid, block) in [((1, 1), (1, 1)), ((2, 3), (4, 1)), ((9, 9), (3, 7))] {
            let mut counts = gpu.zeros_nd::<u32, _>(shape).unwrap();
            let mut own = gpu.zeros_nd::<u32, _>(shape).unwrap();
            launch!(visits_2d[grid, block](&mut counts, &mut own)).unwrap();
            assert_eq!(counts.to_host().unwrap(), Array2::<u32>::ones(shape));
            let expected = Array2::from_shape_fn(shape, |(row, col)| (row * 1000 + col) as u32);
            assert_eq!(own.to_host().unwrap(), expected, "{shape:?} {grid:?}");
        }
    }
    for shape in [
        (3, 4, 5),
        (1, 1, 40),
        (7, 2, 1),
        (0, 2, 2),
        (2, 0, 2),
        (2, 2, 0),
    ] {
        for (grid, block) in [
            ((1, 1, 1), (1, 1, 1)),
            ((2, 1, 2), (3, 2, 1)),
            ((1, 5, 9), (8, 1, 1)),
        ] {
            let mut counts = gpu.zeros_nd::<u32, _>(shape).unwrap();
            let mut own = gpu.zeros_nd::<u32, _>(shape).unwrap();
            launch!(visits_3d[grid, block](&mut counts, &mut own)).unwrap();
            assert_eq!(counts.to_host().unwrap(), Array3::<u32>::ones(shape));
            let expected = Array3::from_shape_fn(shape, |(plane, row, col)| {
                (plane * 10_000 + row * 100 + col) as u32
            });
            assert_eq!(own.to_host().unwrap(), expected, "{shape:?} {grid:?}");
        }
    }
}

#[test]
fn a_product_with_a_diagonal_in_a_grid_stride_loop() {
    let gpu = Gpu::new().unwrap();
    let a = Array2::from_shape_fn((8, 8), |(row, col)| (row * 8 + col) as f32);
    let b = Array1::from_shape_fn(8, |i| i as f32 - 3.5);
    let expected = a.dot(&Array2::from_diag(&b));
    let (a, b) = (gpu.to_device(&a).unwrap(), gpu.to_device(&b).unwrap());
    let mut c = gpu.zeros_nd::<f32, _>((8, 8)).unwrap();
    launch!(scale_columns[(1, 1), (32, 8)](&a, &b, &mut c)).unwrap();
    assert_eq!(c.to_host().unwrap(), expected);
}
