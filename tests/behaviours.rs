//! What people check first when they come from CUDA C or Numba, and no other test is about: forms of a launch, branches,
//! casts, helpers, pointers and complex numbers in kernels, matrix products and transposes, host threads.
//!
//! `docs/coverage.md` lists all behaviours with their tests.
#![allow(missing_docs)]

mod common;
mod device_code;

use std::sync::atomic::{
    AtomicI32, AtomicI64, AtomicU32,
    Ordering::{AcqRel, Relaxed},
};

use bytemuck::{AnyBitPattern, CheckedBitPattern, Zeroable};
use common::Random;
use ndarray::{Array2, array};
use num_complex::Complex;
use oxwarp::DeviceCopy;
use oxwarp::prelude::*;

/// How many threads there are along x and y, as each thread sees it.
#[kernel]
fn extent(out: &[AtomicU32]) {
    let along = |grid: u32, block: u32| grid * block;
    out[0].fetch_max(along(thread::grid_dim_x(), thread::block_dim_x()), Relaxed);
    out[1].fetch_max(along(thread::grid_dim_y(), thread::block_dim_y()), Relaxed);
    out[2].fetch_add(1, Relaxed);
}

#[test]
fn the_extent_of_a_grid_is_blocks_times_threads() {
    let gpu = Gpu::new().unwrap();
    for (grid, block, expected) in [
        ((7, 1, 1), (3, 1, 1), [21, 1, 21]),
        ((4, 3, 1), (5, 6, 1), [20, 18, 360]),
        ((3, 3, 3), (3, 3, 3), [9, 9, 729]),
    ] {
        let mut out = gpu.zeros::<u32>(3).unwrap();
        launch!(extent[grid, block](&mut out)).unwrap();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}

#[kernel]
fn sum_of_place(out: &[AtomicU32]) {
    let i = thread::index_2d();
    let cols = thread::grid_dim_x() * thread::block_dim_x();
    out[i.row() * cols as usize + i.col()].fetch_add((i.row() + i.col()) as u32, Relaxed);
}

#[test]
fn a_grid_of_two_dimensions_covers_its_product() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros_nd::<u32, _>((18, 20)).unwrap();
    launch!(sum_of_place[(4, 3), (5, 6)](&mut out)).unwrap();
    let expected = Array2::from_shape_fn((18, 20), |(row, col)| (row + col) as u32);
    assert_eq!(out.to_host().unwrap(), expected);
}

/// Strides over rows and columns by hand, with more threads along x than there are columns.
#[kernel]
fn scale_columns(a: &[f32], b: &[f32], n: u32, out: &[AtomicF32], trips: &[AtomicU32]) {
    let i = thread::index_2d();
    let (step_x, step_y) = (
        thread::grid_dim_x() * thread::block_dim_x(),
        thread::grid_dim_y() * thread::block_dim_y(),
    );
    for y in (i.row() as u32..n).step_by(step_y as usize) {
        for x in (i.col() as u32..n).step_by(step_x as usize) {
            let at = (y * n + x) as usize;
            out[at].store(a[at] * b[x as usize]);
            trips[0].fetch_add(1, Relaxed);
        }
    }
}

#[test]
fn a_loop_that_starts_beyond_its_end_makes_no_trip() {
    let gpu = Gpu::new().unwrap();
    let a = Random::new(1).floats(64, -1.0, 1.0);
    let b = Random::new(2).floats(8, -1.0, 1.0);
    let (device_a, device_b) = (gpu.to_device(&a).unwrap(), gpu.to_device(&b).unwrap());
    for grid in [(1, 1), (2, 3)] {
        let mut out = gpu.zeros::<f32>(64).unwrap();
        let mut trips = gpu.zeros::<u32>(1).unwrap();
        launch!(scale_columns[grid, (32, 8)](&device_a, &device_b, 8, &mut out, &mut trips))
            .unwrap();
        let expected: Vec<f32> = a.iter().enumerate().map(|(i, a)| a * b[i % 8]).collect();
        assert_eq!(out.to_vec().unwrap(), expected);
        assert_eq!(trips.to_vec().unwrap(), [64]);
    }
}

