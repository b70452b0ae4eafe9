//! Barriers.

use crate::intrinsics as gpu;

/// Waits until every thread of the block has come here, and makes what they wrote to shared and global memory before
/// visible to all of them after. CUDA C: `__syncthreads()`; PTX ISA: `bar.sync 0`.
///
/// A thread that has returned or panicked no longer counts. If threads of one block wait at different calls at the
/// same time, the values they read afterwards are unspecified, as in CUDA; nothing is accessed out of bounds.
#[inline]
pub fn sync_threads() {
    gpu::barrier_cta_sync_aligned_all(0);
}
