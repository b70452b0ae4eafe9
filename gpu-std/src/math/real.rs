//! `f32` and `f64` as the functions of this module see them.
//!
//! `gpu.math.<name>` is a function of C's libm: the device compiler takes it from libdevice or the `libm` crate, the
//! simulator from the `libm` crate.

use core::ops::{Add, Div, Mul, Sub};

use super::{bessel, inverse, scaled};
use crate::intrinsics as gpu;

/// `f32` or `f64`.
///
/// What the functions of [`math`](crate::math) take; CUDA C has two functions instead, such as `erf` and `erff`.
///
/// ```
/// use gpu_std::math::{self, Real};
///
/// fn gelu<T: Real>(x: T, scale: T) -> T {
///     x * math::norm_cdf(scale * x)
/// }
/// ```
#[allow(missing_docs)]
pub trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + private::Sealed
{
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    const ONE: Self;
    #[doc(hidden)]
    const PI: Self;
    /// What pi has beyond [`Self::PI`].
    #[doc(hidden)]
    const PI_REST: Self;
    #[doc(hidden)]
    const INFINITY: Self;

    #[doc(hidden)]
    fn from_f64(x: f64) -> Self;
    #[doc(hidden)]
    fn to_u32(self) -> u32;
    #[doc(hidden)]
    fn abs(self) -> Self;
    #[doc(hidden)]
    fn copysign(self, sign: Self) -> Self;
    #[doc(hidden)]
    fn is_nan(self) -> bool;
    #[doc(hidden)]
    fn ldexp(self, exponent: i32) -> Self;
    #[doc(hidden)]
    fn ilogb(self) -> i32;
    #[doc(hidden)]
    fn frexp(self) -> (Self, i32);
    #[doc(hidden)]
    fn erf_inv(self) -> Self;
    #[doc(hidden)]
    fn erfc_inv(self) -> Self;
    #[doc(hidden)]
    fn norm_cdf(self) -> Self;
    #[doc(hidden)]
    fn norm_cdf_inv(self) -> Self;

    #[doc(hidden)]
    #[inline]
    fn rsqrt(self) -> Self {
        Self::ONE / self.sqrt()
    }
    #[doc(hidden)]
    #[inline]
    fn rcbrt(self) -> Self {
        Self::ONE / self.cbrt()
    }

    #[doc(hidden)]
    fn sqrt(self) -> Self;
    #[doc(hidden)]
    fn floor(self) -> Self;
    #[doc(hidden)]
    fn trunc(self) -> Self;
    #[doc(hidden)]
    fn round_ties_even(self) -> Self;
    #[doc(hidden)]
    fn min(self, other: Self) -> Self;
    #[doc(hidden)]
    fn max(self, other: Self) -> Self;
    #[doc(hidden)]
    fn fma(self, factor: Self, summand: Self) -> Self;
    #[doc(hidden)]
    fn sin(self) -> Self;
    #[doc(hidden)]
    fn cos(self) -> Self;
    #[doc(hidden)]
    fn exp(self) -> Self;
    #[doc(hidden)]
    fn exp2(self) -> Self;
    #[doc(hidden)]
    fn ln(self) -> Self;
    #[doc(hidden)]
    fn log2(self) -> Self;
    #[doc(hidden)]
    fn tanh(self) -> Self;
    #[doc(hidden)]
    fn cbrt(self) -> Self;
    #[doc(hidden)]
    fn erf(self) -> Self;
    #[doc(hidden)]
    fn erfc(self) -> Self;
    #[doc(hidden)]
    fn tgamma(self) -> Self;
    #[doc(hidden)]
    fn lgamma(self) -> Self;
    #[doc(hidden)]
    fn exp10(self) -> Self;
    #[doc(hidden)]
    fn asinh(self) -> Self;
    #[doc(hidden)]
    fn acosh(self) -> Self;
    #[doc(hidden)]
    fn atanh(self) -> Self;
    #[doc(hidden)]
    fn j0(self) -> Self;
    #[doc(hidden)]
    fn j1(self) -> Self;
    #[doc(hidden)]
    fn y0(self) -> Self;
    #[doc(hidden)]
    fn y1(self) -> Self;
    #[doc(hidden)]
    fn jn(self, order: i32) -> Self;
    #[doc(hidden)]
    fn yn(self, order: i32) -> Self;
    #[doc(hidden)]
    fn bessel_i0(self) -> Self;
    #[doc(hidden)]
    fn bessel_i1(self) -> Self;
    #[doc(hidden)]
    fn erfcx(self) -> Self;
    #[doc(hidden)]
    fn rem(self, divisor: Self) -> Self;
    #[doc(hidden)]
    fn nextafter(self, to: Self) -> Self;
    #[doc(hidden)]
    fn remainder(self, divisor: Self) -> Self;
    #[doc(hidden)]
    fn fdim(self, other: Self) -> Self;
}

mod private {
    pub trait Sealed {}
}

