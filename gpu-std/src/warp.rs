//! What the 32 lanes of a warp do together: shuffles, votes, matches, reductions.
//!
//! A warp is 32 threads of a block with consecutive numbers ([`thread::index_in_block`]); the last of a block may have
//! fewer. Each operation has a `mask` of the lanes that take part, as CUDA's `_sync` functions have: bit *i* stands for
//! lane *i*. [`group`] has the same operations on values that hold the mask.
//!
//! # Which lanes take part
//!
//! Those of the mask that have not returned or panicked: the operation waits for them and does not count the others.
//! All give the same mask, which has themselves (a panic if it has not), and come to the same call ([`sync_warp`] may
//! be called in different places).
//!
//! # Soundness
//!
//! Lanes that do not keep to that (other masks, other calls, a shuffle from a lane that does not take part) get
//! unspecified values on a GPU, as in CUDA, or wait for ever; on the simulator the launch ends with an error that says
//! where each lane stands. So a value from another lane is any bits at all. Safe functions therefore shuffle only types
//! for which any bits are a value ([`AnyBitPattern`]); [`shuffle_uninit`] shuffles any `Copy` type and leaves the
//! promise to the caller. Types are sent as 32-bit words of `MaybeUninit`, so padding is no value on its way either.
//! That the executing lane is in the mask, which PTX demands, is checked.

use core::mem::MaybeUninit;
use core::panic::Location;

use bytemuck::AnyBitPattern;

use crate::disjoint::WarpIndex;
use crate::grid_stride::Stride;
use crate::group::{self, LaneGroup};
use crate::intrinsics as gpu;
use crate::number::Reduction;
use crate::{block, thread};

pub use crate::number::{Integer, Number};

/// Lanes of a warp: 32 on every GPU. CUDA C: `warpSize`; Numba: `cuda.warpsize`.
///
/// ```
/// use gpu_std::{block, warp};
///
/// fn warps_of_the_block() -> u32 {
///     (block::len() as u32).div_ceil(warp::WARP_SIZE)
/// }
/// ```
pub const WARP_SIZE: u32 = 32;

/// The mask of all lanes. In a warp with fewer threads it means those there are.
///
/// CUDA C: `0xffffffff`.
///
/// ```
/// use gpu_std::warp;
///
/// fn sum(x: f32) -> f32 {
///     warp::reduce_add(warp::FULL_MASK, x)
/// }
/// ```
pub const FULL_MASK: u32 = u32::MAX;

/// This thread's number in its warp, 0 to 31: [`thread::index_in_block`] modulo 32.
///
/// CUDA C: `threadIdx.x % 32` in blocks of one dimension; Numba: `cuda.laneid`; PTX ISA, `%laneid`. Every GPU.
///
/// ```
/// use gpu_std::warp;
///
/// fn is_first_of_warp() -> bool {
///     warp::lane_id() == 0
/// }
/// ```
#[inline]
pub fn lane_id() -> u32 {
    gpu::laneid()
}

/// This warp's number in the launch: its block's number times the warps of a block, and its number in the block.
///
/// As an index of a [`DisjointSlice<T, WarpIndex>`](crate::DisjointSlice) it stands for one element a warp, which only
/// the warp's first thread may write; of [`DisjointRows`](crate::disjoint::DisjointRows) for a row that the warp's
/// threads share. Its lanes are numbered as the threads of the block are, so the last warp of a block may have fewer than
/// 32.
///
/// ```
/// use gpu_std::disjoint::{DisjointRows, WarpIndex};
/// use gpu_std::warp;
///
/// fn halve(mut x: DisjointRows<f32, WarpIndex>) {
///     if let Some(mut row) = x.get_mut(warp::index()) {
///         row.iter_mut().for_each(|x| *x *= 0.5);
///     }
/// }
/// ```
///
/// CUDA C: `(blockIdx.x * blockDim.x + threadIdx.x) / 32` in one dimension and blocks of whole warps.
#[inline]
pub fn index() -> WarpIndex {
    let number = *block::index() * warps_of_block() + warp_id() as usize;
    // SAFETY: block and warp in the block make the number unique to the warp.
    unsafe { index_of(number) }
}

/// [`index`] in launches of one dimension, in fewer instructions. A kernel that uses it cannot be launched in more.
///
/// ```
/// use gpu_std::disjoint::{DisjointRows, WarpIndex};
/// use gpu_std::warp;
///
/// fn halve(mut x: DisjointRows<f32, WarpIndex>) {
///     if let Some(mut row) = x.get_mut(warp::index_1d()) {
///         row.iter_mut().for_each(|x| *x *= 0.5);
///     }
/// }
/// ```
///
/// CUDA C: `(blockIdx.x * blockDim.x + threadIdx.x) / 32`, in blocks of whole warps.
#[inline]
pub fn index_1d() -> WarpIndex {
    gpu::launch_dimensions(1);
    index()
}

