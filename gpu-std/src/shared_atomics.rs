//! Atomics in shared memory.
//!
//! # Soundness
//!
//! As for [`SharedArray`](crate::shared::SharedArray): no reference is handed out, indices are checked, and before the
//! first write a value is unspecified, never invalid. Every access is atomic.

use core::sync::atomic::Ordering;

use crate::atomic::{
    AtomicBf16, AtomicBf16x2, AtomicF16, AtomicF16x2, AtomicF32, AtomicF64, AtomicU128, Block,
    Scoped,
};
use crate::half::{Bf16, Bf16x2, F16, F16x2};
use crate::{block, shared, thread};

/// Makes a shared array of atomics, one for each block: `shared_atomics![AtomicU32; 256]`.
/// CUDA C: `__shared__ unsigned bins[256]` with `atomicAdd_block(&bins[i], 1)`.
///
/// The contents are unspecified until written: call [`fill`](SharedAtomics::fill) from all threads and then
/// [`sync_threads`](crate::sync_threads). A histogram:
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use gpu_std::atomic::{AtomicScope, Device};
/// use gpu_std::{block, shared_atomics, sync_threads, thread};
///
/// fn histogram(x: &[u8], counts: &[AtomicU32]) {
///     let bins = shared_atomics![AtomicU32; 256];
///     bins.fill(0);
///     sync_threads();
///     for i in thread::grid_stride(x.len()) {
///         bins.at(x[i] as usize).fetch_add(1, Relaxed);
///     }
///     sync_threads();
///     for bin in (thread::index_in_block()..256).step_by(block::len()) {
///         counts[bin].scoped(Device).fetch_add(bins.at(bin).load(Relaxed), Relaxed);
///     }
/// }
/// ```
#[macro_export]
macro_rules! shared_atomics {
    ($atomic:ty; $len:expr) => {
        $crate::shared_atomics::SharedAtomics::<$atomic, { $len }>::of_place(|| ())
    };
}

/// An atomic that shared memory can hold.
///
/// CUDA C: the types that `atomicAdd_block` and its like take.
///
/// ```
/// use gpu_std::shared_atomics::{SharedAtomic, SharedAtomicSlice};
///
/// fn reset<A: SharedAtomic>(bins: SharedAtomicSlice<A>, value: A::Value) {
///     bins.fill(value);
/// }
/// ```
///
/// # Safety
///
/// The atomic has the size and alignment of [`Value`](Self::Value), and any bits are a value.
pub unsafe trait SharedAtomic: Sized {
    /// The plain value.
    type Value: Copy;

    /// Sets the value.
    #[doc(hidden)]
    #[track_caller]
    fn set(cell: Scoped<'_, Self, Block>, value: Self::Value);
}

macro_rules! atomics {
    ($($atomic:ty: $value:ty, $($ordering:expr)?;)*) => {$(
        // SAFETY: the documentation of the atomic says so.
        unsafe impl SharedAtomic for $atomic {
            type Value = $value;

            #[inline]
            #[track_caller]
            fn set(cell: Scoped<'_, Self, Block>, value: $value) {
                cell.store(value $(, $ordering)?);
            }
        }
    )*};
}

atomics! {
    core::sync::atomic::AtomicU32: u32, Ordering::Relaxed;
    core::sync::atomic::AtomicI32: i32, Ordering::Relaxed;
    core::sync::atomic::AtomicU64: u64, Ordering::Relaxed;
    core::sync::atomic::AtomicI64: i64, Ordering::Relaxed;
    AtomicF32: f32,;
    AtomicF64: f64,;
    AtomicF16: F16,;
    AtomicBf16: Bf16,;
    AtomicF16x2: F16x2,;
    AtomicBf16x2: Bf16x2,;
    AtomicU128: u128,;
    core::sync::atomic::AtomicU16: u16, Ordering::Relaxed;
    core::sync::atomic::AtomicI16: i16, Ordering::Relaxed;
    core::sync::atomic::AtomicUsize: usize, Ordering::Relaxed;
    core::sync::atomic::AtomicIsize: isize, Ordering::Relaxed;
}

/// `N` atomics in shared memory, from [`shared_atomics!`](crate::shared_atomics!).
///
/// CUDA C: `__shared__ unsigned bins[256]`.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use gpu_std::shared_atomics::SharedAtomics;
///
/// fn count(bins: SharedAtomics<AtomicU32, 256>, byte: u8) {
///     bins.at(byte.into()).fetch_add(1, Relaxed);
/// }
/// ```
#[derive(Debug)]
pub struct SharedAtomics<A, const N: usize> {
    first: *const A,
}

// The atomics are not copied, so that they need not be `Copy`.
impl<A, const N: usize> Clone for SharedAtomics<A, N> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, const N: usize> Copy for SharedAtomics<A, N> {}

impl<A: SharedAtomic, const N: usize> SharedAtomics<A, N> {
    /// The block's array of the source place that `place` stands for.
    #[doc(hidden)]
    #[inline]
    pub fn of_place<P: Fn() + 'static>(_place: P) -> Self {
        Self {
            first: shared::storage::<[A; N], P>().cast_const().cast(),
        }
    }

