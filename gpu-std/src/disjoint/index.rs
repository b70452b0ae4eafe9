//! The indices that say who owns a part of an array: a thread, a warp or a block. In `read`: `a[i]`; in
//! `number`: what `i + 1` says.

mod number;
mod read;

use core::marker::PhantomData;
use core::ops::Deref;

use crate::view::Shape;

/// The index of a thread in a launch, from [`thread::index_1d`](crate::thread::index_1d),
/// [`thread::index`](crate::thread::index) or [`thread::grid_stride`](crate::thread::grid_stride). `a[i]` reads an
/// element of a slice, an array, a `Vec` or a view of one dimension; `*i` is the `usize`, to compute with.
///
/// CUDA C: the `int i` of `blockIdx.x * blockDim.x + threadIdx.x`.
///
/// ```
/// use gpu_std::disjoint::ThreadIndex;
/// use gpu_std::DisjointSlice;
///
/// fn add(a: &[f32], x: &mut DisjointSlice<f32>, i: ThreadIndex) {
///     if let Some(x) = x.get_mut(i) {
///         *x += a[i] - a[*i / 2];
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex {
    index: usize,
    _stays_in_thread: PhantomData<*const ()>,
}

/// The row and column of a thread in a launch of two dimensions, from [`thread::index_2d`](crate::thread::index_2d).
/// `x[i]` reads an element of a view of two dimensions; `*i` is `(row, col)`.
///
/// CUDA C: two such numbers, of y and of x.
///
/// ```
/// use gpu_std::disjoint::ThreadIndex2d;
/// use gpu_std::view::ArrayView2;
///
/// fn and_its_mirror_image(x: ArrayView2<f32>, i: ThreadIndex2d) -> f32 {
///     x[i] + x[(i.col(), i.row())]
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex2d {
    index: (usize, usize),
    _stays_in_thread: PhantomData<*const ()>,
}

/// The plane, row and column of a thread in a launch of three dimensions, from
/// [`thread::index_3d`](crate::thread::index_3d). `x[i]` reads an element of a view of three dimensions; `*i` is
/// `(plane, row, col)`.
///
/// CUDA C: three such numbers, of z, y and x.
///
/// ```
/// use gpu_std::disjoint::ThreadIndex3d;
/// use gpu_std::view::ArrayView3;
///
/// fn read(x: ArrayView3<f32>, i: ThreadIndex3d) -> f32 {
///     x[i]
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex3d {
    index: (usize, usize, usize),
    _stays_in_thread: PhantomData<*const ()>,
}

/// The number of a warp in the launch, from [`warp::index`](crate::warp::index). `a[i]` reads an element, as with a
/// [`ThreadIndex`]; `*i` is the `usize`.
///
/// CUDA C: `(blockIdx.x * blockDim.x + threadIdx.x) / 32`.
///
/// ```
/// use gpu_std::disjoint::{DisjointSlice, WarpIndex};
/// use gpu_std::warp;
///
/// fn publish(sum: f32, mut sums: DisjointSlice<f32, WarpIndex>) {
///     if let Some(place) = sums.get_mut(warp::index()) {
///         *place = sum; // the warp's first thread only
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WarpIndex {
    index: usize,
    lane: usize,
    lanes: usize,
    _stays_in_thread: PhantomData<*const ()>,
}

/// The number of a block, from [`block::index`](crate::block::index). `a[i]` reads an element, as with a
/// [`ThreadIndex`]; `*i` is the `usize`.
///
/// CUDA C: `blockIdx.x`, with `if (threadIdx.x == 0)`.
///
/// ```
/// use gpu_std::disjoint::{BlockIndex, DisjointSlice};
/// use gpu_std::block;
///
/// fn publish(sum: f32, mut sums: DisjointSlice<f32, BlockIndex>) {
///     if let Some(place) = sums.get_mut(block::index()) {
///         *place = sum; // the block's first thread only
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BlockIndex {
    index: usize,
    thread: ThreadOfBlock,
}