#[kernel]
fn branch(choice: bool, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = if choice { 123 } else { 321 };
    }
}

#[test]
fn a_boolean_chooses_a_branch() {
    let gpu = Gpu::new().unwrap();
    for (choice, expected) in [(true, 123), (false, 321)] {
        let mut out = gpu.zeros::<u32>(40).unwrap();
        launch!(branch[1, 40](choice, &mut out)).unwrap();
        assert_eq!(out.to_vec().unwrap(), [expected; 40]);
    }
}

#[kernel]
fn first_of_many(i: f32, mut out: DisjointSlice<f32>) {
    for n in thread::grid_stride(out.len()) {
        if let Some(out) = out.get_mut(n) {
            *out += i * *n as f32;
        }
    }
}

/// The first launch loads the kernel; here ten threads all come first.
#[test]
fn host_threads_share_a_first_call() {
    let gpu = Gpu::new().unwrap();
    let start = std::sync::Barrier::new(10);
    std::thread::scope(|scope| {
        for number in 0..10 {
            let (gpu, start) = (&gpu, &start);
            scope.spawn(move || {
                let mut out = gpu.zeros::<f32>(1000).unwrap();
                start.wait();
                for _ in 0..3 {
                    launch!(first_of_many[2, 64](number as f32, &mut out)).unwrap();
                }
                let expected: Vec<f32> = (0..1000).map(|n| (3 * number * n) as f32).collect();
                assert_eq!(out.to_vec().unwrap(), expected);
            });
        }
    });
}

#[kernel]
fn multiply_and_add(out_single: &[AtomicF32], out_double: &[AtomicF64]) {
    out_single[0].store(2f32.mul_add(3.0, 4.0));
    out_double[0].store(2f64.mul_add(3.0, 4.0));
}

#[kernel]
fn extremes(x: &[f32], y: &[f32], mut out: DisjointSlice<[f32; 2]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = [x[*i].min(y[*i]), x[*i].max(y[*i])];
    }
}

#[test]
fn products_sums_and_extremes() {
    let gpu = Gpu::new().unwrap();
    let (mut single, mut double) = (gpu.zeros::<f32>(1).unwrap(), gpu.zeros::<f64>(1).unwrap());
    launch!(multiply_and_add[1, 1](&mut single, &mut double)).unwrap();
    assert_eq!(single.to_vec().unwrap(), [10.0]);
    assert_eq!(double.to_vec().unwrap(), [10.0]);
    let (x, y) = (
        Random::new(3).floats(500, -2.0, 2.0),
        Random::new(4).floats(500, -2.0, 2.0),
    );
    let mut out = gpu.zeros::<[f32; 2]>(500).unwrap();
    let (device_x, device_y) = (gpu.to_device(&x).unwrap(), gpu.to_device(&y).unwrap());
    extremes
        .for_each(500)
        .launch(&device_x, &device_y, &mut out)
        .unwrap();
    let expected: Vec<[f32; 2]> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| [x.min(*y), x.max(*y)])
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
    device_code::contains(&device_code::of("extremes"), &["min.f32", "max.f32"]);
}

#[kernel]
fn casts(x: f64, mut out: DisjointSlice<(i32, i64, u8, f32, f64)>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let int = x as i32;
        *out = (int, x as i64, x as u8, int as f32, int.into());
    }
}

