//! Asynchronous copies from global to shared memory: `cp.async`. The thread goes on while the data come, and they pass
//! through no register.
//!
//! A thread starts copies ([`AsyncCopy::copy_async`]), closes them as a group ([`commit_group`]), and later waits until
//! no more than so many of its groups are on their way ([`wait_group`]). Then its own copies have arrived; for those of
//! other threads comes a barrier. So a tile can be loaded while the one before is computed with:
//!
//! ```
//! use gpu_std::async_copy::{self, AsyncCopy};
//! use gpu_std::{DisjointSlice, shared_array, sync_threads, thread};
//!
//! const TILE: usize = 256;
//!
//! /// Sums `x`, of which the length is a multiple of 256, in two buffers. Blocks have 64 threads, which copy 4 elements each.
//! fn sum(x: &[f32], out: &mut f32) {
//!     let tiles = shared_array![f32; 2, TILE];
//!     let t = thread::index_in_block();
//!     let fetch = |tile: usize| {
//!         if tile < x.len() / TILE {
//!             tiles.copy_async::<4>((tile % 2, 4 * t), x, tile * TILE + 4 * t);
//!         }
//!         async_copy::commit_group();
//!     };
//!     fetch(0);
//!     for tile in 0..x.len() / TILE {
//!         fetch(tile + 1);
//!         async_copy::wait_group::<1>();
//!         sync_threads();
//!         for i in 0..TILE {
//!             *out += tiles.get((tile % 2, i));
//!         }
//!         sync_threads();
//!     }
//! }
//! ```
//!
//! All of it needs sm_80. The simulator copies at the wait, so that a wait that is missing shows. CUDA C:
//! `__pipeline_memcpy_async`, `__pipeline_commit`, `__pipeline_wait_prior`.
//!
//! # Soundness
//!
//! A copy may read its source until the wait, and whoever owns the source may write there, or free it, meanwhile. Then
//! the elements are unspecified: memory of the device stays readable as long as the kernel runs, and the elements are
//! plain data that shared arrays check when they are read. A source that is not in global memory (a thread's own array)
//! is copied at once.

use core::panic::Location;

use bytemuck::CheckedBitPattern;

use crate::intrinsics as gpu;
use crate::target;

pub(crate) mod sealed {
    pub trait Target {}
}

/// An array in shared memory, as the target of asynchronous copies: [`SharedArray`](crate::shared::SharedArray) and its
/// like, [`SharedSlice`](crate::shared::SharedSlice).
///
/// CUDA C++: `cuda::memcpy_async` from a `__shared__` array.
///
/// ```
/// use gpu_std::async_copy::AsyncCopy;
/// use gpu_std::shared::SharedArray;
///
/// fn fetch(to: SharedArray<f32, 256>, x: &[f32], t: usize) {
///     to.copy_async::<4>(4 * t, x, 4 * t);
/// }
/// ```
pub trait AsyncCopy: Copy + sealed::Target {
    /// An element.
    type Element: CheckedBitPattern;
    /// A place in the array, as `get` takes it.
    type Index;

    /// The address of `count` elements from `index` on, in a row.
    #[doc(hidden)]
    #[track_caller]
    fn places(self, index: Self::Index, count: usize) -> *mut Self::Element;

    /// Starts to copy the elements `from..from + N` of `source` to this array, from `to` on: in its last dimension.
    ///
    /// They are 4, 8 or 16 bytes together, else it is a compile error. CUDA C: `__pipeline_memcpy_async(&array[to],
    /// &source[from], bytes)`; PTX: `cp.async.ca.shared.global`, for 16 bytes `.cg`. Needs sm_80.
    ///
    /// ```
    /// use gpu_std::async_copy::{self, AsyncCopy};
    /// use gpu_std::{shared_array, thread};
    ///
    /// /// The thread's own four elements, through shared memory.
    /// fn fetch(x: &[u32]) -> u32 {
    ///     let part = shared_array![u32; 1024];
    ///     let first = 4 * thread::index_in_block();
    ///     part.copy_async::<4>(first, x, first);
    ///     async_copy::wait_all();
    ///     part.get(first)
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the elements reach beyond `source` or the array, or if their address in either is not a multiple of their
    /// bytes. (Arrays of the device begin at multiples of 256, shared arrays at multiples of 16.)
    #[inline]
    #[track_caller]
    fn copy_async<const N: usize>(self, to: Self::Index, source: &[Self::Element], from: usize) {
        let rest = source.len().checked_sub(from);
        assert!(
            rest.is_some_and(|rest| N <= rest),
            "an asynchronous copy reaches beyond its source"
        );
        let to = self.places(to, N);
        // SAFETY: both sides have `N` elements there, as was checked.
        unsafe { copy::<_, N>(to, source.as_ptr().add(from), N) }
    }

