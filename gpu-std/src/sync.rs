//! Barriers of a block, and memory fences.
//!
//! # Wrong use
//!
//! A barrier is for all threads of the block that have not returned or panicked, or for as many as a named barrier
//! says. Threads that never come, or that wait at another barrier meanwhile, are a mistake: on the simulator the launch
//! ends with an error that says where each thread stands; on a GPU what the threads read afterwards is unspecified, or
//! the kernel does not end. Memory safety does not depend on barriers, so all of them are safe to call.

use core::panic::Location;

use crate::block;
use crate::intrinsics as gpu;

/// Waits until every thread of the block has come here, and makes what they wrote to shared and global memory before
/// visible to all of them after.
///
/// All threads of the block that have not returned or panicked take part, and come to the same call: a call under a
/// condition is right if the condition is the same for the whole block. CUDA C: `__syncthreads()`; Numba:
/// `cuda.syncthreads()`; PTX ISA, `bar.sync 0`. Every GPU.
///
/// ```
/// use gpu_std::{shared_array, sync_threads, thread};
///
/// fn reversed(x: &[f32], out: &mut f32) {
///     let block = shared_array![f32; 256];
///     let t = thread::index_in_block();
///     block.set(t, x[t]);
///     sync_threads();
///     *out = block.get(255 - t);
/// }
/// ```
#[inline]
#[track_caller]
pub fn sync_threads() {
    gpu::place(Location::caller());
    gpu::barrier_cta_sync_aligned_all(0);
}

/// [`sync_threads`], which also counts the threads whose `predicate` is true. All get the same count.
///
/// It costs little more than the barrier alone. CUDA C: `__syncthreads_count()`; Numba: `cuda.syncthreads_count()`;
/// PTX ISA, `bar.red.popc`. Every GPU.
///
/// ```
/// use gpu_std::sync::sync_threads_count;
///
/// fn positive_in_block(x: f32) -> u32 {
///     sync_threads_count(x > 0.0)
/// }
/// ```
#[inline]
#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    gpu::place(Location::caller());
    gpu::barrier_cta_red_popc(0, predicate)
}

/// [`sync_threads`], which also tells whether `predicate` is true in every thread.
///
/// CUDA C: `__syncthreads_and()`; Numba: `cuda.syncthreads_and()`; PTX ISA, `bar.red.and`. Every GPU.
///
/// ```
/// use gpu_std::sync::sync_threads_and;
///
/// fn block_has_converged(change: f32) -> bool {
///     sync_threads_and(change.abs() < 1e-6)
/// }
/// ```
#[inline]
#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    gpu::place(Location::caller());
    gpu::barrier_cta_red_and(0, predicate)
}

/// [`sync_threads`], which also tells whether `predicate` is true in any thread.
///
/// CUDA C: `__syncthreads_or()`; Numba: `cuda.syncthreads_or()`; PTX ISA, `bar.red.or`. Every GPU.
///
/// ```
/// use gpu_std::sync::sync_threads_or;
///
/// fn block_has_more(queue_len: usize) -> bool {
///     sync_threads_or(queue_len > 0)
/// }
/// ```
#[inline]
#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    gpu::place(Location::caller());
    gpu::barrier_cta_red_or(0, predicate)
}

/// Waits until `threads` threads of the block have come to the barrier `id`, by this function or by
/// [`named_barrier_arrive`], and makes what they wrote before visible to those that waited. So parts of a block can
/// wait for each other while the rest goes on.
///
/// Whole warps take part: all lanes of a warp that come at all. `id` is 1 to 15; a block has 15 such barriers, which can
/// be used again once open. Threads that have ended do not count: if one of the `threads` panics before it came, the
/// others wait until the launch is stopped (the simulator reports that at once).
///
/// CUDA C: `barrier.sync` by inline PTX, or `cuda::barrier`; PTX ISA, `barrier.sync id, threads`. Every GPU.
///
/// ```
/// use gpu_std::{block, sync, thread};
///
/// /// The first half of the block writes, the second half reads what it wrote.
/// fn hand_over(write: impl Fn(), read: impl Fn()) {
///     let threads = block::len() as u32;
///     if thread::index_in_block() < block::len() / 2 {
///         write();
///         sync::named_barrier_arrive(1, threads);
///     } else {
///         sync::named_barrier(1, threads);
///         read();
///     }
/// }
/// ```
///
/// # Panics
///
/// If `id` is not 1 to 15, or `threads` is no multiple of 32 from 32 to the threads of the block.
#[inline]
#[track_caller]
pub fn named_barrier(id: u32, threads: u32) {
    check(id, threads);
    gpu::place(Location::caller());
    // SAFETY: `check` holds.
    unsafe { gpu::barrier_cta_sync_count(id, threads) }
}