#[test]
fn a_cast_to_an_integer_cuts_off() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.full(1, (0, 0, 0, 0.0, 0.0)).unwrap();
    launch!(casts[1, 1](12.3, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [(12, 12, 12, 12.0, 12.0)]);
    launch!(casts[1, 1](-12.3, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [(-12, -12, 0, -12.0, -12.0)]);
}

/// Python's `round(x, digits)`, as a person would write it.
fn round_to(x: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits.abs());
    let scaled = if digits < 0 { x / scale } else { x * scale };
    if !scaled.is_finite() {
        return x; // it has no digits that far down
    }
    let rounded = scaled.round_ties_even();
    if digits < 0 {
        rounded * scale
    } else {
        rounded / scale
    }
}

#[kernel]
fn rounds(x: &[f64], digits: i32, mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = round_to(x[*i], digits);
    }
}

#[test]
fn numbers_round_to_digits() {
    let gpu = Gpu::new().unwrap();
    let x = [
        0.5,
        1.5,
        2.5,
        -0.5,
        0.125,
        1234.5678,
        -987.654321,
        1e307,
        -1e-300,
        65.0,
        75.0,
    ];
    let device = gpu.to_device(&x).unwrap();
    let mut out = gpu.zeros::<f64>(x.len()).unwrap();
    let mut check = |digits, some: &[(usize, f64)]| {
        rounds
            .for_each(x.len())
            .launch(&device, digits, &mut out)
            .unwrap();
        let out = out.to_vec().unwrap();
        for (x, out) in x.iter().zip(&out) {
            // The powers of ten may differ by an ULP.
            let expected = round_to(*x, digits);
            assert!(
                (out - expected).abs() <= 1e-15 * expected.abs(),
                "{x} to {digits} digits: {out}"
            );
        }
        some.iter()
            .for_each(|&(i, expected)| assert_eq!(out[i], expected));
    };
    check(0, &[(0, 0.0), (1, 2.0), (2, 2.0), (3, -0.0)]);
    check(2, &[(4, 0.12), (5, 1234.57), (6, -987.65), (7, 1e307)]);
    check(-1, &[(9, 60.0), (10, 80.0), (5, 1230.0)]);
}

/// Numbers of several sizes, with padding.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
struct Record {
    id: u32,
    weight: f64,
    place: [i16; 3],
}

// SAFETY: plain data, whose fields are valid with any bits.
unsafe impl Zeroable for Record {}
// SAFETY: as above.
unsafe impl AnyBitPattern for Record {}

impl Record {
    fn random(random: &mut Random) -> Self {
        Self {
            id: random.bits() as u32,
            weight: random.between(-1.0, 1.0),
            place: [0; 3].map(|_: i16| random.bits() as i16),
        }
    }
}

mod left {
    use super::*;

    /// Puts `x` in front.
    #[inline(always)]
    pub fn pass(x: u32) -> u32 {
        let buffer = shared_array![u32; 64];
        let t = thread::index_in_block();
        buffer.set(t, x);
        sync_threads();
        buffer.get((t + 1) % 64)
    }
}

mod right {
    use super::*;

    /// As `left::pass`, in the other direction and with as much memory under the same name.
    #[inline(never)]
    pub fn pass(x: u32) -> u32 {
        let buffer = shared_array![u32; 64];
        let t = thread::index_in_block();
        buffer.set(t, x);
        sync_threads();
        buffer.get((t + 63) % 64)
    }
}

#[kernel]
fn pass_both_ways(mut out: DisjointSlice<[u32; 2]>) {
    let i = thread::index_1d();
    let t = thread::index_in_block() as u32;
    let both = [left::pass(t), right::pass(1000 + t)];
    if let Some(out) = out.get_mut(i) {
        *out = both;
    }
}

#[test]
fn helpers_with_arrays_of_one_name() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<[u32; 2]>(64).unwrap();
    launch!(pass_both_ways[1, 64](&mut out)).unwrap();
    let expected: Vec<_> = (0..64)
        .map(|t| [(t + 1) % 64, 1000 + (t + 63) % 64])
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// A helper that takes parts of slices.
fn copy_row(from: &[i32], to: &mut [i32]) {
    to.copy_from_slice(from);
}

