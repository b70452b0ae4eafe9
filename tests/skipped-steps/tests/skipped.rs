//! Without any of the compiler's own optimisations kernels give the same results, and panic at the same places.
//!
//! Each of the optimisations would change one of these kernels or more. `OXWARP_SKIP=all` runs all other tests that way.
#![allow(missing_docs)]

#[path = "../../common/mod.rs"]
mod common;
#[path = "../../device_code/mod.rs"]
mod device_code;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use common::Random;
use oxwarp::prelude::*;
use oxwarp::vector::Float4;
use oxwarp::{Error, KernelPanic};

const BLOCK: usize = 64;

fn panic_of(launch: impl FnOnce(&Gpu) -> oxwarp::Result<()>) -> KernelPanic {
    let gpu = Gpu::new().unwrap();
    match launch(&gpu).and_then(|()| gpu.synchronize()) {
        Err(Error::KernelPanic(panic)) => *panic,
        other => panic!("{other:?}"),
    }
}

fn out_of_bounds(len: usize, index: usize) -> String {
    format!("index out of bounds: the len is {len} but the index is {index}")
}

/// A product of square matrices with `n` columns: indices of 32 bits, checks in a loop.
#[kernel]
fn product(a: &[u32], b: &[u32], n: u32, mut c: DisjointSlice<u32, ThreadIndex2d>) {
    let i = thread::index_2d();
    let (row, col) = (i.row() as u32, i.col() as u32);
    if let Some(c) = c.get_mut(i) {
        let mut sum = 0u32;
        for k in 0..n {
            let of_a = a[(row * n + k) as usize];
            let of_b = b[(k * n + col) as usize];
            sum = sum.wrapping_add(of_a.wrapping_mul(of_b));
        }
        *c = sum;
    }
}

/// Where `a` is read; `b` is read in the next line.
const PRODUCT_LINE: u32 = line!() - 9;

#[test]
fn products_of_matrices() {
    let (gpu, mut random) = (Gpu::new().unwrap(), Random::new(1));
    for n in [1, 19, 32] {
        let [a, b] = [(); 2].map(|()| random.below(n * n, u32::MAX));
        let sum = |i: usize| {
            let terms = (0..n).map(|k| a[i / n * n + k].wrapping_mul(b[k * n + i % n]));
            terms.fold(0, u32::wrapping_add)
        };
        let expected: Vec<u32> = (0..n * n).map(sum).collect();
        let [a, b] = [a, b].map(|numbers| gpu.to_device(&numbers).unwrap());
        let mut c = gpu.zeros_nd::<u32, _>((n, n)).unwrap();
        launch!(product[(4, 4), (8, 8)](&a, &b, n as u32, &mut c)).unwrap();
        assert_eq!(c.to_vec().unwrap(), expected);
    }
}

/// One thread with a row of `a` and a column of `b`, of which one is too short; or both, at the same trip.
#[test]
fn a_loop_panics_at_the_first_index_out_of_bounds() {
    for (lens, n, array, index) in [
        ([2, 25], 5u32, 0, 2),
        ([5, 11], 5, 1, 15),
        ([3, 15], 5, 0, 3),
        ([2, 2], 2, 1, 2),
    ] {
        let panic = panic_of(|gpu| {
            let (a, b) = (gpu.zeros::<u32>(lens[0])?, gpu.zeros::<u32>(lens[1])?);
            let mut c = gpu.zeros_nd::<u32, _>((1, 1))?;
            launch!(product[(1, 1), (1, 1)](&a, &b, n, &mut c))
        });
        assert_eq!(panic.line, PRODUCT_LINE + array as u32, "{panic:?}");
        assert_eq!(panic.message, out_of_bounds(lens[array], index));
    }
}

/// Checks that follow each other.
#[kernel]
fn three_of(at: &[[usize; 3]], x: &[u32], y: &[u32], z: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let [a, b, c] = at[*i];
        let of_x = x[a];
        let of_y = y[b];
        let of_z = z[c];
        *out = of_x.wrapping_mul(of_y).wrapping_add(of_z);
    }
}

/// Where `x` is read; `y` and `z` are read in the next lines.
const THREE_LINE: u32 = line!() - 8;

