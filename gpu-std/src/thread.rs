//! Where the running thread is: in its block, and in the whole launch.
//!
//! The plain readings (`thread_idx_x`, `block_dim`, ...) have the names of `cuda_std` and of CUDA C's built-in
//! variables. [`index_1d`] and its like give more than a number: an index that is unique to the thread and that
//! no safe code can forge, which is what makes a write through a [`DisjointSlice`](crate::DisjointSlice) safe.
//!
//! All indices and sizes of the whole launch are 64 bits: a grid may have more than 2^32 threads.

use crate::dim::Dim3;
use crate::disjoint::{ThreadIndex, ThreadIndex2d, ThreadIndex3d};
use crate::grid_stride::{Stride, Stride2d, Stride3d};
use crate::intrinsics as gpu;

macro_rules! readings {
    ($($(#[$doc:meta])* $name:ident = $x:ident $y:ident $z:ident, $one:literal, $name_x:ident $name_y:ident $name_z:ident;)*) => {$(
        $(#[$doc])*
        /// One special register for each dimension. Every GPU.
        ///
        /// ```
        #[doc = concat!("fn volume() -> u64 {\n    gpu_std::thread::", stringify!($name), "().count()\n}")]
        /// ```
        #[inline]
        pub fn $name() -> Dim3 {
            Dim3 { x: gpu::$x(), y: gpu::$y(), z: gpu::$z() }
        }
        #[doc = concat!("CUDA C: `", $one, ".x`; Numba: `cuda.", $one, ".x`. A special register, on every GPU.")]
        ///
        /// ```
        #[doc = concat!("fn is_first() -> bool {\n    gpu_std::thread::", stringify!($name_x), "() == 0\n}")]
        /// ```
        #[inline]
        pub fn $name_x() -> u32 {
            gpu::$x()
        }
        #[doc = concat!("CUDA C: `", $one, ".y`; Numba: `cuda.", $one, ".y`. A special register, on every GPU.")]
        ///
        /// ```
        #[doc = concat!("fn is_first() -> bool {\n    gpu_std::thread::", stringify!($name_y), "() == 0\n}")]
        /// ```
        #[inline]
        pub fn $name_y() -> u32 {
            gpu::$y()
        }
        #[doc = concat!("CUDA C: `", $one, ".z`; Numba: `cuda.", $one, ".z`. A special register, on every GPU.")]
        ///
        /// ```
        #[doc = concat!("fn is_first() -> bool {\n    gpu_std::thread::", stringify!($name_z), "() == 0\n}")]
        /// ```
        #[inline]
        pub fn $name_z() -> u32 {
            gpu::$z()
        }
    )*};
}

readings! {
    /// The thread's position in its block. CUDA C: `threadIdx`.
    thread_idx = tid_x tid_y tid_z, "threadIdx", thread_idx_x thread_idx_y thread_idx_z;
    /// The block's position in the grid. CUDA C: `blockIdx`.
    block_idx = ctaid_x ctaid_y ctaid_z, "blockIdx", block_idx_x block_idx_y block_idx_z;
    /// Threads of a block in each dimension. CUDA C: `blockDim`.
    block_dim = ntid_x ntid_y ntid_z, "blockDim", block_dim_x block_dim_y block_dim_z;
    /// Blocks of the grid in each dimension. CUDA C: `gridDim`.
    grid_dim = nctaid_x nctaid_y nctaid_z, "gridDim", grid_dim_x grid_dim_y grid_dim_z;
}

/// This thread's index in a one-dimensional launch: `blockIdx.x * blockDim.x + threadIdx.x`, in 64 bits.
/// Numba: `cuda.grid(1)`.
///
/// No two threads of a launch get the same one, because a kernel that calls this can only be launched with grids and
/// blocks of one dimension: the runtime refuses others with an error. So `get_mut` takes it to write, and `a[i]` to read;
/// `*i` is the number.
///
/// ```
/// use gpu_std::{DisjointSlice, thread};
///
/// fn double(a: &[f32], mut x: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let Some(x) = x.get_mut(i) {
///         *x = 2.0 * a[i];
///     }
/// }
/// ```
#[inline]
pub fn index_1d() -> ThreadIndex {
    gpu::launch_dimensions(1);
    // SAFETY: with one dimension, (block, thread in block) to this number is injective.
    unsafe { ThreadIndex::new(along_x()) }
}

/// This thread's row (along y) and column (along x) in a launch of at most two dimensions. Numba: `cuda.grid(2)`,
/// which returns the column first.
///
/// No two threads of a launch get the same pair: the runtime refuses a kernel that calls this in a launch with a third
/// dimension.
///
/// CUDA C: `blockIdx.y * blockDim.y + threadIdx.y` and the same with `x`, in 64 bits.
///
/// ```
/// use gpu_std::disjoint::ThreadIndex2d;
/// use gpu_std::view::ArrayView2;
/// use gpu_std::{DisjointSlice, thread};
///
/// fn add(a: ArrayView2<f32>, b: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
///     let i = thread::index_2d();
///     if let Some(c) = c.get_mut(i) {
///         *c = a[i] + b[i];
///     }
/// }
/// ```
#[inline]
pub fn index_2d() -> ThreadIndex2d {
    gpu::launch_dimensions(2);
    // SAFETY: with two dimensions, (block, thread in block) to this pair is injective.
    unsafe { ThreadIndex2d::new(along_y(), along_x()) }
}

/// This thread's plane (along z), row (along y) and column (along x). Numba: `cuda.grid(3)`, which returns the column
/// first.
///
/// No two threads of a launch get the same triple.
///
/// ```
/// use gpu_std::disjoint::ThreadIndex3d;
/// use gpu_std::{DisjointSlice, thread};
///
/// fn fill(mut out: DisjointSlice<u32, ThreadIndex3d>) {
///     let i = thread::index_3d();
///     if let Some(out) = out.get_mut(i) {
///         *out = (i.plane() * 100 + i.row() * 10 + i.col()) as u32;
///     }
/// }
/// ```
#[inline]
pub fn index_3d() -> ThreadIndex3d {
    // SAFETY: (block, thread in block) to this triple is injective.
    unsafe { ThreadIndex3d::new(along_z(), along_y(), along_x()) }
}

/// This thread's number in a launch of any shape: its block's number times the threads of a block, and its own number
/// in the block; x runs fastest in both. In one dimension it is [`index_1d`].
///
/// No two threads of a launch get the same one.
///
/// CUDA C++: `cooperative_groups::this_grid().thread_rank()`.
///
/// ```
/// use gpu_std::{DisjointSlice, thread};
///
/// /// For launches of any number of dimensions.
/// fn number(mut out: DisjointSlice<usize>) {
///     let i = thread::index();
///     if let Some(out) = out.get_mut(i) {
///         *out = *i;
///     }
/// }
/// ```
#[inline]
pub fn index() -> ThreadIndex {
    let block = block_idx().linear_in(grid_dim());
    let index = block * block_dim().count() + thread_idx().linear_in(block_dim());
    // SAFETY: (block, thread in block) to this number is injective.
    unsafe { ThreadIndex::new(index as usize) }
}

/// This thread's number in its block, over all dimensions: x runs fastest. It is below
/// [`block::len`](crate::block::len).
///
/// CUDA C: `threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)`; in cooperative groups,
/// `this_thread_block().thread_rank()`.
///
/// ```
/// use gpu_std::{shared_array, sync_threads, thread};
///
/// fn of_the_thread_after(x: f32) -> f32 {
///     let array = shared_array![f32; 256];
///     let t = thread::index_in_block();
///     array.set(t, x);
///     sync_threads();
///     array.get((t + 1) % 256)
/// }
/// ```
#[inline]
pub fn index_in_block() -> usize {
    thread_idx().linear_in(block_dim()) as usize
}

/// Threads of the launch along x: `gridDim.x * blockDim.x`, in 64 bits. Numba: `cuda.gridsize(1)`.
///
/// ```
/// use gpu_std::thread;
///
/// fn trips(len: usize) -> usize {
///     len.div_ceil(thread::grid_size_1d())
/// }
/// ```
#[inline]
pub fn grid_size_1d() -> usize {
    gpu::nctaid_x() as usize * gpu::ntid_x() as usize
}

/// Threads of the launch along y and x: its rows and columns. Numba: `cuda.gridsize(2)`, which returns the columns first.
///
/// CUDA C: `gridDim.y * blockDim.y`, `gridDim.x * blockDim.x`.
///
/// ```
/// use gpu_std::thread;
///
/// fn threads() -> (usize, usize) {
///     thread::grid_size_2d()
/// }
/// ```
#[inline]
pub fn grid_size_2d() -> (usize, usize) {
    (
        gpu::nctaid_y() as usize * gpu::ntid_y() as usize,
        grid_size_1d(),
    )
}

/// Threads of the launch along z, y and x: its planes, rows and columns. Numba: `cuda.gridsize(3)`, which returns the
/// columns first.
///
/// CUDA C: the products of `gridDim` and `blockDim` in z, y and x.
///
/// ```
/// use gpu_std::thread;
///
/// fn threads() -> (usize, usize, usize) {
///     thread::grid_size_3d()
/// }
/// ```
#[inline]
pub fn grid_size_3d() -> (usize, usize, usize) {
    let (rows, cols) = grid_size_2d();
    (
        gpu::nctaid_z() as usize * gpu::ntid_z() as usize,
        rows,
        cols,
    )
}

/// The indices below `len` that are this thread's in a grid-stride loop: its own, then one every grid size.
/// Together the threads of a one-dimensional launch visit each index below `len` exactly once, whatever the grid.
/// Numba: `range(cuda.grid(1), n, cuda.gridsize(1))`.
///
/// ```
/// use gpu_std::{DisjointSlice, thread};
///
/// fn double(mut x: DisjointSlice<f32>) {
///     for i in thread::grid_stride(x.len()) {
///         if let Some(x) = x.get_mut(i) {
///             *x *= 2.0;
///         }
///     }
/// }
/// ```
///
/// To write the elements of one slice, [`DisjointSlice::grid_stride_mut`](crate::DisjointSlice::grid_stride_mut) is
/// shorter.
#[inline]
pub fn grid_stride(len: usize) -> impl Iterator<Item = ThreadIndex> {
    // SAFETY: an index of the loop is `index_1d()` modulo the number of threads, and that is below it and unique.
    Stride::new(*index_1d(), grid_size_1d(), len).map(|index| unsafe { ThreadIndex::new(index) })
}

/// The rows and columns inside a shape that are this thread's in a grid-stride loop: its own, then one every grid size
/// along y and x, row by row. Together the threads of a launch of at most two dimensions visit each pair exactly once,
/// whatever the grid.
///
/// ```
/// use gpu_std::disjoint::ThreadIndex2d;
/// use gpu_std::view::ArrayView2;
/// use gpu_std::{DisjointSlice, thread};
///
/// fn scale_columns(a: ArrayView2<f32>, b: &[f32], mut c: DisjointSlice<f32, ThreadIndex2d>) {
///     for i in thread::grid_stride_2d(a.shape()) {
///         if let Some(c) = c.get_mut(i) {
///             *c = a[i] * b[i.col()];
///         }
///     }
/// }
/// ```
///
/// CUDA C: two loops, `y += gridDim.y * blockDim.y` and `x += gridDim.x * blockDim.x`.
#[inline]
pub fn grid_stride_2d(shape: impl Into<[usize; 2]>) -> impl Iterator<Item = ThreadIndex2d> {
    let ((row, col), (rows, cols)) = (*index_2d(), grid_size_2d());
    Stride2d::new([row, col], [rows, cols], shape.into())
        // SAFETY: a pair of the loop is `index_2d()` modulo the threads along y and x, which is below them and unique.
        .map(|[row, col]| unsafe { ThreadIndex2d::new(row, col) })
}

/// The planes, rows and columns inside a shape that are this thread's in a grid-stride loop: as [`grid_stride_2d`], with
/// planes along z.
///
/// CUDA C: three loops.
///
/// ```
/// use gpu_std::disjoint::ThreadIndex3d;
/// use gpu_std::{DisjointSlice, thread};
///
/// fn clear(mut x: DisjointSlice<f32, ThreadIndex3d>) {
///     for i in thread::grid_stride_3d(x.shape()) {
///         if let Some(x) = x.get_mut(i) {
///             *x = 0.0;
///         }
///     }
/// }
/// ```
#[inline]
pub fn grid_stride_3d(shape: impl Into<[usize; 3]>) -> impl Iterator<Item = ThreadIndex3d> {
    let ((plane, row, col), (planes, rows, cols)) = (*index_3d(), grid_size_3d());
    Stride3d::new([plane, row, col], [planes, rows, cols], shape.into())
        // SAFETY: a triple of the loop is `index_3d()` modulo the threads along z, y and x, which is below them and
        // unique.
        .map(|[plane, row, col]| unsafe { ThreadIndex3d::new(plane, row, col) })
}

/// The thread's place along x in the launch.
#[inline]
fn along_x() -> usize {
    gpu::ctaid_x() as usize * gpu::ntid_x() as usize + gpu::tid_x() as usize
}

/// Along y.
#[inline]
fn along_y() -> usize {
    gpu::ctaid_y() as usize * gpu::ntid_y() as usize + gpu::tid_y() as usize
}

/// Along z.
#[inline]
fn along_z() -> usize {
    gpu::ctaid_z() as usize * gpu::ntid_z() as usize + gpu::tid_z() as usize
}