#[kernel]
fn copy_rows(x: &[i32], from: usize, mut out: DisjointSlice<[i32; 5]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        copy_row(&x[*i * 5..][from..5], &mut out[from..]);
    }
}

#[test]
fn parts_of_slices_go_to_helpers() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<i32> = (0..35).collect();
    let device = gpu.to_device(&x).unwrap();
    // From 5 on there is nothing to copy.
    for from in [0, 2, 5] {
        let mut out = gpu.full(7, [-1; 5]).unwrap();
        launch!(copy_rows[1, 7](&device, from, &mut out)).unwrap();
        for (row, out) in x.chunks(5).zip(out.to_vec().unwrap()) {
            assert_eq!(
                (&out[..from], &out[from..]),
                (&[-1; 5][..from], &row[from..])
            );
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Color {
    Red,
    Green = 7,
    Blue,
}

#[kernel]
fn of_color(color: Color, weights: &[u32], mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = weights[color as usize] + u32::from(color == Color::Green) * 1000;
    }
}

#[test]
fn enums_compare_and_index() {
    let gpu = Gpu::new().unwrap();
    let weights = gpu.to_device(&(100..110).collect::<Vec<u32>>()).unwrap();
    let mut out = gpu.zeros::<u32>(3).unwrap();
    for (color, expected) in [(Color::Red, 100), (Color::Green, 1107), (Color::Blue, 108)] {
        launch!(of_color[1, 3](color, &weights, &mut out)).unwrap();
        assert_eq!(out.to_vec().unwrap(), [expected; 3]);
    }
}

/// Tuples in tuples, arrays beside numbers, and nothing.
#[kernel]
fn tuples((scale, (shift, [a, b])): (f32, (i32, [f32; 2])), (): (), mut out: DisjointSlice<f32>) {
    let names = ("zero", "one", "two");
    let lengths = [names.0.len(), names.1.len(), names.2.len()];
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let pairs = lengths.iter().zip([a, b, a * b]).enumerate();
        let sum: f32 = pairs.map(|(k, (&len, x))| (k * len) as f32 + x).sum();
        *out = scale * sum + shift as f32;
    }
}

#[test]
fn tuples_zip_and_enumerate() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<f32>(4).unwrap();
    launch!(tuples[1, 4]((2.0, (-1, [0.5, 3.0])), (), &mut out)).unwrap();
    // Lengths 4, 3, 3 times 0, 1, 2, and 0.5 + 3 + 1.5.
    assert_eq!(out.to_vec().unwrap(), [2.0 * (9.0 + 5.0) - 1.0; 4]);
}

#[kernel]
fn text_and_bytes(words: &[u8], mut out: DisjointSlice<[u8; 8]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let word = ["alpha", "be", "", "epsilon!"][*i % 4];
        out[..word.len()].copy_from_slice(word.as_bytes());
        out[7] |= words[*i];
    }
}

#[test]
fn constant_text_is_copied_out() {
    let gpu = Gpu::new().unwrap();
    let words = gpu.to_device(b"\x00\x00\x2a\x00").unwrap();
    let mut out = gpu.full(4, [0u8; 8]).unwrap();
    launch!(text_and_bytes[1, 4](&words, &mut out)).unwrap();
    assert_eq!(
        out.to_vec().unwrap(),
        [
            *b"alpha\0\0\0",
            *b"be\0\0\0\0\0\0",
            *b"\0\0\0\0\0\0\0*",
            *b"epsilon!"
        ]
    );
}

#[kernel]
fn in_place(mut x: DisjointSlice<f32>, mut n: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let (Some(x), Some(n)) = (x.get_mut(i), n.get_mut(i)) {
        *x /= 2.0;
        *x += 1.0;
        *x -= 0.25;
        *x *= 4.0;
        *n = n.div_euclid(3) * 100 + *n % 3;
    }
}