#[test]
fn of_checks_that_follow_each_other_the_first_panics() {
    let mut random = Random::new(2);
    let arrays = [40, 50, 60].map(|len| random.below(len, u32::MAX));
    let run = |gpu: &Gpu, at: &[[usize; 3]]| -> oxwarp::Result<Vec<u32>> {
        let [x, y, z] = arrays.each_ref().map(|array| gpu.to_device(array).unwrap());
        let (at, mut out) = (gpu.to_device(at)?, gpu.zeros::<u32>(at.len())?);
        launch!(three_of[2, BLOCK](&at, &x, &y, &z, &mut out))?;
        out.to_vec()
    };
    let mut any = |len: usize| random.bits() as usize % len;
    let at: Vec<[usize; 3]> = (0..100).map(|_| [any(40), any(50), any(60)]).collect();
    let [x, y, z] = &arrays;
    let expected: Vec<u32> = at
        .iter()
        .map(|&[a, b, c]| x[a].wrapping_mul(y[b]).wrapping_add(z[c]))
        .collect();
    assert_eq!(run(&Gpu::new().unwrap(), &at).unwrap(), expected);
    for (wrong, array) in [([40, 50, 60], 0), ([39, 77, 60], 1), ([39, 49, 99], 2)] {
        let panic = panic_of(|gpu| run(gpu, &[wrong]).map(drop));
        assert_eq!(panic.line, THREE_LINE + array as u32, "{panic:?}");
        assert_eq!(
            panic.message,
            out_of_bounds(arrays[array].len(), wrong[array])
        );
    }
}

/// The sum of each block, by a stride that shrinks; and two lengths that an index is below.
#[kernel(block(BLOCK))]
fn sums(x: &[u32], y: &[u32], mut out: DisjointSlice<u32, BlockIndex>) {
    let sums = shared_array![u32; BLOCK];
    let (i, t) = (*thread::index_1d(), thread::index_in_block());
    let mut own = 0;
    if i < x.len() && i < y.len() {
        own = x[i].wrapping_mul(y[i]);
    }
    sums.set(t, own);
    sync_threads();
    let mut stride = block::len() / 2;
    while stride > 0 {
        if t < stride {
            sums.set(t, sums.get(t).wrapping_add(sums.get(t + stride)));
        }
        sync_threads();
        stride /= 2;
    }
    if let Some(out) = out.get_mut(block::index()) {
        *out = sums.get(0);
    }
}