/// Comes to the barrier `id` as [`named_barrier`] does, but does not wait: for threads that only write what those
/// that wait will read. PTX ISA, `barrier.arrive id, threads`. Every GPU.
///
/// ```
/// use gpu_std::{block, sync, warp};
///
/// /// Warp 0 waits until all have written; the others go on at once.
/// fn collect(write: impl Fn(), read: impl Fn()) {
///     write();
///     let threads = block::len() as u32;
///     if warp::warp_id() == 0 {
///         sync::named_barrier(1, threads);
///         read();
///     } else {
///         sync::named_barrier_arrive(1, threads);
///     }
/// }
/// ```
///
/// # Panics
///
/// If `id` is not 1 to 15, or `threads` is no multiple of 32 from 32 to the threads of the block.
#[inline]
#[track_caller]
pub fn named_barrier_arrive(id: u32, threads: u32) {
    check(id, threads);
    gpu::place(Location::caller());
    // SAFETY: `check` holds.
    unsafe { gpu::barrier_cta_arrive_count(id, threads) }
}

#[inline]
#[track_caller]
fn check(id: u32, threads: u32) {
    assert!(
        (1..16).contains(&id),
        "the number of a named barrier must be 1 to 15"
    );
    assert!(
        threads > 0 && threads.is_multiple_of(32) && threads as usize <= block::len(),
        "the threads of a named barrier must be a multiple of 32, and no more than the block has"
    );
}

/// Orders this thread's memory accesses for the threads of its block: what it wrote before is visible to them before
/// what it writes after. It waits for no other thread.
///
/// CUDA C: `__threadfence_block()`; Numba: `cuda.threadfence_block()`; PTX ISA, `membar.cta`. Every GPU. For a fence
/// that pairs with atomics of another thread, `core::sync::atomic::fence` works in kernels too.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use gpu_std::sync::fence_device;
///
/// fn publish(value: &AtomicU32, ready: &AtomicU32) {
///     value.store(42, Ordering::Relaxed);
///     fence_device();
///     ready.store(1, Ordering::Relaxed);
/// }
/// ```
#[inline]
pub fn fence_block() {
    gpu::membar_cta();
}

/// As [`fence_block`], for all threads of the device. CUDA C: `__threadfence()`; Numba: `cuda.threadfence()`; PTX ISA,
/// `membar.gl`. Every GPU; some hundred cycles.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use gpu_std::sync::fence_device;
///
/// /// Whether this block is the last that comes here, which then sees what all others wrote before.
/// fn is_last(done: &AtomicU32, blocks: u32) -> bool {
///     fence_device();
///     done.fetch_add(1, Relaxed) == blocks - 1
/// }
/// ```
#[inline]
pub fn fence_device() {
    gpu::membar_gl();
}

/// As [`fence_block`], for all threads of the device, the host and other devices. CUDA C: `__threadfence_system()`;
/// Numba: `cuda.threadfence_system()`; PTX ISA, `membar.sys`. Every GPU; the slowest of the three.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use gpu_std::sync::fence_system;
///
/// /// For a host that waits for `ready`.
/// fn hand_over(result: &AtomicU32, ready: &AtomicU32) {
///     result.store(42, Relaxed);
///     fence_system();
///     ready.store(1, Relaxed);
/// }
/// ```
#[inline]
pub fn fence_system() {
    gpu::membar_sys();
}
