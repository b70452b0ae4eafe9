//! Groups of threads that work together, as values: CUDA's cooperative groups in Rust's form.
//!
//! | here | CUDA C++ | threads |
//! | --- | --- | --- |
//! | [`grid()`] | `this_grid()` | the grid |
//! | [`block()`] | `this_thread_block()` | the block |
//! | [`tile::<N>()`](tile) | `tiled_partition<N>(this_thread_block())` | `N` neighbours in a warp: 1, 2, 4, 8, 16 or 32 |
//! | [`warp()`] | `tiled_partition<32>(this_thread_block())` | a warp |
//! | [`coalesced()`] | `coalesced_threads()` | the lanes that come to the call together |
//! | [`lanes(mask)`](lanes) | | the lanes of a mask |
//! | [`Lanes::partition`], [`Lanes::labeled_partition`] | `binary_partition`, `labeled_partition` | those that agree |
//!
//! A group is a few registers; making and copying one costs nothing but what its function says. All threads of a group
//! come to each of its operations together. What happens otherwise, and why all of this is safe to call, is said in the
//! modules for [barriers](crate::sync) and [warps](crate::warp).
//!
//! ```
//! use gpu_std::group::{self, LaneGroup};
//!
//! /// The mean of 8 neighbours, in all of them.
//! fn smooth(x: f32) -> f32 {
//!     let tile = group::tile::<8>();
//!     tile.reduce_add(x) / tile.size() as f32
//! }
//! ```

use bytemuck::AnyBitPattern;

use crate::intrinsics as gpu;
use crate::number::Reduction;
use crate::warp::{self, FULL_MASK, Integer, Number, Source, WARP_SIZE};
use crate::{block, grid, sync, thread};

mod sealed {
    pub trait Sealed {}
}

/// All threads of the grid. CUDA C++: `cooperative_groups::this_grid()`.
///
/// Every GPU.
///
/// ```
/// fn in_turn(first: impl Fn(), second: impl Fn()) {
///     first();
///     gpu_std::group::grid().sync();
///     second();
/// }
/// ```
#[inline]
pub fn grid() -> Grid {
    Grid(())
}

/// The grid as a group, from [`grid()`]. See the module [`grid`](mod@crate::grid).
///
/// CUDA C++: `cooperative_groups::grid_group`.
///
/// ```
/// use gpu_std::group::Grid;
///
/// fn is_first(grid: Grid) -> bool {
///     grid.rank() == 0
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Grid(());

impl Grid {
    /// This thread's number in the grid: [`grid::index`]. CUDA C++: `thread_rank()`.
    ///
    /// ```
    /// fn is_first() -> bool {
    ///     gpu_std::group::grid().rank() == 0
    /// }
    /// ```
    #[inline]
    pub fn rank(self) -> u64 {
        grid::index()
    }

    /// Threads of the grid. CUDA C++: `size()`, `num_threads()`.
    ///
    /// ```
    /// fn is_last() -> bool {
    ///     let grid = gpu_std::group::grid();
    ///     grid.rank() + 1 == grid.size()
    /// }
    /// ```
    #[inline]
    pub fn size(self) -> u64 {
        grid::len()
    }

    /// This thread's block's number in the grid. CUDA C++: `block_rank()`.
    ///
    /// ```
    /// fn is_last_block() -> bool {
    ///     let grid = gpu_std::group::grid();
    ///     grid.block_rank() + 1 == grid.blocks()
    /// }
    /// ```
    #[inline]
    pub fn block_rank(self) -> u64 {
        *block::index() as u64
    }

    /// Blocks of the grid. CUDA C++: `num_blocks()`.
    ///
    /// ```
    /// fn share(n: u64) -> u64 {
    ///     n.div_ceil(gpu_std::group::grid().blocks())
    /// }
    /// ```
    #[inline]
    pub fn blocks(self) -> u64 {
        thread::grid_dim().count()
    }

    /// [`grid::sync`], which makes the launch cooperative. CUDA C++: `sync()`.
    ///
    /// ```
    /// fn in_turn(first: impl Fn(), second: impl Fn()) {
    ///     first();
    ///     gpu_std::group::grid().sync();
    ///     second();
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn sync(self) {
        grid::sync();
    }
}