    /// [`copy_async`](Self::copy_async), where elements beyond `source` are zero: for tiles at the edge of a matrix.
    /// CUDA C: the `zfill` of `__pipeline_memcpy_async`.
    ///
    /// ```
    /// use gpu_std::async_copy::AsyncCopy;
    /// use gpu_std::shared::SharedArray2d;
    ///
    /// /// Row `row` of a tile of 32 columns, with zeros beyond the end of `x`.
    /// fn fetch(tile: SharedArray2d<f32, 32, 32>, row: usize, x: &[f32], first: usize) {
    ///     for col in (0..32).step_by(4) {
    ///         tile.copy_async_or_zero::<4>((row, col), x, first + col);
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the elements reach beyond the array, or if their address in it or in `source` is not a multiple of their bytes.
    #[inline]
    #[track_caller]
    fn copy_async_or_zero<const N: usize>(
        self,
        to: Self::Index,
        source: &[Self::Element],
        from: usize,
    ) {
        let there = source.len().saturating_sub(from).min(N);
        let to = self.places(to, N);
        let first = if there == 0 { 0 } else { from };
        // SAFETY: the array has `N` elements there, and the source `there`.
        unsafe { copy::<_, N>(to, source.as_ptr().add(first), there) }
    }
}

/// Copies `there` elements and zeros up to `N`.
///
/// # Safety
///
/// `to` is the address of `N` elements in the block's shared memory, `from` that of `there` elements, at most `N`.
#[inline]
#[track_caller]
unsafe fn copy<T: CheckedBitPattern, const N: usize>(to: *mut T, from: *const T, there: usize) {
    let bytes = const {
        let bytes = N * size_of::<T>();
        assert!(
            matches!(bytes, 4 | 8 | 16),
            "an asynchronous copy has 4, 8 or 16 bytes"
        );
        bytes
    };
    target::require_sm(80, "`cp.async`");
    let aligned = |address: usize| align_of::<T>() >= bytes || address.is_multiple_of(bytes);
    // SAFETY: the caller's promise.
    let offset = unsafe { gpu::shared_offset(to.cast()) };
    assert!(
        aligned(offset as usize) && aligned(from.addr()),
        "the addresses of an asynchronous copy must be multiples of its bytes"
    );
    if gpu::on_device() && !gpu::is_space_global(from.cast()) {
        for i in 0..N {
            // SAFETY: the caller's promise; the bits of a `T` that is there, or zeros, are written as bits.
            unsafe {
                let bits = if i < there {
                    from.add(i).cast::<T::Bits>().read()
                } else {
                    bytemuck::Zeroable::zeroed()
                };
                to.add(i).cast::<T::Bits>().write(bits);
            }
        }
        return;
    }
    gpu::place(Location::caller());
    let (to, from) = (to.cast::<u8>(), from.cast::<u8>());
    let present = (there * size_of::<T>()) as u32;
    // SAFETY: the caller's promise, and the addresses are aligned.
    unsafe {
        match (bytes, there == N) {
            (4, true) => gpu::cp_async_4(to, from),
            (8, true) => gpu::cp_async_8(to, from),
            (_, true) => gpu::cp_async_16(to, from),
            (4, false) => gpu::cp_async_4_zero(to, from, present),
            (8, false) => gpu::cp_async_8_zero(to, from, present),
            (_, false) => gpu::cp_async_16_zero(to, from, present),
        }
    }
}

/// Closes a group: the copies that this thread has started since the last one. A group may be empty. CUDA C:
/// `__pipeline_commit()`; PTX: `cp.async.commit_group`. Needs sm_80.
///
/// ```
/// use gpu_std::async_copy::{self, AsyncCopy};
/// use gpu_std::shared::SharedArray;
///
/// fn fetch(to: SharedArray<u32, 64>, x: &[u32], t: usize) {
///     to.copy_async::<1>(t, x, t);
///     async_copy::commit_group();
/// }
/// ```
#[inline]
pub fn commit_group() {
    target::require_sm(80, "`cp.async`");
    gpu::cp_async_commit_group();
}

/// Waits until at most the last `N` groups of this thread are on their way; `wait_group::<0>()` waits for all groups.
/// What arrived can be read by this thread; by others after a barrier. CUDA C: `__pipeline_wait_prior(N)`; PTX:
/// `cp.async.wait_group N`. Needs sm_80.
///
/// ```
/// use gpu_std::{async_copy, sync_threads};
///
/// /// All but the newest group of every thread of the block have arrived.
/// fn next_tile() {
///     async_copy::wait_group::<1>();
///     sync_threads();
/// }
/// ```
#[inline]
pub fn wait_group<const N: u32>() {
    target::require_sm(80, "`cp.async`");
    // SAFETY: the number is a constant.
    unsafe { gpu::cp_async_wait_group(const { N }) }
}

/// Waits for all copies of this thread, in groups or not. PTX: `cp.async.wait_all`. Needs sm_80.
///
/// CUDA C: `__pipeline_wait_prior(0)`.
///
/// ```
/// use gpu_std::{async_copy, sync_threads};
///
/// fn all_tiles() {
///     async_copy::wait_all();
///     sync_threads();
/// }
/// ```
#[inline]
pub fn wait_all() {
    target::require_sm(80, "`cp.async`");
    gpu::cp_async_wait_all();
}
