//! Mathematical functions on `f32` and `f64` that std has no method for: error function, gamma, Bessel, normal
//! distribution, and the like.
//!
//! What std has is a method there and works in kernels (`x.sin()`, `x.cbrt()`, `x.hypot(y)`, `x.mul_add(y, z)`). On a
//! device the functions come from CUDA's libdevice where it is found, else from the `libm` crate, which the simulator uses
//! too; [`sin_pi`], [`erf_inv`], [`norm_cdf`] and others on top of them are computed here.

mod bessel;
mod inverse;
mod norm;
mod real;
mod scaled;

pub use norm::{norm, norm3, norm4, rhypot, rnorm, rnorm3, rnorm4};
pub use real::Real;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($x:ident: $type:ty),+) -> $result:ty = $method:ident, $example:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// ```
        #[doc = concat!("fn kernel_code(x: f64, y: f64) {\n    let _ = gpu_std::math::", stringify!($name), "(", $example, ");\n}")]
        /// ```
        #[inline]
        pub fn $name<T: Real>($($x: $type),+) -> $result {
            T::$method($($x),+)
        }
    )*};
}

functions! {
    /// The error function. CUDA C: `erf`, `erff`.
    erf(x: T) -> T = erf, "x";
    /// `1 - erf(x)`, accurate also where that is tiny. CUDA C: `erfc`, `erfcf`.
    erfc(x: T) -> T = erfc, "x";
    /// The gamma function. CUDA C: `tgamma`, `tgammaf`.
    gamma(x: T) -> T = tgamma, "x";
    /// The logarithm of the absolute value of the gamma function. CUDA C: `lgamma`, `lgammaf`.
    ln_gamma(x: T) -> T = lgamma, "x";
    /// 10 to the power of `x`. CUDA C: `exp10`, `exp10f`.
    exp10(x: T) -> T = exp10, "x";
    /// The inverse hyperbolic sine. CUDA C: `asinh`. Std's `x.asinh()` is a formula of its own, which overflows for the
    /// greatest `x`.
    asinh(x: T) -> T = asinh, "x";
    /// The inverse hyperbolic tangent. CUDA C: `atanh`. Std's `x.atanh()` is a formula of its own, which is not as accurate.
    atanh(x: T) -> T = atanh, "x";
    /// The Bessel function of the first kind of order 0. CUDA C: `j0`, `j0f`.
    j0(x: T) -> T = j0, "x";
    /// The Bessel function of the first kind of order 1. CUDA C: `j1`, `j1f`.
    j1(x: T) -> T = j1, "x";
    /// The Bessel function of the second kind of order 0. CUDA C: `y0`, `y0f`.
    y0(x: T) -> T = y0, "x";
    /// The Bessel function of the second kind of order 1. CUDA C: `y1`, `y1f`.
    y1(x: T) -> T = y1, "x";
    /// The modified Bessel function of the first kind of order 0. CUDA C: `cyl_bessel_i0`, `cyl_bessel_i0f`.
    bessel_i0(x: T) -> T = bessel_i0, "x";
    /// The modified Bessel function of the first kind of order 1. CUDA C: `cyl_bessel_i1`, `cyl_bessel_i1f`.
    bessel_i1(x: T) -> T = bessel_i1, "x";
    /// `exp(x²) erfc(x)`, which decreases slowly where [`erfc`] is tiny. CUDA C: `erfcx`, `erfcxf`.
    erfcx(x: T) -> T = erfcx, "x";
    /// The next number after `x` towards `y`. CUDA C: `nextafter`, `nextafterf`.
    next_after(x: T, y: T) -> T = nextafter, "x, y";
    /// The remainder of `x / y` with the quotient rounded to the nearest integer, half to even. (`x % y` truncates it:
    /// CUDA C's `fmod`.) CUDA C: `remainder`, `remainderf`.
    remainder(x: T, y: T) -> T = remainder, "x, y";
    /// The positive difference: `x - y`, or 0 where that is negative. CUDA C: `fdim`, `fdimf`.
    fdim(x: T, y: T) -> T = fdim, "x, y";
    /// `x` times 2 to the power of `exponent`. CUDA C: `ldexp`, `scalbn`.
    ldexp(x: T, exponent: i32) -> T = ldexp, "x, 3";
    /// The exponent of `x` as an integer: `floor(log2(|x|))`; unspecified for 0, infinities and NaN. CUDA C: `ilogb`.
    ilogb(x: T) -> i32 = ilogb, "x";
    /// The lesser of both; if one is NaN, the other. CUDA C: `fmin`, `fminf`.
    min(x: T, y: T) -> T = min, "x, y";
    /// The greater of both; if one is NaN, the other. CUDA C: `fmax`, `fmaxf`.
    max(x: T, y: T) -> T = max, "x, y";
    /// `x * y + z`, rounded once. CUDA C: `fma`, `fmaf`.
    fma(x: T, y: T, z: T) -> T = fma, "x, y, x";
    /// `1 / sqrt(x)`. CUDA C: `rsqrt`; [`fast::rsqrt`](crate::fast::rsqrt) is one instruction.
    rsqrt(x: T) -> T = rsqrt, "x";
    /// `1 / cbrt(x)`. CUDA C: `rcbrt`.
    rcbrt(x: T) -> T = rcbrt, "x";
    /// The inverse of [`erf`]: NaN outside [-1, 1]. CUDA C: `erfinv`.
    erf_inv(x: T) -> T = erf_inv, "x";
    /// The inverse of [`erfc`]: NaN outside [0, 2]. CUDA C: `erfcinv`.
    erfc_inv(x: T) -> T = erfc_inv, "x";
    /// The standard normal distribution's cumulative distribution function. CUDA C: `normcdf`.
    norm_cdf(x: T) -> T = norm_cdf, "x";
    /// The inverse of [`norm_cdf`]: NaN outside [0, 1]. CUDA C: `normcdfinv`.
    norm_cdf_inv(x: T) -> T = norm_cdf_inv, "x";
}

