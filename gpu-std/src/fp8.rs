//! 8-bit floats: [`E4m3`] and [`E5m2`], named after the bits of their exponent and fraction, and pairs of them.
//!
//! They are for storage: there is no arithmetic on them. Conversions to them round to nearest even and saturate: what is
//! too large, infinities too, becomes the greatest finite number, as CUDA's `__NV_SATFINITE` has it; a NaN becomes the
//! positive NaN of all ones. Conversions from them are exact.
//!
//! From sm_89 on a conversion is one instruction, of two numbers at once; for older targets and on the simulator it is
//! computed, with the same result. OCP 8-bit Floating Point Specification (OFP8).

use core::fmt;

use bytemuck::{Pod, Zeroable};

use crate::half::{F16, F16x2};
use crate::math::Real;
use crate::ptx;
use crate::target;

/// A format: bits of the fraction, bias of the exponent, the greatest finite number, and the least NaN.
struct Format {
    fraction: u32,
    bias: i32,
    max: u8,
    least_nan: u8,
}

const E4M3: Format = Format {
    fraction: 3,
    bias: 7,
    max: 0x7e,
    least_nan: 0x7f,
};
const E5M2: Format = Format {
    fraction: 2,
    bias: 15,
    max: 0x7b,
    least_nan: 0x7d,
};

const SIGN: u8 = 0x80;
const NAN: u8 = 0x7f;

impl Format {
    /// The nearest number's bits.
    #[inline]
    fn encode(&self, value: f32) -> u8 {
        if value.is_nan() {
            return NAN;
        }
        let size = value.to_bits() & !(1 << 31);
        let lost = f32::MANTISSA_DIGITS - 1 - self.fraction;
        let least_normal = ((128 - self.bias) as u32) << (f32::MANTISSA_DIGITS - 1);
        let code = if size < least_normal {
            // In units of the least subnormal number; the multiplication is exact.
            let units = ((126 + self.bias) as u32 + self.fraction) << (f32::MANTISSA_DIGITS - 1);
            Real::round_ties_even(f32::from_bits(size) * f32::from_bits(units)) as u32
        } else {
            let even = size >> lost & 1;
            let rounded = (size + (1 << (lost - 1)) - 1 + even) >> lost;
            rounded - (((127 - self.bias) as u32) << self.fraction)
        };
        let sign = (value.to_bits() >> 24) as u8 & SIGN;
        sign | code.min(self.max.into()) as u8
    }

    /// The number of these bits.
    #[inline]
    fn decode(&self, bits: u8) -> f32 {
        let (sign, size) = (u32::from(bits & SIGN) << 24, bits & !SIGN);
        if size >= self.least_nan {
            return f32::NAN;
        }
        let fraction = u32::from(size) & ((1 << self.fraction) - 1);
        let exponent = u32::from(size) >> self.fraction;
        let size = if exponent == 0 {
            let unit = (128 - self.bias) as u32 - self.fraction;
            fraction as f32 * f32::from_bits(unit << (f32::MANTISSA_DIGITS - 1))
        } else if size > self.max {
            f32::INFINITY
        } else {
            let exponent = exponent + (127 - self.bias) as u32;
            let fraction = fraction << (f32::MANTISSA_DIGITS - 1 - self.fraction);
            f32::from_bits(exponent << (f32::MANTISSA_DIGITS - 1) | fraction)
        };
        f32::from_bits(size.to_bits() | sign)
    }
}

