//! What `a[i]` says of types that are not indexed so.
//!
//! `a[i]` is a reference to an element, which a [`DisjointSlice`] gives only to the element's owner, and a shared array to
//! nobody. Whoever comes from CUDA C writes it first. rustc has no more to say than "cannot index into a value of type"
//! where a type is not [`Index`]; where it is, for indices that do not exist, the error says what to write.

use core::ops::{Index, IndexMut};

use crate::disjoint::{DisjointIndex, DisjointSlice};
use crate::shared::{SharedArray, SharedArray2d, SharedArray3d, SharedSlice, SharedSlice2d};
use crate::view::Layout;

/// An index of a [`DisjointSlice`] in brackets: there is none.
#[diagnostic::on_unimplemented(
    message = "a `DisjointSlice` is not indexed with `[]`: each element is one thread's to write",
    label = "take the element with `get_mut`",
    note = "this thread's element: `if let Some(x) = slice.get_mut(thread::index_1d()) {{ *x = ...; }}`; of a `DisjointSlice<T, \
            ThreadIndex2d>` the index is `thread::index_2d()`",
    note = "elements that any thread may write: `&[AtomicU32]` or `&[AtomicF32]` as the kernel's parameter"
)]
pub trait NoIndexOfDisjointSlice {
    /// Nothing can.
    fn never(self) -> !;
}

/// An index of a shared array in brackets: there is none.
#[diagnostic::on_unimplemented(
    message = "a shared array is not indexed with `[]`: another thread may write at any time, so it gives no references",
    label = "read with `get`, write with `set`",
    note = "one dimension: `a.get(i)`, `a.set(i, x)`; two: `a.get((row, col))`, `a.set((row, col), x)`; three: \
            `a.get((plane, row, col))`, `a.set((plane, row, col), x)`"
)]
pub trait NoIndexOfSharedArray {
    /// Nothing can.
    fn never(self) -> !;
}

#[doc(hidden)]
impl<T, I: DisjointIndex, L: Layout, N: NoIndexOfDisjointSlice> Index<N>
    for DisjointSlice<T, I, L>
{
    type Output = T;

    fn index(&self, index: N) -> &T {
        index.never()
    }
}

#[doc(hidden)]
impl<T, I: DisjointIndex, L: Layout, N: NoIndexOfDisjointSlice> IndexMut<N>
    for DisjointSlice<T, I, L>
{
    fn index_mut(&mut self, index: N) -> &mut T {
        index.never()
    }
}

macro_rules! shared {
    ($($array:ty $(, $extent:ident)*;)*) => {$(
        #[doc(hidden)]
        impl<T, N: NoIndexOfSharedArray, $(const $extent: usize),*> Index<N> for $array {
            type Output = T;

            fn index(&self, index: N) -> &T {
                index.never()
            }
        }

        #[doc(hidden)]
        impl<T, N: NoIndexOfSharedArray, $(const $extent: usize),*> IndexMut<N> for $array {
            fn index_mut(&mut self, index: N) -> &mut T {
                index.never()
            }
        }
    )*};
}

shared! {
    SharedArray<T, X>, X;
    SharedArray2d<T, Y, X>, Y, X;
    SharedArray3d<T, Z, Y, X>, Z, Y, X;
    SharedSlice<T>;
    SharedSlice2d<T>;
}
