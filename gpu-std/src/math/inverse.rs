//! The normal distribution and the inverse error functions.
//!
//! An estimate of the inverse (Giles, "Approximating the erfinv function", 2010) is refined by Halley's method on `erf`
//! in the middle and on `erfc` in the tails, where it is accurate relative to its own size. Where `erfc` is subnormal and
//! has few digits, its logarithm takes its place.

/// Coefficients of `erf_inv(x) / x` in `w - 2.5`, for `w = -ln(1 - x²)` below 5.
const MIDDLE: [f64; 9] = [
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
];
/// Coefficients in `sqrt(w) - 3`, for greater `w`.
const TAIL: [f64; 9] = [
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
];

macro_rules! functions {
    ($float:ident, $steps:literal, $two_over_sqrt_pi:expr, $sqrt_half:expr, $sqrt_half_rest:expr) => {
        pub mod $float {
            use super::super::Real;
            use super::{MIDDLE, TAIL};

            /// erf'(0)
            const SLOPE: $float = $two_over_sqrt_pi;

            /// `1 - x²` is given because it is accurate where `x` is not.
            #[inline]
            fn estimate(x: $float, one_less_square: $float) -> $float {
                let w = -one_less_square.ln();
                if w > 16.0 {
                    // erfc(y) is about exp(-y²) / (y sqrt(pi)).
                    let y = (w + core::$float::consts::LN_2).sqrt();
                    let y = ((w + core::$float::consts::LN_2) - (y * 1.772_453_9).ln()).sqrt();
                    return Real::copysign(y, x);
                }
                let (at, coefficients) = if w < 5.0 {
                    (w - 2.5, MIDDLE)
                } else {
                    (w.sqrt() - 3.0, TAIL)
                };
                let polynomial = |sum: $float, coefficient: &f64| sum * at + *coefficient as $float;
                coefficients.iter().fold(0.0, polynomial) * x
            }

            /// A step of Halley's method from `y`, whose error function is off by `error`.
            #[inline]
            fn step(y: $float, error: $float) -> $float {
                let newton = error / (SLOPE * (-y * y).exp());
                y - newton / (1.0 + y * newton)
            }

            #[inline]
            pub fn erf_inv(x: $float) -> $float {
                if Real::abs(x) > 0.5 {
                    let inverse = tail(1.0 - Real::abs(x));
                    return Real::copysign(inverse, x);
                }
                let mut y = estimate(x, (1.0 - x) * (1.0 + x));
                for _ in 0..$steps {
                    y = step(y, Real::erf(y) - x);
                }
                y
            }

            #[inline]
            pub fn erfc_inv(x: $float) -> $float {
                if x < 0.5 {
                    tail(x)
                } else if x > 1.5 {
                    -tail(2.0 - x)
                } else {
                    erf_inv(1.0 - x)
                }
            }

            /// The inverse of `erfc` for `x` below 1/2.
            #[inline]
            fn tail(x: $float) -> $float {
                if x <= 0.0 || x.is_nan() {
                    return if x == 0.0 {
                        $float::INFINITY
                    } else {
                        $float::NAN
                    };
                }
                let mut y = estimate(1.0 - x, x * (2.0 - x));
                if x < $float::MIN_POSITIVE {
                    // x = exp(-y²) erfcx(y), of which erfcx hardly depends on y.
                    let logarithm = Real::ln(x);
                    for _ in 0..$steps + 2 {
                        y = Real::sqrt(Real::erfcx(y).ln() - logarithm);
                    }
                    return y;
                }
                for _ in 0..$steps + 1 {
                    y = step(y, x - Real::erfc(y));
                }
                y
            }

            #[inline]
            pub fn norm_cdf(x: $float) -> $float {
                // In the tail, erfc is steep: what the product with sqrt(1/2) loses matters.
                let at = -x * $sqrt_half;
                if Real::abs(at) >= 40.0 || at.is_nan() {
                    return 0.5 * Real::erfc(at);
                }
                let lost = (-x).fma($sqrt_half, -at) + -x * $sqrt_half_rest;
                0.5 * (Real::erfc(at) - lost * SLOPE * (-at * at).exp())
            }

            #[inline]
            pub fn norm_cdf_inv(x: $float) -> $float {
                -core::$float::consts::SQRT_2 * erfc_inv(x + x)
            }
        }
    };
}

functions!(
    f32,
    1,
    core::f32::consts::FRAC_2_SQRT_PI,
    core::f32::consts::FRAC_1_SQRT_2,
    1.210_161_7e-8
);
functions!(
    f64,
    2,
    core::f64::consts::FRAC_2_SQRT_PI,
    core::f64::consts::FRAC_1_SQRT_2,
    -4.833_646_656_726_457e-17
);