/// The inverse hyperbolic cosine: NaN below 1. CUDA C: `acosh`. Std's `x.acosh()` is a formula of its own, which is not
/// accurate near 1 and overflows for the greatest `x`.
///
/// ```
/// fn rapidity(lorentz_factor: f64) -> f64 {
///     gpu_std::math::acosh(lorentz_factor)
/// }
/// ```
#[inline]
pub fn acosh<T: Real>(x: T) -> T {
    // C's function is not asked: that of `libm` gives numbers for some negative ones.
    if x < T::ONE {
        T::from_f64(f64::NAN)
    } else {
        x.acosh()
    }
}

/// The Bessel function of the first kind of order `n`. CUDA C: `jn`, `jnf`.
///
/// ```
/// fn third(x: f64) -> f64 {
///     gpu_std::math::jn(3, x)
/// }
/// ```
#[inline]
pub fn jn<T: Real>(n: i32, x: T) -> T {
    x.jn(n)
}

/// The Bessel function of the second kind of order `n`. CUDA C: `yn`, `ynf`.
///
/// ```
/// fn third(x: f64) -> f64 {
///     gpu_std::math::yn(3, x)
/// }
/// ```
#[inline]
pub fn yn<T: Real>(n: i32, x: T) -> T {
    x.yn(n)
}

/// A number's fraction, of absolute value in [0.5, 1), and its exponent, so that `x` is `fraction * 2^exponent`. For 0,
/// infinities and NaN it is the number itself and 0. CUDA C: `frexp`.
///
/// ```
/// fn parts(x: f64) -> (f64, i32) {
///     gpu_std::math::frexp(x)
/// }
/// ```
#[inline]
pub fn frexp<T: Real>(x: T) -> (T, i32) {
    x.frexp()
}

/// The fractional and the integral part of a number, both with its sign. CUDA C: `modf`.
///
/// ```
/// fn parts(x: f64) -> (f64, f64) {
///     gpu_std::math::modf(x)
/// }
/// ```
#[inline]
pub fn modf<T: Real>(x: T) -> (T, T) {
    let whole = x.trunc();
    let rest = if x.abs() < T::INFINITY {
        x - whole
    } else if x.is_nan() {
        x
    } else {
        T::ZERO
    };
    (rest.copysign(x), whole)
}

