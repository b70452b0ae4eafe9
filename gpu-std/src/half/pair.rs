//! Two 16-bit floats in one register.

use core::fmt;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use bytemuck::{Pod, Zeroable};

use super::scalar::operators;
use super::{Bf16, F16};
use crate::intrinsics as gpu;

macro_rules! pair {
    ($name:ident $half:ident $c:literal $add:ident $sub:ident $mul:ident $fma:ident $min:ident $max:ident) => {
        #[doc = concat!("Two [`", stringify!($half), "`]; one instruction computes both. CUDA C: `", $c, "`.\n\n```")]
        #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn axpy(a: ", stringify!($name), ", x: ", stringify!($name), ", y: ", stringify!($name), ") -> ", stringify!($name), " {\n    a.mul_add(x, y)\n}\n```")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u32);

        // SAFETY: it is a `u32`.
        unsafe impl Zeroable for $name {}
        // SAFETY: it is a `u32`.
        unsafe impl Pod for $name {}
        // SAFETY: it is a `u32`.
        unsafe impl crate::DeviceCopy for $name {
            const NO_PADDING: bool = true;
        }

        impl $name {
            /// A pair; `lo` comes first in memory. CUDA C: `__halves2half2`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::{", stringify!($half), ", ", stringify!($name), "};\n\nlet pair = ", stringify!($name), "::new(", stringify!($half), "::ZERO, ", stringify!($half), "::ONE);\nassert_eq!(pair.hi().to_bits(), ", stringify!($half), "::ONE.to_bits());")]
            /// ```
            #[inline]
            pub const fn new(lo: $half, hi: $half) -> Self {
                Self(lo.0 as u32 | (hi.0 as u32) << 16)
            }

            /// A pair of equal numbers. CUDA C: `__half2half2`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::{", stringify!($half), ", ", stringify!($name), "};\n\nlet ones = ", stringify!($name), "::splat(", stringify!($half), "::ONE);\nassert_eq!(ones.lo().to_bits(), ones.hi().to_bits());")]
            /// ```
            #[inline]
            pub const fn splat(value: $half) -> Self {
                Self::new(value, value)
            }

            /// The first. CUDA C: `__low2half`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::{", stringify!($half), ", ", stringify!($name), "};\n\nfn first(pair: ", stringify!($name), ") -> ", stringify!($half), " {\n    pair.lo()\n}")]
            /// ```
            #[inline]
            pub const fn lo(self) -> $half {
                $half(self.0 as u16)
            }

            /// The second. CUDA C: `__high2half`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::{", stringify!($half), ", ", stringify!($name), "};\n\nfn second(pair: ", stringify!($name), ") -> ", stringify!($half), " {\n    pair.hi()\n}")]
            /// ```
            #[inline]
            pub const fn hi(self) -> $half {
                $half((self.0 >> 16) as u16)
            }

            /// The pair of these bits, the first in the lower half.
            ///
            /// CUDA C: a cast of the `unsigned`'s address.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::from_bits(0).to_bits(), 0);")]
            /// ```
            #[inline]
            pub const fn from_bits(bits: u32) -> Self {
                Self(bits)
            }

            /// Its bits.
            ///
            /// CUDA C: a cast of the pair's address.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::default().to_bits(), 0);")]
            /// ```
            #[inline]
            pub const fn to_bits(self) -> u32 {
                self.0
            }

            /// Both.
            ///
            /// CUDA C: `x.x`, `x.y`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::{", stringify!($half), ", ", stringify!($name), "};\n\nfn parts(pair: ", stringify!($name), ") -> [", stringify!($half), "; 2] {\n    pair.to_array()\n}")]
            /// ```
            #[inline]
            pub const fn to_array(self) -> [$half; 2] {
                [self.lo(), self.hi()]
            }

            /// A function of each. `pair.map(F16::sin)` is CUDA C's `h2sin`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::{", stringify!($half), ", ", stringify!($name), "};\n\nfn roots(pair: ", stringify!($name), ") -> ", stringify!($name), " {\n    pair.map(", stringify!($half), "::sqrt)\n}")]
            /// ```
            #[inline]
            pub fn map(self, function: impl Fn($half) -> $half) -> Self {
                Self::new(function(self.lo()), function(self.hi()))
            }

            /// Both without their signs. CUDA C: `__habs2`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn sizes(pair: ", stringify!($name), ") -> ", stringify!($name), " {\n    pair.abs()\n}")]
            /// ```
            #[inline]
            pub const fn abs(self) -> Self {
                Self(self.0 & 0x7fff_7fff)
            }

            /// The lesser of each; if one is NaN, the other. CUDA C: `__hmin2`; PTX: `min.f16x2`, `min.bf16x2` from sm_80 on.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ", y: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.min(y)\n}")]
            /// ```
            #[inline]
            pub fn min(self, other: Self) -> Self {
                Self(gpu::$min(self.0, other.0))
            }

            /// The greater of each; if one is NaN, the other. CUDA C: `__hmax2`; PTX: `max.f16x2`, `max.bf16x2` from sm_80 on.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn apply(x: ", stringify!($name), ", y: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.max(y)\n}")]
            /// ```
            #[inline]
            pub fn max(self, other: Self) -> Self {
                Self(gpu::$max(self.0, other.0))
            }

            /// `self * factor + summand` of both, each rounded once. CUDA C: `__hfma2`; PTX: `fma.rn.f16x2`,
            /// `fma.rn.bf16x2`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::half::", stringify!($name), ";\n\nfn axpy(a: ", stringify!($name), ", x: ", stringify!($name), ", y: ", stringify!($name), ") -> ", stringify!($name), " {\n    a.mul_add(x, y)\n}")]
            /// ```
            #[inline]
            pub fn mul_add(self, factor: Self, summand: Self) -> Self {
                Self(gpu::$fma(self.0, factor.0, summand.0))
            }
        }

        operators! { $name:
            Add add AddAssign add_assign $add;
            Sub sub SubAssign sub_assign $sub;
            Mul mul MulAssign mul_assign $mul;
        }

        impl Div for $name {
            type Output = Self;

            #[inline]
            fn div(self, other: Self) -> Self {
                Self::new(self.lo() / other.lo(), self.hi() / other.hi())
            }
        }

        impl DivAssign for $name {
            #[inline]
            fn div_assign(&mut self, other: Self) {
                *self = *self / other;
            }
        }

        impl Neg for $name {
            type Output = Self;

            #[inline]
            fn neg(self) -> Self {
                Self(self.0 ^ 0x8000_8000)
            }
        }

        impl PartialEq for $name {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.lo() == other.lo() && self.hi() == other.hi()
            }
        }

        impl fmt::Debug for $name {
            #[inline]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.lo()).field(&self.hi()).finish()
            }
        }
    };
}

pair!(F16x2 F16 "__half2" f16x2_add f16x2_sub f16x2_mul f16x2_fma f16x2_min f16x2_max);
pair!(Bf16x2 Bf16 "__nv_bfloat162" bf16x2_add bf16x2_sub bf16x2_mul bf16x2_fma bf16x2_min bf16x2_max);