/// All threads of this thread's block. CUDA C++: `cooperative_groups::this_thread_block()`.
///
/// ```
/// use gpu_std::group;
///
/// fn any_in_block(x: f32) -> bool {
///     group::block().any(x > 0.0)
/// }
/// ```
#[inline]
pub fn block() -> Block {
    Block(())
}

/// The block as a group, from [`block()`].
///
/// CUDA C++: `cooperative_groups::thread_block`.
///
/// ```
/// use gpu_std::group::Block;
///
/// fn majority(block: Block, vote: bool) -> bool {
///     2 * block.count(vote) > block.size()
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Block(());

impl Block {
    /// This thread's number in the block: [`thread::index_in_block`]. CUDA C++: `thread_rank()`.
    ///
    /// ```
    /// fn is_first() -> bool {
    ///     gpu_std::group::block().rank() == 0
    /// }
    /// ```
    #[inline]
    pub fn rank(self) -> u32 {
        thread::index_in_block() as u32
    }

    /// Threads of the block. CUDA C++: `size()`, `num_threads()`.
    ///
    /// ```
    /// fn is_last() -> bool {
    ///     let block = gpu_std::group::block();
    ///     block.rank() + 1 == block.size()
    /// }
    /// ```
    #[inline]
    pub fn size(self) -> u32 {
        block::len() as u32
    }

    /// [`sync_threads`](sync::sync_threads). CUDA C++: `sync()`.
    ///
    /// ```
    /// fn in_turn(first: impl Fn(), second: impl Fn()) {
    ///     first();
    ///     gpu_std::group::block().sync();
    ///     second();
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn sync(self) {
        sync::sync_threads();
    }

    /// Synchronises, and tells whether `predicate` is true in every thread.
    ///
    /// CUDA C: `__syncthreads_and()`.
    ///
    /// ```
    /// fn converged(error: f32) -> bool {
    ///     gpu_std::group::block().all(error < 1e-6)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn all(self, predicate: bool) -> bool {
        sync::sync_threads_and(predicate)
    }

    /// Synchronises, and tells whether `predicate` is true in any thread.
    ///
    /// CUDA C: `__syncthreads_or()`.
    ///
    /// ```
    /// fn overflowed(x: f32) -> bool {
    ///     gpu_std::group::block().any(x.is_infinite())
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn any(self, predicate: bool) -> bool {
        sync::sync_threads_or(predicate)
    }

    /// Synchronises, and counts the threads in which `predicate` is true.
    ///
    /// CUDA C: `__syncthreads_count()`.
    ///
    /// ```
    /// fn positive(x: f32) -> u32 {
    ///     gpu_std::group::block().count(x > 0.0)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn count(self, predicate: bool) -> u32 {
        sync::sync_threads_count(predicate)
    }
}

/// The `N` neighbouring lanes that this thread is one of: the block's threads are divided into tiles of `N` in the
/// order of their numbers.
///
/// CUDA C++: `tiled_partition<N>(this_thread_block())`. Every GPU. `N` is 1, 2, 4, 8, 16 or 32, else it is a compile
/// error.
///
/// ```
/// use gpu_std::group::{self, LaneGroup};
///
/// /// The sum of each 8 neighbours.
/// fn sum(x: f32) -> f32 {
///     group::tile::<8>().reduce_add(x)
/// }
/// ```
///
/// # Panics
///
/// If the threads of the block are no multiple of `N`.
#[inline]
#[track_caller]
pub fn tile<const N: u32>() -> Tile<N> {
    const {
        assert!(
            N.is_power_of_two() && N <= WARP_SIZE,
            "a tile has 1, 2, 4, 8, 16 or 32 lanes"
        )
    }
    assert!(
        block::len().is_multiple_of(N as usize),
        "the block's threads do not divide into tiles of this size"
    );
    Tile {
        lane: gpu::laneid(),
    }
}

