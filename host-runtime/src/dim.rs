//! What may be given for a grid, a block or a number of items.
//!
//! Any integer is taken, so that a plain literal (`grid(4096)`) and a `usize` length both work without a cast. Numbers
//! keep their value, in 128 bits, until a launch checks them: one that is negative or too large is an error there that
//! names it as it was given.

use gpu_std::Dim3;

mod sealed {
    pub trait Sealed {}
}

/// An integer: `i32`, `u32`, `i64`, `u64`, `usize` and the other primitive ones.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of blocks, threads or items",
    label = "give an integer here, such as `256` or `c.len()`"
)]
pub trait Count: sealed::Sealed + Copy {
    /// Its value.
    #[doc(hidden)]
    fn value(self) -> i128;
}

macro_rules! counts {
    ($($integer:ident)*) => {$(
        impl sealed::Sealed for $integer {}
        impl Count for $integer {
            #[inline]
            fn value(self) -> i128 {
                self as i128
            }
        }
    )*};
}

counts!(i8 u8 i16 u16 i32 u32 i64 u64 isize usize);

/// The extent of a grid (in blocks) or of a block (in threads): an integer, a tuple or array of one to three of them
/// as `(x, y, z)`, or a [`Dim3`]. What is left out is 1. CUDA C: `dim3`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the size of a grid or block",
    label = "give an integer, or `(x, y)`, or `(x, y, z)`"
)]
pub trait ToDim {
    /// Its values along x, y and z.
    #[doc(hidden)]
    fn to_dim(self) -> [i128; 3];
}

impl<X: Count> ToDim for X {
    #[inline]
    fn to_dim(self) -> [i128; 3] {
        [self.value(), 1, 1]
    }
}

impl<X: Count> ToDim for (X,) {
    #[inline]
    fn to_dim(self) -> [i128; 3] {
        [self.0.value(), 1, 1]
    }
}

impl<X: Count, Y: Count> ToDim for (X, Y) {
    #[inline]
    fn to_dim(self) -> [i128; 3] {
        [self.0.value(), self.1.value(), 1]
    }
}

impl<X: Count, Y: Count, Z: Count> ToDim for (X, Y, Z) {
    #[inline]
    fn to_dim(self) -> [i128; 3] {
        [self.0.value(), self.1.value(), self.2.value()]
    }
}

impl<X: Count> ToDim for [X; 1] {
    #[inline]
    fn to_dim(self) -> [i128; 3] {
        [self[0].value(), 1, 1]
    }
}

impl<X: Count> ToDim for [X; 2] {
    #[inline]
    fn to_dim(self) -> [i128; 3] {
        [self[0].value(), self[1].value(), 1]
    }
}

impl<X: Count> ToDim for [X; 3] {
    #[inline]
    fn to_dim(self) -> [i128; 3] {
        self.map(X::value)
    }
}

impl ToDim for Dim3 {
    #[inline]
    fn to_dim(self) -> [i128; 3] {
        [self.x.value(), self.y.value(), self.z.value()]
    }
}

/// How many items a launch has a thread for, as the extents of an array: an integer, or a tuple or array of up to three
/// of them, `(rows, cols)` or `(planes, rows, cols)`, the last along x. It is what `dim()` of an array gives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of items",
    label = "give an integer here, or `(rows, cols)`, or `(planes, rows, cols)`, such as `c.dim()`"
)]
pub trait Items {
    /// How many dimensions there are.
    #[doc(hidden)]
    const DIMENSIONS: u32;

    /// The items along x, y and z.
    #[doc(hidden)]
    fn to_items(self) -> [i128; 3];
}

impl<X: Count> Items for X {
    const DIMENSIONS: u32 = 1;

    #[inline]
    fn to_items(self) -> [i128; 3] {
        [self.value(), 1, 1]
    }
}

impl<Rows: Count, Cols: Count> Items for (Rows, Cols) {
    const DIMENSIONS: u32 = 2;

    #[inline]
    fn to_items(self) -> [i128; 3] {
        [self.1.value(), self.0.value(), 1]
    }
}

impl<Planes: Count, Rows: Count, Cols: Count> Items for (Planes, Rows, Cols) {
    const DIMENSIONS: u32 = 3;

    #[inline]
    fn to_items(self) -> [i128; 3] {
        [self.2.value(), self.1.value(), self.0.value()]
    }
}

impl<N: Count> Items for [N; 2] {
    const DIMENSIONS: u32 = 2;

    #[inline]
    fn to_items(self) -> [i128; 3] {
        <(N, N)>::from(self).to_items()
    }
}

impl<N: Count> Items for [N; 3] {
    const DIMENSIONS: u32 = 3;

    #[inline]
    fn to_items(self) -> [i128; 3] {
        <(N, N, N)>::from(self).to_items()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_every_kind_of_extent() {
        assert_eq!(4096.to_dim(), [4096, 1, 1]);
        assert_eq!((-3).to_dim(), [-3, 1, 1]);
        assert_eq!(u64::MAX.to_dim(), [u64::MAX.into(), 1, 1]);
        assert_eq!((7usize,).to_dim(), [7, 1, 1]);
        assert_eq!((16, 8usize).to_dim(), [16, 8, 1]);
        assert_eq!((1u8, 2i64, 3).to_dim(), [1, 2, 3]);
        assert_eq!([4].to_dim(), [4, 1, 1]);
        assert_eq!([4, 5].to_dim(), [4, 5, 1]);
        assert_eq!([4, 5, 6].to_dim(), [4, 5, 6]);
        assert_eq!(Dim3 { x: 1, y: 2, z: 3 }.to_dim(), [1, 2, 3]);
    }

    #[test]
    fn items_are_extents_whose_last_is_along_x() {
        assert_eq!(1000usize.to_items(), [1000, 1, 1]);
        assert_eq!((3, 4usize).to_items(), [4, 3, 1]);
        assert_eq!([2, 3, 4].to_items(), [4, 3, 2]);
        assert_eq!((2, 3, 4).to_items(), [4, 3, 2]);
        assert_eq!(<[usize; 2] as Items>::DIMENSIONS, 2);
    }
}