#[test]
fn operators_work_in_place() {
    let gpu = Gpu::new().unwrap();
    let mut x = gpu.to_device(&[1.0f32, -3.0, 0.5]).unwrap();
    let mut n = gpu.to_device(&[7, -7, 9]).unwrap();
    launch!(in_place[1, 3](&mut x, &mut n)).unwrap();
    assert_eq!(x.to_vec().unwrap(), [5.0, -3.0, 4.0]);
    assert_eq!(n.to_vec().unwrap(), [201, -301, 300]);
}

const TABLE: [f64; 5] = [1.08, 5.4, 1.62, 6.48, 16.2];

#[kernel]
fn constants(mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = TABLE[*i] * 10.0;
    }
}

#[test]
fn constants_are_part_of_the_code() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<f64>(5).unwrap();
    launch!(constants[1, 5](&mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), TABLE.map(|x| x * 10.0));
}

#[kernel]
fn divides(x: &[f32], y: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[*i] / y[*i];
    }
}

#[test]
fn a_float_divided_by_zero_is_infinite() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[1.0f32, -1.0, 0.0]).unwrap();
    let y = gpu.zeros::<f32>(3).unwrap();
    let mut out = gpu.zeros::<f32>(3).unwrap();
    launch!(divides[1, 3](&x, &y, &mut out)).unwrap();
    let out = out.to_vec().unwrap();
    assert_eq!(out[..2], [f32::INFINITY, -f32::INFINITY]);
    assert!(out[2].is_nan());
}

/// # Safety
/// `first` is the first of as many bytes as threads are launched, all of them writable.
#[kernel]
unsafe fn increment(first: *mut u8) {
    // SAFETY: the caller promises it, and each thread has a byte of its own.
    unsafe { *first.add(*thread::index_1d()) += 1 };
}

#[derive(Clone, Copy)]
struct Bytes {
    len: usize,
    first: *mut u8,
}

/// # Safety
/// As for `increment`.
#[kernel]
unsafe fn increment_within(bytes: Bytes) {
    let i = *thread::index_1d();
    if i < bytes.len {
        // SAFETY: the caller promises it.
        unsafe { *bytes.first.add(i) += 1 };
    }
}

#[test]
fn raw_pointers_are_arguments_of_unsafe_kernels() {
    let gpu = Gpu::new().unwrap();
    let host: Vec<u8> = (0..100).collect();
    let bytes = gpu.to_device(&host).unwrap();
    let first: *mut u8 = std::ptr::with_exposed_provenance_mut(bytes.device_ptr() as usize);
    let (one, two) = (
        increment.on(&gpu).grid(1).block(100),
        increment_within.on(&gpu),
    );
    // SAFETY: `bytes` lives on, has 100 bytes, and nothing else uses it.
    unsafe {
        one.launch(first).unwrap();
        two.grid(4)
            .block(32)
            .launch(Bytes { len: 50, first })
            .unwrap();
    }
    let expected: Vec<u8> = (0..100).map(|x| x + 1 + u8::from(x < 50)).collect();
    assert_eq!(bytes.to_vec().unwrap(), expected);
}

fn complex_functions(z: Complex<f64>) -> [Complex<f64>; 16] {
    let (r, theta) = z.to_polar();
    [
        z.exp(),
        z.ln(),
        z.log(10.0),
        z.sqrt(),
        z.sin(),
        z.cos(),
        z.tan(),
        z.asin(),
        z.acos(),
        z.atan(),
        z.sinh(),
        z.cosh(),
        z.tanh(),
        Complex::from_polar(r, theta),
        z * z.conj() / (z + 1.5),
        z.powi(3) - z.inv(),
    ]
}

#[kernel]
fn complex(z: &[[f64; 2]], mut out: DisjointSlice<[[f64; 2]; 16]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let [re, im] = z[*i];
        *out = complex_functions(Complex { re, im }).map(|z| [z.re, z.im]);
    }
}