/// The whole warp as a tile. See [`tile`].
///
/// CUDA C++: `tiled_partition<32>(this_thread_block())`. Every GPU.
///
/// ```
/// use gpu_std::group::{self, LaneGroup};
///
/// fn sum(x: f32) -> f32 {
///     group::warp().reduce_add(x)
/// }
/// ```
///
/// # Panics
///
/// If the threads of the block are no multiple of 32; [`lanes(FULL_MASK)`](lanes) has what there is.
#[inline]
#[track_caller]
pub fn warp() -> Tile<WARP_SIZE> {
    tile()
}

/// The lanes of `mask` that have not ended. All of them make this call, with the same mask.
///
/// One vote, which tells who is there.
///
/// CUDA C++ has no such group; the functions on masks, such as `__shfl_sync`, are used instead. Every GPU.
///
/// ```
/// use gpu_std::group::{self, LaneGroup};
///
/// /// The sum of the even lanes, in them.
/// fn sum(x: f32) -> f32 {
///     group::lanes(0x5555_5555).reduce_add(x)
/// }
/// ```
///
/// # Panics
///
/// If `mask` lacks the calling lane.
#[inline]
#[track_caller]
pub fn lanes(mask: u32) -> Lanes {
    Lanes {
        mask: warp::ballot(mask, true),
    }
}

/// The lanes of the warp that come to this call together: those of a branch, mostly. See [`warp::active_mask`] for what
/// can be relied on.
///
/// CUDA C++: `coalesced_threads()`. Every GPU.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use gpu_std::group::{self, LaneGroup};
///
/// /// One atomic addition for all lanes that want a place; each gets its own.
/// fn next_place(counter: &AtomicU32) -> u32 {
///     let group = group::coalesced();
///     let first = if group.rank() == 0 {
///         counter.fetch_add(group.size(), Ordering::Relaxed)
///     } else {
///         0
///     };
///     group.shuffle_idx(first, 0) + group.rank()
/// }
/// ```
#[inline]
#[track_caller]
pub fn coalesced() -> Lanes {
    Lanes {
        mask: warp::active_mask(),
    }
}

/// `N` neighbouring lanes of a warp, from [`tile`].
///
/// CUDA C++: `thread_block_tile<N>`.
///
/// ```
/// use gpu_std::group::{LaneGroup, Tile};
///
/// fn mean<const N: u32>(tile: Tile<N>, x: f32) -> f32 {
///     tile.reduce_add(x) / N as f32
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tile<const N: u32> {
    lane: u32,
}

/// Any lanes of a warp, from [`lanes`] or [`coalesced`]. The mask always has the lane that holds it.
///
/// CUDA C++: `coalesced_group`.
///
/// ```
/// use gpu_std::group::{LaneGroup, Lanes};
///
/// fn mean(lanes: Lanes, x: f32) -> f32 {
///     lanes.reduce_add(x) / lanes.size() as f32
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    mask: u32,
}

