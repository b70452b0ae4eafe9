//! The cluster of the running thread's block: blocks that run at once, on neighbouring multiprocessors, and that can wait
//! for each other without the rest of the grid.
//!
//! A launch says with `.cluster((2, 1, 1))` how many blocks its clusters have, at most 8, or the kernel does with
//! `#[kernel(cluster(2, 1, 1))]`; without either each block is a cluster of its own. Everything here needs `sm_90`. The names are those of CUDA's cooperative groups (`this_cluster()`).
//!
//! The simulator runs the blocks of a cluster one after the other, each until it waits in [`sync`]. So a block there must
//! not spin on an atomic that another block of its cluster is to change.

use core::panic::Location;

use crate::dim::Dim3;
use crate::intrinsics as gpu;
use crate::{block, target, thread};

/// Asks for the target that has clusters.
#[inline(always)]
fn require(item: &'static str) {
    target::require_sm(90, item);
}

/// The cluster's position in the grid, in clusters. CUDA C++: `cooperative_groups::this_grid().cluster_index()`; PTX ISA,
/// `%clusterid`. Special registers, from `sm_90` on.
///
/// ```
/// use gpu_std::cluster;
///
/// fn is_in_first_column() -> bool {
///     cluster::cluster_index().x == 0
/// }
/// ```
#[inline]
pub fn cluster_index() -> Dim3 {
    require("`cluster::cluster_index`");
    Dim3 {
        x: gpu::clusterid_x(),
        y: gpu::clusterid_y(),
        z: gpu::clusterid_z(),
    }
}

/// The clusters of the grid along x, y and z. CUDA C++: `cooperative_groups::this_grid().dim_clusters()`; PTX ISA,
/// `%nclusterid`. Special registers, from `sm_90` on.
///
/// ```
/// use gpu_std::cluster;
///
/// fn is_in_last_column() -> bool {
///     cluster::cluster_index().x + 1 == cluster::dim_clusters().x
/// }
/// ```
#[inline]
pub fn dim_clusters() -> Dim3 {
    require("`cluster::dim_clusters`");
    Dim3 {
        x: gpu::nclusterid_x(),
        y: gpu::nclusterid_y(),
        z: gpu::nclusterid_z(),
    }
}

/// The cluster's number in the grid, over all dimensions: x runs fastest. It is below [`num_clusters`]. CUDA C++:
/// `cooperative_groups::this_grid().cluster_rank()`. From `sm_90` on.
///
/// ```
/// use gpu_std::cluster;
///
/// /// The part of `x` that is this cluster's.
/// fn part(x: &[f32], len: usize) -> &[f32] {
///     &x[cluster::cluster_rank() as usize * len..][..len]
/// }
/// ```
#[inline]
pub fn cluster_rank() -> u64 {
    cluster_index().linear_in(dim_clusters())
}

/// The clusters of the grid. CUDA C++: `cooperative_groups::this_grid().num_clusters()`. From `sm_90` on.
///
/// ```
/// use gpu_std::cluster;
///
/// fn is_last() -> bool {
///     cluster::cluster_rank() + 1 == cluster::num_clusters()
/// }
/// ```
#[inline]
pub fn num_clusters() -> u64 {
    dim_clusters().count()
}

/// The block's position in its cluster. CUDA C++: `cooperative_groups::this_cluster().block_index()`; PTX ISA,
/// `%cluster_ctaid`. Special registers, from `sm_90` on.
///
/// ```
/// use gpu_std::cluster;
///
/// fn is_in_first_row() -> bool {
///     cluster::block_index().y == 0
/// }
/// ```
#[inline]
pub fn block_index() -> Dim3 {
    require("`cluster::block_index`");
    Dim3 {
        x: gpu::cluster_ctaid_x(),
        y: gpu::cluster_ctaid_y(),
        z: gpu::cluster_ctaid_z(),
    }
}