    /// The atomic at `index`, with operations of block scope.
    ///
    /// CUDA C: `atomicAdd_block(&bins[i], 1)`; PTX: `atom.relaxed.cta.shared`.
    ///
    /// ```
    /// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// use gpu_std::shared_atomics::SharedAtomics;
    ///
    /// fn count(bins: SharedAtomics<AtomicU32, 256>) -> u32 {
    ///     bins.at(0).fetch_add(1, Relaxed)
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `index` is not below `N`.
    #[inline]
    #[track_caller]
    pub fn at(&self, index: usize) -> Scoped<'_, A, Block> {
        shared::check::<N>(index);
        // SAFETY: `index` is inside the block's allocation of `N` atomics, which lives while its threads run.
        unsafe { Scoped::new(self.first.add(index)) }
    }

    /// Sets all elements, each thread of the block its share. All threads of the block call it, and then
    /// [`sync_threads`](crate::sync_threads), before the first use and whenever the array starts anew.
    ///
    /// CUDA C: a loop over `threadIdx.x`.
    ///
    /// ```
    /// use core::sync::atomic::AtomicU32;
    /// use gpu_std::shared_atomics::SharedAtomics;
    ///
    /// fn start(bins: SharedAtomics<AtomicU32, 256>) {
    ///     bins.fill(0);
    ///     gpu_std::sync_threads();
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn fill(&self, value: A::Value) {
        let mut index = thread::index_in_block();
        while index < N {
            A::set(self.at(index), value);
            index += block::len();
        }
    }

    /// `N`.
    ///
    /// ```
    /// use core::sync::atomic::AtomicU32;
    /// use gpu_std::shared_atomics::SharedAtomics;
    ///
    /// fn places(bins: SharedAtomics<AtomicU32, 256>) -> usize {
    ///     bins.len()
    /// }
    /// ```
    #[inline]
    pub fn len(&self) -> usize {
        N
    }

    /// Whether `N` is zero.
    ///
    /// ```
    /// use core::sync::atomic::AtomicU32;
    /// use gpu_std::shared_atomics::SharedAtomics;
    ///
    /// fn has_places(bins: SharedAtomics<AtomicU32, 256>) -> bool {
    ///     !bins.is_empty()
    /// }
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        N == 0
    }
}

/// Atomics in dynamic shared memory, from [`DynamicShared::atomics`](crate::shared::DynamicShared::atomics).
///
/// CUDA C: `unsigned *` into shared memory.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use gpu_std::shared_atomics::SharedAtomicSlice;
///
/// fn count(bins: SharedAtomicSlice<AtomicU32>, bin: usize) {
///     bins.at(bin).fetch_add(1, Relaxed);
/// }
/// ```
#[derive(Debug)]
pub struct SharedAtomicSlice<A> {
    first: *const A,
    len: usize,
}

// As for `SharedAtomics`.
impl<A> Clone for SharedAtomicSlice<A> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for SharedAtomicSlice<A> {}

impl<A: SharedAtomic> SharedAtomicSlice<A> {
    /// # Safety
    ///
    /// `first` points to `len` atomics of the block's shared memory, of any value.
    #[inline]
    pub(crate) unsafe fn new(first: *const A, len: usize) -> Self {
        Self { first, len }
    }

    /// The atomic at `index`, with operations of block scope.
    ///
    /// CUDA C: `atomicAdd_block(&bins[i], 1)`; PTX: `atom.relaxed.cta.shared`.
    ///
    /// ```
    /// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// use gpu_std::shared_atomics::SharedAtomicSlice;
    ///
    /// fn count(bins: SharedAtomicSlice<AtomicU32>) -> u32 {
    ///     bins.at(0).fetch_add(1, Relaxed)
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `index` is not below the length.
    #[inline]
    #[track_caller]
    pub fn at(&self, index: usize) -> Scoped<'_, A, Block> {
        shared::check_len(index, self.len);
        // SAFETY: `index` is inside the block's part of `len` atomics, which lives while its threads run.
        unsafe { Scoped::new(self.first.add(index)) }
    }

    /// Sets all elements, each thread of the block its share. All threads of the block call it, and then
    /// [`sync_threads`](crate::sync_threads), before the first use and whenever the part starts anew.
    ///
    /// CUDA C: a loop over `threadIdx.x`.
    ///
    /// ```
    /// use core::sync::atomic::AtomicU32;
    /// use gpu_std::shared_atomics::SharedAtomicSlice;
    ///
    /// fn start(bins: SharedAtomicSlice<AtomicU32>) {
    ///     bins.fill(0);
    ///     gpu_std::sync_threads();
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn fill(&self, value: A::Value) {
        let mut index = thread::index_in_block();
        while index < self.len {
            A::set(self.at(index), value);
            index += block::len();
        }
    }

    /// How many atomics.
    ///
    /// ```
    /// use core::sync::atomic::AtomicU32;
    /// use gpu_std::shared_atomics::SharedAtomicSlice;
    ///
    /// fn places(bins: SharedAtomicSlice<AtomicU32>) -> usize {
    ///     bins.len()
    /// }
    /// ```
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    ///
    /// ```
    /// use core::sync::atomic::AtomicU32;
    /// use gpu_std::shared_atomics::SharedAtomicSlice;
    ///
    /// fn has_places(bins: SharedAtomicSlice<AtomicU32>) -> bool {
    ///     !bins.is_empty()
    /// }
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