/// What lanes of one warp do together. All of the group come to each call, and get an answer each.
///
/// Ranks number the lanes of the group from 0 in the order of their lane numbers.
///
/// Sums and the like of integers of up to 32 bits are one instruction from sm_80 on, `redux.sync`.
///
/// CUDA C++: the members and functions that `thread_block_tile` and `coalesced_group` have in common. Every GPU.
///
/// ```
/// use gpu_std::group::LaneGroup;
///
/// fn spread(group: impl LaneGroup, x: f32) -> f32 {
///     group.reduce_max(x) - group.reduce_min(x)
/// }
/// ```
pub trait LaneGroup: Copy + sealed::Sealed {
    /// The lanes of the group, as a mask of the warp.
    ///
    /// CUDA C++ keeps it to itself. A shift in a [`Tile`], nothing in [`Lanes`].
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile() -> u32 {
    ///     group::tile::<16>().mask()
    /// }
    /// ```
    fn mask(self) -> u32;

    /// This lane's number in the group, from 0. CUDA C++: `thread_rank()`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile() -> u32 {
    ///     group::tile::<16>().rank()
    /// }
    /// ```
    fn rank(self) -> u32;

    /// Lanes of the group. CUDA C++: `size()`, `num_threads()`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile() -> u32 {
    ///     group::tile::<16>().size()
    /// }
    /// ```
    fn size(self) -> u32;

    /// The `value` of the lane of rank `rank`, modulo the size of the group. CUDA C++: `shfl()`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: f32) -> f32 {
    ///     group::tile::<16>().shuffle_idx(x, 0)
    /// }
    /// ```
    #[track_caller]
    fn shuffle_idx<T: AnyBitPattern>(self, value: T, rank: u32) -> T;

    /// The `value` of the lane `delta` ranks below; the lanes below `delta` keep their own. `delta` is below 32.
    /// CUDA C++: `shfl_up()`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: f32) -> f32 {
    ///     x - group::tile::<16>().shuffle_up(x, 1)
    /// }
    /// ```
    #[track_caller]
    fn shuffle_up<T: AnyBitPattern>(self, value: T, delta: u32) -> T;

    /// The `value` of the lane `delta` ranks above; the last `delta` lanes keep their own. `delta` is below 32.
    /// CUDA C++: `shfl_down()`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: f32) -> f32 {
    ///     x + group::tile::<16>().shuffle_down(x, 1)
    /// }
    /// ```
    #[track_caller]
    fn shuffle_down<T: AnyBitPattern>(self, value: T, delta: u32) -> T;

    /// The values of the lanes combined in the order of their ranks: `op(op(v0, v1), v2)`... bracketed in any way, so
    /// `op` must be associative. All lanes get the same bits. CUDA C++: `reduce()`.
    ///
    /// A [`Tile`] needs one shuffle for each doubling, [`Lanes`] two and one more.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: f32) -> f32 {
    ///     group::tile::<16>().reduce(x, |a, b| a * b)
    /// }
    /// ```
    #[track_caller]
    fn reduce<T: AnyBitPattern>(self, value: T, op: impl Fn(T, T) -> T) -> T;

    /// The values of the lanes up to this one combined in the order of their ranks. `op` must be associative.
    /// CUDA C++: `inclusive_scan()`.
    ///
    /// One shuffle for each doubling in a [`Tile`], two in [`Lanes`].
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: f32) -> f32 {
    ///     group::tile::<16>().inclusive_scan(x, |a, b| a * b)
    /// }
    /// ```
    #[track_caller]
    fn inclusive_scan<T: AnyBitPattern>(self, value: T, op: impl Fn(T, T) -> T) -> T;

    /// The values of the lanes before this one combined in the order of their ranks; `first` in the first lane. `op`
    /// must be associative. CUDA C++: `exclusive_scan()`.
    ///
    /// One shuffle more than [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: f32) -> f32 {
    ///     group::tile::<16>().exclusive_scan(x, 1.0, |a, b| a * b)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn exclusive_scan<T: AnyBitPattern>(self, value: T, first: T, op: impl Fn(T, T) -> T) -> T {
        let before = self.shuffle_up(self.inclusive_scan(value, op), 1);
        if self.rank() == 0 { first } else { before }
    }

    /// Waits for the group, and makes what its lanes wrote before visible to each other. CUDA C++: `sync()`.
    ///
    /// CUDA C: `__syncwarp(mask)`; PTX ISA, `bar.warp.sync`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile() -> () {
    ///     group::tile::<16>().sync()
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn sync(self) {
        warp::sync_warp(self.mask());
    }

