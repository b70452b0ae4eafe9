//! Fast, approximate versions of functions on `f32`: the hardware's own instructions, as CUDA C's `__sinf` and its like.
//!
//! The accurate ones are the methods of `f32` (`x.sin()`). On the simulator these here are computed accurately, so results
//! differ between the back ends within the bounds that are stated (CUDA C++ Programming Guide, "Intrinsic Functions").
//! Subnormal arguments and results may count as 0.

use crate::math::{self, Real};
use crate::ptx;

macro_rules! approximate {
    ($($(#[$doc:meta])* $name:ident($($x:ident),+) = $template:literal, $rust:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// ```
        #[doc = concat!("fn kernel_code(x: f32) -> f32 {\n    let y = x + 1.0;\n    gpu_std::fast::", stringify!($name), "(", approximate!(@arguments $($x)+), ")\n}")]
        /// ```
        #[inline]
        pub fn $name($($x: f32),+) -> f32 {
            // SAFETY: the instructions read their inputs and write their output.
            unsafe { ptx!(pure, $template, out(f32), $(in $x),+; else $rust) }
        }
    )*};
    (@arguments $x:ident) => { "x" };
    (@arguments $x:ident $y:ident) => { "x, y" };
}

approximate! {
    /// The sine: absolute error up to 2^-21.4 in [-pi, pi], more outside. CUDA C: `__sinf`; PTX: `sin.approx`.
    sin(x) = "sin.approx.ftz.f32 {0}, {1};", Real::sin(x);
    /// The cosine: absolute error up to 2^-21.2 in [-pi, pi], more outside. CUDA C: `__cosf`; PTX: `cos.approx`.
    cos(x) = "cos.approx.ftz.f32 {0}, {1};", Real::cos(x);
    /// 2 to the power of `x`: 2 ULP. CUDA C: `exp2f` with `-use_fast_math`; PTX: `ex2.approx`.
    exp2(x) = "ex2.approx.ftz.f32 {0}, {1};", Real::exp2(x);
    /// The logarithm to base 2: absolute error up to 2^-22 in [0.5, 2], else 2 ULP. CUDA C: `__log2f`; PTX:
    /// `lg2.approx`.
    log2(x) = "lg2.approx.ftz.f32 {0}, {1};", Real::log2(x);
    /// `1 / x`: 1 ULP. CUDA C: `__frcp_rn` is the accurate one; PTX: `rcp.approx`.
    recip(x) = "rcp.approx.ftz.f32 {0}, {1};", 1.0 / x;
    /// The square root: 3 ULP. PTX: `sqrt.approx`.
    sqrt(x) = "sqrt.approx.ftz.f32 {0}, {1};", Real::sqrt(x);
    /// `1 / sqrt(x)`: 2 ULP. CUDA C: `rsqrtf`; PTX: `rsqrt.approx`.
    rsqrt(x) = "rsqrt.approx.ftz.f32 {0}, {1};", 1.0 / Real::sqrt(x);
    /// `x / y`: 2 ULP where 2^-126 <= |y| <= 2^126; 0 (or NaN, if `x` is infinite) for greater `y`. CUDA C:
    /// `__fdividef`; PTX: `div.approx`.
    div(x, y) = "div.approx.ftz.f32 {0}, {1}, {2};", x / y;
}

/// The tangent, as `sin(x) / cos(x)`. CUDA C: `__tanf`.
///
/// ```
/// fn slope(x: f32) -> f32 {
///     gpu_std::fast::tan(x)
/// }
/// ```
#[inline]
pub fn tan(x: f32) -> f32 {
    div(sin(x), cos(x))
}

/// The hyperbolic tangent, as `1 - 2 / (exp(2 x) + 1)`: absolute error up to 2^-21. CUDA C's
/// `__tanhf` is `tanh.approx`, with errors of about 2^-11.
///
/// ```
/// fn activation(x: f32) -> f32 {
///     gpu_std::fast::tanh(x)
/// }
/// ```
#[inline]
pub fn tanh(x: f32) -> f32 {
    1.0 - div(2.0, exp(2.0 * x) + 1.0)
}

/// Sine and cosine. CUDA C: `__sincosf`.
///
/// ```
/// fn direction(x: f32) -> (f32, f32) {
///     gpu_std::fast::sin_cos(x)
/// }
/// ```
#[inline]
pub fn sin_cos(x: f32) -> (f32, f32) {
    (sin(x), cos(x))
}

/// e to the power of `x`: 2 + |1.173 x| ULP. CUDA C: `__expf`.
///
/// ```
/// fn decay(x: f32) -> f32 {
///     gpu_std::fast::exp(-x)
/// }
/// ```
#[inline]
pub fn exp(x: f32) -> f32 {
    exp2(x * core::f32::consts::LOG2_E)
}

/// 10 to the power of `x`: 2 + |2.97 x| ULP. CUDA C: `__exp10f`.
///
/// ```
/// fn decades(x: f32) -> f32 {
///     gpu_std::fast::exp10(x)
/// }
/// ```
#[inline]
pub fn exp10(x: f32) -> f32 {
    exp2(x * core::f32::consts::LOG2_10)
}

/// The natural logarithm: absolute error up to 2^-21.4 in [0.5, 2], else 3 ULP. CUDA C: `__logf`.
///
/// ```
/// fn information(p: f32) -> f32 {
///     -gpu_std::fast::ln(p)
/// }
/// ```
#[inline]
pub fn ln(x: f32) -> f32 {
    log2(x) * core::f32::consts::LN_2
}

/// The logarithm to base 10: absolute error up to 2^-24 in [0.5, 2], else 3 ULP. CUDA C: `__log10f`.
///
/// ```
/// fn decibel(x: f32) -> f32 {
///     10.0 * gpu_std::fast::log10(x)
/// }
/// ```
#[inline]
pub fn log10(x: f32) -> f32 {
    log2(x) * core::f32::consts::LOG10_2
}

/// `x` to the power of `y`, for `x` of at least 0: as `exp2(y * log2(x))`. CUDA C: `__powf`.
///
/// ```
/// fn gamma_corrected(x: f32) -> f32 {
///     gpu_std::fast::pow(x, 1.0 / 2.2)
/// }
/// ```
#[inline]
pub fn pow(x: f32, y: f32) -> f32 {
    exp2(y * log2(x))
}

/// `x` limited to [0, 1]; 0 for NaN. CUDA C: `__saturatef`; PTX: `cvt.sat`.
///
/// ```
/// fn colour(x: f32) -> f32 {
///     gpu_std::fast::saturate(x)
/// }
/// ```
#[inline]
pub fn saturate(x: f32) -> f32 {
    let limited = || if x > 0.0 { math::min(x, 1.0) } else { 0.0 };
    // SAFETY: the instruction reads its input and writes its output.
    unsafe { ptx!(pure, "cvt.sat.f32.f32 {0}, {1};", out(f32), in x; else limited()) }
}
