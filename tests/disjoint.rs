//! Parts of arrays that a thread, a warp or a block owns: each element is written once, by its owner, in any launch.
#![allow(missing_docs)]

mod common;
mod device_code;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use common::Random;
use ndarray::{Array2, Array3, s};
use oxwarp::prelude::*;
use oxwarp::{Dim3, Error};

/// Adds the own number to the own elements, and counts who came.
#[kernel]
fn rows_of_threads(mut x: DisjointRows<u32>) {
    let i = thread::index_1d();
    if let Some(row) = x.get_mut(i) {
        for (col, x) in row.iter_mut().enumerate() {
            *x += (1000 * *i + col) as u32;
        }
    }
}

#[kernel]
fn rows_of_warps(mut x: DisjointRows<u32, WarpIndex>) {
    let w = warp::index();
    if let Some(mut row) = x.get_mut(w) {
        for (col, x) in row.indexed_iter_mut() {
            *x += (1000 * *w + col) as u32;
        }
    }
}

#[kernel]
fn rows_of_blocks(mut x: DisjointRows<u32, BlockIndex>) {
    let b = block::index();
    if let Some(mut row) = x.get_mut(b) {
        for (col, x) in row.indexed_iter_mut() {
            *x += (1000 * *b + col) as u32;
        }
    }
}

fn numbered(rows: usize, cols: usize, owners: usize) -> Array2<u32> {
    Array2::from_shape_fn((rows, cols), |(row, col)| {
        if row < owners {
            (1000 * row + col) as u32 + 5
        } else {
            5
        }
    })
}

#[test]
fn every_owner_writes_its_row_once() {
    let gpu = Gpu::new().unwrap();
    for (rows, cols) in [(10, 37), (1, 1), (7, 300), (40, 0), (0, 4)] {
        let fives = || gpu.full((rows, cols), 5u32).unwrap();
        let mut x = fives();
        launch!(rows_of_threads[2, 4](&mut x)).unwrap();
        assert_eq!(x.to_host().unwrap(), numbered(rows, cols, 8));
        // Blocks of several dimensions and odd sizes: their last warps have fewer than 32 lanes.
        for (grid, block) in [
            ((2, 1, 1), (40, 1, 1)),
            ((1, 3, 1), (5, 7, 2)),
            ((1, 1, 2), (1, 1, 1)),
            ((3, 1, 1), (64, 1, 1)),
        ] {
            let blocks = grid.0 * grid.1 * grid.2;
            let threads: usize = block.0 * block.1 * block.2;
            let mut x = fives();
            launch!(rows_of_warps[grid, block](&mut x)).unwrap();
            let warps = blocks * threads.div_ceil(32);
            assert_eq!(
                x.to_host().unwrap(),
                numbered(rows, cols, warps),
                "{grid:?} {block:?}"
            );
            let mut x = fives();
            launch!(rows_of_blocks[grid, block](&mut x)).unwrap();
            assert_eq!(
                x.to_host().unwrap(),
                numbered(rows, cols, blocks),
                "{grid:?} {block:?}"
            );
        }
    }
}

/// All rows, however few warps and blocks there are. The barrier is in the loop of a block.
#[kernel]
fn strided_rows(mut x: DisjointRows<u32, WarpIndex>, mut y: DisjointRows<u32, BlockIndex>) {
    for w in warp::grid_stride(x.nrows()) {
        if let Some(mut row) = x.get_mut(w) {
            for (col, x) in row.indexed_iter_mut() {
                *x += (1000 * *w + col) as u32;
            }
        }
    }
    let sums = shared_array![u32; 1];
    for b in block::grid_stride(y.nrows()) {
        sums.set(0, *b as u32);
        sync_threads();
        if let Some(mut row) = y.get_mut(b) {
            for (col, y) in row.indexed_iter_mut() {
                *y += 1000 * sums.get(0) + col as u32;
            }
        }
        sync_threads();
    }
}

#[test]
fn loops_over_more_rows_than_owners() {
    let gpu = Gpu::new().unwrap();
    for (grid, block) in [(1, 32), (3, 50), (20, 64)] {
        let mut x = gpu.full((33, 41), 5u32).unwrap();
        let mut y = gpu.full((17, 65), 5u32).unwrap();
        launch!(strided_rows[grid, block](&mut x, &mut y)).unwrap();
        assert_eq!(x.to_host().unwrap(), numbered(33, 41, 33));
        assert_eq!(y.to_host().unwrap(), numbered(17, 65, 17));
    }
}

