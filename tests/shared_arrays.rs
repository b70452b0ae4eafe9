//! Static shared arrays and barriers.
#![allow(missing_docs)]

mod common;
mod device_code;

use common::Random;
use oxwarp::Checks;
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

/// All writes by thread 0, every thread reads its own (Numba's `simple_smem`).
#[kernel]
fn filled_by_one(mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 100];
    let t = thread::index_in_block();
    if t == 0 {
        (0..100).for_each(|i| array.set(i, i as u32));
    }
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(t);
    }
}

#[test]
fn one_thread_writes_for_all() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(100).unwrap();
    launch!(filled_by_one[1, 100](&mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), (0..100).collect::<Vec<_>>());
}

#[kernel]
fn quotients(mut out: DisjointSlice<f32, ThreadIndex2d>) {
    let array = shared_array![f32; 10, 20];
    let (i, j) = (
        thread::thread_idx_y() as usize,
        thread::thread_idx_x() as usize,
    );
    array.set((i, j), (i + 1) as f32 / (j + 1) as f32);
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_2d()) {
        *out = array.get((9 - i, 19 - j));
    }
}

#[test]
fn two_dimensions() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros_nd::<f32, _>((10, 20)).unwrap();
    launch!(quotients[1, (20, 10)](&mut out)).unwrap();
    let expected =
        ndarray::Array2::from_shape_fn((10, 20), |(i, j)| (10 - i) as f32 / (20 - j) as f32);
    assert_eq!(out.to_host().unwrap(), expected);
}

/// Three dimensions, in a generic function.
fn transposed<const P: usize, const R: usize, const C: usize>(
    (p, r, c): (usize, usize, usize),
    x: u16,
) -> u16 {
    let array = shared_array![u16; P, R, C];
    array.set((p, r, c), x);
    sync_threads();
    let number = (c * R + r) * P + p;
    array.get((number / C / R, number / C % R, number % C))
}

#[kernel]
fn three_dimensions(x: &[u16], mut out: DisjointSlice<u16>) {
    let i = thread::index_in_block();
    let place = (i / 24, i / 8 % 3, i % 8);
    let once = transposed::<4, 3, 8>(place, x[i]);
    sync_threads();
    let twice = transposed::<4, 3, 8>(place, once);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = twice;
    }
}

#[test]
fn arrays_of_three_dimensions() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<u16> = Random::new(3)
        .below(96, 60_000)
        .iter()
        .map(|&x| x as u16)
        .collect();
    let once = |x: &[u16]| -> Vec<u16> {
        let number = |i: usize| ((i % 8) * 3 + i / 8 % 3) * 4 + i / 24;
        (0..96).map(|i| x[number(i)]).collect()
    };
    let expected = once(&once(&x));
    let x = gpu.to_device(&x).unwrap();
    let mut out = gpu.zeros::<u16>(96).unwrap();
    launch!(three_dimensions[1, 96](&x, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), expected);
}

#[kernel]
fn out_of_three_dimensions(plane: usize, row: usize, col: usize, mut out: DisjointSlice<u8>) {
    let array = shared_array![u8; 2, 3, 4];
    array.set((plane, row, col), 9);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get((plane, row, col));
    }
}

