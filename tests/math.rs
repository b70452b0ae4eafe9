//! The floating-point methods of std: on a device within a stated distance of the host's, in units in the last place
//! (ULP) of the type. The simulator runs the host's own functions; on a GPU they are libdevice's or libm's.
#![allow(missing_docs)]

mod common;

use common::Random;
use oxwarp::prelude::*;

/// How far results may be apart, in ULP, and by how much at most near zero.
macro_rules! functions {
    ($module:ident, $float:ident, $bits:ident, $tiny:expr; $($name:ident($x:ident, $y:ident) $ulp:literal
        [$low:expr, $high:expr] = $value:expr;)*) => {
        mod $module {
            use super::*;

            fn distance(a: $float, b: $float) -> u64 {
                if a == b || a.is_nan() && b.is_nan() {
                    return 0;
                }
                if a.is_nan() || b.is_nan() || a.is_infinite() || b.is_infinite() {
                    return u64::MAX;
                }
                // The bits in the order of the numbers.
                let ordered = |x: $float| {
                    let bits = i64::from(x.to_bits() as i64);
                    let magnitude = bits & ($bits::MAX >> 1) as i64;
                    i128::from(if x.is_sign_negative() { -magnitude } else { magnitude })
                };
                (ordered(a) - ordered(b)).unsigned_abs() as u64
            }

            $(#[test]
            fn $name() {
                fn value($x: $float, $y: $float) -> $float {
                    $value
                }

                #[kernel]
                fn apply(x: &[$float], y: &[$float], mut out: DisjointSlice<$float>) {
                    for i in thread::grid_stride(out.len()) {
                        if let Some(out) = out.get_mut(i) {
                            *out = value(x[*i], y[*i]);
                        }
                    }
                }

                let mut random = Random::new(8);
                let mut x: Vec<$float> = Vec::new();
                let mut y: Vec<$float> = Vec::new();
                for _ in 0..500 {
                    x.push(random.between($low, $high) as $float);
                    y.push(random.between(-4.0, 4.0) as $float);
                }
                let special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, $float::INFINITY, -$float::INFINITY, $float::NAN];
                for a in special {
                    for b in special {
                        x.push(a);
                        y.push(b);
                    }
                }
                let gpu = Gpu::new().unwrap();
                let (x_device, y_device) = (gpu.to_device(&x).unwrap(), gpu.to_device(&y).unwrap());
                let mut out = gpu.zeros::<$float>(x.len()).unwrap();
                launch!(apply[2, 64](&x_device, &y_device, &mut out)).unwrap();
                for ((x, y), got) in x.into_iter().zip(y).zip(out.to_vec().unwrap()) {
                    let expected = value(x, y);
                    let near = (got - expected).abs() <= $tiny;
                    assert!(
                        distance(got, expected) <= $ulp || near,
                        "{}({x:e}, {y:e}) is {got:e} and not {expected:e}", stringify!($name)
                    );
                }
            })*
        }
    };
}

functions! {
    f32_methods, f32, u32, 1e-38;
    sin(x, _y) 4 [-100.0, 100.0] = x.sin();
    cos(x, _y) 4 [-100.0, 100.0] = x.cos();
    tan(x, _y) 8 [-100.0, 100.0] = x.tan();
    sin_cos(x, _y) 8 [-10.0, 10.0] = { let (sin, cos) = x.sin_cos(); sin * 2.0 + cos * 0.0 };
    asin(x, _y) 4 [-1.0, 1.0] = x.asin();
    acos(x, _y) 4 [-1.0, 1.0] = x.acos();
    atan(x, _y) 4 [-50.0, 50.0] = x.atan();
    atan2(x, y) 6 [-4.0, 4.0] = x.atan2(y);
    sinh(x, _y) 6 [-50.0, 50.0] = x.sinh();
    cosh(x, _y) 6 [-50.0, 50.0] = x.cosh();
    tanh(x, _y) 6 [-5.0, 5.0] = x.tanh();
    asinh(x, _y) 8 [-50.0, 50.0] = x.asinh();
    acosh(x, _y) 8 [1.0, 50.0] = x.acosh();
    atanh(x, _y) 8 [-1.0, 1.0] = x.atanh();
    exp(x, _y) 4 [-80.0, 80.0] = x.exp();
    exp2(x, _y) 4 [-120.0, 120.0] = x.exp2();
    exp_m1(x, _y) 4 [-5.0, 5.0] = x.exp_m1();
    ln(x, _y) 4 [0.0, 1000.0] = x.ln();
    ln_1p(x, _y) 4 [-0.9, 10.0] = x.ln_1p();
    log2(x, _y) 4 [0.0, 1000.0] = x.log2();
    log10(x, _y) 4 [0.0, 1000.0] = x.log10();
    powf(x, y) 10 [0.0, 50.0] = x.powf(y);
    powf_of_great_exponents(x, y) 10 [0.8, 1.2] = x.powf(50.0 * y);
    powi(x, y) 8 [-10.0, 10.0] = x.powi(y as i32);
    sqrt(x, _y) 0 [-1.0, 1000.0] = x.sqrt();
    cbrt(x, _y) 4 [-1000.0, 1000.0] = x.cbrt();
    hypot(x, y) 4 [-100.0, 100.0] = x.hypot(y);
    recip(x, _y) 0 [-10.0, 10.0] = x.recip();
    divide(x, y) 0 [-10.0, 10.0] = x / y;
    mul_add(x, y) 0 [-10.0, 10.0] = x.mul_add(y, 0.3);
    floor(x, _y) 0 [-10.0, 10.0] = x.floor();
    ceil(x, _y) 0 [-10.0, 10.0] = x.ceil();
    round(x, _y) 0 [-10.0, 10.0] = x.round();
    round_ties_even(x, _y) 0 [-10.0, 10.0] = x.round_ties_even();
    trunc(x, _y) 0 [-10.0, 10.0] = x.trunc();
    fract(x, _y) 0 [-10.0, 10.0] = x.fract();
    abs(x, _y) 0 [-10.0, 10.0] = x.abs();
    signum(x, _y) 0 [-10.0, 10.0] = x.signum();
    copysign(x, y) 0 [-10.0, 10.0] = x.copysign(y);
    min(x, y) 0 [-10.0, 10.0] = x.min(y);
    max(x, y) 0 [-10.0, 10.0] = x.max(y);
    clamp(x, _y) 0 [-10.0, 10.0] = x.clamp(-1.5, 2.5);
    remainder(x, y) 0 [-100.0, 100.0] = x % y;
    rem_euclid(x, y) 0 [-100.0, 100.0] = x.rem_euclid(y);
    div_euclid(x, y) 0 [-100.0, 100.0] = x.div_euclid(y);
    to_degrees(x, _y) 1 [-10.0, 10.0] = x.to_degrees();
    total_order(x, y) 0 [-4.0, 4.0] = x.total_cmp(&y) as i8 as f32;
}