#[kernel]
fn sort_rows(mut x: DisjointRows<u32>) {
    if let Some(row) = x.get_mut(thread::index_1d()) {
        row.sort_unstable();
    }
}

#[test]
fn a_row_is_a_slice() {
    let gpu = Gpu::new().unwrap();
    let mut host = Array2::from_shape_vec((6, 50), Random::new(1).below(300, 1000)).unwrap();
    let mut x = gpu.to_device(&host).unwrap();
    launch!(sort_rows[1, 32](&mut x)).unwrap();
    for mut row in host.rows_mut() {
        row.as_slice_mut().unwrap().sort();
    }
    assert_eq!(x.to_host().unwrap(), host);
}

#[kernel]
fn scan_columns(mut x: DisjointColumns<u32>) {
    let (rows, last) = (x.nrows(), x.ncols() - 1);
    let i = thread::index_1d();
    if let Some(mut column) = x.get_mut(i) {
        let mut sum = 0;
        for x in column.iter_mut() {
            sum += *x;
            *x = sum;
        }
        if *i == last {
            column[0] = column[rows - 1] + column.len() as u32;
        }
    }
}

#[test]
fn every_thread_goes_down_its_column() {
    let gpu = Gpu::new().unwrap();
    let host = Array2::from_shape_vec((9, 45), Random::new(2).below(405, 1000)).unwrap();
    let mut x = gpu.to_device(&host).unwrap();
    launch!(scan_columns[2, 32](&mut x)).unwrap();
    let mut expected = host;
    expected.accumulate_axis_inplace(ndarray::Axis(0), |&before, x| *x += before);
    expected[(0, 44)] = expected[(8, 44)] + 9;
    assert_eq!(x.to_host().unwrap(), expected);
}

#[kernel]
fn beyond_a_column(mut x: DisjointColumns<u32>) {
    if let Some(mut column) = x.get_mut(thread::index_1d()) {
        let rows = column.len();
        column[rows] = 1;
    }
}

#[test]
fn a_row_beyond_a_column_is_a_panic() {
    let gpu = Gpu::new().unwrap();
    let mut x = gpu.zeros_nd::<u32, _>((3, 4)).unwrap();
    launch!(beyond_a_column[1, 1](&mut x)).unwrap();
    let Err(Error::KernelPanic(panic)) = x.to_host() else {
        panic!("no panic")
    };
    assert_eq!(
        panic.message,
        "index out of bounds: the len is 3 but the index is 3"
    );
    assert!(panic.file.ends_with("tests/disjoint.rs"));
}

#[kernel]
fn squares(mut out: DisjointChunks<u32, 4>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = std::array::from_fn(|k| (4 * *i + k).pow(2) as u32);
    }
}

#[kernel]
fn chunks_of_all(
    mut x: DisjointChunks<u8, 3>,
    mut y: DisjointChunks<u32, 70, WarpIndex>,
    mut z: DisjointChunks<f64, 33, BlockIndex>,
) {
    for i in thread::grid_stride(x.len()) {
        if let Some([a, b, c]) = x.get_mut(i) {
            (*a, *b, *c) = (*i as u8, 100, *c + 1);
        }
    }
    let w = warp::index();
    if let Some(mut chunk) = y.get_mut(w) {
        let first = *w * chunk.len();
        for (k, y) in chunk.indexed_iter_mut() {
            *y += (first + k) as u32;
        }
    }
    if let Some(mut chunk) = z.get_mut(block::index()) {
        for z in chunk.iter_mut() {
            *z += 0.5;
        }
    }
}