/// The numbers below `len` that are this warp's in a loop over more parts than there are warps: its own, then one for
/// every warp of the launch. Together the warps of a launch visit each number below `len` exactly once, whatever the
/// grid. Every lane of a warp makes the same trips.
///
/// CUDA C: a loop that goes on by the number of warps.
///
/// ```
/// use gpu_std::disjoint::{DisjointRows, WarpIndex};
/// use gpu_std::warp;
///
/// fn clear(mut x: DisjointRows<f32, WarpIndex>) {
///     for w in warp::grid_stride(x.nrows()) {
///         if let Some(mut row) = x.get_mut(w) {
///             row.iter_mut().for_each(|x| *x = 0.0);
///         }
///     }
/// }
/// ```
#[inline]
pub fn grid_stride(len: usize) -> impl Iterator<Item = WarpIndex> {
    let warps = thread::grid_dim().count() as usize * warps_of_block();
    // SAFETY: a number of the loop is the warp's own modulo the number of warps, which is below it and unique.
    Stride::new(*index(), warps, len).map(|number| unsafe { index_of(number) })
}

/// # Safety
/// In one launch, only lanes of one warp make a `WarpIndex` of this number.
#[inline]
unsafe fn index_of(number: usize) -> WarpIndex {
    let size = WARP_SIZE as usize;
    let thread = thread::index_in_block();
    let lane = thread % size;
    let lanes = (block::len() - (thread - lane)).min(size);
    // SAFETY: the lane is this thread's own, and all lanes of the warp count the same threads of the block.
    unsafe { WarpIndex::new(number, lane, lanes) }
}

#[inline]
fn warps_of_block() -> usize {
    block::len().div_ceil(WARP_SIZE as usize)
}

/// This warp's number in its block: [`thread::index_in_block`] divided by 32. (PTX's `%warpid` is another number, of
/// the hardware's slots.)
///
/// CUDA C: `threadIdx.x / 32` in blocks of one dimension. Every GPU.
///
/// ```
/// use gpu_std::{shared_array, warp};
///
/// /// Each warp's sum in its own place.
/// fn store(x: f32) {
///     let sums = shared_array![f32; 32];
///     let sum = warp::reduce_add(warp::FULL_MASK, x);
///     if warp::lane_id() == 0 {
///         sums.set(warp::warp_id() as usize, sum);
///     }
/// }
/// ```
#[inline]
pub fn warp_id() -> u32 {
    thread::index_in_block() as u32 / WARP_SIZE
}

macro_rules! lane_masks {
    ($($name:ident, $lanes:literal, $register:literal;)*) => {$(
        #[doc = concat!("The mask of the lanes whose number is ", $lanes, " this thread's. PTX ISA, `%", $register, "`.")]
        /// A special register, on every GPU.
        ///
        /// ```
        #[doc = concat!("use gpu_std::warp;\n\nfn set_there(x: f32) -> u32 {\n    (warp::ballot(warp::FULL_MASK, x > 0.0) & warp::", stringify!($name), "()).count_ones()\n}")]
        /// ```
        #[inline]
        pub fn $name() -> u32 {
            gpu::$name()
        }
    )*};
}

lane_masks! {
    lanemask_lt, "below", "lanemask_lt";
    lanemask_le, "not above", "lanemask_le";
    lanemask_eq, "equal to", "lanemask_eq";
    lanemask_ge, "not below", "lanemask_ge";
    lanemask_gt, "above", "lanemask_gt";
}

/// The mask of the lanes that execute this call together with this one. It has this lane.
///
/// Which lanes these are is the hardware's choice: lanes of one branch may come one by one. The simulator gives all
/// lanes that come to the call. [`group::coalesced`] is made from it. It does not synchronise.
///
/// CUDA C: `__activemask()`; Numba: `cuda.activemask()`; PTX ISA, `activemask`. Every GPU.
///
/// ```
/// use gpu_std::warp;
///
/// fn is_alone() -> bool {
///     warp::active_mask().count_ones() == 1
/// }
/// ```
#[inline]
#[track_caller]
pub fn active_mask() -> u32 {
    gpu::place(Location::caller());
    gpu::activemask()
}

