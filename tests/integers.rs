//! Integer operations of every width, and conversions, as on the host.
#![allow(missing_docs)]

mod common;

use common::Random;
use oxwarp::prelude::*;

macro_rules! integers {
    ($($name:ident: $int:ident, $wide:ident;)*) => {$(
        mod $name {
            use super::*;

            const COUNT: usize = 32;

            fn results(x: $int, y: $int) -> [u64; COUNT] {
                let n = (y as u32) % $int::BITS;
                let option = |x: Option<$int>| x.map_or(0x5555, |x| x as u64 ^ (1 << 63));
                let odd = y | 1;
                [
                    x.count_ones().into(),
                    x.leading_zeros().into(),
                    x.trailing_zeros().into(),
                    x.reverse_bits() as u64,
                    x.swap_bytes() as u64,
                    x.rotate_left(n) as u64,
                    x.rotate_right(n) as u64,
                    x.wrapping_add(y) as u64,
                    x.wrapping_sub(y) as u64,
                    x.wrapping_mul(y) as u64,
                    x.wrapping_neg() as u64,
                    x.wrapping_shl(n) as u64,
                    x.wrapping_shr(n) as u64,
                    x.saturating_add(y) as u64,
                    x.saturating_sub(y) as u64,
                    x.saturating_mul(y) as u64,
                    option(x.checked_add(y)),
                    option(x.checked_sub(y)),
                    option(x.checked_mul(y)),
                    option(x.checked_div(y)),
                    option(x.checked_rem(y)),
                    x.overflowing_add(y).1.into(),
                    x.overflowing_sub(y).1.into(),
                    x.overflowing_mul(y).1.into(),
                    x.wrapping_div(odd) as u64,
                    x.wrapping_rem(odd) as u64,
                    x.wrapping_rem_euclid(odd) as u64,
                    x.min(y) as u64,
                    x.max(y) as u64,
                    x.wrapping_pow(3) as u64,
                    u64::from(x < y) + 2 * u64::from(x == y),
                    (x as $wide).wrapping_mul(y as $wide).wrapping_shr($int::BITS / 2) as u64,
                ]
            }

            #[kernel]
            fn compute(x: &[$int], y: &[$int], mut out: DisjointSlice<[u64; COUNT]>) {
                let i = thread::index_1d();
                if let Some(out) = out.get_mut(i) {
                    *out = results(x[*i], y[*i]);
                }
            }

            #[test]
            fn as_on_the_host() {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(7);
                let edges = [0, 1, -1i128 as $int, $int::MIN, $int::MAX, $int::MAX / 2 + 1, 2, 7];
                let mut pairs: Vec<($int, $int)> =
                    edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
                pairs.extend((0..200).map(|k| {
                    let mut wide = || (u128::from(random.bits()) << 64 | u128::from(random.bits())) >> (k % 128);
                    (wide() as $int, wide() as $int)
                }));
                let (x, y): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
                let mut out = gpu.full(pairs.len(), [0u64; COUNT]).unwrap();
                let (x, y) = (gpu.to_device(&x).unwrap(), gpu.to_device(&y).unwrap());
                launch!(compute[5, 64](&x, &y, &mut out)).unwrap();
                for (&(x, y), got) in pairs.iter().zip(out.to_vec().unwrap()) {
                    for (index, (got, expected)) in got.into_iter().zip(results(x, y)).enumerate() {
                        assert_eq!(got, expected, "result {index} of {x} and {y}");
                    }
                }
            }
        }
    )*};
}

integers! {
    u8: u8, u32;
    i8: i8, i32;
    u16: u16, u32;
    i16: i16, i32;
    u32: u32, u64;
    i32: i32, i64;
    u64: u64, u128;
    i64: i64, i128;
    u128: u128, u128;
    i128: i128, i128;
}

fn convert(x: f64) -> [i64; 7] {
    [
        x as i64,
        (x as i32).into(),
        (x as u8).into(),
        (x as i8).into(),
        x as u64 as i64,
        (x as f32).to_bits().into(),
        (x as i64 as f64).to_bits() as i64,
    ]
}

/// Conversions between floats and integers saturate as in Rust.
#[kernel]
fn conversions(x: &[f64], mut out: DisjointSlice<[i64; 7]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = convert(x[*i]);
    }
}

#[test]
fn conversions_saturate() {
    let gpu = Gpu::new().unwrap();
    let large = [
        1e10,
        -1e10,
        1e19,
        1e30,
        -1e30,
        f64::INFINITY,
        -f64::INFINITY,
    ];
    let mut host = vec![0.0, -0.0, 1.9, -1.9, 255.5, 256.0, -128.9, f64::NAN];
    host.extend(large);
    let x = gpu.to_device(&host).unwrap();
    let mut out = gpu.full(host.len(), [0i64; 7]).unwrap();
    launch!(conversions[1, 32](&x, &mut out)).unwrap();
    for (x, mut got) in host.into_iter().zip(out.to_vec().unwrap()) {
        let mut expected = convert(x);
        if x.is_nan() {
            // Which NaN it is is not specified.
            (got[5], expected[5]) = (0, 0);
        }
        assert_eq!(got, expected, "{x}");
    }
}

/// Elements by signed numbers that wrap in their own width, before they are widened for the address.
fn by_wrapped(x: &[u32], k: i8) -> [u32; 3] {
    let at = |k: i8| x[(isize::from(k) + 128) as usize];
    [at(k), at(k.wrapping_add(100)), at(k.wrapping_sub(100))]
}

#[kernel]
fn wrapped_indices(x: &[u32], k: &[i8], mut out: DisjointSlice<[u32; 3]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = by_wrapped(x, k[*i]);
    }
}

#[test]
fn narrow_indices_wrap_before_they_are_widened() {
    let gpu = Gpu::new().unwrap();
    let x = Random::new(8).below(256, 1000);
    let k: Vec<i8> = (-128..=127).collect();
    let (device_x, device_k) = (gpu.to_device(&x).unwrap(), gpu.to_device(&k).unwrap());
    let mut out = gpu.full(256, [0u32; 3]).unwrap();
    launch!(wrapped_indices[8, 32](&device_x, &device_k, &mut out)).unwrap();
    let expected: Vec<_> = k.iter().map(|&k| by_wrapped(&x, k)).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}