#[test]
fn chunks_of_threads_warps_and_blocks() {
    let gpu = Gpu::new().unwrap();
    let mut x = gpu.zeros::<u32>(100).unwrap();
    launch!(squares[1, 20](&mut x)).unwrap();
    let expected: Vec<u32> = (0..100).map(|i| if i < 80 { i * i } else { 0 }).collect();
    assert_eq!(x.to_vec().unwrap(), expected);
    // Of more dimensions, in order.
    let mut x = gpu.zeros_nd::<u32, _>((3, 8)).unwrap();
    launch!(squares[1, 20](&mut x)).unwrap();
    assert_eq!(
        x.to_vec().unwrap(),
        (0..24).map(|i| i * i).collect::<Vec<u32>>()
    );

    let mut x = gpu.zeros::<u8>(90).unwrap();
    let mut y = gpu.zeros::<u32>(280).unwrap();
    let mut z = gpu.zeros::<f64>(99).unwrap();
    launch!(chunks_of_all[2, 40](&mut x, &mut y, &mut z)).unwrap();
    let expected: Vec<u8> = (0..30).flat_map(|i| [i, 100, 1]).collect();
    assert_eq!(x.to_vec().unwrap(), expected);
    assert_eq!(y.to_vec().unwrap(), (0..280).collect::<Vec<u32>>());
    let expected: Vec<f64> = (0..99).map(|i| if i < 66 { 0.5 } else { 0.0 }).collect();
    assert_eq!(z.to_vec().unwrap(), expected);
}

#[test]
fn a_length_that_is_no_multiple_of_the_chunk_is_an_error() {
    let gpu = Gpu::new().unwrap();
    let mut x = gpu.zeros::<u32>(10).unwrap();
    let text = launch!(squares[1, 4](&mut x)).unwrap_err().to_string();
    assert!(
        text.contains("10 elements") && text.contains("chunks of 4"),
        "{text}"
    );
    let mut none = gpu.zeros::<u32>(0).unwrap();
    launch!(squares[1, 4](&mut none)).unwrap();
    gpu.synchronize().unwrap();
}

#[kernel]
fn transpose(a: ArrayView2<f32>, mut out: DisjointTiles<f32, 32, 32>) {
    let tile = shared_array![f32; 32, 33];
    let (row, col) = *block::index_2d();
    for e in (thread::index_in_block()..32 * 32).step_by(block::len()) {
        if let Some(&x) = a.get((col * 32 + e / 32, row * 32 + e % 32)) {
            tile.set((e / 32, e % 32), x);
        }
    }
    sync_threads();
    if let Some(mut out) = out.get_mut(block::index_2d()) {
        for ((row, col), out) in out.indexed_iter_mut() {
            *out = tile.get((col, row));
        }
    }
}

#[test]
fn a_tiled_transpose_of_any_size() {
    let gpu = Gpu::new().unwrap();
    for (rows, cols) in [(5, 6), (128, 128), (1025, 512), (33, 1), (0, 7)] {
        let host = Array2::from_shape_fn((rows, cols), |(row, col)| (row * cols + col) as f32);
        let a = gpu.to_device(&host).unwrap();
        let mut out = gpu.full((cols, rows), -1.0f32).unwrap();
        let grid = (rows.div_ceil(32).max(1), cols.div_ceil(32).max(1));
        for block in [(32, 8), (7, 5)] {
            launch!(transpose[grid, block](&a, &mut out)).unwrap();
            assert_eq!(out.to_host().unwrap(), host.t(), "{rows} {cols} {block:?}");
            out.fill(-1.0).unwrap();
        }
    }
}

/// Tiles of two by three that a thread owns.
#[kernel]
fn tiles_of_threads(mut x: DisjointTiles<u32, 2, 3, ThreadIndex2d>) {
    let i = thread::index_2d();
    if let Some(mut tile) = x.get_mut(i) {
        let [rows, cols] = tile.shape();
        for ((row, col), x) in tile.indexed_iter_mut() {
            *x += (1000 * (2 * i.row() + row) + 3 * i.col() + col) as u32;
            *x += (100_000 * rows * cols) as u32;
        }
    }
}

#[test]
fn tiles_are_cut_off_at_the_edge() {
    let gpu = Gpu::new().unwrap();
    let mut x = gpu.full((7, 10), 5u32).unwrap();
    launch!(tiles_of_threads[(2, 1), (2, 8)](&mut x)).unwrap();
    let expected = Array2::from_shape_fn((7, 10), |(row, col)| {
        let inside = (if row < 6 { 2 } else { 1 }) * (if col < 9 { 3 } else { 1 });
        (5 + 1000 * row + col + 100_000 * inside) as u32
    });
    assert_eq!(x.to_host().unwrap(), expected);
}

/// One element a block, in launches of one dimension.
#[kernel]
fn one_each_block(mut x: DisjointSlice<u32, BlockIndex>) {
    if let Some(x) = x.get_mut(block::index_1d()) {
        *x += 1 + *block::index() as u32;
    }
}

