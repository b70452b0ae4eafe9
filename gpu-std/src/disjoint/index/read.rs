//! Reading at an index of the library: `a[i]` is `a[*i]`, the same element, the same check and the same panic at the
//! caller's line.
//!
//! Slices and vectors have it from here, arrays through their slices, views because the indices are [`NdIndex`] of as many
//! dimensions as they have numbers. There is no `IndexMut`: a kernel writes through
//! [`DisjointSlice`](crate::DisjointSlice) and its like, which ask who owns the element, and where it is not known to exist.

use alloc::vec::Vec;
use core::ops::Index;

use super::{BlockIndex, BlockIndex2d, ThreadIndex, ThreadIndex2d, ThreadIndex3d, WarpIndex};
use crate::view::NdIndex;

macro_rules! one_dimension {
    ($($index:ident: $of:literal, $from:literal, $cuda:literal;)*) => {$(
        #[doc = concat!("Reads the element of this ", $of, "'s number: `a[i]` is `a[*i]`. Of an array too.")]
        ///
        #[doc = concat!("CUDA C: `", $cuda, "`.")]
        ///
        /// ```
        #[doc = concat!("use gpu_std::", $of, ";\n")]
        /// fn own(a: &[f32]) -> f32 {
        #[doc = concat!("    a[", $from, "]")]
        /// }
        /// ```
        ///
        /// # Panics
        ///
        /// If the number is not below the length, at the caller's line.
        impl<T> Index<$index> for [T] {
            type Output = T;

            #[inline]
            #[track_caller]
            fn index(&self, index: $index) -> &T {
                &self[index.index]
            }
        }

        #[doc = concat!("Reads the element of this ", $of, "'s number: `a[i]` is `a[*i]`, as of a slice.")]
        ///
        #[doc = concat!("CUDA C: `", $cuda, "`.")]
        ///
        /// ```
        #[doc = concat!("use gpu_std::", $of, ";\n")]
        /// fn own(a: &Vec<f32>) -> f32 {
        #[doc = concat!("    a[", $from, "]")]
        /// }
        /// ```
        ///
        /// # Panics
        ///
        /// If the number is not below the length, at the caller's line.
        impl<T> Index<$index> for Vec<T> {
            type Output = T;

            #[inline]
            #[track_caller]
            fn index(&self, index: $index) -> &T {
                &self[index.index]
            }
        }

        impl NdIndex<1> for $index {
            #[inline]
            fn into_array(self) -> [usize; 1] {
                [self.index]
            }
        }
    )*};
}

one_dimension! {
    ThreadIndex: "thread", "thread::index_1d()", "a[blockIdx.x * blockDim.x + threadIdx.x]";
    WarpIndex: "warp", "warp::index()", "a[(blockIdx.x * blockDim.x + threadIdx.x) / 32]";
    BlockIndex: "block", "block::index()", "a[blockIdx.x]";
}

macro_rules! more_dimensions {
    ($($index:ident: $n:literal;)*) => {$(
        impl NdIndex<$n> for $index {
            #[inline]
            fn into_array(self) -> [usize; $n] {
                self.index.into()
            }
        }
    )*};
}

more_dimensions! {
    ThreadIndex2d: 2;
    ThreadIndex3d: 3;
    BlockIndex2d: 2;
}
