//! Where the running thread's block is, and how large it is.

use crate::dim::Dim3;
use crate::disjoint::{BlockIndex, BlockIndex2d, ThreadOfBlock};
use crate::grid_stride::Stride;
use crate::intrinsics as gpu;
use crate::thread;

/// This block's number in the grid, over all dimensions: x runs fastest. Every thread of the block gets the same.
///
/// As an index of a [`DisjointSlice<T, BlockIndex>`](crate::DisjointSlice) it stands for one element a block, which
/// only the block's first thread may write; of [`DisjointRows`](crate::disjoint::DisjointRows) for a row that the
/// block's threads share.
///
/// CUDA C: `blockIdx.x` in grids of one dimension.
///
/// ```
/// use gpu_std::disjoint::BlockIndex;
/// use gpu_std::{DisjointSlice, block};
///
/// fn publish(sum: f32, mut sums: DisjointSlice<f32, BlockIndex>) {
///     if let Some(place) = sums.get_mut(block::index()) {
///         *place = sum; // the block's first thread only
///     }
/// }
/// ```
#[inline]
pub fn index() -> BlockIndex {
    let number = thread::block_idx().linear_in(thread::grid_dim());
    // SAFETY: the number is unique to the block.
    unsafe { BlockIndex::new(number as usize, this_thread()) }
}

/// [`index`] in launches of one dimension, in fewer instructions. A kernel that uses it cannot be launched in more.
///
/// ```
/// use gpu_std::disjoint::{BlockIndex, DisjointRows};
/// use gpu_std::block;
///
/// fn halve(mut x: DisjointRows<f32, BlockIndex>) {
///     if let Some(mut row) = x.get_mut(block::index_1d()) {
///         row.iter_mut().for_each(|x| *x *= 0.5);
///     }
/// }
/// ```
///
/// CUDA C: `blockIdx.x`.
#[inline]
pub fn index_1d() -> BlockIndex {
    gpu::launch_dimensions(1);
    index()
}

/// This block's row (along y) and column (along x) in a grid of at most two dimensions. Every thread of the block gets the
/// same.
///
/// No two blocks get the same pair: the runtime refuses a kernel that calls this in a launch with a third dimension.
///
/// CUDA C: `blockIdx.y`, `blockIdx.x`.
///
/// ```
/// use gpu_std::block;
/// use gpu_std::disjoint::DisjointTiles;
///
/// fn clear(mut x: DisjointTiles<f32, 32, 32>) {
///     if let Some(mut tile) = x.get_mut(block::index_2d()) {
///         tile.indexed_iter_mut().for_each(|(_, x)| *x = 0.0);
///     }
/// }
/// ```
#[inline]
pub fn index_2d() -> BlockIndex2d {
    gpu::launch_dimensions(2);
    let (row, col) = (gpu::ctaid_y(), gpu::ctaid_x());
    // SAFETY: in a grid of two dimensions, the pair is unique to the block.
    unsafe { BlockIndex2d::new(row as usize, col as usize, this_thread()) }
}

/// The numbers below `len` that are this block's in a loop over more parts than there are blocks: its own, then one every
/// grid. Together the blocks of a launch visit each number below `len` exactly once, whatever the grid.
///
/// Every thread of a block makes the same trips, so there may be a barrier in the loop. CUDA C:
/// `for (i = blockIdx.x; i < len; i += gridDim.x)`.
///
/// ```
/// use gpu_std::block;
/// use gpu_std::disjoint::{BlockIndex, DisjointRows};
///
/// fn clear(mut x: DisjointRows<f32, BlockIndex>) {
///     for b in block::grid_stride(x.nrows()) {
///         if let Some(mut row) = x.get_mut(b) {
///             row.iter_mut().for_each(|x| *x = 0.0);
///         }
///     }
/// }
/// ```
#[inline]
pub fn grid_stride(len: usize) -> impl Iterator<Item = BlockIndex> {
    let blocks = thread::grid_dim().count() as usize;
    let thread = this_thread();
    // SAFETY: a number of the loop is the block's own modulo the number of blocks, which is below it and unique.
    Stride::new(*index(), blocks, len).map(move |number| unsafe { BlockIndex::new(number, thread) })
}

/// Threads in a block. CUDA C: `blockDim.x * blockDim.y * blockDim.z`.
///
/// ```
/// use gpu_std::{block, thread};
///
/// fn numbers_of_this_thread(n: usize) -> impl Iterator<Item = usize> {
///     (thread::index_in_block()..n).step_by(block::len())
/// }
/// ```
#[inline]
pub fn len() -> usize {
    thread::block_dim().count() as usize
}

#[inline]
fn this_thread() -> ThreadOfBlock {
    let is_first = thread::thread_idx() == Dim3 { x: 0, y: 0, z: 0 };
    // SAFETY: the thread's own number, and the block's threads.
    unsafe { ThreadOfBlock::new(thread::index_in_block(), len(), is_first) }
}
