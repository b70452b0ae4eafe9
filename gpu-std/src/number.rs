//! The numbers that warps reduce, scan and match.

use bytemuck::AnyBitPattern;

mod sealed {
    pub trait Sealed {}
}

/// A number that a group of lanes can add up, compare and match: integers of up to 64 bits, `f32` and `f64`.
///
/// Integers wrap on overflow, as CUDA's do. `min` and `max` of floats are [`f32::min`] and [`f32::max`]: of a NaN and
/// a number, the number.
pub trait Number: AnyBitPattern + sealed::Sealed {
    /// What changes nothing when it is added.
    const ZERO: Self;
    /// Not above any other.
    const LEAST: Self;
    /// Not below any other.
    const GREATEST: Self;
    /// Whether it has 64 bits.
    #[doc(hidden)]
    const IS_WIDE: bool;

    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The lesser.
    fn lesser(self, other: Self) -> Self;
    /// The greater.
    fn greater(self, other: Self) -> Self;
    /// The bits, by which numbers are matched.
    #[doc(hidden)]
    fn bits(self) -> u64;
}

/// An integer: a [`Number`] whose bits can be combined.
pub trait Integer:
    Number
    + core::ops::BitAnd<Output = Self>
    + core::ops::BitOr<Output = Self>
    + core::ops::BitXor<Output = Self>
    + core::ops::Not<Output = Self>
{
}

macro_rules! integers {
    ($($integer:ident)*) => {$(
        impl sealed::Sealed for $integer {}

        impl Number for $integer {
            const ZERO: Self = 0;
            const LEAST: Self = Self::MIN;
            const GREATEST: Self = Self::MAX;
            const IS_WIDE: bool = Self::BITS == 64;

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn lesser(self, other: Self) -> Self {
                Ord::min(self, other)
            }
            #[inline]
            fn greater(self, other: Self) -> Self {
                Ord::max(self, other)
            }
            #[inline]
            fn bits(self) -> u64 {
                self as u64
            }
        }

        impl Integer for $integer {}
    )*};
}

integers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

macro_rules! floats {
    ($($float:ident $is_wide:literal,)*) => {$(
        impl sealed::Sealed for $float {}

        impl Number for $float {
            const ZERO: Self = 0.0;
            const LEAST: Self = Self::NEG_INFINITY;
            const GREATEST: Self = Self::INFINITY;
            const IS_WIDE: bool = $is_wide;

            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn lesser(self, other: Self) -> Self {
                self.min(other)
            }
            #[inline]
            fn greater(self, other: Self) -> Self {
                self.max(other)
            }
            #[inline]
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
        }
    )*};
}

floats! { f32 false, f64 true, }
