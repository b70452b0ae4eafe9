//! 16-bit floats: conversions, arithmetic rounded once, and pairs.
#![allow(missing_docs)]

mod common;
mod device_code;
#[path = "conversions/fp8.rs"]
mod fp8;

use common::Random;
use oxwarp::half::{Bf16, Bf16x2, F16, F16x2};
use oxwarp::prelude::*;

macro_rules! kernels {
    ($($name:ident $half:ident $pair:ident $infinity:literal;)*) => {$(
        mod $name {
            use super::*;

            #[kernel]
            fn arithmetic(x: &[[$half; 3]], mut out: DisjointSlice<[$half; 9]>) {
                let i = thread::index_1d();
                let Some(out) = out.get_mut(i) else { return };
                let [a, b, c] = x[*i];
                let pair = $pair::new(a, b);
                *out = [
                    a + b,
                    a - b,
                    a * b,
                    a / b,
                    a.mul_add(b, c),
                    -a.abs(),
                    (pair + $pair::splat(c)).hi(),
                    (pair * $pair::splat(c)).lo(),
                    pair.mul_add($pair::splat(c), pair).hi(),
                ];
            }

            /// The sum of `a * b` and `c`, rounded once, in integers: all numbers are multiples of 2^-20.
            fn fused([a, b, c]: [$half; 3]) -> $half {
                let exact = (a.to_f64() * 1024.0) as i64 * (b.to_f64() * 1024.0) as i64
                    + (c.to_f64() * 1048576.0) as i64;
                $half::from_f64(exact as f64 / 1048576.0)
            }

            #[test]
            fn operations_are_rounded_once() {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(1);
                // Small enough that every sum of products is exact in an `i64` and a double.
                let mut number = || $half::from_f64((random.between(-16.0, 16.0) * 1024.0).round() / 1024.0);
                let x: Vec<[$half; 3]> = (0..3000).map(|_| [number(), number(), number()]).collect();
                let device = gpu.to_device(&x).unwrap();
                let mut out = gpu.zeros::<[$half; 9]>(x.len()).unwrap();
                arithmetic.for_each(x.len()).launch(&device, &mut out).unwrap();
                for (&[a, b, c], out) in x.iter().zip(out.to_vec().unwrap()) {
                    let [x, y, z] = [a, b, c].map($half::to_f64);
                    let round = $half::from_f64;
                    let expected = [
                        round(x + y),
                        round(x - y),
                        round(x * y),
                        round(x / y),
                        fused([a, b, c]),
                        round(-x.abs()),
                        round(y + z),
                        round(x * z),
                        fused([b, c, b]),
                    ];
                    assert_eq!(out.map($half::to_bits), expected.map($half::to_bits), "{a} {b} {c}");
                }
            }

            #[kernel]
            fn convert(bits: &[u16], mut single: DisjointSlice<f32>, mut back: DisjointSlice<[u16; 2]>) {
                let i = thread::index_1d();
                let x = $half::from_bits(bits[(*i).min(bits.len() - 1)]);
                if let Some(single) = single.get_mut(i) {
                    *single = x.to_f32();
                }
                if let Some(back) = back.get_mut(i) {
                    *back = [$half::from_f32(x.to_f32()).to_bits(), $half::from_f64(x.to_f64()).to_bits()];
                }
            }

            #[test]
            fn every_number_converts_and_comes_back() {
                let gpu = Gpu::new().unwrap();
                let bits: Vec<u16> = (0..=u16::MAX).collect();
                let mut single = gpu.zeros::<f32>(bits.len()).unwrap();
                let mut back = gpu.zeros::<[u16; 2]>(bits.len()).unwrap();
                convert
                    .for_each(bits.len())
                    .launch(&gpu.to_device(&bits).unwrap(), &mut single, &mut back)
                    .unwrap();
                let (single, back) = (single.to_vec().unwrap(), back.to_vec().unwrap());
                for ((bits, single), back) in bits.into_iter().zip(single).zip(back) {
                    let x = $half::from_bits(bits);
                    if x.is_nan() {
                        assert!(single.is_nan() && $half::from_bits(back[0]).is_nan());
                    } else {
                        assert_eq!(back, [bits, bits]);
                        assert_eq!(single.is_infinite(), bits & 0x7fff == $infinity);
                    }
                }
            }
        }
    )*};
}

kernels! {
    f16 F16 F16x2 0x7c00;
    bf16 Bf16 Bf16x2 0x7f80;
}

#[kernel]
fn round_floats(x: &[f32], mut out: DisjointSlice<(F16, Bf16)>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = (F16::from_f32(x[*i]), Bf16::from_f32(x[*i]));
    }
}

