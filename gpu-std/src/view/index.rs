//! Indices, shapes and ranges of several dimensions, as tuples and arrays.

use core::ops::{Bound, RangeBounds};

/// An index into, or the shape of, a view of `N` dimensions: `usize` for one, a tuple of `usize` such as `(row, col)`, an
/// array, or the index of a thread, warp or block in as many dimensions, such as
/// [`ThreadIndex2d`](crate::disjoint::ThreadIndex2d).
///
/// CUDA C has only one number, `row * cols + col`.
///
/// ```
/// use gpu_std::view::{ArrayView2, NdIndex};
///
/// fn read(x: ArrayView2<f32>, index: impl NdIndex<2>) -> f32 {
///     x.get(index).copied().unwrap_or(0.0)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index of a view of {N} dimension(s)",
    label = "give one `usize` for each dimension (`x[i]`, `x[(row, col)]`, `x[(plane, row, col)]`), or the index of a thread in \
             as many dimensions (`x[thread::index_2d()]`)"
)]
pub trait NdIndex<const N: usize>: Copy {
    /// The number along each axis.
    ///
    /// ```
    /// use gpu_std::view::NdIndex;
    ///
    /// assert_eq!((2, 3).into_array(), [2, 3]);
    /// ```
    fn into_array(self) -> [usize; N];
}

/// One range for each of `N` dimensions: `(1..3, ..)`; for one dimension the range itself.
///
/// CUDA C has a pointer to the first element and keeps the leading dimension.
///
/// ```
/// use gpu_std::view::{ArrayView2, NdRange};
///
/// fn count(x: ArrayView2<f32>, part: impl NdRange<2>) -> usize {
///     x.slice(part).len()
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a range for each of {N} dimension(s)",
    label = "give a tuple of ranges, such as `(1..3, ..)`"
)]
pub trait NdRange<const N: usize> {
    /// Start and end along each axis of a view of this shape, not checked.
    ///
    /// ```
    /// use gpu_std::view::NdRange;
    ///
    /// assert_eq!((1..3, ..).bounds([5, 6]), [(1, 3), (0, 6)]);
    /// ```
    fn bounds(self, shape: [usize; N]) -> [(usize, usize); N];
}

impl NdIndex<1> for usize {
    #[inline]
    fn into_array(self) -> [usize; 1] {
        [self]
    }
}

impl<R: RangeBounds<usize>> NdRange<1> for R {
    #[inline]
    fn bounds(self, [len]: [usize; 1]) -> [(usize, usize); 1] {
        [bounds(&self, len)]
    }
}

/// A bound that does not fit a `usize` becomes one that is out of bounds.
#[inline]
fn bounds(range: &impl RangeBounds<usize>, len: usize) -> (usize, usize) {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    (start, end)
}

macro_rules! number {
    ($axis:ident) => {
        usize
    };
}

macro_rules! dimensions {
    ($($n:literal: $($axis:ident)+, $($range:ident)+;)*) => {$(
        impl NdIndex<$n> for [usize; $n] {
            #[inline]
            fn into_array(self) -> [usize; $n] {
                self
            }
        }

        impl NdIndex<$n> for ($(number!($axis),)+) {
            #[inline]
            fn into_array(self) -> [usize; $n] {
                let ($($axis,)+) = self;
                [$($axis),+]
            }
        }

        impl<$($range: RangeBounds<usize>),+> NdRange<$n> for ($($range,)+) {
            #[inline]
            fn bounds(self, shape: [usize; $n]) -> [(usize, usize); $n] {
                let [$($axis),+] = shape;
                #[allow(non_snake_case)]
                let ($($range,)+) = self;
                [$(bounds(&$range, $axis)),+]
            }
        }
    )*};
}

impl NdIndex<1> for [usize; 1] {
    #[inline]
    fn into_array(self) -> [usize; 1] {
        self
    }
}

dimensions! {
    2: a b, A B;
    3: a b c, A B C;
    4: a b c d, A B C D;
    5: a b c d e, A B C D E;
    6: a b c d e f, A B C D E F;
}