#[test]
fn complex_numbers_of_another_crate() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(7);
    let z: Vec<[f64; 2]> = (0..200)
        .map(|_| [random.between(-2.0, 2.0), random.between(-2.0, 2.0)])
        .collect();
    let device = gpu.to_device(&z).unwrap();
    let mut out = gpu.full(200, [[0.0; 2]; 16]).unwrap();
    complex.for_each(200).launch(&device, &mut out).unwrap();
    for (&[re, im], out) in z.iter().zip(out.to_vec().unwrap()) {
        let expected = complex_functions(Complex { re, im });
        for (k, ([re, im], expected)) in out.into_iter().zip(expected).enumerate() {
            let error = (Complex { re, im } - expected).norm();
            assert!(
                error <= 1e-12 * (1.0 + expected.norm()),
                "{k} of {re} + {im}i: {error}"
            );
        }
    }
}

/// A cell a thread, and what each operation returned.
#[kernel]
fn old_values(x: &[i32], cells: &[AtomicI32], mut out: DisjointSlice<[i32; 9]>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let (x, cell) = (x[*i], &cells[*i]);
    *out = [
        cell.fetch_add(x, Relaxed),
        cell.fetch_sub(7, Relaxed),
        cell.fetch_and(x, Relaxed),
        cell.fetch_or(64, Relaxed),
        cell.fetch_xor(x, Relaxed),
        cell.fetch_min(3, Relaxed),
        cell.fetch_max(-3, Relaxed),
        cell.swap(x, Relaxed),
        cell.load(Relaxed),
    ];
}

#[test]
fn atomics_return_the_old_value() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<i32> = Random::new(9)
        .below(300, 1000)
        .iter()
        .map(|&x| x as i32 - 500)
        .collect();
    let device = gpu.to_device(&x).unwrap();
    let mut cells = gpu.full(300, 100).unwrap();
    let mut out = gpu.zeros::<[i32; 9]>(300).unwrap();
    old_values
        .for_each(300)
        .launch(&device, &mut cells, &mut out)
        .unwrap();
    for (x, out) in x.into_iter().zip(out.to_vec().unwrap()) {
        let add = 100 + x;
        let sub = add - 7;
        let and = sub & x;
        let or = and | 64;
        let xor = or ^ x;
        let min = xor.min(3);
        assert_eq!(out, [100, add, sub, and, or, xor, min, min.max(-3), x]);
    }
}

/// Puts a new value where the old one is `wanted`, in a matrix.
#[kernel]
fn replace(
    wanted: i64,
    new: &[i64],
    cells: &[AtomicI64],
    mut old: DisjointSlice<i64, ThreadIndex2d>,
) {
    let (i, [_, cols]) = (thread::index_2d(), old.shape());
    if let Some(old) = old.get_mut(i) {
        let at = i.row() * cols + i.col();
        *old = match cells[at].compare_exchange(wanted, new[at], AcqRel, Relaxed) {
            Ok(old) | Err(old) => old,
        };
    }
}

#[test]
fn a_compare_and_swap_replaces_what_is_equal() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(10);
    let start: Vec<i64> = random.below(100, 3).into_iter().map(i64::from).collect();
    let new: Vec<i64> = (0..100).map(|_| random.bits() as i64).collect();
    let mut cells = gpu.to_device(&start).unwrap();
    let mut old = gpu.zeros_nd::<i64, _>((10, 10)).unwrap();
    let device = gpu.to_device(&new).unwrap();
    launch!(replace[(2, 2), (8, 8)](1, &device, &mut cells, &mut old)).unwrap();
    assert_eq!(old.to_vec().unwrap(), start);
    let pairs = start.iter().zip(&new);
    let expected: Vec<i64> = pairs
        .map(|(&old, &new)| if old == 1 { new } else { old })
        .collect();
    assert_eq!(cells.to_vec().unwrap(), expected);
}

