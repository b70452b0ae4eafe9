//! Mutable slices that all threads of a launch share without a data race.
//!
//! # Why this is sound
//!
//! A `&mut [T]` in every thread would be thousands of aliases. A [`DisjointSlice`] hands out `&mut T` for one element
//! at a time, and only for an index that proves that no other thread can name the same element:
//!
//! 1. Only this library makes a [`ThreadIndex`], [`ThreadIndex2d`] or [`BlockIndex`], from the special registers of
//!    the running thread. None of them can be sent to another thread: they are neither `Send` nor plain data, so
//!    shared memory and device arrays cannot hold them.
//! 2. Within one launch, the elements that two threads can reach with one index type are disjoint. For a thread index
//!    that is uniqueness (the launch shape is checked by the runtime); for a block index, only the block's first
//!    thread gets the element.
//! 3. The index type is part of the slice's type, so a kernel cannot mix two of them on one slice. The shape that maps
//!    a 2-D index to an element comes from the host and is the same for all threads.
//! 4. The host passes an array for a `DisjointSlice` by `&mut`, so no other parameter of the launch overlaps it.
//! 5. In one thread, [`DisjointSlice::get_mut`] borrows the slice mutably, so two references never live at once.

use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

use crate::kernel::{KernelParam, RawView};

/// The index of a thread in a one-dimensional launch, from [`thread::index_1d`](crate::thread::index_1d).
/// Dereferences to `usize`.
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex {
    index: usize,
    _stays_in_thread: PhantomData<*const ()>,
}

/// The row and column of a thread in a launch of two dimensions, from [`thread::index_2d`](crate::thread::index_2d).
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex2d {
    row: usize,
    col: usize,
    _stays_in_thread: PhantomData<*const ()>,
}

/// The number of a block, from [`block::index`](crate::block::index). Dereferences to `usize`.
#[derive(Clone, Copy, Debug)]
pub struct BlockIndex {
    index: usize,
    first_thread: bool,
    _stays_in_thread: PhantomData<*const ()>,
}

impl ThreadIndex {
    /// # Safety
    /// In one launch, no other thread makes a `ThreadIndex` of the same value.
    #[inline]
    pub(crate) unsafe fn new(index: usize) -> Self {
        Self {
            index,
            _stays_in_thread: PhantomData,
        }
    }
}

impl ThreadIndex2d {
    /// # Safety
    /// In one launch, no other thread makes a `ThreadIndex2d` of the same pair.
    #[inline]
    pub(crate) unsafe fn new(row: usize, col: usize) -> Self {
        Self {
            row,
            col,
            _stays_in_thread: PhantomData,
        }
    }

    /// The row: along y.
    #[inline]
    pub fn row(self) -> usize {
        self.row
    }

    /// The column: along x, neighbours in a warp.
    #[inline]
    pub fn col(self) -> usize {
        self.col
    }
}

impl BlockIndex {
    /// # Safety
    /// In one launch, `first_thread` is true for at most one thread that makes a `BlockIndex` of this value.
    #[inline]
    pub(crate) unsafe fn new(index: usize, first_thread: bool) -> Self {
        Self {
            index,
            first_thread,
            _stays_in_thread: PhantomData,
        }
    }
}

impl Deref for ThreadIndex {
    type Target = usize;

    #[inline]
    fn deref(&self) -> &usize {
        &self.index
    }
}

impl Deref for BlockIndex {
    type Target = usize;

    #[inline]
    fn deref(&self) -> &usize {
        &self.index
    }
}

/// An index that names elements no other thread of the launch can name with the same type.
///
/// # Safety
///
/// For one shape, [`DisjointIndex::element`] must not give the same number to two threads of a launch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not prove which thread it belongs to",
    label = "not an index that only one thread can hold",
    note = "write through `thread::index_1d()`, `thread::index_2d()` or `block::index()`; to write anywhere, take \
            atomics (`&[AtomicU32]`) as the kernel's parameter"
)]
pub unsafe trait DisjointIndex: Copy + 'static {
    /// What maps the index to an element: a length, or rows and columns.
    type Shape: Copy + 'static;

    /// How many elements a slice of this shape has.
    fn elements(shape: Self::Shape) -> usize;

    /// The element of this index, row-major, or `None` where it lies outside the shape or belongs to another thread.
    fn element(self, shape: Self::Shape) -> Option<usize>;
}

