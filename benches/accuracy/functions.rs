//! The functions that are measured: how kernels call them, where, what they should give, and NVIDIA's own figures.
//!
//! NVIDIA's figures: CUDA C++ Programming Guide, "Mathematical Functions", tables "Single-Precision Mathematical Standard
//! Library Functions with Maximum ULP Error" and the one for double precision.

use oxwarp::prelude::*;
use oxwarp::{Result, math};

use crate::measure::{Worst, doubles, doubles_of_two, worst_single, worst_single_of_two};
use crate::reference::{self, Big};
use crate::samples::{Range, compare, compare_two};

/// How much is measured.
#[derive(Clone, Copy)]
pub struct Effort {
    /// From the bits of one `f32` to those of the next.
    pub stride: u64,
    /// Pairs of `f32`.
    pub pairs: u64,
    /// Arguments of type `f64`.
    pub doubles: usize,
}

/// A function.
pub struct Function {
    pub name: &'static str,
    /// NVIDIA's figures for `f32` and `f64`.
    pub nvidia: [&'static str; 2],
    /// What the figures are limited to.
    pub limits: &'static str,
    /// The worst `f32` and the worst `f64`.
    pub measure: fn(&Gpu, Effort) -> Result<[Worst; 2]>,
}

macro_rules! of_one {
    ($name:literal, nvidia $nvidia:expr, |$x:ident| $value:expr, in $range:expr, |$big:ident, $got:ident| $reference:expr
        $(, where $counts:expr, $limits:literal)?) => {
        Function {
            name: $name,
            nvidia: $nvidia,
            limits: concat!("" $(, $limits)?),
            measure: |gpu, effort| {
                let single = |$x: f32| -> f32 { $value };
                let double = |$x: f64| -> f64 { $value };
                let counts = |x: f64| -> bool {
                    let _ = x;
                    let all = true;
                    $(let counts: fn(f64) -> bool = $counts; let all = all && counts(x);)?
                    all
                };
                let range: Range = $range;
                let x: Vec<f64> = range.samples(effort.doubles).into_iter().filter(|&x| counts(x)).collect();
                let got = doubles(gpu, &x, single, double, counts)?;
                let right = |$big: &Big, $got: f64| -> Big { let _ = $got; $reference };
                Ok([worst_single(gpu, effort.stride, single, double, counts)?, compare(&x, &got, right)])
            },
        }
    };
}

macro_rules! of_two {
    ($name:literal, nvidia $nvidia:expr, |$x:ident, $y:ident| $value:expr, in $range:expr, |$a:ident, $b:ident| $reference:expr) => {
        Function {
            name: $name,
            nvidia: $nvidia,
            limits: "",
            measure: |gpu, effort| {
                let single = |$x: f32, $y: f32| -> f32 { $value };
                let double = |$x: f64, $y: f64| -> f64 { $value };
                let [first, second]: [Range; 2] = $range;
                let x: Vec<[f64; 2]> = first
                    .samples(effort.doubles)
                    .into_iter()
                    .zip(second.others(effort.doubles))
                    .map(|(x, y)| [x, y])
                    .collect();
                let got = doubles_of_two(gpu, &x, single, double)?;
                let right = |$a: f64, $b: f64| -> f64 { $reference };
                Ok([
                    worst_single_of_two(gpu, effort.pairs, single, double)?,
                    compare_two(&x, &got, right),
                ])
            },
        }
    };
}

/// Both arguments with all their digits.
fn of_big(x: f64, y: f64, function: fn(&Big, &Big) -> Big) -> f64 {
    function(&reference::big(x), &reference::big(y))
        .to_f64()
        .value()
}

const LARGE: f64 = 1e300;

/// All of them.
pub fn all() -> Vec<Function> {
    vec![
        of_one!("sqrt", nvidia ["0", "0"], |x| x.sqrt(), in Range::new(0.0, LARGE), |x, _got| reference::sqrt(x)),
        of_one!("rsqrt", nvidia ["2", "1"], |x| math::rsqrt(x), in Range::new(1e-300, LARGE), |x, _got| reference::rsqrt(x)),
        of_one!("cbrt", nvidia ["1", "1"], |x| x.cbrt(), in Range::new(-LARGE, LARGE), |x, _got| reference::cbrt(x)),
        of_one!("rcbrt", nvidia ["1", "1"], |x| math::rcbrt(x), in Range::new(1e-300, LARGE), |x, _got| reference::rcbrt(x)),
        of_two!("hypot", nvidia ["3", "2"], |x, y| x.hypot(y), in [Range::new(-LARGE, LARGE), Range::new(-9.0, 9.0)],
            |x, y| of_big(x, y, reference::hypot)),
        of_two!("rhypot", nvidia ["2", "1"], |x, y| math::rhypot(x, y), in [Range::new(-LARGE, LARGE), Range::new(-9.0, 9.0)],
            |x, y| of_big(x, y, reference::rhypot)),
        of_one!("exp", nvidia ["2", "1"], |x| x.exp(), in Range::new(-745.0, 709.7), |x, _got| x.exp()),
        of_one!("exp2", nvidia ["2", "1"], |x| x.exp2(), in Range::new(-1074.0, 1023.9), |x, _got| reference::exp2(x)),
        of_one!("exp10", nvidia ["2", "1"], |x| math::exp10(x), in Range::new(-323.0, 308.2), |x, _got| reference::exp10(x)),
        of_one!("exp_m1", nvidia ["1", "1"], |x| x.exp_m1(), in Range::new(-50.0, 709.7), |x, _got| x.exp_m1()),
        of_one!("ln", nvidia ["1", "1"], |x| x.ln(), in Range::new(1e-300, LARGE).near(1.0), |x, _got| x.ln()),
        of_one!("log2", nvidia ["1", "1"], |x| x.log2(), in Range::new(1e-300, LARGE).near(1.0), |x, _got| x.log2()),
        of_one!("log10", nvidia ["2", "1"], |x| x.log10(), in Range::new(1e-300, LARGE).near(1.0), |x, _got| x.log10()),
        of_one!("ln_1p", nvidia ["1", "1"], |x| x.ln_1p(), in Range::new(-0.999, LARGE), |x, _got| x.ln_1p()),
        of_two!("powf", nvidia ["4", "2"], |x, y| x.powf(y), in [Range::new(1e-9, 1e9).near(1.0), Range::new(-33.0, 33.0)],
            |x, y| of_big(x, y, |x, y| x.powf(y))),
        of_one!("sin", nvidia ["2", "2"], |x| x.sin(), in Range::new(-1e9, 1e9).near(std::f64::consts::PI), |x, _got| x.sin()),
        of_one!("cos", nvidia ["2", "2"], |x| x.cos(), in Range::new(-1e9, 1e9).near(std::f64::consts::FRAC_PI_2), |x, _got| x.cos()),
        of_one!("tan", nvidia ["4", "2"], |x| x.tan(), in Range::new(-1e9, 1e9).near(std::f64::consts::FRAC_PI_2), |x, _got| x.tan()),
        of_one!("sin_pi", nvidia ["1", "2"], |x| math::sin_pi(x), in Range::new(-1e6, 1e6).near(1.0), |x, _got| x.sin_pi()),
        of_one!("cos_pi", nvidia ["1", "2"], |x| math::cos_pi(x), in Range::new(-1e6, 1e6).near(0.5), |x, _got| x.cos_pi()),
        of_one!("asin", nvidia ["2", "2"], |x| x.asin(), in Range::new(-1.0, 1.0).near(1.0), |x, _got| x.asin()),
        of_one!("acos", nvidia ["2", "2"], |x| x.acos(), in Range::new(-1.0, 1.0).near(1.0), |x, _got| x.acos()),
        of_one!("atan", nvidia ["2", "2"], |x| x.atan(), in Range::new(-LARGE, LARGE), |x, _got| x.atan()),
        of_two!("atan2", nvidia ["3", "2"], |x, y| x.atan2(y), in [Range::new(-9.0, 9.0), Range::new(-99.0, 99.0)],
            |x, y| of_big(x, y, |x, y| x.atan2(y))),
        of_one!("sinh", nvidia ["3", "2"], |x| x.sinh(), in Range::new(-710.0, 710.0), |x, _got| x.sinh()),
        of_one!("cosh", nvidia ["2", "1"], |x| x.cosh(), in Range::new(-710.0, 710.0), |x, _got| x.cosh()),
        of_one!("tanh", nvidia ["2", "1"], |x| x.tanh(), in Range::new(-30.0, 30.0), |x, _got| x.tanh()),
        of_one!("asinh", nvidia ["3", "3"], |x| math::asinh(x), in Range::new(-LARGE, LARGE), |x, _got| x.asinh()),
        of_one!("asinh of std", nvidia ["3", "3"], |x| x.asinh(), in Range::new(-LARGE, LARGE), |x, _got| x.asinh()),
        of_one!("acosh", nvidia ["4", "3"], |x| math::acosh(x), in Range::new(1.0, LARGE).near(1.0), |x, _got| x.acosh()),
        of_one!("acosh of std", nvidia ["4", "3"], |x| x.acosh(), in Range::new(1.0, LARGE).near(1.0), |x, _got| x.acosh()),
        of_one!("atanh", nvidia ["3", "2"], |x| math::atanh(x), in Range::new(-1.0, 1.0).near(1.0), |x, _got| x.atanh(), where |x| x.abs() < 1.0, "inside of [-1, 1]"),
        of_one!("atanh of std", nvidia ["3", "2"], |x| x.atanh(), in Range::new(-1.0, 1.0).near(1.0), |x, _got| x.atanh(), where |x| x.abs() < 1.0, "inside of [-1, 1]"),
        of_one!("erf", nvidia ["2", "2"], |x| math::erf(x), in Range::new(-6.0, 6.0), |x, _got| reference::erf(x)),
        of_one!("erfc", nvidia ["4", "5"], |x| math::erfc(x), in Range::new(-6.0, 26.5), |x, _got| reference::erfc(x)),
        of_one!("erfcx", nvidia ["4", "4"], |x| math::erfcx(x), in Range::new(-26.0, 1e4), |x, _got| reference::erfcx(x)),
        of_one!("erf_inv", nvidia ["2", "5"], |x| math::erf_inv(x), in Range::new(-1.0, 1.0).near(1.0),
            |x, got| reference::erf_inv(x, got), where |x| x.abs() < 1.0, "inside of [-1, 1]"),
        of_one!("erfc_inv", nvidia ["4", "6"], |x| math::erfc_inv(x), in Range::new(1e-323, 2.0),
            |x, got| reference::erfc_inv(x, got), where |x| x > 0.0 && x < 2.0, "inside of [0, 2]"),
        of_one!("norm_cdf", nvidia ["5", "5"], |x| math::norm_cdf(x), in Range::new(-37.0, 9.0), |x, _got| reference::norm_cdf(x)),
        of_one!("norm_cdf_inv", nvidia ["5", "8"], |x| math::norm_cdf_inv(x), in Range::new(1e-323, 1.0),
            |x, got| reference::norm_cdf_inv(x, got), where |x| x > 0.0 && x < 1.0, "inside of [0, 1]"),
        of_one!("gamma", nvidia ["5", "10"], |x| math::gamma(x), in Range::new(-20.5, 171.6), |x, _got| reference::gamma(x)),
        of_one!("ln_gamma", nvidia ["6", "4"], |x| math::ln_gamma(x), in Range::new(-60.0, 1e9).near(1.0).near(2.0),
            |x, _got| reference::ln_gamma(x), where |x| !(-24.0..=-2.2).contains(&x), "outside of [-24, -2.2]"),
        of_one!("j0", nvidia ["9", "7"], |x| math::j0(x), in Range::new(-8.0, 8.0), |x, _got| reference::j0(x),
            where |x| x.abs() < 8.0, "below 8"),
        of_one!("j1", nvidia ["9", "7"], |x| math::j1(x), in Range::new(-8.0, 8.0), |x, _got| reference::j1(x),
            where |x| x.abs() < 8.0, "below 8"),
        of_one!("y0", nvidia ["9", "7"], |x| math::y0(x), in Range::new(1e-30, 8.0), |x, _got| reference::y0(x),
            where |x| x > 0.0 && x < 8.0, "below 8"),
        of_one!("y1", nvidia ["9", "7"], |x| math::y1(x), in Range::new(1e-30, 8.0), |x, _got| reference::y1(x),
            where |x| x > 0.0 && x < 8.0, "below 8"),
        of_one!("bessel_i0", nvidia ["6", "6"], |x| math::bessel_i0(x), in Range::new(-100.0, 100.0), |x, _got| reference::bessel_i0(x)),
        of_one!("bessel_i1", nvidia ["6", "6"], |x| math::bessel_i1(x), in Range::new(-100.0, 100.0), |x, _got| reference::bessel_i1(x)),
        of_two!("%", nvidia ["0", "0"], |x, y| x % y, in [Range::new(-LARGE, LARGE), Range::new(-9.0, 9.0)], |x, y| x % y),
        of_two!("remainder", nvidia ["0", "0"], |x, y| math::remainder(x, y), in [Range::new(-LARGE, LARGE), Range::new(-9.0, 9.0)],
            |x, y| libm::remainder(x, y)),
    ]
}