macro_rules! fp8 {
    ($name:ident, $pair:ident, $format:ident, $type:literal, $c:literal, $c_pair:literal, $what:literal, $one:literal) => {
        #[doc = $what]
        #[doc = concat!("\n\nCUDA C: `", $c, "`.\n\n```")]
        #[doc = concat!("use gpu_std::fp8::", stringify!($name), ";\n\nfn product(x: ", stringify!($name), ", y: ", stringify!($name), ") -> f32 {\n    x.to_f32() * y.to_f32()\n}\n```")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        #[doc = concat!("Two [`", stringify!($name), "`], converted at once. CUDA C: `", $c_pair, "`.\n\n```")]
        #[doc = concat!("use gpu_std::fp8::", stringify!($pair), ";\n\nfn stored(x: f32, y: f32) -> ", stringify!($pair), " {\n    ", stringify!($pair), "::from_f32([x, y])\n}\n```")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $pair(u16);

        // SAFETY: it is a `u8`.
        unsafe impl Zeroable for $name {}
        // SAFETY: it is a `u8`.
        unsafe impl Pod for $name {}
        // SAFETY: it is a `u8`.
        unsafe impl crate::DeviceCopy for $name {
            const NO_PADDING: bool = true;
        }
        // SAFETY: it is a `u16`.
        unsafe impl Zeroable for $pair {}
        // SAFETY: it is a `u16`.
        unsafe impl Pod for $pair {}
        // SAFETY: it is a `u16`.
        unsafe impl crate::DeviceCopy for $pair {
            const NO_PADDING: bool = true;
        }

        impl $name {
            /// 0
            pub const ZERO: Self = Self(0);
            /// 1
            pub const ONE: Self = Self($one);
            /// The greatest finite number.
            pub const MAX: Self = Self($format.max);
            /// The least positive number that is not subnormal.
            pub const MIN_POSITIVE: Self = Self(1 << $format.fraction);
            /// Not a number.
            pub const NAN: Self = Self(NAN);

            /// The number of these bits.
            ///
            /// CUDA C: the member `__x`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::from_bits(0).to_bits(), 0);")]
            /// ```
            #[inline]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// Its bits.
            ///
            /// CUDA C: the member `__x`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::ZERO.to_bits(), 0);")]
            /// ```
            #[inline]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest number, half to even; saturating. CUDA C: `__nv_cvt_float_to_fp8` with `__NV_SATFINITE`.
            ///
            /// One conversion of a pair: see there.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($name), ";\n\nfn store(x: f32) -> ", stringify!($name), " {\n    ", stringify!($name), "::from_f32(x)\n}")]
            /// ```
            #[inline]
            pub fn from_f32(value: f32) -> Self {
                $pair::from_f32([value, 0.0]).lo()
            }

            /// The same number. CUDA C: `__nv_cvt_fp8_to_halfraw`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($name), ";\n\nfn load(x: ", stringify!($name), ") -> f32 {\n    x.to_f32()\n}")]
            /// ```
            #[inline]
            pub fn to_f32(self) -> f32 {
                $pair::new(self, Self::ZERO).to_f32()[0]
            }

            /// The nearest number, half to even; saturating. CUDA C: `__nv_cvt_halfraw_to_fp8`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($name), ";\n\nuse gpu_std::half::F16;\n\nfn store(x: F16) -> ", stringify!($name), " {\n    ", stringify!($name), "::from_f16(x)\n}")]
            /// ```
            #[inline]
            pub fn from_f16(value: F16) -> Self {
                Self::from_f32(value.to_f32())
            }

            /// The same number. CUDA C: `__nv_cvt_fp8_to_halfraw`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($name), ";\n\nuse gpu_std::half::F16;\n\nfn load(x: ", stringify!($name), ") -> F16 {\n    x.to_f16()\n}")]
            /// ```
            #[inline]
            pub fn to_f16(self) -> F16 {
                $pair::new(self, Self::ZERO).to_f16x2().lo()
            }

            /// Whether it is NaN.
            ///
            /// CUDA C: `__hisnan` of the converted number.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($name), ";\n\nassert!(", stringify!($name), "::NAN.is_nan() && !", stringify!($name), "::MAX.is_nan());")]
            /// ```
            #[inline]
            pub const fn is_nan(self) -> bool {
                self.0 & !SIGN >= $format.least_nan
            }

            /// Whether it is neither infinite nor NaN.
            ///
            /// CUDA C: `isfinite` of the converted number.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($name), ";\n\nassert!(", stringify!($name), "::MAX.is_finite() && !", stringify!($name), "::NAN.is_finite());")]
            /// ```
            #[inline]
            pub const fn is_finite(self) -> bool {
                self.0 & !SIGN <= $format.max
            }
        }

        impl $pair {
            /// A pair; `lo` comes first in memory.
            ///
            /// CUDA C: the member `__x`, in which the first is lower.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::{", stringify!($name), ", ", stringify!($pair), "};\n\nlet pair = ", stringify!($pair), "::new(", stringify!($name), "::ZERO, ", stringify!($name), "::ONE);\nassert_eq!(pair.hi().to_bits(), ", stringify!($name), "::ONE.to_bits());")]
            /// ```
            #[inline]
            pub const fn new(lo: $name, hi: $name) -> Self {
                Self(lo.0 as u16 | (hi.0 as u16) << 8)
            }

            /// The first.
            ///
            /// CUDA C: the lower byte of `__x`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::{", stringify!($name), ", ", stringify!($pair), "};\n\nfn first(pair: ", stringify!($pair), ") -> ", stringify!($name), " {\n    pair.lo()\n}")]
            /// ```
            #[inline]
            pub const fn lo(self) -> $name {
                $name(self.0 as u8)
            }

            /// The second.
            ///
            /// CUDA C: the upper byte of `__x`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::{", stringify!($name), ", ", stringify!($pair), "};\n\nfn second(pair: ", stringify!($pair), ") -> ", stringify!($name), " {\n    pair.hi()\n}")]
            /// ```
            #[inline]
            pub const fn hi(self) -> $name {
                $name((self.0 >> 8) as u8)
            }

            /// The pair of these bits, the first in the lower half.
            ///
            /// CUDA C: the member `__x`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($pair), ";\n\nassert_eq!(", stringify!($pair), "::from_bits(0).to_bits(), 0);")]
            /// ```
            #[inline]
            pub const fn from_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// Its bits.
            ///
            /// CUDA C: the member `__x`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($pair), ";\n\nassert_eq!(", stringify!($pair), "::from_bits(0).to_bits(), 0);")]
            /// ```
            #[inline]
            pub const fn to_bits(self) -> u16 {
                self.0
            }

            /// The nearest numbers, half to even; saturating. CUDA C: `__nv_cvt_float2_to_fp8x2` with `__NV_SATFINITE`;
            #[doc = concat!("PTX: `cvt.rn.satfinite.", $type, ".f32`.")]
            ///
            /// One instruction from sm_89 on; before, integer arithmetic.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($pair), ";\n\nfn store(x: f32, y: f32) -> ", stringify!($pair), " {\n    ", stringify!($pair), "::from_f32([x, y])\n}")]
            /// ```
            #[inline]
            pub fn from_f32([lo, hi]: [f32; 2]) -> Self {
                let computed = || Self::new($name($format.encode(lo)), $name($format.encode(hi))).0;
                Self(if target::sm() >= 89 {
                    target::require_ptx(81);
                    // SAFETY: the instruction reads its inputs and writes its output.
                    unsafe {
                        ptx!(pure, concat!("cvt.rn.satfinite.", $type, ".f32 {0}, {1}, {2};"), out(u16), in hi, in lo;
                            else computed())
                    }
                } else {
                    computed()
                })
            }

            /// The nearest numbers, half to even; saturating. CUDA C: `__nv_cvt_halfraw2_to_fp8x2`; PTX:
            #[doc = concat!("`cvt.rn.satfinite.", $type, ".f16x2`.")]
            ///
            /// One instruction from sm_89 on; before, integer arithmetic.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($pair), ";\n\nuse gpu_std::half::F16x2;\n\nfn store(pair: F16x2) -> ", stringify!($pair), " {\n    ", stringify!($pair), "::from_f16x2(pair)\n}")]
            /// ```
            #[inline]
            pub fn from_f16x2(value: F16x2) -> Self {
                let through_f32 = || Self::from_f32([value.lo(), value.hi()].map(F16::to_f32)).0;
                Self(if target::sm() >= 89 {
                    target::require_ptx(81);
                    // SAFETY: the instruction reads its input and writes its output.
                    unsafe {
                        ptx!(pure, concat!("cvt.rn.satfinite.", $type, ".f16x2 {0}, {1};"), out(u16), in value.to_bits();
                            else through_f32())
                    }
                } else {
                    through_f32()
                })
            }

            /// The same numbers.
            ///
            /// CUDA C: `__nv_cvt_fp8x2_to_halfraw2` and `__half22float2`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($pair), ";\n\nfn load(pair: ", stringify!($pair), ") -> [f32; 2] {\n    pair.to_f32()\n}")]
            /// ```
            #[inline]
            pub fn to_f32(self) -> [f32; 2] {
                if ptx::on_device() && target::sm() >= 89 {
                    let halves = self.to_f16x2();
                    [halves.lo(), halves.hi()].map(F16::to_f32)
                } else {
                    [self.lo(), self.hi()].map(|one| $format.decode(one.0))
                }
            }

            /// The same numbers. CUDA C: `__nv_cvt_fp8x2_to_halfraw2`; PTX:
            #[doc = concat!("`cvt.rn.f16x2.", $type, "`.")]
            ///
            /// One instruction from sm_89 on; before, integer arithmetic.
            ///
            /// ```
            #[doc = concat!("use gpu_std::fp8::", stringify!($pair), ";\n\nuse gpu_std::half::F16x2;\n\nfn load(pair: ", stringify!($pair), ") -> F16x2 {\n    pair.to_f16x2()\n}")]
            /// ```
            #[inline]
            pub fn to_f16x2(self) -> F16x2 {
                let through_f32 = || {
                    let [lo, hi] = [self.lo(), self.hi()].map(|one| F16::from_f32($format.decode(one.0)));
                    F16x2::new(lo, hi).to_bits()
                };
                F16x2::from_bits(if target::sm() >= 89 {
                    target::require_ptx(81);
                    // SAFETY: the instruction reads its input and writes its output.
                    unsafe {
                        ptx!(pure, concat!("cvt.rn.f16x2.", $type, " {0}, {1};"), out(u32), in self.0; else through_f32())
                    }
                } else {
                    through_f32()
                })
            }
        }

        impl PartialEq for $name {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl From<$name> for f32 {
            #[inline]
            fn from(value: $name) -> f32 {
                value.to_f32()
            }
        }

        impl fmt::Debug for $name {
            #[inline]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $name {
            #[inline]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Debug for $pair {
            #[inline]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($pair)).field(&self.lo()).field(&self.hi()).finish()
            }
        }
    };
}

fp8!(
    E4m3,
    E4m3x2,
    E4M3,
    "e4m3x2",
    "__nv_fp8_e4m3",
    "__nv_fp8x2_e4m3",
    "4 bits of exponent and 3 of fraction: up to 448, steps of 1/8 at 1, no infinity.",
    0x38
);
fp8!(
    E5m2,
    E5m2x2,
    E5M2,
    "e5m2x2",
    "__nv_fp8_e5m2",
    "__nv_fp8x2_e5m2",
    "5 bits of exponent and 2 of fraction: up to 57344, steps of 1/4 at 1, with infinity.",
    0x3c
);