#[test]
fn floats_round_to_the_nearest_half_to_even() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(2);
    let mut x: Vec<f32> = (0..5000)
        .map(|_| f32::from_bits(random.bits() as u32))
        .collect();
    x.extend((0..5000).map(|_| random.between(-70000.0, 70000.0) as f32));
    x.extend((0..5000).map(|_| random.between(-1e-7, 1e-7) as f32));
    // Ties: a number of the type and half a step.
    x.extend([
        2049.0,
        2051.0,
        65519.9,
        65520.0,
        0.5f32.powi(24),
        0.5f32.powi(25),
        1.0 + 0.5f32.powi(8),
        1.0 + 3.0 * 0.5f32.powi(8),
        0.0,
        -0.0,
    ]);
    x.retain(|x| !x.is_nan());
    // SAFETY: every element is written before it is read.
    let mut out = unsafe { gpu.uninit(x.len()) }.unwrap();
    round_floats
        .for_each(x.len())
        .launch(&gpu.to_device(&x).unwrap(), &mut out)
        .unwrap();
    for (&x, (half, bfloat)) in x.iter().zip(out.to_vec().unwrap()) {
        assert_eq!(half.to_bits(), half::f16::from_f32(x).to_bits(), "{x:e}");
        assert_eq!(bfloat.to_bits(), half::bf16::from_f32(x).to_bits(), "{x:e}");
    }
}

macro_rules! rounding {
    ($($name:ident $half:ident $pair:ident;)*) => {$(
        mod $name {
            use super::*;

            #[kernel]
            fn $name(x: &[[$half; 2]], mut out: DisjointSlice<([$half; 10], [$pair; 3], [i32; 2])>) {
                let i = thread::index_1d();
                let Some(out) = out.get_mut(i) else { return };
                let [a, b] = x[*i];
                let (x, y) = ($pair::new(a, b), $pair::new(b, a));
                *out = (
                    [
                        a.floor(),
                        a.ceil(),
                        a.trunc(),
                        a.round_ties_even(),
                        a.min(b),
                        a.max(b),
                        a.copysign(b),
                        a.clamp(-$half::ONE, $half::ONE),
                        $half::from_i32(a.to_bits() as i16 as i32 * 977),
                        $half::from_u32(b.to_bits() as u32 * 31),
                    ],
                    [x.min(y), x.max(y), x.abs()],
                    [a.to_i32(), b.to_u32() as i32],
                );
            }

            #[test]
            fn rounding_order_and_integers() {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(41);
                let mut x: Vec<[$half; 2]> = (0..3000)
                    .map(|_| [random.bits() as u16, random.bits() as u16].map($half::from_bits))
                    .collect();
                let mut small = || $half::from_f64((random.between(-9.0, 9.0) * 2.0).round() / 2.0);
                x.extend((0..1000).map(|_| [small(), small()]));
                let special = [0.0, -0.0, f64::NAN, f64::INFINITY, -f64::INFINITY, 2.5].map($half::from_f64);
                x.extend(special.iter().flat_map(|&a| special.map(|b| [a, b])));
                // SAFETY: every element is written before it is read.
                let mut out = unsafe { gpu.uninit(x.len()) }.unwrap();
                $name.for_each(x.len()).launch(&gpu.to_device(&x).unwrap(), &mut out).unwrap();
                for (&[a, b], (ones, pairs, integers)) in x.iter().zip(out.to_vec().unwrap()) {
                    let [x, y] = [a, b].map($half::to_f64);
                    let least = if x.is_nan() || !y.is_nan() && y.total_cmp(&x).is_lt() { y } else { x };
                    let greatest = if x.is_nan() || !y.is_nan() && y.total_cmp(&x).is_gt() { y } else { x };
                    let expected = [
                        x.floor(),
                        x.ceil(),
                        x.trunc(),
                        x.round_ties_even(),
                        least,
                        greatest,
                        if b.is_sign_negative() { -x.abs() } else { x.abs() },
                        if x.is_nan() { x } else { x.clamp(-1.0, 1.0) },
                        f64::from(a.to_bits() as i16) * 977.0,
                        f64::from(b.to_bits()) * 31.0,
                    ];
                    let same = |got: $half, expected: f64| {
                        got.to_bits() == $half::from_f64(expected).to_bits() || got.is_nan() && expected.is_nan()
                    };
                    for (i, (got, expected)) in ones.into_iter().zip(expected).enumerate() {
                        assert!(same(got, expected), "{i} of {a} {b}: {got}, not {expected}");
                    }
                    for (pair, expected) in pairs.into_iter().zip([[least, least], [greatest, greatest], [x.abs(), y.abs()]]) {
                        assert!(same(pair.lo(), expected[0]) && same(pair.hi(), expected[1]), "{a} {b}: {pair:?}");
                    }
                    assert_eq!(integers, [x as i32, y as u32 as i32], "{a} {b}");
                }
            }
        }
    )*};
}