    /// Whether `predicate` is true in all lanes. CUDA C++: `all()`.
    ///
    /// One `vote.sync`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: f32) -> bool {
    ///     group::tile::<16>().all(x > 0.0)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn all(self, predicate: bool) -> bool {
        warp::vote_all(self.mask(), predicate)
    }

    /// Whether `predicate` is true in any lane. CUDA C++: `any()`.
    ///
    /// One `vote.sync`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: f32) -> bool {
    ///     group::tile::<16>().any(x > 0.0)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn any(self, predicate: bool) -> bool {
        warp::vote_any(self.mask(), predicate)
    }

    /// The lanes in which `predicate` is true, as a mask of the warp. (CUDA C++'s `ballot()` numbers the bits by rank.)
    ///
    /// One `vote.sync`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: f32) -> u32 {
    ///     group::tile::<16>().ballot(x > 0.0)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn ballot(self, predicate: bool) -> u32 {
        warp::ballot(self.mask(), predicate)
    }

    /// In how many lanes `predicate` is true.
    ///
    /// CUDA C: `__popc(__ballot_sync(mask, predicate))`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: f32) -> u32 {
    ///     group::tile::<16>().count(x > 0.0)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn count(self, predicate: bool) -> u32 {
        self.ballot(predicate).count_ones()
    }

    /// The lanes that have the same `value`, as a mask of the warp. CUDA C++: `match_any()`.
    ///
    /// One `match.sync`, whose cost grows with the number of different values.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(key: u32) -> u32 {
    ///     group::tile::<16>().match_any(key)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn match_any<T: Number>(self, value: T) -> u32 {
        warp::match_any(self.mask(), value)
    }

    /// Whether all lanes have the same `value`. CUDA C++: `match_all()`.
    ///
    /// One `match.sync`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(key: u32) -> bool {
    ///     group::tile::<16>().match_all(key)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn match_all<T: Number>(self, value: T) -> bool {
        warp::match_all(self.mask(), value) != 0
    }

    /// The sum of the lanes' values. Integers wrap.
    ///
    /// CUDA C++: `reduce(group, value, plus<T>())`. Of integers of up to 32 bits one `redux.sync` on sm_80 and up, else as
    /// [`reduce`](Self::reduce).
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().reduce_add(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn reduce_add<T: Number>(self, value: T) -> T {
        // SAFETY: the mask of a group has the lane that holds it.
        let at_once = unsafe { value.reduced_at_once(Reduction::Add, self.mask()) };
        at_once.unwrap_or_else(|| self.reduce(value, T::plus))
    }

    /// The least of the lanes' values.
    ///
    /// CUDA C++: `reduce(group, value, less<T>())`. Of integers of up to 32 bits one `redux.sync` on sm_80 and up, else as
    /// [`reduce`](Self::reduce).
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().reduce_min(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn reduce_min<T: Number>(self, value: T) -> T {
        // SAFETY: the mask of a group has the lane that holds it.
        let at_once = unsafe { value.reduced_at_once(Reduction::Min, self.mask()) };
        at_once.unwrap_or_else(|| self.reduce(value, T::lesser))
    }

    /// The greatest of the lanes' values.
    ///
    /// CUDA C++: `reduce(group, value, greater<T>())`. Of integers of up to 32 bits one `redux.sync` on sm_80 and up, else as
    /// [`reduce`](Self::reduce).
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().reduce_max(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn reduce_max<T: Number>(self, value: T) -> T {
        // SAFETY: the mask of a group has the lane that holds it.
        let at_once = unsafe { value.reduced_at_once(Reduction::Max, self.mask()) };
        at_once.unwrap_or_else(|| self.reduce(value, T::greater))
    }

    /// The bitwise and of the lanes' values.
    ///
    /// CUDA C++: `reduce(group, value, bit_and<T>())`. Of integers of up to 32 bits one `redux.sync` on sm_80 and up, else as
    /// [`reduce`](Self::reduce).
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().reduce_and(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn reduce_and<T: Integer>(self, value: T) -> T {
        // SAFETY: the mask of a group has the lane that holds it.
        let at_once = unsafe { value.reduced_at_once(Reduction::And, self.mask()) };
        at_once.unwrap_or_else(|| self.reduce(value, |a, b| a & b))
    }

    /// The bitwise or of the lanes' values.
    ///
    /// CUDA C++: `reduce(group, value, bit_or<T>())`. Of integers of up to 32 bits one `redux.sync` on sm_80 and up, else as
    /// [`reduce`](Self::reduce).
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().reduce_or(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn reduce_or<T: Integer>(self, value: T) -> T {
        // SAFETY: the mask of a group has the lane that holds it.
        let at_once = unsafe { value.reduced_at_once(Reduction::Or, self.mask()) };
        at_once.unwrap_or_else(|| self.reduce(value, |a, b| a | b))
    }

    /// The bitwise exclusive or of the lanes' values.
    ///
    /// CUDA C++: `reduce(group, value, bit_xor<T>())`. Of integers of up to 32 bits one `redux.sync` on sm_80 and up, else as
    /// [`reduce`](Self::reduce).
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().reduce_xor(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn reduce_xor<T: Integer>(self, value: T) -> T {
        // SAFETY: the mask of a group has the lane that holds it.
        let at_once = unsafe { value.reduced_at_once(Reduction::Xor, self.mask()) };
        at_once.unwrap_or_else(|| self.reduce(value, |a, b| a ^ b))
    }

    /// The sum of the values up to this lane's. Integers wrap.
    ///
    /// CUDA C++: `inclusive_scan(group, value, plus<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().inclusive_add(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn inclusive_add<T: Number>(self, value: T) -> T {
        self.inclusive_scan(value, T::plus)
    }

    /// The sum of the values before this lane's, 0 in the first. Integers wrap.
    ///
    /// CUDA C++: `exclusive_scan(group, value, plus<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().exclusive_add(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn exclusive_add<T: Number>(self, value: T) -> T {
        self.exclusive_scan(value, T::ZERO, T::plus)
    }

    /// The least of the values up to this lane's.
    ///
    /// CUDA C++: `inclusive_scan(group, value, less<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().inclusive_min(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn inclusive_min<T: Number>(self, value: T) -> T {
        self.inclusive_scan(value, T::lesser)
    }

    /// The least of the values before this lane's, [`Number::GREATEST`] in the first.
    ///
    /// CUDA C++: `exclusive_scan(group, value, less<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().exclusive_min(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn exclusive_min<T: Number>(self, value: T) -> T {
        self.exclusive_scan(value, T::GREATEST, T::lesser)
    }

    /// The greatest of the values up to this lane's.
    ///
    /// CUDA C++: `inclusive_scan(group, value, greater<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().inclusive_max(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn inclusive_max<T: Number>(self, value: T) -> T {
        self.inclusive_scan(value, T::greater)
    }

    /// The greatest of the values before this lane's, [`Number::LEAST`] in the first.
    ///
    /// CUDA C++: `exclusive_scan(group, value, greater<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().exclusive_max(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn exclusive_max<T: Number>(self, value: T) -> T {
        self.exclusive_scan(value, T::LEAST, T::greater)
    }

    /// The bitwise and of the values up to this lane's.
    ///
    /// CUDA C++: `inclusive_scan(group, value, bit_and<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().inclusive_and(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn inclusive_and<T: Integer>(self, value: T) -> T {
        self.inclusive_scan(value, |a, b| a & b)
    }

    /// The bitwise and of the values before this lane's, all ones in the first.
    ///
    /// CUDA C++: `exclusive_scan(group, value, bit_and<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().exclusive_and(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn exclusive_and<T: Integer>(self, value: T) -> T {
        self.exclusive_scan(value, !T::ZERO, |a, b| a & b)
    }

    /// The bitwise or of the values up to this lane's.
    ///
    /// CUDA C++: `inclusive_scan(group, value, bit_or<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().inclusive_or(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn inclusive_or<T: Integer>(self, value: T) -> T {
        self.inclusive_scan(value, |a, b| a | b)
    }

    /// The bitwise or of the values before this lane's, 0 in the first.
    ///
    /// CUDA C++: `exclusive_scan(group, value, bit_or<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().exclusive_or(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn exclusive_or<T: Integer>(self, value: T) -> T {
        self.exclusive_scan(value, T::ZERO, |a, b| a | b)
    }

    /// The bitwise exclusive or of the values up to this lane's.
    ///
    /// CUDA C++: `inclusive_scan(group, value, bit_xor<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().inclusive_xor(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn inclusive_xor<T: Integer>(self, value: T) -> T {
        self.inclusive_scan(value, |a, b| a ^ b)
    }

    /// The bitwise exclusive or of the values before this lane's, 0 in the first.
    ///
    /// CUDA C++: `exclusive_scan(group, value, bit_xor<T>())`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// fn in_tile(x: u32) -> u32 {
    ///     group::tile::<16>().exclusive_xor(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    fn exclusive_xor<T: Integer>(self, value: T) -> T {
        self.exclusive_scan(value, T::ZERO, |a, b| a ^ b)
    }
}