#[test]
fn the_blocks_of_a_launch_of_one_dimension() {
    let gpu = Gpu::new().unwrap();
    let mut x = gpu.zeros::<u32>(4).unwrap();
    launch!(one_each_block[4, 40](&mut x)).unwrap();
    assert_eq!(x.to_vec().unwrap(), [1, 2, 3, 4]);
    for (grid, block) in [((4, 1), (20, 2)), ((1, 4), (40, 1))] {
        let error = launch!(one_each_block[grid, block](&mut x)).unwrap_err();
        assert!(
            matches!(error, Error::TooManyDimensions { supported: 1, .. }),
            "{error}"
        );
    }
}

/// One element a warp, in launches of one dimension.
#[kernel]
fn one_each_warp(mut x: DisjointSlice<u32, WarpIndex>) {
    if let Some(x) = x.get_mut(warp::index_1d()) {
        *x += 1 + *warp::index() as u32;
    }
}

#[test]
fn the_warps_of_a_launch_of_one_dimension() {
    let gpu = Gpu::new().unwrap();
    // The last warp of a block has 8 threads.
    let mut x = gpu.zeros::<u32>(9).unwrap();
    launch!(one_each_warp[3, 72](&mut x)).unwrap();
    assert_eq!(x.to_vec().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (grid, block) in [((3, 1), (36, 2)), ((1, 3), (72, 1))] {
        let error = launch!(one_each_warp[grid, block](&mut x)).unwrap_err();
        assert!(
            matches!(error, Error::TooManyDimensions { supported: 1, .. }),
            "{error}"
        );
    }
}

/// One element a warp, a block of a grid of two dimensions, and a thread, wherever it is.
#[kernel]
fn one_each(
    mut of_warps: DisjointSlice<u32, WarpIndex>,
    mut of_blocks: DisjointSlice<u32, BlockIndex2d>,
    mut of_threads: DisjointSlice<u32>,
    writers: &[AtomicU32],
) {
    if let Some(x) = of_warps.get_mut(warp::index()) {
        *x += 1 + *warp::index() as u32;
        writers[0].fetch_add(1, Relaxed);
    }
    let b = block::index_2d();
    if let Some(x) = of_blocks.get_mut(b) {
        *x += 1 + (100 * b.row() + b.col()) as u32;
        writers[1].fetch_add(1, Relaxed);
    }
    let i = thread::index();
    if let Some(x) = of_threads.get_mut(i) {
        *x += 1 + *i as u32;
        writers[2].fetch_add(1, Relaxed);
    }
}

#[test]
fn one_element_for_each_warp_block_and_thread() {
    let gpu = Gpu::new().unwrap();
    let (grid, block) = ((3, 2), (9, 5));
    let mut of_warps = gpu.zeros::<u32>(13).unwrap();
    let mut of_blocks = gpu.zeros_nd::<u32, _>((2, 4)).unwrap();
    let mut of_threads = gpu.zeros::<u32>(300).unwrap();
    let mut writers = gpu.zeros::<u32>(3).unwrap();
    launch!(one_each[grid, block](
        &mut of_warps,
        &mut of_blocks,
        &mut of_threads,
        &mut writers
    ))
    .unwrap();
    let counted = |of: u32, len: u32| (0..len).map(move |i| if i < of { i + 1 } else { 0 });
    assert_eq!(
        of_warps.to_vec().unwrap(),
        counted(12, 13).collect::<Vec<_>>()
    );
    assert_eq!(
        of_threads.to_vec().unwrap(),
        counted(270, 300).collect::<Vec<_>>()
    );
    let expected = Array2::from_shape_fn((2, 4), |(row, col)| {
        if col < 3 {
            (100 * row + col) as u32 + 1
        } else {
            0
        }
    });
    assert_eq!(of_blocks.to_host().unwrap(), expected);
    assert_eq!(writers.to_vec().unwrap(), [12, 6, 270]);
}

#[test]
fn a_blocks_row_and_column_are_unique_or_the_launch_is_refused() {
    let gpu = Gpu::new().unwrap();
    let a = gpu.zeros_nd::<f32, _>((4, 4)).unwrap();
    let mut out = gpu.zeros_nd::<f32, _>((4, 4)).unwrap();
    let deep = Dim3 { x: 1, y: 1, z: 2 };
    let text = launch!(transpose[deep, 32](&a, &mut out))
        .unwrap_err()
        .to_string();
    assert!(text.contains("2 dimensions"), "{text}");
}

#[kernel]
fn fill_strided(mut out: DisjointSlice<u32, ThreadIndex2d, Strided>) {
    let i = thread::index_2d();
    if let Some(out) = out.get_mut(i) {
        *out += 1000 * i.row() as u32 + i.col() as u32;
    }
}

#[kernel]
fn fill3(mut out: DisjointSlice<u32, ThreadIndex3d, Strided>) {
    for (i, out) in out.grid_stride_mut() {
        *out += (10_000 * i.plane() + 100 * i.row() + i.col()) as u32;
    }
}

#[kernel]
fn fill1(mut out: DisjointSlice<u32, ThreadIndex, Strided>) {
    for (i, out) in out.grid_stride_mut() {
        *out += 1 + *i as u32;
    }
}

#[test]
fn strided_arrays_are_written_like_ndarrays() {
    let gpu = Gpu::new().unwrap();
    // C order, Fortran order, and every other order of the axes.
    for axes in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut x = gpu.zeros_nd::<u32, _>((4, 5, 6)).unwrap();
        let mut host = Array3::<u32>::zeros((4, 5, 6));
        let mut expected = host.view_mut().permuted_axes(axes);
        for ((plane, row, col), x) in expected.indexed_iter_mut() {
            *x = (10_000 * plane + 100 * row + col) as u32;
        }
        let view = x.view_mut().permuted_axes(axes);
        launch!(fill3[(2, 1, 1), (3, 2, 2)](view)).unwrap();
        assert_eq!(x.to_host().unwrap(), host, "{axes:?}");
    }

    let slice = s![1..;2, ..;-3];
    let mut x = gpu.zeros_nd::<u32, _>((7, 11)).unwrap();
    let mut host = Array2::<u32>::zeros((7, 11));
    for ((row, col), x) in host.slice_mut(slice).indexed_iter_mut() {
        *x = (1000 * row + col) as u32;
    }
    launch!(fill_strided[(2, 2), (4, 4)](x.view_mut().slice(slice))).unwrap();
    assert_eq!(x.to_host().unwrap(), host);
    // A whole array is a view too.
    let mut whole = gpu.zeros_nd::<u32, _>((3, 2)).unwrap();
    launch!(fill_strided[1, (4, 4)](&mut whole)).unwrap();
    assert_eq!(whole.to_vec().unwrap(), [0, 1, 1000, 1001, 2000, 2001]);
    launch!(fill1[1, 4](whole.view_mut().slice(s![..;-1, 1]))).unwrap();
    assert_eq!(
        whole.to_vec().unwrap(),
        [0, 1 + 3, 1000, 1001 + 2, 2000, 2001 + 1]
    );
}

