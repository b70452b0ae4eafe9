//! One 16-bit float.

use core::cmp::Ordering;
use core::fmt;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use bytemuck::{Pod, Zeroable};

use crate::intrinsics as gpu;
use crate::math::Real;

/// Operators by a function of bits; also for pairs.
macro_rules! operators {
    ($name:ident: $($trait:ident $method:ident $assign:ident $assign_method:ident $function:ident;)*) => {$(
        impl $trait for $name {
            type Output = Self;

            #[inline]
            fn $method(self, other: Self) -> Self {
                Self(gpu::$function(self.0, other.0))
            }
        }

        impl $assign for $name {
            #[inline]
            fn $assign_method(&mut self, other: Self) {
                *self = $trait::$method(*self, other);
            }
        }
    )*};
}

pub(super) use operators;

/// Functions that are computed in `f32` and rounded to the type.
macro_rules! through_f32 {
    ($type:ident: $($(#[$doc:meta])* $name:ident = $function:expr;)*) => {$(
        $(#[$doc])*
        /// Computed in `f32`, then rounded.
        ///
        /// ```
        #[doc = concat!("use gpu_std::half::", stringify!($type), ";\n\nfn apply(x: ", stringify!($type), ") -> ", stringify!($type), " {\n    x.", stringify!($name), "()\n}")]
        /// ```
        #[inline]
        pub fn $name(self) -> Self {
            let function: fn(f32) -> f32 = $function;
            Self::from_f32(function(self.to_f32()))
        }
    )*};
}

macro_rules! float {
    ($name:ident, $what:literal, $c:literal, $crate_type:ident, $one:literal $infinity:literal $nan:literal $max:literal $min_positive:literal $epsilon:literal,
     $add:ident $sub:ident $mul:ident $div:ident $fma:ident $to_f32:ident $from_f32:ident $from_f64:ident
     $min:ident $max_of:ident $floor:ident $ceil:ident $trunc:ident $round:ident) => {
        #[doc = $what]
        #[doc = concat!("\n\nCUDA C: `", $c, "`; the `half` crate: `", stringify!($crate_type), "`.\n\n```")]
        #[doc = concat!("use gpu_std::half::", stringify!($name), ";\nuse gpu_std::{DisjointSlice, thread};\n")]
        #[doc = concat!("fn axpy(a: ", stringify!($name), ", x: &[", stringify!($name), "], mut y: DisjointSlice<", stringify!($name), ">) {")]
        #[doc = "    let i = thread::index_1d();\n    if let Some(y) = y.get_mut(i) {\n        *y = a.mul_add(x[i], *y);\n    }\n}\n```"]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(pub(super) u16);

        // SAFETY: it is a `u16`.
        unsafe impl Zeroable for $name {}
        // SAFETY: it is a `u16`.
        unsafe impl Pod for $name {}
        // SAFETY: it is a `u16`.
        unsafe impl crate::DeviceCopy for $name {
            const NO_PADDING: bool = true;
        }

        impl $name {
            /// 0
            pub const ZERO: Self = Self(0);
            /// 1
            pub const ONE: Self = Self($one);
            /// Infinity.
            pub const INFINITY: Self = Self($infinity);
            /// Negative infinity.
            pub const NEG_INFINITY: Self = Self($infinity | 0x8000);
            /// Not a number.
            pub const NAN: Self = Self($nan);
            /// The greatest finite number.
            pub const MAX: Self = Self($max);
            /// The least positive number that is not subnormal.
            pub const MIN_POSITIVE: Self = Self($min_positive);
            /// The difference of 1 and the next greater number.
            pub const EPSILON: Self = Self($epsilon);

            /// The number of these bits.
            ///
            /// CUDA C: `__ushort_as_half`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::from_bits(0).to_bits(), 0);")]
            /// ```
            #[inline]
            pub const fn from_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// Its bits.
            ///
            /// CUDA C: `__half_as_ushort`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::INFINITY.to_bits() | 0x8000, ", stringify!($name), "::NEG_INFINITY.to_bits());")]
            /// ```
            #[inline]
            pub const fn to_bits(self) -> u16 {
                self.0
            }

            /// The nearest number, half to even. CUDA C: `__float2half_rn`, `__float2bfloat16_rn`; PTX: `cvt.rn`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn store(x: f32) -> ", stringify!($name), " {\n    ", stringify!($name), "::from_f32(x)\n}")]
            /// ```
            #[inline]
            pub fn from_f32(value: f32) -> Self {
                Self(gpu::$from_f32(value))
            }

            /// The nearest number, half to even. CUDA C: `__double2half`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn store(x: f64) -> ", stringify!($name), " {\n    ", stringify!($name), "::from_f64(x)\n}")]
            /// ```
            #[inline]
            pub fn from_f64(value: f64) -> Self {
                Self(gpu::$from_f64(value))
            }

            /// The same number. CUDA C: `__half2float`, `__bfloat162float`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn load(x: ", stringify!($name), ") -> f32 {\n    x.to_f32()\n}")]
            /// ```
            #[inline]
            pub fn to_f32(self) -> f32 {
                gpu::$to_f32(self.0)
            }

            /// The same number.
            ///
            /// CUDA C: a cast to `double`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn load(x: ", stringify!($name), ") -> f64 {\n    x.to_f64()\n}")]
            /// ```
            #[inline]
            pub fn to_f64(self) -> f64 {
                self.to_f32().into()
            }

            /// `self * factor + summand`, rounded once. CUDA C: `__hfma`; PTX: `fma.rn.f16`, `fma.rn.bf16`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn axpy(a: ", stringify!($name), ", x: ", stringify!($name), ", y: ", stringify!($name), ") -> ", stringify!($name), " {\n    a.mul_add(x, y)\n}")]
            /// ```
            #[inline]
            pub fn mul_add(self, factor: Self, summand: Self) -> Self {
                Self(gpu::$fma(self.0, factor.0, summand.0))
            }

            /// Without its sign. CUDA C: `__habs`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.abs()\n}")]
            /// ```
            #[inline]
            pub const fn abs(self) -> Self {
                Self(self.0 & 0x7fff)
            }

            /// Whether it is NaN. CUDA C: `__hisnan`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> bool {\n    x.is_nan()\n}")]
            /// ```
            #[inline]
            pub const fn is_nan(self) -> bool {
                self.0 & 0x7fff > $infinity
            }

            /// Whether it is an infinity. CUDA C: `__hisinf`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> bool {\n    x.is_infinite()\n}")]
            /// ```
            #[inline]
            pub const fn is_infinite(self) -> bool {
                self.0 & 0x7fff == $infinity
            }

            /// Whether it is neither infinite nor NaN.
            ///
            /// CUDA C: `!(__hisnan(x) || __hisinf(x))`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> bool {\n    x.is_finite()\n}")]
            /// ```
            #[inline]
            pub const fn is_finite(self) -> bool {
                self.0 & 0x7fff < $infinity
            }

            /// Whether its sign bit is set.
            ///
            /// CUDA C: `__half_as_ushort(x) >> 15`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> bool {\n    x.is_sign_negative()\n}")]
            /// ```
            #[inline]
            pub const fn is_sign_negative(self) -> bool {
                self.0 >> 15 == 1
            }

            /// Its size with the sign of `sign`.
            ///
            /// CUDA C: bit operations.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn with_sign_of(x: ", stringify!($name), ", y: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.copysign(y)\n}")]
            /// ```
            #[inline]
            pub const fn copysign(self, sign: Self) -> Self {
                Self(self.0 & 0x7fff | sign.0 & 0x8000)
            }

            /// The lesser of both; if one is NaN, the other. CUDA C: `__hmin`; PTX: `min.f16`, `min.bf16` from sm_80 on.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ", y: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.min(y)\n}")]
            /// ```
            #[inline]
            pub fn min(self, other: Self) -> Self {
                Self(gpu::$min(self.0, other.0))
            }

            /// The greater of both; if one is NaN, the other. CUDA C: `__hmax`; PTX: `max.f16`, `max.bf16` from sm_80 on.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ", y: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.max(y)\n}")]
            /// ```
            #[inline]
            pub fn max(self, other: Self) -> Self {
                Self(gpu::$max_of(self.0, other.0))
            }

            /// The nearest number in a range. NaN stays NaN.
            ///
            /// CUDA C: `__hmin(__hmax(x, least), greatest)`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn unit(x: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.clamp(", stringify!($name), "::ZERO, ", stringify!($name), "::ONE)\n}")]
            /// ```
            #[inline]
            pub fn clamp(self, least: Self, greatest: Self) -> Self {
                if self.is_nan() { self } else { self.max(least).min(greatest) }
            }

            /// The greatest integer not above it. CUDA C: `hfloor`; PTX: `cvt.rmi`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.floor()\n}")]
            /// ```
            #[inline]
            pub fn floor(self) -> Self {
                Self(gpu::$floor(self.0))
            }

            /// The least integer not below it. CUDA C: `hceil`; PTX: `cvt.rpi`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.ceil()\n}")]
            /// ```
            #[inline]
            pub fn ceil(self) -> Self {
                Self(gpu::$ceil(self.0))
            }

            /// The integer towards 0. CUDA C: `htrunc`; PTX: `cvt.rzi`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.trunc()\n}")]
            /// ```
            #[inline]
            pub fn trunc(self) -> Self {
                Self(gpu::$trunc(self.0))
            }

            /// The nearest integer, half to even. CUDA C: `hrint`; PTX: `cvt.rni`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.round_ties_even()\n}")]
            /// ```
            #[inline]
            pub fn round_ties_even(self) -> Self {
                Self(gpu::$round(self.0))
            }

            /// The nearest number, half to even. CUDA C: `__int2half_rn`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn store(n: i32) -> ", stringify!($name), " {\n    ", stringify!($name), "::from_i32(n)\n}")]
            /// ```
            #[inline]
            pub fn from_i32(value: i32) -> Self {
                Self::from_f64(value.into())
            }

            /// The nearest number, half to even. CUDA C: `__uint2half_rn`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn store(n: u32) -> ", stringify!($name), " {\n    ", stringify!($name), "::from_u32(n)\n}")]
            /// ```
            #[inline]
            pub fn from_u32(value: u32) -> Self {
                Self::from_f64(value.into())
            }

            /// Towards 0, the nearest that the integer has; 0 for NaN: as `as` does. CUDA C: `__half2int_rz`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> i32 {\n    x.to_i32()\n}")]
            /// ```
            #[inline]
            pub fn to_i32(self) -> i32 {
                self.to_f32() as i32
            }

            /// Towards 0, the nearest that the integer has; 0 for NaN: as `as` does. CUDA C: `__half2uint_rz`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ") -> u32 {\n    x.to_u32()\n}")]
            /// ```
            #[inline]
            pub fn to_u32(self) -> u32 {
                self.to_f32() as u32
            }

            through_f32! { $name:
                /// The square root. CUDA C: `hsqrt`.
                sqrt = Real::sqrt;
                /// `1 / sqrt(self)`. CUDA C: `hrsqrt`.
                rsqrt = Real::rsqrt;
                /// `1 / self`. CUDA C: `hrcp`.
                recip = |x| 1.0 / x;
                /// The sine. CUDA C: `hsin`.
                sin = Real::sin;
                /// The cosine. CUDA C: `hcos`.
                cos = Real::cos;
                /// e to the power of it. CUDA C: `hexp`.
                exp = Real::exp;
                /// 2 to the power of it. CUDA C: `hexp2`.
                exp2 = Real::exp2;
                /// The natural logarithm. CUDA C: `hlog`.
                ln = Real::ln;
                /// The logarithm to base 2. CUDA C: `hlog2`.
                log2 = Real::log2;
                /// The hyperbolic tangent. CUDA C: `htanh`.
                tanh = Real::tanh;
                /// The logarithm to base 10. CUDA C: `hlog10`.
                log10 = |x| Real::log2(x) * core::f32::consts::LOG10_2;
                /// 10 to the power of it. CUDA C: `hexp10`.
                exp10 = Real::exp10;
            }
        }

        operators! { $name:
            Add add AddAssign add_assign $add;
            Sub sub SubAssign sub_assign $sub;
            Mul mul MulAssign mul_assign $mul;
            Div div DivAssign div_assign $div;
        }

        impl Neg for $name {
            type Output = Self;

            #[inline]
            fn neg(self) -> Self {
                Self(self.0 ^ 0x8000)
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
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl From<$name> for f32 {
            #[inline]
            fn from(value: $name) -> f32 {
                value.to_f32()
            }
        }

        impl From<$name> for f64 {
            #[inline]
            fn from(value: $name) -> f64 {
                value.to_f64()
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

        #[cfg(feature = "half")]
        impl From<half::$crate_type> for $name {
            #[inline]
            fn from(value: half::$crate_type) -> Self {
                Self(value.to_bits())
            }
        }

        #[cfg(feature = "half")]
        impl From<$name> for half::$crate_type {
            #[inline]
            fn from(value: $name) -> Self {
                Self::from_bits(value.0)
            }
        }
    };
}

float!(F16, "IEEE's 16-bit float: 11 bits of precision, up to 65504.", "__half", f16,
    0x3c00 0x7c00 0x7e00 0x7bff 0x0400 0x1400,
    f16_add f16_sub f16_mul f16_div f16_fma f16_to_f32 f16_from_f32 f16_from_f64
    f16_min f16_max f16_floor f16_ceil f16_trunc f16_round);
float!(Bf16, "The upper half of an `f32`: 8 bits of precision, and its range.", "__nv_bfloat16", bf16,
    0x3f80 0x7f80 0x7fc0 0x7f7f 0x0080 0x3c00,
    bf16_add bf16_sub bf16_mul bf16_div bf16_fma bf16_to_f32 bf16_from_f32 bf16_from_f64
    bf16_min bf16_max bf16_floor bf16_ceil bf16_trunc bf16_round);
