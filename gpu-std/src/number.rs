//! The numbers that warps reduce, scan and match.

use core::panic::Location;

use bytemuck::AnyBitPattern;

use crate::half::{Bf16, F16};
use crate::intrinsics as gpu;
use crate::target;

mod sealed {
    pub trait Sealed {}
}

/// A number that a group of lanes can add up, compare and match: integers of up to 64 bits, `f32`, `f64`, [`F16`] and
/// [`Bf16`].
///
/// Integers wrap on overflow, as CUDA's do. `min` and `max` of floats are [`f32::min`] and [`f32::max`]: of a NaN and
/// a number, the number.
///
/// ```
/// use gpu_std::warp::{self, FULL_MASK, Number};
///
/// /// The least and the greatest of a warp.
/// fn range<T: Number>(x: T) -> [T; 2] {
///     [warp::reduce_min(FULL_MASK, x), warp::reduce_max(FULL_MASK, x)]
/// }
/// ```
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
    ///
    /// ```
    /// assert_eq!(gpu_std::warp::Number::plus(u8::MAX, 2), 1);
    /// ```
    fn plus(self, other: Self) -> Self;
    /// The lesser.
    ///
    /// ```
    /// assert_eq!(gpu_std::warp::Number::lesser(f32::NAN, 2.0), 2.0);
    /// ```
    fn lesser(self, other: Self) -> Self;
    /// The greater.
    ///
    /// ```
    /// assert_eq!(gpu_std::warp::Number::greater(-1, 2), 2);
    /// ```
    fn greater(self, other: Self) -> Self;
    /// The bits, by which numbers are matched.
    #[doc(hidden)]
    fn bits(self) -> u64;

    /// The reduction over the lanes of `mask`, where the target has one instruction for it: `redux.sync`, of integers of
    /// up to 32 bits from sm_80 on.
    ///
    /// # Safety
    ///
    /// `mask` has this lane.
    #[doc(hidden)]
    #[inline]
    #[track_caller]
    unsafe fn reduced_at_once(self, reduction: Reduction, mask: u32) -> Option<Self> {
        let _ = (reduction, mask);
        None
    }
}

/// A reduction that the hardware has.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Reduction {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// An integer: a [`Number`] whose bits can be combined.
///
/// ```
/// use gpu_std::warp::{self, FULL_MASK, Integer};
///
/// fn common_bits<T: Integer>(x: T) -> T {
///     warp::reduce_and(FULL_MASK, x)
/// }
/// ```
pub trait Integer:
    Number
    + core::ops::BitAnd<Output = Self>
    + core::ops::BitOr<Output = Self>
    + core::ops::BitXor<Output = Self>
    + core::ops::Not<Output = Self>
{
}

macro_rules! integers {
    ($($integer:ident $(by $least:ident $greatest:ident)?,)*) => {$(
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

            $(#[inline]
            #[track_caller]
            unsafe fn reduced_at_once(self, reduction: Reduction, mask: u32) -> Option<Self> {
                if target::sm() < 80 {
                    return None;
                }
                gpu::place(Location::caller());
                let word = self as u32;
                // SAFETY: the caller's promise.
                let word = unsafe {
                    match reduction {
                        Reduction::Add => gpu::redux_add(word, mask),
                        Reduction::Min => gpu::$least(word, mask),
                        Reduction::Max => gpu::$greatest(word, mask),
                        Reduction::And => gpu::redux_and(word, mask),
                        Reduction::Or => gpu::redux_or(word, mask),
                        Reduction::Xor => gpu::redux_xor(word, mask),
                    }
                };
                Some(word as Self)
            })?
        }

        impl Integer for $integer {}
    )*};
}

integers! {
    i8 by redux_min redux_max,
    i16 by redux_min redux_max,
    i32 by redux_min redux_max,
    i64,
    isize,
    u8 by redux_umin redux_umax,
    u16 by redux_umin redux_umax,
    u32 by redux_umin redux_umax,
    u64,
    usize,
}

macro_rules! floats {
    ($($float:ident: $zero:expr, $is_wide:literal;)*) => {$(
        impl sealed::Sealed for $float {}

        impl Number for $float {
            const ZERO: Self = $zero;
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

floats! {
    f32: 0.0, false;
    f64: 0.0, true;
    F16: F16::ZERO, false;
    Bf16: Bf16::ZERO, false;
}