/// Waits for the lanes of `mask`, and makes what they wrote before visible to each other.
///
/// Lanes may come from different calls. CUDA C: `__syncwarp()`; Numba: `cuda.syncwarp()`; PTX ISA, `bar.warp.sync`.
/// Every GPU; a few cycles.
///
/// ```
/// use gpu_std::{shared::SharedArray, warp};
///
/// fn broadcast_first(block: SharedArray<f32, 32>, x: f32) -> f32 {
///     if warp::lane_id() == 0 {
///         block.set(0, x);
///     }
///     warp::sync_warp(warp::FULL_MASK);
///     block.get(0)
/// }
/// ```
///
/// # Panics
///
/// If `mask` lacks the calling lane.
#[inline]
#[track_caller]
pub fn sync_warp(mask: u32) {
    check(mask);
    gpu::place(Location::caller());
    // SAFETY: the mask has this lane.
    unsafe { gpu::bar_warp_sync(mask) }
}

/// Whose value a lane gets in a shuffle.
///
/// The argument of [`shuffle_uninit`]; CUDA C has a function for each: `__shfl_sync`, `__shfl_up_sync`, `__shfl_down_sync`,
/// `__shfl_xor_sync`.
///
/// ```
/// use gpu_std::warp::{self, FULL_MASK, Source};
///
/// fn neighbours(x: char) -> [core::mem::MaybeUninit<char>; 2] {
///     [Source::Up(1), Source::Down(1)].map(|source| warp::shuffle_uninit(FULL_MASK, x, source))
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// That of a lane, modulo 32.
    Lane(u32),
    /// That of the lane so many below; its own, where there is none.
    Up(u32),
    /// That of the lane so many above; its own, where there is none.
    Down(u32),
    /// That of the lane whose number is this lane's, exclusive-or'ed.
    Xor(u32),
}

/// The value that another lane gives, for any `Copy` type.
///
/// One `shfl.sync` for each 4 bytes of `T`, about 25 cycles. See [`shuffle_idx`] for types of which any bits are a
/// value. CUDA C: `__shfl_sync` and its like. Every GPU.
///
/// The result is initialised, and a value that the source lane gave, if the lanes of the mask make this call together
/// and the source is one of them.
///
/// ```
/// use gpu_std::warp::{self, Source};
///
/// fn first_lanes(flag: bool) -> bool {
///     let flag = warp::shuffle_uninit(warp::FULL_MASK, flag, Source::Lane(0));
///     // SAFETY: all kernels call this function in whole warps, in uniform control flow.
///     unsafe { flag.assume_init() }
/// }
/// ```
///
/// # Panics
///
/// If `mask` lacks the calling lane.
#[inline]
#[track_caller]
pub fn shuffle_uninit<T: Copy>(mask: u32, value: T, source: Source) -> MaybeUninit<T> {
    check(mask);
    // SAFETY: the mask has this lane.
    unsafe { shuffle_words(mask, value, source, WARP_SIZE) }
}

/// The value of another lane of the segment of `width` lanes.
///
/// # Safety
///
/// The mask has this lane.
#[inline]
#[track_caller]
pub(crate) unsafe fn shuffle_words<T: Copy>(
    mask: u32,
    value: T,
    source: Source,
    width: u32,
) -> MaybeUninit<T> {
    const WORD: usize = size_of::<u32>();
    let place = Location::caller();
    let mut result = MaybeUninit::<T>::uninit();
    let from = (&raw const value).cast::<u8>();
    let to = result.as_mut_ptr().cast::<u8>();
    let mut offset = 0;
    while offset < size_of::<T>() {
        let bytes = WORD.min(size_of::<T>() - offset);
        let mut word = MaybeUninit::<u32>::uninit();
        gpu::place(place);
        // SAFETY: `offset + bytes` is at most the size of `T`, `bytes` at most that of the word. Copied as bytes, what
        // is uninitialised stays so. The mask has this lane.
        unsafe {
            word.as_mut_ptr()
                .cast::<u8>()
                .copy_from_nonoverlapping(from.add(offset), bytes);
            let word = shuffle_word(mask, word, source, width);
            to.add(offset)
                .copy_from_nonoverlapping(word.as_ptr().cast(), bytes);
        }
        offset += WORD;
    }
    result
}