#[test]
fn each_index_of_three_is_checked() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u8>(1).unwrap();
    launch!(out_of_three_dimensions[1, 1](1, 2, 3, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [9]);
    for ((plane, row, col), text) in [
        ((2, 0, 0), "len is 2 but the index is 2"),
        ((0, 3, 0), "len is 3 but the index is 3"),
        ((0, 0, 4), "len is 4 but the index is 4"),
    ] {
        launch!(out_of_three_dimensions[1, 1](plane, row, col, &mut out)).unwrap();
        let error = gpu.synchronize().unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

/// Elements whose alignment is larger than their fields'.
macro_rules! aligned {
    ($($name:ident = $align:literal;)*) => {$(
        #[derive(Clone, Copy)]
        #[repr(C, align($align))]
        struct $name([u8; $align]);

        // SAFETY: bytes, as many as the alignment, so without padding.
        unsafe impl bytemuck::Zeroable for $name {}
        // SAFETY: as above.
        unsafe impl bytemuck::Pod for $name {}
    )*};
}

aligned! { A16 = 16; A64 = 64; A256 = 256; }

/// An odd byte before each, so that the alignment is no accident.
#[kernel]
fn alignments(mut out: DisjointSlice<[u8; 3]>) {
    let odd = shared_array![u8; 1];
    let (a, b, c) = (
        shared_array![A16; 3],
        shared_array![A64; 3],
        shared_array![A256; 3],
    );
    let t = thread::index_in_block();
    odd.set(0, 1);
    a.set(t, A16([1 + t as u8; 16]));
    b.set(t, A64([2 + t as u8; 64]));
    c.set(t, A256([3 + t as u8; 256]));
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = [a.get(2 - t).0[15], b.get(2 - t).0[63], c.get(2 - t).0[255]];
    }
}

#[test]
fn elements_keep_their_alignment() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<[u8; 3]>(3).unwrap();
    launch!(alignments[1, 3](&mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [[3, 4, 5], [2, 3, 4], [1, 2, 3]]);
    for align in [16, 64, 256] {
        let declared = format!(".shared .align {align} .b8 shared_");
        assert!(device_code::all().contains(&declared), "{declared}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, oxwarp::DeviceCopy)]
#[repr(C)]
struct Record {
    id: u32,
    weight: f32,
    place: [i16; 4],
}

// SAFETY: plain numbers without padding.
unsafe impl bytemuck::Zeroable for Record {}
// SAFETY: as above.
unsafe impl bytemuck::Pod for Record {}

#[kernel]
fn reversed_records(x: &[Record], mut out: DisjointSlice<Record>, mut odd: DisjointSlice<u32>) {
    let (records, flags) = (shared_array![Record; 64], shared_array![bool; 64]);
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    records.set(t, x[*i]);
    flags.set(t, x[*i].id % 2 == 1);
    sync_threads();
    if let (Some(out), Some(odd)) = (out.get_mut(i), odd.get_mut(i)) {
        *out = records.get(63 - t);
        *odd = u32::from(flags.get(63 - t));
    }
}

#[test]
fn records_and_bools_are_copied_through() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(8);
    let x: Vec<Record> = (0..128)
        .map(|_| Record {
            id: random.bits() as u32,
            weight: random.between(-1.0, 1.0) as f32,
            place: std::array::from_fn(|_| random.bits() as i16),
        })
        .collect();
    let on_device = gpu.to_device(&x).unwrap();
    let mut out = gpu.to_device(&x).unwrap();
    let mut odd = gpu.zeros::<u32>(128).unwrap();
    launch!(reversed_records[2, 64](&on_device, &mut out, &mut odd)).unwrap();
    let expected: Vec<Record> = x
        .chunks(64)
        .flat_map(|block| block.iter().rev())
        .copied()
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
    let flags: Vec<u32> = expected.iter().map(|record| record.id % 2).collect();
    assert_eq!(odd.to_vec().unwrap(), flags);
}

/// A block copies chunk after chunk through one shared array (Numba's issue 5073).
#[kernel]
fn copied_in_chunks(x: &[u32], out: &[std::sync::atomic::AtomicU32]) {
    use std::sync::atomic::Ordering::Relaxed;
    let chunk = shared_array![u32; 48];
    let t = thread::index_in_block();
    let mut first = 0;
    while first < x.len() {
        let len = (x.len() - first).min(48);
        for i in (t..len).step_by(block::len()) {
            chunk.set(i, x[first + i]);
        }
        sync_threads();
        for i in (t..len).step_by(block::len()) {
            out[first + len - 1 - i].store(chunk.get(len - 1 - i), Relaxed);
        }
        sync_threads();
        first += len;
    }
}

#[test]
fn chunks_through_one_array() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<u32> = Random::new(5073).below(1024, u32::MAX);
    let on_device = gpu.to_device(&x).unwrap();
    for threads in [1, 20, 48, 64] {
        let mut out = gpu.zeros::<u32>(1024).unwrap();
        launch!(copied_in_chunks[1, threads](&on_device, &mut out)).unwrap();
        assert_eq!(out.to_vec().unwrap(), x, "{threads} threads");
    }
}

/// A helper whose array has the name of the kernel's (Numba's issue 953).
fn helper(x: u32) -> u32 {
    let array = shared_array![u32; 32];
    let t = thread::index_in_block();
    array.set(t, x + 1000);
    sync_threads();
    array.get(31 - t)
}

#[kernel]
fn same_name(mut out: DisjointSlice<[u32; 2]>) {
    let array = shared_array![u32; 32];
    let t = thread::index_in_block();
    array.set(t, t as u32);
    let other = helper(t as u32);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = [array.get(31 - t), other];
    }
}

#[test]
fn arrays_of_one_name_in_helper_and_kernel() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<[u32; 2]>(32).unwrap();
    launch!(same_name[1, 32](&mut out)).unwrap();
    let expected: Vec<[u32; 2]> = (0..32).map(|t| [31 - t, 1031 - t]).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// Thread indices read in loops of several basic blocks, before and after a shared array (Numba's issue 872).
#[kernel]
fn indices_in_loops(n: u32, mut out: DisjointSlice<f64>) {
    let mut sum = 0.0;
    for k in 0..n {
        if thread::thread_idx_x() + k > 3 {
            sum += f64::from(thread::thread_idx_x());
        }
    }
    let array = shared_array![f64; 2, 3];
    let t = thread::index_in_block();
    array.set((t / 3, t % 3), sum);
    sync_threads();
    let mut result = 0.0;
    for k in 0..n as usize {
        result += array.get((k % 2, thread::thread_idx_x() as usize % 3));
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = result;
    }
}

#[test]
fn thread_indices_around_an_array() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<f64>(6).unwrap();
    launch!(indices_in_loops[1, 6](5, &mut out)).unwrap();
    let sum = |t: u32| f64::from((0..5).filter(|k| t + k > 3).count() as u32 * t);
    let expected: Vec<f64> = (0..6)
        .map(|t| sum(t % 3) * 3.0 + sum(t % 3 + 3) * 2.0)
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// On a GPU the bytes that nobody wrote may be a value by accident.
#[kernel]
fn unwritten(mut out: DisjointSlice<u32>) {
    let flags = shared_array![bool; 4];
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = flags.get(3).into();
    }
}

#[test]
fn the_simulator_tells_of_a_bool_that_nobody_wrote() {
    let gpu = Gpu::cpu_with(Checks::off());
    let mut out = gpu.zeros::<u32>(1).unwrap();
    launch!(unwritten[1, 1](&mut out)).unwrap();
    let error = gpu.synchronize().unwrap_err().to_string();
    assert!(error.contains("read before it was written"), "{error}");
    assert!(error.contains("shared_arrays.rs"), "{error}");
}
