//! Where the running thread's block is, and how large it is.

use crate::dim::Dim3;
use crate::disjoint::BlockIndex;
use crate::thread;

/// This block's number in the grid, over all dimensions: x runs fastest. Every thread of the block gets the same.
///
/// As an index of a [`DisjointSlice<T, BlockIndex>`](crate::DisjointSlice) it stands for one element a block, which
/// only the block's first thread may write.
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
    let first = thread::thread_idx() == Dim3 { x: 0, y: 0, z: 0 };
    let number = thread::block_idx().linear_in(thread::grid_dim());
    // SAFETY: the number is unique to the block, and `first` holds for one thread of it.
    unsafe { BlockIndex::new(number as usize, first) }
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