impl<const N: u32> Tile<N> {
    /// This tile's number in the block. CUDA C++: `meta_group_rank()`.
    ///
    /// ```
    /// fn first_row() -> u32 {
    ///     gpu_std::group::tile::<8>().index() * 4
    /// }
    /// ```
    #[inline]
    pub fn index(self) -> u32 {
        thread::index_in_block() as u32 / N
    }

    /// Tiles of the block. CUDA C++: `meta_group_size()`.
    ///
    /// ```
    /// fn rows() -> u32 {
    ///     gpu_std::group::tile::<8>().count_in_block() * 4
    /// }
    /// ```
    #[inline]
    pub fn count_in_block(self) -> u32 {
        block::len() as u32 / N
    }

    /// The `value` of the lane whose rank is this lane's rank exclusive-or `ranks`, which is below `N`.
    /// CUDA C++: `shfl_xor()`.
    ///
    /// PTX ISA, `shfl.sync.bfly`, one for each 4 bytes.
    ///
    /// ```
    /// /// The sum of two neighbours, in both.
    /// fn sum(x: f32) -> f32 {
    ///     x + gpu_std::group::tile::<2>().shuffle_xor(x, 1)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn shuffle_xor<T: AnyBitPattern>(self, value: T, ranks: u32) -> T {
        self.shuffle(value, Source::Xor(ranks % N))
    }

    #[inline]
    #[track_caller]
    fn shuffle<T: AnyBitPattern>(self, value: T, source: Source) -> T {
        // SAFETY: a tile has the lane that holds it, and any bits are a `T`.
        unsafe { warp::shuffle_words(self.mask(), value, source, N).assume_init() }
    }
}