macro_rules! real {
    ($float:ident $pi_rest:literal: $($name:ident($($x:ident),*) = $symbol:ident;)*) => {
        impl private::Sealed for $float {}
        impl Real for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const PI: Self = core::$float::consts::PI;
            const PI_REST: Self = $pi_rest;
            const INFINITY: Self = $float::INFINITY;

            #[inline]
            fn from_f64(x: f64) -> Self {
                x as Self
            }
            #[inline]
            fn to_u32(self) -> u32 {
                self as u32
            }
            #[inline]
            fn abs(self) -> Self {
                $float::abs(self)
            }
            #[inline]
            fn copysign(self, sign: Self) -> Self {
                $float::copysign(self, sign)
            }
            #[inline]
            fn is_nan(self) -> bool {
                $float::is_nan(self)
            }
            #[inline]
            fn min(self, other: Self) -> Self {
                $float::min(self, other)
            }
            #[inline]
            fn max(self, other: Self) -> Self {
                $float::max(self, other)
            }
            #[inline]
            fn rem(self, divisor: Self) -> Self {
                self % divisor
            }
            #[inline]
            fn bessel_i0(self) -> Self {
                bessel::$float::i0(self)
            }
            #[inline]
            fn bessel_i1(self) -> Self {
                bessel::$float::i1(self)
            }
            #[inline]
            fn erfcx(self) -> Self {
                scaled::$float::erfcx(self)
            }
            #[inline]
            fn erf_inv(self) -> Self {
                inverse::$float::erf_inv(self)
            }
            #[inline]
            fn erfc_inv(self) -> Self {
                inverse::$float::erfc_inv(self)
            }
            #[inline]
            fn norm_cdf(self) -> Self {
                inverse::$float::norm_cdf(self)
            }
            #[inline]
            fn norm_cdf_inv(self) -> Self {
                inverse::$float::norm_cdf_inv(self)
            }
            #[inline]
            fn frexp(self) -> (Self, i32) {
                if self == 0.0 || !self.is_finite() {
                    return (self, 0);
                }
                let exponent = self.ilogb() + 1;
                (self.ldexp(-exponent), exponent)
            }
            $(#[inline]
            fn $name(self $(, $x: Self)*) -> Self {
                gpu::$symbol(self $(, $x)*)
            })*
            #[inline]
            fn ldexp(self, exponent: i32) -> Self {
                ldexp::$float(self, exponent)
            }
            #[inline]
            fn ilogb(self) -> i32 {
                ilogb::$float(self)
            }
            #[inline]
            fn jn(self, order: i32) -> Self {
                jn::$float(order, self)
            }
            #[inline]
            fn yn(self, order: i32) -> Self {
                yn::$float(order, self)
            }
        }
    };
}

mod ldexp {
    use crate::intrinsics as gpu;

    #[inline]
    pub fn f32(x: f32, exponent: i32) -> f32 {
        gpu::ldexpf(x, exponent)
    }

    #[inline]
    pub fn f64(x: f64, exponent: i32) -> f64 {
        gpu::ldexp(x, exponent)
    }
}

mod jn {
    pub use crate::intrinsics::{jn as f64, jnf as f32};
}

mod yn {
    pub use crate::intrinsics::{yn as f64, ynf as f32};
}

mod ilogb {
    use crate::intrinsics as gpu;

    #[inline]
    pub fn f32(x: f32) -> i32 {
        gpu::ilogbf(x)
    }

    #[inline]
    pub fn f64(x: f64) -> i32 {
        gpu::ilogb(x)
    }
}

real! { f32 -8.742_278e-8:
    sqrt() = sqrt_f32; floor() = floor_f32; trunc() = trunc_f32; round_ties_even() = rint_f32; fma(y, z) = fma_f32;
    sin() = sinf; cos() = cosf; exp() = expf; exp2() = exp2f; ln() = logf; log2() = log2f; tanh() = tanhf; cbrt() = cbrtf;
    erf() = erff; erfc() = erfcf; tgamma() = tgammaf; lgamma() = lgammaf; exp10() = exp10f;
    asinh() = asinhf; acosh() = acoshf; atanh() = atanhf; j0() = j0f; j1() = j1f; y0() = y0f; y1() = y1f;
    nextafter(y) = nextafterf; remainder(y) = remainderf; fdim(y) = fdimf;
}

real! { f64 1.224_646_799_147_353_2e-16:
    sqrt() = sqrt_f64; floor() = floor_f64; trunc() = trunc_f64; round_ties_even() = rint_f64; fma(y, z) = fma_f64;
    sin() = sin; cos() = cos; exp() = exp; exp2() = exp2; ln() = log; log2() = log2; tanh() = tanh; cbrt() = cbrt;
    erf() = erf; erfc() = erfc; tgamma() = tgamma; lgamma() = lgamma; exp10() = exp10;
    asinh() = asinh; acosh() = acosh; atanh() = atanh; j0() = j0; j1() = j1; y0() = y0; y1() = y1;
    nextafter(y) = nextafter; remainder(y) = remainder; fdim(y) = fdim;
}
