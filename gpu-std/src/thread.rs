//! Where the running thread is: in its block, and in the whole launch.
//!
//! The plain readings (`thread_idx_x`, `block_dim`, ...) have the names of `cuda_std` and of CUDA C's built-in
//! variables. [`index_1d`] and [`index_2d`] give more than a number: an index that is unique to the thread and that
//! no safe code can forge, which is what makes a write through a [`DisjointSlice`](crate::DisjointSlice) safe.

use crate::dim::Dim3;
use crate::disjoint::{ThreadIndex, ThreadIndex2d};
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
/// blocks of one dimension: the runtime refuses others with an error.
///
/// ```
/// use gpu_std::{DisjointSlice, thread};
///
/// fn double(mut x: DisjointSlice<f32>) {
///     if let Some(x) = x.get_mut(thread::index_1d()) {
///         *x *= 2.0;
///     }
/// }
/// ```
#[inline]
pub fn index_1d() -> ThreadIndex {
    gpu::launch_dimensions(1);
    let first = u64::from(gpu::ctaid_x()) * u64::from(gpu::ntid_x());
    // SAFETY: with one dimension, (block, thread in block) to this number is injective.
    unsafe { ThreadIndex::new((first + u64::from(gpu::tid_x())) as usize) }
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
/// use gpu_std::{DisjointSlice, thread};
///
/// fn add(column: &[f32], row: &[f32], mut out: DisjointSlice<f32, ThreadIndex2d>) {
///     let i = thread::index_2d();
///     if let Some(out) = out.get_mut(i) {
///         *out = column[i.row()] + row[i.col()];
///     }
/// }
/// ```
#[inline]
pub fn index_2d() -> ThreadIndex2d {
    gpu::launch_dimensions(2);
    let row = u64::from(gpu::ctaid_y()) * u64::from(gpu::ntid_y()) + u64::from(gpu::tid_y());
    let col = u64::from(gpu::ctaid_x()) * u64::from(gpu::ntid_x()) + u64::from(gpu::tid_x());
    // SAFETY: with two dimensions, (block, thread in block) to this pair is injective.
    unsafe { ThreadIndex2d::new(row as usize, col as usize) }
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
#[inline]
pub fn grid_stride(len: usize) -> impl Iterator<Item = ThreadIndex> {
    let first = *index_1d();
    let step = gpu::nctaid_x() as usize * gpu::ntid_x() as usize;
    let mut next = Some(first);
    core::iter::from_fn(move || {
        let index = next.filter(|&index| index < len)?;
        next = index.checked_add(step);
        // SAFETY: `index` is `first` modulo the number of threads, and `first` is below it and unique.
        Some(unsafe { ThreadIndex::new(index) })
    })
}