// SAFETY: a `ThreadIndex` is unique to its thread.
unsafe impl DisjointIndex for ThreadIndex {
    type Shape = usize;

    #[inline]
    fn elements(len: usize) -> usize {
        len
    }

    #[inline]
    fn element(self, len: usize) -> Option<usize> {
        (self.index < len).then_some(self.index)
    }
}

// SAFETY: the pair is unique to its thread, and row-major numbering of pairs inside the shape is injective.
unsafe impl DisjointIndex for ThreadIndex2d {
    type Shape = [usize; 2];

    #[inline]
    fn elements([rows, cols]: [usize; 2]) -> usize {
        rows * cols
    }

    #[inline]
    fn element(self, [rows, cols]: [usize; 2]) -> Option<usize> {
        (self.row < rows && self.col < cols).then(|| self.row * cols + self.col)
    }
}

// SAFETY: the number is unique to its block, and one thread of the block gets it.
unsafe impl DisjointIndex for BlockIndex {
    type Shape = usize;

    #[inline]
    fn elements(len: usize) -> usize {
        len
    }

    #[inline]
    fn element(self, len: usize) -> Option<usize> {
        (self.first_thread && self.index < len).then_some(self.index)
    }
}

/// A kernel parameter that every thread of the launch writes, each its own elements.
///
/// `I` says who owns an element: a thread of a one-dimensional launch ([`ThreadIndex`], the default), of a
/// two-dimensional one ([`ThreadIndex2d`], the array then has rows and columns), or a block ([`BlockIndex`]).
/// On the host the argument is `&mut DeviceArray<T>`.
///
/// ```
/// use gpu_std::disjoint::ThreadIndex2d;
/// use gpu_std::{DisjointSlice, thread};
///
/// fn transpose(a: &[f32], mut out: DisjointSlice<f32, ThreadIndex2d>) {
///     let i = thread::index_2d();
///     let [rows, _] = out.shape();
///     if let Some(out) = out.get_mut(i) {
///         *out = a[i.col() * rows + i.row()];
///     }
/// }
/// ```
pub struct DisjointSlice<T, I: DisjointIndex = ThreadIndex> {
    first: NonNull<T>,
    shape: I::Shape,
}

impl<T, I: DisjointIndex> DisjointSlice<T, I> {
    /// The element of `index`, or `None` where it lies outside the slice (a thread beyond the end) or belongs to
    /// another thread (a block index in a thread that is not the block's first).
    #[inline]
    pub fn get_mut(&mut self, index: I) -> Option<&mut T> {
        let element = index.element(self.shape)?;
        // SAFETY: `element` lies inside the shape, and by `DisjointIndex` no other thread names it.
        Some(unsafe { self.first.add(element).as_mut() })
    }

    /// Length, or rows and columns.
    #[inline]
    pub fn shape(&self) -> I::Shape {
        self.shape
    }

    /// Elements in all.
    #[inline]
    pub fn len(&self) -> usize {
        I::elements(self.shape)
    }

    /// Whether there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

// SAFETY: `RawView` is `repr(C)`.
unsafe impl<T: 'static, I: DisjointIndex> KernelParam for DisjointSlice<T, I> {
    type Raw = RawView<T, I::Shape>;

    #[inline]
    unsafe fn from_raw(view: Self::Raw) -> Self {
        // SAFETY: a live view's pointer is not null, also where it has no elements. Said in LLVM's terms too, so that it
        // does not test the `Option`s that `get_mut` returns.
        let first = unsafe {
            core::hint::assert_unchecked(!view.pointer.is_null());
            NonNull::new_unchecked(view.pointer)
        };
        Self {
            first,
            shape: view.shape,
        }
    }
}
