//! The indices that say who owns a part of an array: a thread, a warp or a block.

use core::marker::PhantomData;
use core::ops::Deref;

use crate::view::Shape;

/// The index of a thread in a launch, from [`thread::index_1d`](crate::thread::index_1d),
/// [`thread::index`](crate::thread::index) or [`thread::grid_stride`](crate::thread::grid_stride). Dereferences to
/// `usize`.
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex {
    index: usize,
    _stays_in_thread: PhantomData<*const ()>,
}

/// The row and column of a thread in a launch of two dimensions, from [`thread::index_2d`](crate::thread::index_2d).
/// Dereferences to `(row, col)`, the index of a view of two dimensions.
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex2d {
    index: (usize, usize),
    _stays_in_thread: PhantomData<*const ()>,
}

/// The plane, row and column of a thread in a launch of three dimensions, from
/// [`thread::index_3d`](crate::thread::index_3d). Dereferences to `(plane, row, col)`, the index of a view of three
/// dimensions.
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex3d {
    index: (usize, usize, usize),
    _stays_in_thread: PhantomData<*const ()>,
}

/// The number of a warp in the launch, from [`warp::index`](crate::warp::index). Dereferences to `usize`.
#[derive(Clone, Copy, Debug)]
pub struct WarpIndex {
    index: usize,
    lane: usize,
    lanes: usize,
    _stays_in_thread: PhantomData<*const ()>,
}

/// The number of a block, from [`block::index`](crate::block::index). Dereferences to `usize`.
#[derive(Clone, Copy, Debug)]
pub struct BlockIndex {
    index: usize,
    thread: ThreadOfBlock,
}

/// The row and column of a block in a grid of two dimensions, from [`block::index_2d`](crate::block::index_2d).
/// Dereferences to `(row, col)`.
#[derive(Clone, Copy, Debug)]
pub struct BlockIndex2d {
    index: (usize, usize),
    thread: ThreadOfBlock,
}

/// Which of its block's threads this is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadOfBlock {
    rank: usize,
    threads: usize,
    is_first: bool,
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
            index: (row, col),
            _stays_in_thread: PhantomData,
        }
    }

    /// The row: along y.
    #[inline]
    pub fn row(self) -> usize {
        self.index.0
    }

    /// The column: along x, neighbours in a warp.
    #[inline]
    pub fn col(self) -> usize {
        self.index.1
    }
}

impl ThreadIndex3d {
    /// # Safety
    /// In one launch, no other thread makes a `ThreadIndex3d` of the same triple.
    #[inline]
    pub(crate) unsafe fn new(plane: usize, row: usize, col: usize) -> Self {
        Self {
            index: (plane, row, col),
            _stays_in_thread: PhantomData,
        }
    }

    /// The plane: along z.
    #[inline]
    pub fn plane(self) -> usize {
        self.index.0
    }

    /// The row: along y.
    #[inline]
    pub fn row(self) -> usize {
        self.index.1
    }

    /// The column: along x, neighbours in a warp.
    #[inline]
    pub fn col(self) -> usize {
        self.index.2
    }
}

impl WarpIndex {
    /// # Safety
    /// In one launch, no other thread makes a `WarpIndex` of the same number and lane, all that make one of this number
    /// give the same `lanes`, and `lane` is below it.
    #[inline]
    pub(crate) unsafe fn new(index: usize, lane: usize, lanes: usize) -> Self {
        Self {
            index,
            lane,
            lanes,
            _stays_in_thread: PhantomData,
        }
    }
}

impl ThreadOfBlock {
    /// # Safety
    /// `rank` is the thread's own number below `threads`, the threads of its block, and `is_first` whether it is 0.
    #[inline]
    pub(crate) unsafe fn new(rank: usize, threads: usize, is_first: bool) -> Self {
        Self {
            rank,
            threads,
            is_first,
            _stays_in_thread: PhantomData,
        }
    }
}

impl BlockIndex {
    /// # Safety
    /// In one launch, only threads of one block make a `BlockIndex` of this value.
    #[inline]
    pub(crate) unsafe fn new(index: usize, thread: ThreadOfBlock) -> Self {
        Self { index, thread }
    }
}