/// # Safety
///
/// The mask has this lane.
#[inline]
unsafe fn shuffle_word(
    mask: u32,
    word: MaybeUninit<u32>,
    source: Source,
    width: u32,
) -> MaybeUninit<u32> {
    // The last lane that may be read, and the bits of a lane's number that name its segment.
    let (last, segment) = (WARP_SIZE - 1, (WARP_SIZE - width) << 8);
    // SAFETY: the caller's promise.
    unsafe {
        match source {
            Source::Lane(lane) => gpu::shfl_sync_idx(mask, word, lane, segment | last),
            Source::Up(delta) => gpu::shfl_sync_up(mask, word, delta, segment),
            Source::Down(delta) => gpu::shfl_sync_down(mask, word, delta, segment | last),
            Source::Xor(lanes) => gpu::shfl_sync_bfly(mask, word, lanes, segment | last),
        }
    }
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident($operand:ident) = $source:ident, $cuda:literal, $ptx:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// One `shfl.sync` for each 4 bytes of `T`, about 25 cycles. A lane that does not take part has no value: see
        /// [the module](self).
        #[doc = concat!("CUDA C and Numba: `", $cuda, "`; PTX ISA, `", $ptx, "`. Every GPU.")]
        ///
        /// # Panics
        ///
        /// If `mask` lacks the calling lane.
        #[inline]
        #[track_caller]
        pub fn $name<T: AnyBitPattern>(mask: u32, value: T, $operand: u32) -> T {
            let value = shuffle_uninit(mask, value, Source::$source($operand));
            // SAFETY: any bits are a `T`.
            unsafe { value.assume_init() }
        }
    )*};
}

shuffles! {
    /// The `value` that the lane `lane` (modulo 32) gives.
    ///
    /// ```
    /// use gpu_std::warp;
    ///
    /// fn first_lanes(x: f32) -> f32 {
    ///     warp::shuffle_idx(warp::FULL_MASK, x, 0)
    /// }
    /// ```
    shuffle_idx(lane) = Lane, "__shfl_sync", "shfl.sync.idx";
    /// The `value` of the lane `delta` (modulo 32) below; the lanes below `delta` keep their own.
    ///
    /// ```
    /// use gpu_std::warp;
    ///
    /// fn difference_to_the_lane_before(x: f32) -> f32 {
    ///     x - warp::shuffle_up(warp::FULL_MASK, x, 1)
    /// }
    /// ```
    shuffle_up(delta) = Up, "__shfl_up_sync", "shfl.sync.up";
    /// The `value` of the lane `delta` (modulo 32) above; the last `delta` lanes keep their own.
    ///
    /// ```
    /// use gpu_std::warp;
    ///
    /// fn sum_of_neighbours(x: f32) -> f32 {
    ///     x + warp::shuffle_down(warp::FULL_MASK, x, 1)
    /// }
    /// ```
    shuffle_down(delta) = Down, "__shfl_down_sync", "shfl.sync.down";
    /// The `value` of the lane whose number is this lane's number exclusive-or `lanes` (modulo 32).
    ///
    /// ```
    /// use gpu_std::warp;
    ///
    /// fn swap_with_neighbour(x: f32) -> f32 {
    ///     warp::shuffle_xor(warp::FULL_MASK, x, 1)
    /// }
    /// ```
    shuffle_xor(lanes) = Xor, "__shfl_xor_sync", "shfl.sync.bfly";
}