rounding! {
    f16_rounding F16 F16x2;
    bf16_rounding Bf16 Bf16x2;
}

#[kernel]
fn half_functions(x: &[F16], mut out: DisjointSlice<[F16; 14]>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let x = x[*i];
    let above = x.abs() + F16::ONE;
    *out = [
        x.sin(),
        x.cos(),
        x.exp(),
        x.exp2(),
        above.ln(),
        above.log2(),
        above.sqrt(),
        above.rsqrt(),
        above.recip(),
        x.floor(),
        x.ceil(),
        x.round_ties_even().min(x.trunc()).max(x.tanh()),
        above.log10(),
        x.exp10(),
    ];
}

#[test]
fn functions_are_those_of_f32() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<F16> = Random::new(3)
        .floats(1000, -4.0, 4.0)
        .into_iter()
        .map(F16::from_f32)
        .collect();
    let mut out = gpu.zeros::<[F16; 14]>(x.len()).unwrap();
    half_functions
        .for_each(x.len())
        .launch(&gpu.to_device(&x).unwrap(), &mut out)
        .unwrap();
    for (&half, out) in x.iter().zip(out.to_vec().unwrap()) {
        let x = half.to_f32();
        let above = F16::from_f32(x.abs() + 1.0).to_f32();
        let expected = [
            x.sin(),
            x.cos(),
            x.exp(),
            x.exp2(),
            above.ln(),
            above.log2(),
            above.sqrt(),
            1.0 / above.sqrt(),
            1.0 / above,
            x.floor(),
            x.ceil(),
            x.round_ties_even().min(x.trunc()).max(x.tanh()),
            above.log10(),
            10f32.powf(x),
        ];
        for (out, expected) in out.into_iter().zip(expected) {
            // Where two libraries round differently, the results are neighbours.
            let error = (out.to_f32() - expected).abs();
            assert!(
                error <= F16::EPSILON.to_f32() * expected.abs().max(1e-4),
                "{x}: {out}, not {expected}"
            );
        }
    }
}

#[kernel]
fn instructions(x: &[[F16; 3]], mut out: DisjointSlice<([F16; 4], [F16x2; 3])>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let [a, b, c] = x[*i];
        let (x, y) = (F16x2::new(a, b), F16x2::new(b, c));
        *out = (
            [a + b, a - b, a * b, a.mul_add(b, c)],
            [x + y, x * y, x.mul_add(y, x)],
        );
    }
}

#[kernel]
fn contracted(x: &[F16x2], y: &[Bf16x2], mut out: DisjointSlice<(F16x2, Bf16x2, bool)>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let (x, y) = (x[*i], y[*i]);
        *out = (x * x + x, y.mul_add(y, y), x.lo() < x.hi());
    }
}

#[test]
fn the_instructions_are_the_hardwares() {
    let wanted = [
        "add.f16",
        "sub.f16",
        "mul.f16",
        "fma.rn.f16",
        "add.f16x2",
        "mul.f16x2",
        "fma.rn.f16x2",
    ];
    let code = device_code::of("instructions");
    device_code::contains(&code, &wanted);
    device_code::contains(
        &device_code::of("contracted"),
        &["fma.rn.f16x2", "setp.lt.f16"],
    );
    device_code::assembles();
}

#[test]
fn comparisons_and_text() {
    let (one, two) = (F16::ONE, F16::from_f32(2.0));
    assert!(one < two && one <= one && two >= one && one != two && F16::NAN != F16::NAN);
    assert_eq!(F16::from_f32(0.0), F16::from_f32(-0.0));
    assert_eq!((Bf16::from_f32(0.9375)).to_string(), "0.9375");
    assert_eq!(format!("{:?}", F16x2::new(one, two)), "F16x2(1.0, 2.0)");
    assert_eq!(F16::MAX.to_f32(), 65504.0);
    assert_eq!(
        (F16::MAX + F16::MAX, F16::MAX.is_finite()),
        (F16::INFINITY, true)
    );
    let mut sum = one;
    sum += two;
    sum /= two;
    assert_eq!(sum.to_f64(), 1.5);
}