impl BlockIndex2d {
    /// # Safety
    /// In one launch, only threads of one block make a `BlockIndex2d` of this pair.
    #[inline]
    pub(crate) unsafe fn new(row: usize, col: usize, thread: ThreadOfBlock) -> Self {
        Self {
            index: (row, col),
            thread,
        }
    }

    /// The row: along y.
    #[inline]
    pub fn row(self) -> usize {
        self.index.0
    }

    /// The column: along x.
    #[inline]
    pub fn col(self) -> usize {
        self.index.1
    }
}

/// An index that says which part of an array this thread owns, alone or with the threads of its warp or block.
///
/// # Safety
///
/// For each type, in one launch:
/// - no two threads have indices with the same [`place`](Self::place) and the same [`rank`](Self::rank);
/// - all indices of one place have the same [`sharers`](Self::sharers), and a rank below it;
/// - [`is_first`](Self::is_first) is whether the rank is 0.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not prove which thread it belongs to",
    label = "not an index that only one thread can hold",
    note = "write through `thread::index_1d()`, `thread::index_2d()` or `block::index()`; to write anywhere, take \
            atomics (`&[AtomicU32]`) as the kernel's parameter"
)]
pub unsafe trait DisjointIndex: Copy + 'static {
    /// What counts parts, and the type of an array's extents: `usize`, or `[usize; N]`.
    type Shape: Shape;

    /// The number of the part.
    fn place(self) -> Self::Shape;

    /// The number of this thread among those that share the part.
    #[inline]
    fn rank(self) -> usize {
        0
    }

    /// How many threads share the part.
    #[inline]
    fn sharers(self) -> usize {
        1
    }

    /// Whether this is the thread of rank 0, to which a part of one element belongs.
    #[inline]
    fn is_first(self) -> bool {
        self.rank() == 0
    }
}

// SAFETY: a `ThreadIndex` is unique to its thread.
unsafe impl DisjointIndex for ThreadIndex {
    type Shape = usize;

    #[inline]
    fn place(self) -> usize {
        self.index
    }
}

// SAFETY: the pair is unique to its thread.
unsafe impl DisjointIndex for ThreadIndex2d {
    type Shape = [usize; 2];

    #[inline]
    fn place(self) -> [usize; 2] {
        self.index.into()
    }
}

// SAFETY: the triple is unique to its thread.
unsafe impl DisjointIndex for ThreadIndex3d {
    type Shape = [usize; 3];

    #[inline]
    fn place(self) -> [usize; 3] {
        self.index.into()
    }
}

// SAFETY: as `WarpIndex::new` demands.
unsafe impl DisjointIndex for WarpIndex {
    type Shape = usize;

    #[inline]
    fn place(self) -> usize {
        self.index
    }

    #[inline]
    fn rank(self) -> usize {
        self.lane
    }

    #[inline]
    fn sharers(self) -> usize {
        self.lanes
    }
}

macro_rules! of_block {
    ($($name:ident: $shape:ty;)*) => {$(
        // SAFETY: the number is unique to its block, and the rank to the thread in the block.
        unsafe impl DisjointIndex for $name {
            type Shape = $shape;

            #[inline]
            fn place(self) -> $shape {
                self.index.into()
            }

            #[inline]
            fn rank(self) -> usize {
                self.thread.rank
            }

            #[inline]
            fn sharers(self) -> usize {
                self.thread.threads
            }

            #[inline]
            fn is_first(self) -> bool {
                self.thread.is_first
            }
        }
    )*};
}

of_block! {
    BlockIndex: usize;
    BlockIndex2d: [usize; 2];
}

macro_rules! dereferences {
    ($($name:ident: $target:ty;)*) => {$(
        impl Deref for $name {
            type Target = $target;

            #[inline]
            fn deref(&self) -> &$target {
                &self.index
            }
        }
    )*};
}

dereferences! {
    ThreadIndex: usize;
    ThreadIndex2d: (usize, usize);
    ThreadIndex3d: (usize, usize, usize);
    WarpIndex: usize;
    BlockIndex: usize;
    BlockIndex2d: (usize, usize);
}