functions! {
    f64_methods, f64, u64, 1e-300;
    sin(x, _y) 4 [-100.0, 100.0] = x.sin();
    cos(x, _y) 4 [-100.0, 100.0] = x.cos();
    tan(x, _y) 8 [-100.0, 100.0] = x.tan();
    asin(x, _y) 4 [-1.0, 1.0] = x.asin();
    acos(x, _y) 4 [-1.0, 1.0] = x.acos();
    atan(x, _y) 4 [-50.0, 50.0] = x.atan();
    atan2(x, y) 4 [-4.0, 4.0] = x.atan2(y);
    sinh(x, _y) 4 [-500.0, 500.0] = x.sinh();
    cosh(x, _y) 4 [-500.0, 500.0] = x.cosh();
    tanh(x, _y) 4 [-5.0, 5.0] = x.tanh();
    exp(x, _y) 4 [-600.0, 600.0] = x.exp();
    exp2(x, _y) 4 [-900.0, 900.0] = x.exp2();
    exp_m1(x, _y) 4 [-5.0, 5.0] = x.exp_m1();
    ln(x, _y) 4 [0.0, 1000.0] = x.ln();
    ln_1p(x, _y) 4 [-0.9, 10.0] = x.ln_1p();
    log2(x, _y) 4 [0.0, 1000.0] = x.log2();
    log10(x, _y) 4 [0.0, 1000.0] = x.log10();
    powf(x, y) 6 [0.0, 50.0] = x.powf(y);
    powi(x, y) 8 [-10.0, 10.0] = x.powi(y as i32);
    sqrt(x, _y) 0 [-1.0, 1000.0] = x.sqrt();
    cbrt(x, _y) 4 [-1000.0, 1000.0] = x.cbrt();
    hypot(x, y) 4 [-100.0, 100.0] = x.hypot(y);
    divide(x, y) 0 [-10.0, 10.0] = x / y;
    mul_add(x, y) 0 [-10.0, 10.0] = x.mul_add(y, 0.3);
    floor(x, _y) 0 [-10.0, 10.0] = x.floor();
    ceil(x, _y) 0 [-10.0, 10.0] = x.ceil();
    round(x, _y) 0 [-10.0, 10.0] = x.round();
    trunc(x, _y) 0 [-10.0, 10.0] = x.trunc();
    abs(x, _y) 0 [-10.0, 10.0] = x.abs();
    signum(x, _y) 0 [-10.0, 10.0] = x.signum();
    copysign(x, y) 0 [-10.0, 10.0] = x.copysign(y);
    min(x, y) 0 [-10.0, 10.0] = x.min(y);
    max(x, y) 0 [-10.0, 10.0] = x.max(y);
    remainder(x, y) 0 [-100.0, 100.0] = x % y;
    rem_euclid(x, y) 0 [-100.0, 100.0] = x.rem_euclid(y);
}

/// Without contraction, a product and a sum are rounded each on its own, bit for bit as on the host.
#[kernel(fma = false)]
fn multiply_then_add(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += x[*i] * x[*i];
    }
}

#[test]
fn without_fma_the_result_is_the_hosts() {
    let gpu = Gpu::new().unwrap();
    let host = Random::new(9).floats(2000, -3.0, 3.0);
    let x = gpu.to_device(&host).unwrap();
    let mut y = gpu.full(2000, -0.7f32).unwrap();
    launch!(multiply_then_add[8, 256](&x, &mut y)).unwrap();
    let expected: Vec<f32> = host.iter().map(|x| -0.7 + x * x).collect();
    assert_eq!(y.to_vec().unwrap(), expected);
}