/// The blocks of a cluster along x, y and z, as the launch says. CUDA C++:
/// `cooperative_groups::this_cluster().dim_blocks()`; PTX ISA, `%cluster_nctaid`. Special registers, from `sm_90` on.
///
/// ```
/// use gpu_std::cluster;
///
/// fn is_in_last_row() -> bool {
///     cluster::block_index().y + 1 == cluster::dim_blocks().y
/// }
/// ```
#[inline]
pub fn dim_blocks() -> Dim3 {
    require("`cluster::dim_blocks`");
    Dim3 {
        x: gpu::cluster_nctaid_x(),
        y: gpu::cluster_nctaid_y(),
        z: gpu::cluster_nctaid_z(),
    }
}

/// The block's number in its cluster, over all dimensions: x runs fastest. It is below [`num_blocks`]. CUDA C++:
/// `cooperative_groups::this_cluster().block_rank()`; PTX ISA, `%cluster_ctarank`. A special register, from `sm_90` on.
///
/// ```
/// use gpu_std::cluster;
///
/// /// The block of the cluster that comes after this one, in a ring.
/// fn neighbour() -> u32 {
///     (cluster::block_rank() + 1) % cluster::num_blocks()
/// }
/// ```
#[inline]
pub fn block_rank() -> u32 {
    require("`cluster::block_rank`");
    gpu::cluster_ctarank()
}

/// The blocks of a cluster: 1 in a launch without clusters. CUDA C++: `cooperative_groups::this_cluster().num_blocks()`;
/// PTX ISA, `%cluster_nctarank`. A special register, from `sm_90` on.
///
/// ```
/// use gpu_std::cluster;
///
/// fn is_clustered() -> bool {
///     cluster::num_blocks() > 1
/// }
/// ```
#[inline]
pub fn num_blocks() -> u32 {
    require("`cluster::num_blocks`");
    gpu::cluster_nctarank()
}

/// This thread's number in its cluster: its block's number times the threads of a block, plus its number in the block. It is
/// below [`num_threads`]. CUDA C++: `cooperative_groups::this_cluster().thread_rank()`. From `sm_90` on.
///
/// ```
/// use gpu_std::cluster;
///
/// /// The cluster's threads share the elements out among themselves.
/// fn sum_of_own(x: &[f32]) -> f32 {
///     let mine = x.iter().skip(cluster::thread_rank());
///     mine.step_by(cluster::num_threads()).sum()
/// }
/// ```
#[inline]
pub fn thread_rank() -> usize {
    block_rank() as usize * block::len() + thread::index_in_block()
}

/// The threads of a cluster. CUDA C++: `cooperative_groups::this_cluster().num_threads()`. From `sm_90` on.
///
/// ```
/// use gpu_std::cluster;
///
/// fn is_last() -> bool {
///     cluster::thread_rank() + 1 == cluster::num_threads()
/// }
/// ```
#[inline]
pub fn num_threads() -> usize {
    num_blocks() as usize * block::len()
}

/// Waits until every thread of the cluster has come here, and makes what they wrote to global memory before visible to all of
/// them after.
///
/// All threads of the cluster that have not returned or panicked take part, and those of a block come to the same call. In
/// a launch without clusters it is a barrier of the block. CUDA C++: `cooperative_groups::this_cluster().sync()`; PTX ISA,
/// `barrier.cluster.arrive.aligned` and `barrier.cluster.wait.aligned`. From `sm_90` on.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use gpu_std::{cluster, thread};
///
/// /// Each block hands a number to the next one of its cluster.
/// fn pass_on(number: u32, places: &[AtomicU32]) -> u32 {
///     let first = cluster::cluster_rank() as usize * cluster::num_blocks() as usize;
///     if thread::index_in_block() == 0 {
///         places[first + cluster::block_rank() as usize].store(number, Relaxed);
///     }
///     cluster::sync();
///     let next = (cluster::block_rank() + 1) % cluster::num_blocks();
///     places[first + next as usize].load(Relaxed)
/// }
/// ```
#[inline]
#[track_caller]
pub fn sync() {
    require("`cluster::sync`");
    gpu::place(Location::caller());
    gpu::barrier_cluster_arrive_aligned();
    gpu::barrier_cluster_wait_aligned();
}