macro_rules! votes {
    ($($(#[$doc:meta])* $name:ident -> $answer:ty = $vote:ident, $cuda:literal, $ptx:literal;)*) => {$(
        $(#[$doc])*
        #[doc = concat!("CUDA C: `", $cuda, "`; PTX ISA, `", $ptx, "`. Every GPU; about 10 cycles.")]
        ///
        /// ```
        #[doc = concat!("use gpu_std::warp;\n\nfn vote(x: f32) -> ", stringify!($answer), " {\n    warp::", stringify!($name), "(warp::FULL_MASK, x > 0.0)\n}")]
        /// ```
        ///
        /// # Panics
        ///
        /// If `mask` lacks the calling lane.
        #[inline]
        #[track_caller]
        pub fn $name(mask: u32, predicate: bool) -> $answer {
            check(mask);
            gpu::place(Location::caller());
            // SAFETY: the mask has this lane.
            unsafe { gpu::$vote(mask, predicate) }
        }
    )*};
}

votes! {
    /// Whether `predicate` is true in all lanes of `mask`.
    vote_all -> bool = vote_all_sync, "__all_sync", "vote.sync.all";
    /// Whether `predicate` is true in any lane of `mask`.
    vote_any -> bool = vote_any_sync, "__any_sync", "vote.sync.any";
    /// Whether `predicate` is the same in all lanes of `mask`.
    vote_uni -> bool = vote_uni_sync, "__uni_sync", "vote.sync.uni";
    /// The mask of the lanes of `mask` in which `predicate` is true. `ballot(mask, true)` is the mask of those that take
    /// part.
    ballot -> u32 = vote_ballot_sync, "__ballot_sync", "vote.sync.ballot";
}

/// The mask of the lanes of `mask` whose `value` has the same bits as this lane's.
///
/// CUDA C: `__match_any_sync`; Numba: `cuda.match_any_sync`; PTX ISA, `match.any.sync`. From sm_70; the cost grows with
/// the number of different values.
///
/// ```
/// use gpu_std::warp;
///
/// /// How many lanes have the same key, in one of them.
/// fn count_key(key: u32) -> Option<u32> {
///     let same = warp::match_any(warp::FULL_MASK, key);
///     let first = same.trailing_zeros() == warp::lane_id();
///     first.then(|| same.count_ones())
/// }
/// ```
///
/// # Panics
///
/// If `mask` lacks the calling lane.
#[inline]
#[track_caller]
pub fn match_any<T: Number>(mask: u32, value: T) -> u32 {
    check(mask);
    gpu::place(Location::caller());
    // SAFETY: the mask has this lane.
    unsafe {
        if T::IS_WIDE {
            gpu::match_any_sync_i64(mask, value.bits())
        } else {
            gpu::match_any_sync_i32(mask, value.bits() as u32)
        }
    }
}

/// Whether `value` has the same bits in all lanes of `mask`: the mask of those that take part if so, else 0.
///
/// CUDA C: `__match_all_sync`; Numba: `cuda.match_all_sync`; PTX ISA, `match.all.sync`. From sm_70.
///
/// ```
/// use gpu_std::warp;
///
/// fn same_cell(cell: u64) -> bool {
///     warp::match_all(warp::FULL_MASK, cell) != 0
/// }
/// ```
///
/// # Panics
///
/// If `mask` lacks the calling lane.
#[inline]
#[track_caller]
pub fn match_all<T: Number>(mask: u32, value: T) -> u32 {
    check(mask);
    gpu::place(Location::caller());
    // SAFETY: the mask has this lane.
    unsafe {
        if T::IS_WIDE {
            gpu::match_all_sync_i64(mask, value.bits())
        } else {
            gpu::match_all_sync_i32(mask, value.bits() as u32)
        }
    }
}

macro_rules! reductions {
    ($($name:ident, $bound:ident, $reduction:ident, $what:literal, $cuda:literal;)*) => {$(
        #[doc = concat!("The ", $what, " of `value` over the lanes of `mask` that take part; all of them get it.")]
        ///
        /// From sm_80 on it is one instruction, `redux.sync`, for integers of up to 32 bits. Else a vote tells which lanes
        /// are there, then come five shuffles (up to eleven for some lanes of a warp). A [`Tile`](group::Tile) needs no vote.
        #[doc = concat!("CUDA C: `", $cuda, "`. Every GPU.")]
        ///
        /// ```
        #[doc = concat!("use gpu_std::warp;\n\nfn of_warp(x: u32) -> u32 {\n    warp::", stringify!($name), "(warp::FULL_MASK, x)\n}")]
        /// ```
        ///
        /// # Panics
        ///
        /// If `mask` lacks the calling lane.
        #[inline]
        #[track_caller]
        pub fn $name<T: $bound>(mask: u32, value: T) -> T {
            check(mask);
            // SAFETY: the mask has this lane.
            match unsafe { value.reduced_at_once(Reduction::$reduction, mask) } {
                Some(result) => result,
                None => group::lanes(mask).$name(value),
            }
        }
    )*};
}

reductions! {
    reduce_add, Number, Add, "sum", "__reduce_add_sync";
    reduce_min, Number, Min, "least", "__reduce_min_sync";
    reduce_max, Number, Max, "greatest", "__reduce_max_sync";
    reduce_and, Integer, And, "bitwise and", "__reduce_and_sync";
    reduce_or, Integer, Or, "bitwise or", "__reduce_or_sync";
    reduce_xor, Integer, Xor, "bitwise exclusive or", "__reduce_xor_sync";
}

/// PTX leaves undefined what happens in a lane that is not in its own mask. For a constant [`FULL_MASK`] nothing is
/// left of the check.
#[inline]
#[track_caller]
fn check(mask: u32) {
    assert!(
        mask == FULL_MASK || mask & gpu::lanemask_eq() != 0,
        "the mask of a warp operation lacks the lane that calls it"
    );
}