/// One thread an element, without tiles.
#[kernel]
fn matmul(a: &[f32], b: &[f32], inner: usize, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let (i, [_, cols]) = (thread::index_2d(), c.shape());
    if let Some(c) = c.get_mut(i) {
        *c = (0..inner)
            .map(|k| a[i.row() * inner + k] * b[k * cols + i.col()])
            .sum();
    }
}

#[test]
fn matrix_products_of_several_shapes() {
    let gpu = Gpu::new().unwrap();
    let product = |a: &Array2<f32>, b: &Array2<f32>| {
        let mut c = gpu.zeros_nd::<f32, _>((a.nrows(), b.ncols())).unwrap();
        let (device_a, device_b) = (gpu.to_device(a).unwrap(), gpu.to_device(b).unwrap());
        let grid = (b.ncols().div_ceil(8), a.nrows().div_ceil(8));
        launch!(matmul[grid, (8, 8)](&device_a, &device_b, a.ncols(), &mut c)).unwrap();
        c.to_host().unwrap()
    };
    let a = Array2::from_shape_fn((4, 4), |(row, col)| (4 * row + col) as f32);
    let c = product(&a, &Array2::ones((4, 4)));
    assert_eq!(c.column(0), array![6.0, 22.0, 38.0, 54.0]);
    assert_eq!(c.column(3), c.column(0));
    for (seed, (rows, inner, cols)) in (8..).zip([(5, 23, 7), (33, 1, 2), (1, 40, 1)]) {
        let numbers = |seed, rows, cols| {
            Array2::from_shape_vec(
                (rows, cols),
                Random::new(seed).floats(rows * cols, -1.0, 1.0),
            )
            .unwrap()
        };
        let (a, b) = (numbers(seed, rows, inner), numbers(seed + 100, inner, cols));
        let difference = product(&a, &b) - a.dot(&b);
        assert!(difference.iter().all(|x| x.abs() < 1e-5), "{difference}");
    }
}

/// A transpose through shared memory, of any type that it can hold.
#[kernel]
fn transpose<T: DeviceCopy + CheckedBitPattern>(a: &[T], mut out: DisjointSlice<T, ThreadIndex2d>) {
    let tile = shared_array![T; 16, 17];
    let (i, [cols, rows]) = (thread::index_2d(), out.shape());
    let (y, x) = (i.row() % 16, i.col() % 16);
    let (row, col) = (i.col() - x + y, i.row() - y + x);
    if row < rows && col < cols {
        tile.set((y, x), a[row * cols + col]);
    }
    sync_threads();
    if let Some(out) = out.get_mut(i) {
        *out = tile.get((x, y));
    }
}

#[test]
fn transposes_of_any_type() {
    fn check<T>(rows: usize, cols: usize, element: impl Fn(&mut Random) -> T)
    where
        T: DeviceCopy + CheckedBitPattern + PartialEq + std::fmt::Debug + 'static,
    {
        let gpu = Gpu::new().unwrap();
        let mut random = Random::new((rows * cols) as u64);
        let a = Array2::from_shape_simple_fn((rows, cols), || element(&mut random));
        let device = gpu.to_device(&a).unwrap();
        let mut out = gpu.full((cols, rows), a[(0, 0)]).unwrap();
        let grid = (rows.div_ceil(16), cols.div_ceil(16));
        launch!(transpose[grid, (16, 16)](&device, &mut out)).unwrap();
        assert_eq!(out.to_host().unwrap(), a.t());
    }
    for (rows, cols) in [(5, 6), (128, 128), (1025, 512)] {
        check(rows, cols, |random| random.bits() as u8);
        check(rows, cols, |random| random.bits() % 3 == 0);
        check(rows, cols, |random| [random.between(-1.0, 1.0), 0.5]);
        check(rows, cols, Record::random);
    }
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles();
}