impl<const N: u32> sealed::Sealed for Tile<N> {}

impl<const N: u32> LaneGroup for Tile<N> {
    #[inline]
    fn mask(self) -> u32 {
        // For a warp this is a constant.
        if N == WARP_SIZE {
            FULL_MASK
        } else {
            ((1 << N) - 1) << (self.lane & !(N - 1))
        }
    }

    #[inline]
    fn rank(self) -> u32 {
        self.lane % N
    }

    #[inline]
    fn size(self) -> u32 {
        N
    }

    #[inline]
    #[track_caller]
    fn shuffle_idx<T: AnyBitPattern>(self, value: T, rank: u32) -> T {
        self.shuffle(value, Source::Lane(rank))
    }

    #[inline]
    #[track_caller]
    fn shuffle_up<T: AnyBitPattern>(self, value: T, delta: u32) -> T {
        self.shuffle(value, Source::Up(delta))
    }

    #[inline]
    #[track_caller]
    fn shuffle_down<T: AnyBitPattern>(self, value: T, delta: u32) -> T {
        self.shuffle(value, Source::Down(delta))
    }

    #[inline]
    #[track_caller]
    fn reduce<T: AnyBitPattern>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        let mut result = value;
        let mut offset = 1;
        while offset < N {
            let other = self.shuffle(result, Source::Xor(offset));
            // In the order of the lanes, so that `op` need not commute; LLVM drops the choice where it does.
            result = if self.lane & offset == 0 {
                op(result, other)
            } else {
                op(other, result)
            };
            offset *= 2;
        }
        result
    }

    #[inline]
    #[track_caller]
    fn inclusive_scan<T: AnyBitPattern>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        let mut result = value;
        let mut offset = 1;
        while offset < N {
            let before = self.shuffle(result, Source::Up(offset));
            if self.rank() >= offset {
                result = op(before, result);
            }
            offset *= 2;
        }
        result
    }
}