#[kernel]
fn standard_only(mut out: DisjointSlice<u32, ThreadIndex2d>) {
    if let Some(out) = out.get_mut(thread::index_2d()) {
        *out = out.wrapping_add(1);
    }
}

#[test]
fn a_strided_array_for_a_standard_one_is_an_error() {
    let gpu = Gpu::new().unwrap();
    let mut x = gpu.zeros_nd::<u32, _>((3, 4)).unwrap();
    let error = launch!(standard_only[1, (4, 4)](x.view_mut().t())).unwrap_err();
    assert!(matches!(error, Error::NotStandardLayout { .. }), "{error}");
    launch!(standard_only[1, (4, 4)](x.view_mut().slice(s![1..2, ..]))).unwrap();
    assert_eq!(x.to_vec().unwrap(), [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn a_chunk_is_written_at_once() {
    let code = device_code::of("squares");
    assert_eq!(code.matches("st.global.v4.b32").count(), 1, "{code}");
    assert_eq!(code.matches("st.global").count(), 1, "{code}");
}

#[test]
fn a_transpose_through_tiles_reads_through_the_cache() {
    let code = device_code::of("transpose");
    device_code::contains(
        &code,
        &["ld.global.nc.b32", "ld.shared.b32", "st.global.b32"],
    );
    assert_eq!(code.matches("ld.global.b32").count(), 0, "{code}");
}

#[test]
fn only_the_extents_are_compared() {
    // Not the address with a null pointer, though `get_mut` gives an `Option` of a reference.
    let code = device_code::of("standard_only");
    assert_eq!(code.matches("setp.").count(), 2, "{code}");
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles();
}