/// [`remainder`], and the last three bits of the quotient with its sign. CUDA C: `remquo`.
///
/// ```
/// use core::f64::consts::FRAC_PI_4;
///
/// /// The angle to the nearest axis or diagonal, and which one that is.
/// fn octant(angle: f64) -> (f64, i32) {
///     gpu_std::math::remquo(angle, FRAC_PI_4)
/// }
/// ```
#[inline]
pub fn remquo<T: Real>(x: T, y: T) -> (T, i32) {
    // Eight times `y` goes out of `x` and leaves the bits that are wanted; all steps are exact.
    let eight = y.abs().ldexp(3);
    let small = if eight < T::INFINITY { x.rem(eight) } else { x };
    let rest = small.remainder(y);
    let quotient = ((small - rest) / y).round_ties_even();
    let bits = (quotient.abs().to_u32() & 7) as i32;
    (rest, if quotient < T::ZERO { -bits } else { bits })
}

/// The exponent of `x` as a number: `floor(log2(|x|))`, negative infinity for 0, infinity for infinities. CUDA C: `logb`.
///
/// ```
/// fn octave(frequency: f64) -> f64 {
///     gpu_std::math::logb(frequency)
/// }
/// ```
#[inline]
pub fn logb<T: Real>(x: T) -> T {
    let size = x.abs();
    if size > T::ZERO && size < T::INFINITY {
        T::from_f64(x.ilogb().into())
    } else if size == T::ZERO {
        T::ZERO - T::INFINITY
    } else {
        size
    }
}

/// `sin(pi * x)`, accurate for large `x` too. CUDA C: `sinpi`.
///
/// ```
/// fn wave(turns: f64) -> f64 {
///     gpu_std::math::sin_pi(2.0 * turns)
/// }
/// ```
#[inline]
pub fn sin_pi<T: Real>(x: T) -> T {
    let (quarter, rest) = half_turns(x);
    if quarter == 0 && rest == T::ZERO {
        // Of an integer, with its sign; of an infinity, NaN.
        return x * T::ZERO;
    }
    in_quarter(quarter, rest)
}

/// `cos(pi * x)`, accurate for large `x` too. CUDA C: `cospi`.
///
/// ```
/// fn wave(turns: f64) -> f64 {
///     gpu_std::math::cos_pi(2.0 * turns)
/// }
/// ```
#[inline]
pub fn cos_pi<T: Real>(x: T) -> T {
    let (quarter, rest) = half_turns(x);
    in_quarter((quarter + 1) & 3, rest)
}

/// `sin_pi(x)` and `cos_pi(x)`. CUDA C: `sincospi`.
///
/// ```
/// fn direction(turns: f64) -> (f64, f64) {
///     gpu_std::math::sin_cos_pi(2.0 * turns)
/// }
/// ```
#[inline]
pub fn sin_cos_pi<T: Real>(x: T) -> (T, T) {
    (sin_pi(x), cos_pi(x))
}

/// `x` as `quarter / 2 + rest` modulo 2, with `rest` in [-1/4, 1/4]; all steps are exact.
#[inline]
fn half_turns<T: Real>(x: T) -> (u32, T) {
    let two = T::ONE + T::ONE;
    let turn = x - two * (x / two).round_ties_even();
    let quarter = (turn + turn).round_ties_even();
    ((quarter + two + two).to_u32() & 3, turn - quarter / two)
}

/// `sin(pi * (quarter / 2 + rest))`. What is lost of the angle is put back, with the first terms of sine and cosine: the
/// angle is at most pi / 4.
#[inline]
fn in_quarter<T: Real>(quarter: u32, rest: T) -> T {
    let angle = rest * T::PI;
    let lost = rest.fma(T::PI, T::ZERO - angle) + rest * T::PI_REST;
    let value = if quarter & 1 == 0 {
        let slope = T::ONE - angle * angle / (T::ONE + T::ONE);
        lost.fma(slope, angle.sin())
    } else {
        lost.fma(T::ZERO - angle, angle.cos())
    };
    if quarter & 2 == 0 {
        value
    } else {
        T::ZERO - value
    }
}
