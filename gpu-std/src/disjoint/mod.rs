//! Arrays that all threads of a launch write without a data race.
//!
//! A parameter says in its type who owns what: one of these shapes of part, and one of these owners, whose index only
//! the library can make.
//!
//! | parameter | a part is | `get_mut(owner)` gives |
//! | --- | --- | --- |
//! | [`DisjointSlice<T, I>`](DisjointSlice) | an element | `&mut T` |
//! | [`DisjointChunks<T, K, I>`](DisjointChunks) | `K` elements in a row | `&mut [T; K]`, or a [`Share`] |
//! | [`DisjointRows<T, I>`](DisjointRows) | a row of a matrix | `&mut [T]`, or a [`Share`] |
//! | [`DisjointColumns<T>`](DisjointColumns) | a column of a matrix | a [`ColumnMut`] |
//! | [`DisjointTiles<T, R, C, I>`](DisjointTiles) | `R` by `C` elements of a matrix | a [`TileShare`] |
//!
//! | owner `I` | from |
//! | --- | --- |
//! | a thread: [`ThreadIndex`], [`ThreadIndex2d`], [`ThreadIndex3d`] | [`thread::index_1d`], [`thread::index_2d`], [`thread::index_3d`], [`thread::index`], [`thread::grid_stride`] |
//! | a warp: [`WarpIndex`] | [`warp::index`], [`warp::grid_stride`] |
//! | a block: [`BlockIndex`], [`BlockIndex2d`] | [`block::index`], [`block::index_1d`], [`block::index_2d`], [`block::grid_stride`] |
//!
//! An owner's index reads as well: `a[i]` of a slice, an array, a `Vec` or a view is the element at `*i`, checked like any
//! other.
//!
//! [`thread::index`]: crate::thread::index
//! [`thread::index_1d`]: crate::thread::index_1d
//! [`thread::index_2d`]: crate::thread::index_2d
//! [`thread::index_3d`]: crate::thread::index_3d
//! [`thread::grid_stride`]: crate::thread::grid_stride
//! [`warp::index`]: crate::warp::index
//! [`warp::grid_stride`]: crate::warp::grid_stride
//! [`block::index`]: crate::block::index
//! [`block::index_1d`]: crate::block::index_1d
//! [`block::index_2d`]: crate::block::index_2d
//! [`block::grid_stride`]: crate::block::grid_stride
//!
//! # Why this is sound
//!
//! A `&mut [T]` in every thread would be thousands of aliases. These types hand out `&mut` only to elements that no
//! other thread can name:
//!
//! 1. Only this library makes an owner's index, from the special registers of the running thread. None of them can be
//!    sent to another thread: they are neither `Send` nor plain data, so shared memory and device arrays cannot hold
//!    them.
//! 2. Within one launch, two threads never hold indices of one type with the same place and the same rank
//!    ([`DisjointIndex`]). A thread's index has a place of its own (the launch shape is checked by the runtime). The
//!    threads of a block or a warp have the same place, and each its own rank among them.
//! 3. Different places are different parts, and parts have no element in common: the numbering of elements, rows,
//!    columns, chunks and tiles inside a shape is injective, and the shape comes from the host and is the same for all
//!    threads. A strided array has no two indices for one element either: the host makes it from a `&mut` array.
//! 4. Within a part, the element number `e` belongs to the thread of rank `e % sharers`, and all owners of a part have
//!    the same number of sharers. Where a part is one element, it so belongs to rank 0.
//! 5. The index type is part of the parameter's type, so a kernel cannot mix two of them on one array.
//! 6. The host passes an array for one of these by `&mut`, so no other parameter of the launch overlaps it.
//! 7. In one thread, `get_mut` borrows the parameter mutably, so two references to an element never live at once.
//!    Iterators give each element once.

mod chunks;
mod columns;
mod index;
mod rows;
mod share;
mod slice;
mod tiles;

pub use chunks::DisjointChunks;
pub use columns::{ColumnIterMut, ColumnMut, DisjointColumns};
pub(crate) use index::ThreadOfBlock;
pub use index::{
    BlockIndex, BlockIndex2d, DisjointIndex, ThreadIndex, ThreadIndex2d, ThreadIndex3d, WarpIndex,
};
pub use rows::DisjointRows;
pub use share::{IndexedIterMut, IterMut, Share};
pub use slice::DisjointSlice;
pub use tiles::{DisjointTiles, TileIterMut, TileShare};