/// The row and column of a block in a grid of two dimensions, from [`block::index_2d`](crate::block::index_2d).
/// `x[i]` reads an element of a view of two dimensions; `*i` is `(row, col)`.
///
/// CUDA C: `blockIdx.y`, `blockIdx.x`.
///
/// ```
/// use gpu_std::disjoint::{BlockIndex2d, DisjointTiles};
///
/// fn clear(x: &mut DisjointTiles<f32, 16, 16>, b: BlockIndex2d) {
///     if let Some(mut tile) = x.get_mut(b) {
///         tile.indexed_iter_mut().for_each(|(_, x)| *x = 0.0);
///     }
/// }
/// ```
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
    ///
    /// CUDA C: `blockIdx.y * blockDim.y + threadIdx.y`.
    ///
    /// ```
    /// fn is_first() -> bool {
    ///     gpu_std::thread::index_2d().row() == 0
    /// }
    /// ```
    #[inline]
    pub fn row(self) -> usize {
        self.index.0
    }

    /// The column: along x, neighbours in a warp.
    ///
    /// CUDA C: `blockIdx.x * blockDim.x + threadIdx.x`.
    ///
    /// ```
    /// fn is_first() -> bool {
    ///     gpu_std::thread::index_2d().col() == 0
    /// }
    /// ```
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
    ///
    /// CUDA C: `blockIdx.z * blockDim.z + threadIdx.z`.
    ///
    /// ```
    /// fn is_first() -> bool {
    ///     gpu_std::thread::index_3d().plane() == 0
    /// }
    /// ```
    #[inline]
    pub fn plane(self) -> usize {
        self.index.0
    }

    /// The row: along y.
    ///
    /// CUDA C: `blockIdx.y * blockDim.y + threadIdx.y`.
    ///
    /// ```
    /// fn is_first() -> bool {
    ///     gpu_std::thread::index_3d().row() == 0
    /// }
    /// ```
    #[inline]
    pub fn row(self) -> usize {
        self.index.1
    }

    /// The column: along x, neighbours in a warp.
    ///
    /// CUDA C: `blockIdx.x * blockDim.x + threadIdx.x`.
    ///
    /// ```
    /// fn is_first() -> bool {
    ///     gpu_std::thread::index_3d().col() == 0
    /// }
    /// ```
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
    ///
    /// CUDA C: `blockIdx.y`.
    ///
    /// ```
    /// fn is_first() -> bool {
    ///     gpu_std::block::index_2d().row() == 0
    /// }
    /// ```
    #[inline]
    pub fn row(self) -> usize {
        self.index.0
    }

    /// The column: along x.
    ///
    /// CUDA C: `blockIdx.x`.
    ///
    /// ```
    /// fn is_first() -> bool {
    ///     gpu_std::block::index_2d().col() == 0
    /// }
    /// ```
    #[inline]
    pub fn col(self) -> usize {
        self.index.1
    }
}

/// An index that says which part of an array this thread owns, alone or with the threads of its warp or block.
///
/// Kernels name it only in generic helpers. CUDA C has nothing of the kind: any thread may write anywhere.
///
/// ```
/// use gpu_std::disjoint::{DisjointIndex, DisjointSlice};
///
/// fn set<T, I: DisjointIndex>(x: &mut DisjointSlice<T, I>, i: I, value: T) {
///     if let Some(x) = x.get_mut(i) {
///         *x = value;
///     }
/// }
/// ```
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
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointIndex;
    ///
    /// fn of_this_thread() -> bool {
    ///     gpu_std::thread::index_1d().place() == *gpu_std::thread::index_1d()
    /// }
    /// ```
    fn place(self) -> Self::Shape;

    /// The number of this thread among those that share the part.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointIndex;
    ///
    /// fn of_this_thread() -> bool {
    ///     gpu_std::block::index().rank() == gpu_std::thread::index_in_block()
    /// }
    /// ```
    #[inline]
    fn rank(self) -> usize {
        0
    }

    /// How many threads share the part.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointIndex;
    ///
    /// fn of_this_thread() -> bool {
    ///     gpu_std::block::index().sharers() == gpu_std::block::len()
    /// }
    /// ```
    #[inline]
    fn sharers(self) -> usize {
        1
    }

    /// Whether this is the thread of rank 0, to which a part of one element belongs.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointIndex;
    ///
    /// fn of_this_thread() -> bool {
    ///     gpu_std::block::index().is_first()
    /// }
    /// ```
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