#[test]
fn sums_of_blocks() {
    let (gpu, mut random) = (Gpu::new().unwrap(), Random::new(3));
    let (x, y) = (random.below(150, u32::MAX), random.below(170, u32::MAX));
    let products: Vec<u32> = x.iter().zip(&y).map(|(x, y)| x.wrapping_mul(*y)).collect();
    let expected: Vec<u32> = products
        .chunks(BLOCK)
        .map(|products| products.iter().copied().fold(0, u32::wrapping_add))
        .collect();
    let [x, y] = [x, y].map(|numbers| gpu.to_device(&numbers).unwrap());
    let mut out = gpu.zeros::<u32>(3).unwrap();
    launch!(sums[3, BLOCK](&x, &y, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// Sums of seven: the threads at the edge of a block load what lies beyond it.
#[kernel]
fn of_seven(x: &[u32], mut out: DisjointSlice<u32>) {
    let line = shared_array![u32; BLOCK + 6];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    let at = |i: usize| if i < x.len() { x[i] } else { 0 };
    line.set(t, at(*i));
    if t < 6 {
        line.set(t + BLOCK, at(*i + BLOCK));
    }
    sync_threads();
    if let Some(out) = out.get_mut(i) {
        *out = (0..7).fold(0, |sum: u32, k| sum.wrapping_add(line.get(t + k)));
    }
}

#[test]
fn sums_over_the_edges_of_blocks() {
    let (gpu, mut random) = (Gpu::new().unwrap(), Random::new(4));
    let x = random.below(5 * BLOCK - 3, u32::MAX);
    let sum = |i: usize| {
        let seven = x[i..].iter().take(7);
        seven.copied().fold(0, u32::wrapping_add)
    };
    let expected: Vec<u32> = (0..x.len()).map(sum).collect();
    let x = gpu.to_device(&x).unwrap();
    let mut out = gpu.zeros::<u32>(expected.len()).unwrap();
    launch!(of_seven[5, BLOCK](&x, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// Quotients and roots of every kind of number, several at each trip.
#[kernel(fma = false)]
fn quotients(x: &[f32], trips: usize, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut y = x[*i];
        for k in 0..trips {
            y = y / x[k] + (y * y).sqrt() / x[k + 1];
        }
        *out = y;
    }
}

#[test]
fn quotients_and_roots_to_the_last_bit() {
    let (gpu, mut random) = (Gpu::new().unwrap(), Random::new(5));
    let mut x = random.floats(200, 0.5, 2.0);
    x.extend([
        0.0,
        f32::MIN_POSITIVE / 8.0,
        f32::INFINITY,
        f32::NAN,
        1e38,
        -1e-38,
    ]);
    for trips in [0, 1, 5] {
        let of = |&from: &f32| (0..trips).fold(from, |y, k| y / x[k] + (y * y).sqrt() / x[k + 1]);
        let expected: Vec<f32> = x.iter().map(of).collect();
        let array = gpu.to_device(&x).unwrap();
        let mut out = gpu.zeros::<f32>(x.len()).unwrap();
        launch!(quotients[4, BLOCK](&array, trips, &mut out)).unwrap();
        for (found, expected) in out.to_vec().unwrap().into_iter().zip(expected) {
            let same = found.to_bits() == expected.to_bits();
            assert!(
                same || found.is_nan() && expected.is_nan(),
                "{found} {expected}"
            );
        }
    }
}

/// 16 bytes at once, in another order.
#[kernel]
fn in_order(x: &[Float4], order: &[u32], mut out: DisjointSlice<Float4>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[order[*i] as usize];
    }
}

#[test]
fn vectors_in_another_order() {
    let (gpu, mut random) = (Gpu::new().unwrap(), Random::new(6));
    let numbers = random.floats(400, -1.0, 1.0);
    let x: Vec<Float4> = numbers
        .chunks(4)
        .map(|four| Float4::new(four[0], four[1], four[2], four[3]))
        .collect();
    let order = random.below(200, 100);
    let expected: Vec<Float4> = order.iter().map(|&at| x[at as usize]).collect();
    let (x, order) = (gpu.to_device(&x).unwrap(), gpu.to_device(&order).unwrap());
    let mut out = gpu.zeros::<Float4>(200).unwrap();
    launch!(in_order[4, BLOCK](&x, &order, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// Additions whose results nothing reads.
#[kernel]
fn counts(x: &[u32], bins: &[AtomicU32]) {
    for i in thread::grid_stride(x.len()) {
        bins[x[*i] as usize % bins.len()].fetch_add(1, Relaxed);
    }
}

#[test]
fn a_histogram() {
    let (gpu, mut random) = (Gpu::new().unwrap(), Random::new(7));
    let x = random.below(1000, u32::MAX);
    let mut expected = vec![0; 13];
    for x in &x {
        expected[*x as usize % 13] += 1;
    }
    let x = gpu.to_device(&x).unwrap();
    let mut bins = gpu.zeros::<u32>(13).unwrap();
    launch!(counts[3, BLOCK](&x, &mut bins)).unwrap();
    assert_eq!(bins.to_vec().unwrap(), expected);
}

/// Text that is formatted on the device.
#[kernel]
fn complains(x: &[i64]) {
    let x = x[*thread::index_1d()];
    assert!(x < 0, "{x:?} is {:>9.3e} too much", x as f64);
}

#[test]
fn a_message_is_formatted() {
    for x in [0, 7, i64::MAX] {
        let panic = panic_of(|gpu| {
            let x = gpu.to_device(&[x])?;
            launch!(complains[1, 1](&x))
        });
        assert_eq!(
            panic.message,
            format!("{x:?} is {:>9.3e} too much", x as f64)
        );
    }
}

/// What steps leave in the code is not there.
#[test]
fn the_code_is_without_the_steps() {
    for (kernel, left) in [
        ("product", "ld.global.nc"),
        ("product", "oxwarp_panic_index"),
        ("sums", "setp.le.or.u64"),
        ("quotients", "rcp.approx"),
        ("in_order", ".v4."),
        ("counts", "red."),
    ] {
        let code = device_code::of(kernel);
        assert!(!code.contains(left), "{left} is in\n{code}");
    }
    device_code::assembles_for_its_target();
}