impl Lanes {
    /// The lanes of this group whose `predicate` is the same as this lane's. One vote.
    /// CUDA C++: `binary_partition()`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// /// How many lanes of the warp are on this lane's side.
    /// fn on_this_side(x: f32) -> u32 {
    ///     group::lanes(u32::MAX).partition(x > 0.0).size()
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn partition(self, predicate: bool) -> Lanes {
        let agree = self.ballot(predicate);
        Lanes {
            mask: if predicate { agree } else { self.mask & !agree },
        }
    }

    /// The lanes of this group whose `label` is the same as this lane's. One match.
    /// CUDA C++: `labeled_partition()`.
    ///
    /// ```
    /// use gpu_std::group::{self, LaneGroup};
    ///
    /// /// The sum of the values of the same bin.
    /// fn of_bin(bin: u32, x: f32) -> f32 {
    ///     group::lanes(u32::MAX).labeled_partition(bin).reduce_add(x)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn labeled_partition<T: Number>(self, label: T) -> Lanes {
        Lanes {
            mask: self.match_any(label),
        }
    }

    /// The lane of rank `rank`, which is below the size: the place of the mask's bit number `rank`.
    #[inline]
    fn lane_of(self, rank: u32) -> u32 {
        let (mut lane, mut rank) = (0, rank);
        for width in [16, 8, 4, 2, 1] {
            let ranks = ((self.mask >> lane) & ((1 << width) - 1)).count_ones();
            if rank >= ranks {
                rank -= ranks;
                lane += width;
            }
        }
        lane
    }

    #[inline]
    #[track_caller]
    fn of_lane<T: AnyBitPattern>(self, value: T, lane: u32) -> T {
        // SAFETY: the mask has the lane that holds it, and any bits are a `T`.
        unsafe {
            warp::shuffle_words(self.mask, value, Source::Lane(lane), WARP_SIZE).assume_init()
        }
    }
}

impl sealed::Sealed for Lanes {}

impl LaneGroup for Lanes {
    #[inline]
    fn mask(self) -> u32 {
        self.mask
    }

    #[inline]
    fn rank(self) -> u32 {
        (self.mask & gpu::lanemask_lt()).count_ones()
    }

    #[inline]
    fn size(self) -> u32 {
        self.mask.count_ones()
    }

    #[inline]
    #[track_caller]
    fn shuffle_idx<T: AnyBitPattern>(self, value: T, rank: u32) -> T {
        self.of_lane(value, self.lane_of(rank % self.size()))
    }

    #[inline]
    #[track_caller]
    fn shuffle_up<T: AnyBitPattern>(self, value: T, delta: u32) -> T {
        let rank = self.rank();
        self.of_lane(value, self.lane_of(rank.checked_sub(delta).unwrap_or(rank)))
    }

    #[inline]
    #[track_caller]
    fn shuffle_down<T: AnyBitPattern>(self, value: T, delta: u32) -> T {
        let (rank, size) = (self.rank(), self.size());
        let above = rank.saturating_add(delta);
        self.of_lane(value, self.lane_of(if above < size { above } else { rank }))
    }

    #[inline]
    #[track_caller]
    fn reduce<T: AnyBitPattern>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        if self.mask == FULL_MASK {
            let warp = Tile::<WARP_SIZE> {
                lane: gpu::laneid(),
            };
            return warp.reduce(value, op);
        }
        let last = WARP_SIZE - 1 - self.mask.leading_zeros();
        self.of_lane(self.inclusive_scan(value, op), last)
    }

    #[inline]
    #[track_caller]
    fn inclusive_scan<T: AnyBitPattern>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        // Each lane holds what the lanes from some lane up to itself combine to, and the lane before that one, if any;
        // with that lane's it reaches twice as far.
        const NONE: u32 = u32::MAX;
        let own = gpu::laneid();
        let below = self.mask & gpu::lanemask_lt();
        let mut before = if below == 0 {
            NONE
        } else {
            WARP_SIZE - 1 - below.leading_zeros()
        };
        let mut result = value;
        let mut reach = 1;
        while reach < self.size() {
            let source = if before == NONE { own } else { before };
            let other = self.of_lane(result, source);
            let further = self.of_lane(before, source);
            if before != NONE {
                result = op(other, result);
                before = further;
            }
            reach *= 2;
        }
        result
    }
}
