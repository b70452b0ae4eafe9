//! The whole grid: how many threads it has, where this one is, and a barrier for all of them.
//!
//! A kernel that calls [`sync()`] needs all of its blocks at once. The compiler records that with the kernel, and the
//! runtime launches it cooperatively, without being told: nothing is to be done but to keep the grid small enough.
//!
//! # How a device waits
//!
//! The launch gives the kernel a [`GridBarrier`] of zeros. All threads of a block meet; then the first one comes to the
//! barrier for them, with the block's writes published, and the last block of the grid opens it. A thread that returns or
//! panics says so in the barrier. Those that wait then stop waiting and end, so that one lost thread never hangs the
//! others, and the launch ends with an error.

use core::panic::Location;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::atomic::{AtomicScope, Device};
use crate::dim::Dim3;
use crate::intrinsics as gpu;
use crate::{block, sync, thread};

/// A launch's barrier, in device memory: zeros at first.
#[doc(hidden)]
#[derive(Debug, Default)]
#[repr(C)]
pub struct GridBarrier {
    /// Blocks that wait.
    pub arrived: AtomicU32,
    /// How often it has opened.
    pub generation: AtomicU32,
    /// Whether a thread of the launch has ended.
    pub ended: AtomicU32,
}

impl GridBarrier {
    /// Comes to the barrier for one of `blocks` blocks; whether it opened.
    #[inline]
    pub fn wait(&self, blocks: u32) -> bool {
        let arrived = self.arrived.scoped(Device);
        let generation = self.generation.scoped(Device);
        let ended = self.ended.scoped(Device);
        let this = generation.load(Relaxed);
        // What the block wrote is published with its arrival, and what others wrote is seen after the barrier.
        sync::fence_device();
        if arrived.fetch_add(1, Relaxed) == blocks.wrapping_sub(1) {
            if ended.load(Acquire) != 0 {
                return false;
            }
            arrived.store(0, Relaxed);
            sync::fence_device();
            generation.store(this.wrapping_add(1), Relaxed);
        } else {
            // Asked first: who passed this barrier and then ended has said so after the barrier opened.
            let mut lost = ended.load(Acquire) != 0;
            while generation.load(Acquire) == this {
                if lost {
                    return false;
                }
                lost = ended.load(Acquire) != 0;
            }
        }
        sync::fence_device();
        true
    }
}

/// Threads of the grid. CUDA C++: `cooperative_groups::this_grid().size()`; Numba: `cuda.gridsize(1)`.
///
/// ```
/// use gpu_std::grid;
///
/// fn is_last() -> bool {
///     grid::index() + 1 == grid::len()
/// }
/// ```
#[inline]
pub fn len() -> u64 {
    thread::grid_dim().count() * block::len() as u64
}

/// This thread's number in the grid: its block's number times the threads of a block, plus its number in the block. It
/// is below [`len`], and no other thread has it. CUDA C++: `cooperative_groups::this_grid().thread_rank()`.
///
/// In a one-dimensional launch it is [`thread::index_1d`].
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use gpu_std::grid;
///
/// fn first_thread_resets(x: &AtomicU32) {
///     if grid::index() == 0 {
///         x.store(0, Relaxed);
///     }
///     grid::sync();
/// }
/// ```
#[inline]
pub fn index() -> u64 {
    let block = thread::block_idx().linear_in(thread::grid_dim());
    block * block::len() as u64 + thread::index_in_block() as u64
}

/// Waits until every thread of the grid has come here, and makes what they wrote to global memory before visible to all
/// of them after.
///
/// All threads of the grid take part, so none may have returned: a thread that is not needed goes on to the barrier all
/// the same. If one has returned, or panics, the launch ends with an error. All threads of a block come to the same call.
///
/// The grid must fit on the device at once, or the launch is refused with an error that says how many blocks do; the
/// kernel's `max_cooperative_blocks` tells before. A few microseconds each. CUDA C++:
/// `cooperative_groups::this_grid().sync()` in a launch by `cudaLaunchCooperativeKernel`; Numba: `cuda.cg.this_grid().sync()`.
/// Every GPU.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use gpu_std::{grid, thread};
///
/// /// Smooths `a` into `b` and back, a step after the other, with one launch.
/// fn smooth(steps: usize, a: &[AtomicU32], b: &[AtomicU32]) {
///     for step in 0..steps {
///         let (from, to) = if step % 2 == 0 { (a, b) } else { (b, a) };
///         for i in thread::grid_stride(a.len()) {
///             let next = (*i + 1) % a.len();
///             to[i].store((from[i].load(Relaxed) + from[next].load(Relaxed)) / 2, Relaxed);
///         }
///         grid::sync();
///     }
/// }
/// ```
///
/// # Panics
///
/// If a thread of the grid has returned.
#[inline]
#[track_caller]
pub fn sync() {
    gpu::place(Location::caller());
    if gpu::on_device() {
        assert!(
            sync_on_device(),
            "a thread of the grid ended before the grid barrier at which others wait"
        );
    } else {
        gpu::grid_sync();
    }
}

/// Whether all threads of the grid have come. All threads of a block get the same answer.
#[inline]
fn sync_on_device() -> bool {
    gpu::barrier_cta_sync_aligned_all(0);
    let is_first = thread::thread_idx() == Dim3 { x: 0, y: 0, z: 0 };
    // A first thread that has ended does not come, and so nobody says that the barrier has opened.
    gpu::barrier_cta_red_or(0, is_first && wait_for_blocks())
}

/// Comes to the launch's barrier for this block; whether it opened.
#[inline]
fn wait_for_blocks() -> bool {
    // SAFETY: a kernel that comes here has a barrier, which lives as long as its module.
    let barrier = unsafe { NonNull::new_unchecked(gpu::grid_barrier()).as_ref() };
    barrier.wait(thread::grid_dim().count() as u32)
}
