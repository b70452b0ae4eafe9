//! Static shared arrays and barriers.
#![allow(missing_docs)]

mod common;

use common::Random;
use oxwarp::prelude::*;

/// The dot product of the design: one partial sum a block.
#[kernel]
fn dot(a: &[f32], b: &[f32], mut partial: DisjointSlice<f32, BlockIndex>) {
    let temp = shared_array![f32; 256];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    temp.set(t, if *i < a.len() { a[*i] * b[*i] } else { 0.0 });
    sync_threads();
    let mut stride = block::len() / 2;
    while stride > 0 {
        if t < stride {
            temp.set(t, temp.get(t) + temp.get(t + stride));
        }
        sync_threads();
        stride /= 2;
    }
    if let Some(sum) = partial.get_mut(block::index()) {
        *sum = temp.get(0);
    }
}

#[test]
fn a_dot_product_over_blocks() {
    let gpu = Gpu::new().unwrap();
    // Small whole numbers: every order of additions gives the same sum.
    let whole = |seed| -> Vec<f32> {
        let numbers = Random::new(seed).below(10_000, 9);
        numbers.iter().map(|&x| x as f32 - 4.0).collect()
    };
    let (a, b) = (whole(1), whole(2));
    let expected: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
    let (a, b) = (gpu.to_device(&a).unwrap(), gpu.to_device(&b).unwrap());
    for block in [256, 64, 2] {
        let blocks = 10_000usize.div_ceil(block);
        let mut partial = gpu.zeros::<f32>(blocks).unwrap();
        launch!(dot[blocks, block](&a, &b, &mut partial)).unwrap();
        assert_eq!(
            partial.to_vec().unwrap().iter().sum::<f32>(),
            expected,
            "{block}"
        );
    }
}

/// Two arrays of one type and one of another; every place has its own memory.
#[kernel]
fn three_arrays(mut out: DisjointSlice<u32>) {
    let (a, b, c) = (
        shared_array![u32; 64],
        shared_array![u32; 64],
        shared_array![u8; 64],
    );
    let t = thread::index_in_block();
    a.set(t, t as u32);
    b.set(63 - t, 1000 * t as u32);
    c.set(t, 200);
    sync_threads();
    let sum = a.get(63 - t) + b.get(t) + u32::from(c.get((t + 1) % 64));
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = sum;
    }
}

#[test]
fn every_place_is_an_array_of_its_own() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(128).unwrap();
    launch!(three_arrays[2, 64](&mut out)).unwrap();
    let expected: Vec<u32> = (0..128).map(|i| (63 - i % 64) * 1001 + 200).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// An array in a generic function: each instance has its own.
fn reversed<T: bytemuck::AnyBitPattern, const N: usize>(x: T) -> T {
    let array = shared_array![T; N];
    let t = thread::index_in_block();
    array.set(t, x);
    sync_threads();
    array.get(N - 1 - t)
}

#[kernel]
fn generic_arrays(mut x: DisjointSlice<f64>, mut y: DisjointSlice<u16>) {
    let i = thread::index_1d();
    let (a, b) = (
        reversed::<f64, 32>(*i as f64),
        reversed::<u16, 32>(*i as u16 + 7),
    );
    sync_threads();
    let twice = reversed::<f64, 32>(a);
    if let (Some(x), Some(y)) = (x.get_mut(i), y.get_mut(i)) {
        (*x, *y) = (a * 100.0 + twice, b);
    }
}

#[test]
fn arrays_in_generic_functions() {
    let gpu = Gpu::new().unwrap();
    let (mut x, mut y) = (gpu.zeros::<f64>(32).unwrap(), gpu.zeros::<u16>(32).unwrap());
    launch!(generic_arrays[1, 32](&mut x, &mut y)).unwrap();
    assert_eq!(
        x.to_vec().unwrap(),
        (0..32)
            .map(|i| ((31 - i) * 100 + i) as f64)
            .collect::<Vec<_>>()
    );
    assert_eq!(
        y.to_vec().unwrap(),
        (0..32).map(|i| 31 - i + 7).collect::<Vec<u16>>()
    );
}

const TILE: usize = 8;

#[kernel]
fn matmul(a: &[f32], b: &[f32], n: usize, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let tile_a = shared_array![f32; TILE, TILE];
    let tile_b = shared_array![f32; TILE, TILE + 1];
    let i = thread::index_2d();
    let (row, col) = (
        thread::thread_idx_y() as usize,
        thread::thread_idx_x() as usize,
    );
    let mut sum = 0.0;
    for tile in 0..n.div_ceil(TILE) {
        let (k_a, k_b) = (tile * TILE + col, tile * TILE + row);
        let inside_a = i.row() < n && k_a < n;
        let inside_b = i.col() < n && k_b < n;
        tile_a.set(
            (row, col),
            if inside_a { a[i.row() * n + k_a] } else { 0.0 },
        );
        tile_b.set(
            (row, col),
            if inside_b { b[k_b * n + i.col()] } else { 0.0 },
        );
        sync_threads();
        for k in 0..TILE {
            sum += tile_a.get((row, k)) * tile_b.get((k, col));
        }
        sync_threads();
    }
    if let Some(c) = c.get_mut(i) {
        *c = sum;
    }
}

#[test]
fn a_tiled_matrix_product() {
    let gpu = Gpu::new().unwrap();
    let n = 29;
    let matrix = |seed| {
        let values = Random::new(seed).below(n * n, 7);
        ndarray::Array2::from_shape_fn((n, n), |(row, col)| values[row * n + col] as f32 - 3.0)
    };
    let (a, b) = (matrix(1), matrix(2));
    let mut c = gpu.zeros_nd::<f32, _>((n, n)).unwrap();
    let blocks = n.div_ceil(TILE);
    let (a_device, b_device) = (gpu.to_device(&a).unwrap(), gpu.to_device(&b).unwrap());
    launch!(matmul[(blocks, blocks), (TILE, TILE)](&a_device, &b_device, n, &mut c)).unwrap();
    assert_eq!(c.to_host().unwrap(), a.dot(&b));
}

/// Threads that return before a barrier do not hold the others.
#[kernel]
fn early_return(mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 64];
    let t = thread::index_in_block();
    if t >= 40 {
        return;
    }
    array.set(t, t as u32 * 2);
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get((t + 1) % 40);
    }
}

#[test]
fn threads_that_returned_do_not_count() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(64).unwrap();
    launch!(early_return[1, 64](&mut out)).unwrap();
    let expected: Vec<u32> = (0..64)
        .map(|i| if i < 40 { (i + 1) % 40 * 2 } else { 0 })
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

#[kernel]
fn beyond(index: usize, mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 10];
    array.set(index, 1);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(index);
    }
}

#[test]
fn an_index_beyond_a_shared_array_is_an_error_at_its_line() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    launch!(beyond[1, 1](9, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1]);
    launch!(beyond[1, 1](10, &mut out)).unwrap();
    let error = gpu.synchronize().unwrap_err().to_string();
    assert!(
        error.contains("the len is 10 but the index is 10"),
        "{error}"
    );
    assert!(error.contains("shared_arrays.rs"), "{error}");
}
