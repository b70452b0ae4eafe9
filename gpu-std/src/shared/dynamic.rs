//! Dynamic shared memory: typed parts of run-time length, in the bytes that the launch asked for.
//!
//! In: the bytes of the launch (`.shared_bytes(n)`). Out: parts that do not overlap, laid out one after the other in the
//! order in which the kernel asks for them. Every thread works that out for itself, so threads that ask for the same
//! parts in the same order have the same ones, and nothing is exchanged.
//!
//! # Soundness
//!
//! As for [`SharedArray`](super::SharedArray): no reference is handed out, indices are checked, and the elements are plain
//! data, so that what another thread writes at the same time can make a value unspecified, never invalid. That holds too
//! for threads that ask for different parts, or twice: their parts then overlap, and each reads what the other wrote as
//! its own type. A part never reaches beyond the bytes of the launch.

use bytemuck::CheckedBitPattern;

use crate::async_copy::AsyncCopy;
use crate::async_copy::sealed::Target;
use crate::intrinsics as gpu;
use crate::runtime;
use crate::shared_atomics::{SharedAtomic, SharedAtomicSlice};

/// The alignment of a block's dynamic shared memory, in bytes.
///
/// CUDA C: `extern __shared__ __align__(128) char a[]`.
///
/// ```
/// use gpu_std::shared::DYNAMIC_ALIGN;
///
/// assert!(align_of::<f64>() <= DYNAMIC_ALIGN);
/// ```
pub const DYNAMIC_ALIGN: usize = 128;

/// The block's dynamic shared memory, from its start. CUDA C: `extern __shared__`; Numba: `cuda.shared.array(0, ...)`.
///
/// The launch says how many bytes there are: `.shared_bytes(n)`, or `launch!(kernel[grid, block, shared = n](...))`, with
/// `n` from a [`SharedLayout`] of the same parts. Without that there are none. Every GPU; a block can have 48 KiB of static
/// and dynamic shared memory, from compute capability 7.0 on more (64 KiB on 7.5, 163 KiB on 8.0, 227 KiB on 9.0), for
/// which nothing else needs to be done.
///
/// ```
/// use gpu_std::{shared, sync_threads, thread};
///
/// /// Launched with `.shared_bytes(SharedLayout::new().array::<f32>(n).array::<u32>(n).bytes())`.
/// fn sorted_keys(x: &[f32], n: usize, out: &mut u32) {
///     let mut parts = shared::dynamic();
///     let (values, order) = (parts.array::<f32>(n), parts.array::<u32>(n));
///     let t = thread::index_in_block();
///     values.set(t, x[t]);
///     sync_threads();
///     let smaller = (0..n).filter(|&other| values.get(other) < values.get(t));
///     order.set(smaller.count(), t as u32);
///     sync_threads();
///     *out = order.get(t);
/// }
/// ```
#[inline]
pub fn dynamic() -> DynamicShared {
    DynamicShared {
        first: gpu::shared_dynamic(),
        available: gpu::dynamic_smem_size() as usize,
        used: SharedLayout::new(),
    }
}

/// The block's dynamic shared memory, of which parts are taken one after the other: from [`dynamic`].
///
/// CUDA C: the pointer `extern __shared__ char a[]`, and offsets into it.
///
/// ```
/// use gpu_std::shared::{self, DynamicShared, SharedSlice};
///
/// fn halves(parts: &mut DynamicShared, n: usize) -> [SharedSlice<f32>; 2] {
///     [parts.array(n), parts.array(n)]
/// }
///
/// fn of_launch(n: usize) -> [SharedSlice<f32>; 2] {
///     halves(&mut shared::dynamic(), n)
/// }
/// ```
#[derive(Debug)]
pub struct DynamicShared {
    first: *mut u8,
    available: usize,
    used: SharedLayout,
}

impl DynamicShared {
    /// The next `len` elements of `T`, aligned for `T`. The contents are unspecified until written.
    ///
    /// CUDA C: `float *b = (float *)(a + offset)`.
    ///
    /// ```
    /// use gpu_std::shared;
    ///
    /// fn first_of(n: usize) -> f32 {
    ///     let values = shared::dynamic().array::<f32>(n);
    ///     values.get(0)
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the parts so far are larger than the launch's bytes; the message has both numbers.
    #[inline]
    #[track_caller]
    pub fn array<T: CheckedBitPattern>(&mut self, len: usize) -> SharedSlice<T> {
        SharedSlice {
            first: self.part::<T>(len),
            len,
        }
    }

    /// The next `rows` rows of `cols` elements of `T`, aligned for `T`: as many bytes as an
    /// [`array`](Self::array) of their product.
    ///
    /// CUDA C: a part of `extern __shared__`, indexed by `row * cols + col`.
    ///
    /// ```
    /// use gpu_std::shared;
    ///
    /// fn corner(rows: usize, cols: usize) -> f32 {
    ///     let tile = shared::dynamic().array_2d::<f32>(rows, cols);
    ///     tile.get((rows - 1, cols - 1))
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the parts so far are larger than the launch's bytes; the message has both numbers.
    #[inline]
    #[track_caller]
    pub fn array_2d<T: CheckedBitPattern>(&mut self, rows: usize, cols: usize) -> SharedSlice2d<T> {
        SharedSlice2d {
            first: self.part::<T>(rows.saturating_mul(cols)),
            rows,
            cols,
        }
    }

    /// The next `len` atomics. The contents are unspecified until written: see
    /// [`fill`](SharedAtomicSlice::fill).
    ///
    /// CUDA C: a part of `extern __shared__` with `atomicAdd_block`.
    ///
    /// ```
    /// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// use gpu_std::{shared, sync_threads};
    ///
    /// fn count(bins: usize, bin: usize) -> u32 {
    ///     let counts = shared::dynamic().atomics::<AtomicU32>(bins);
    ///     counts.fill(0);
    ///     sync_threads();
    ///     counts.at(bin).fetch_add(1, Relaxed)
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the parts so far are larger than the launch's bytes; the message has both numbers.
    #[inline]
    #[track_caller]
    pub fn atomics<A: SharedAtomic>(&mut self, len: usize) -> SharedAtomicSlice<A> {
        // SAFETY: the part has `len` atomics.
        unsafe { SharedAtomicSlice::new(self.part::<A>(len), len) }
    }

    /// Bytes after the parts so far.
    ///
    /// CUDA C: `%dynamic_smem_size` less what was used.
    ///
    /// ```
    /// use gpu_std::shared;
    ///
    /// fn as_many_as_fit() -> usize {
    ///     let mut parts = shared::dynamic();
    ///     let floats = parts.remaining() / size_of::<f32>();
    ///     parts.array::<f32>(floats).len()
    /// }
    /// ```
    #[inline]
    pub fn remaining(&self) -> usize {
        self.available.saturating_sub(self.used.bytes())
    }

    /// The address of a new part, which ends within the launch's bytes.
    #[inline]
    #[track_caller]
    fn part<T>(&mut self, len: usize) -> *mut T {
        let next = self.used.array::<T>(len);
        if next.bytes > self.available {
            runtime::shared_shortage(next.bytes, self.available);
        }
        let start = self.used.end_aligned_for::<T>();
        self.used = next;
        // SAFETY: the start is inside the memory of `available` bytes, or at its end.
        unsafe { self.first.add(start).cast() }
    }
}

/// How many bytes the parts of dynamic shared memory need, for the host: ask for the same parts in the same order.
/// Padding between parts is counted. CUDA C: `sizeof` by hand.
///
/// ```
/// use gpu_std::shared::SharedLayout;
///
/// let bytes = SharedLayout::new().array::<u8>(5).array::<f32>(10).bytes();
/// assert_eq!(bytes, 8 + 40);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedLayout {
    bytes: usize,
}

impl SharedLayout {
    /// No parts.
    ///
    /// ```
    /// use gpu_std::shared::SharedLayout;
    ///
    /// assert_eq!(SharedLayout::new().bytes(), 0);
    /// ```
    #[inline]
    pub const fn new() -> Self {
        Self { bytes: 0 }
    }

    /// With a part of `len` elements of `T` after the others.
    ///
    /// ```
    /// use gpu_std::shared::SharedLayout;
    ///
    /// let n = 100;
    /// assert_eq!(SharedLayout::new().array::<f64>(n).bytes(), 800);
    /// ```
    #[inline]
    pub const fn array<T>(self, len: usize) -> Self {
        let start = self.end_aligned_for::<T>();
        Self {
            bytes: start.saturating_add(len.saturating_mul(size_of::<T>())),
        }
    }

    /// Where a part of `T` starts.
    #[inline]
    const fn end_aligned_for<T>(self) -> usize {
        const {
            assert!(
                align_of::<T>() <= DYNAMIC_ALIGN,
                "dynamic shared memory is aligned to 128 bytes"
            )
        }
        match self.bytes.checked_next_multiple_of(align_of::<T>()) {
            Some(start) => start,
            None => usize::MAX,
        }
    }

    /// With a part of `len` atomics after the others.
    ///
    /// ```
    /// use core::sync::atomic::AtomicU32;
    /// use gpu_std::shared::SharedLayout;
    ///
    /// assert_eq!(SharedLayout::new().atomics::<AtomicU32>(10).bytes(), 40);
    /// ```
    #[inline]
    pub const fn atomics<A: SharedAtomic>(self, len: usize) -> Self {
        self.array::<A>(len)
    }

    /// Bytes of all parts. Parts that no address space could hold are `usize::MAX` bytes.
    ///
    /// ```
    /// use gpu_std::shared::SharedLayout;
    ///
    /// let layout = SharedLayout::new().array::<u8>(1).array::<u32>(1);
    /// assert_eq!(layout.bytes(), 8);
    /// ```
    #[inline]
    pub const fn bytes(self) -> usize {
        self.bytes
    }
}

/// Elements in dynamic shared memory, from [`DynamicShared::array`].
///
/// CUDA C: `float *` into shared memory.
///
/// ```
/// use gpu_std::shared::SharedSlice;
/// use gpu_std::sync_threads;
///
/// fn reversed(part: SharedSlice<f32>, t: usize, x: f32) -> f32 {
///     part.set(t, x);
///     sync_threads();
///     part.get(part.len() - 1 - t)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SharedSlice<T> {
    first: *mut T,
    len: usize,
}

impl<T: CheckedBitPattern> SharedSlice<T> {
    /// The element at `index`.
    ///
    /// ```
    /// use gpu_std::shared::SharedSlice;
    ///
    /// fn read(part: SharedSlice<f32>) -> f32 {
    ///     part.get(0)
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `index` is not below the length.
    #[inline]
    #[track_caller]
    pub fn get(self, index: usize) -> T {
        check(index, self.len);
        // SAFETY: `index` is inside the block's part of `len` elements.
        unsafe { super::read(self.first.add(index)) }
    }

    /// Writes the element at `index`.
    ///
    /// ```
    /// use gpu_std::shared::SharedSlice;
    ///
    /// fn clear(part: SharedSlice<f32>) {
    ///     part.set(0, 0.0);
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `index` is not below the length.
    #[inline]
    #[track_caller]
    pub fn set(self, index: usize, value: T) {
        check(index, self.len);
        // SAFETY: `index` is inside the block's part of `len` elements.
        unsafe { super::write(self.first.add(index), value) }
    }

    /// How many elements.
    ///
    /// ```
    /// use gpu_std::shared::SharedSlice;
    ///
    /// fn read(part: SharedSlice<f32>) -> f32 {
    ///     part.len() as f32
    /// }
    /// ```
    #[inline]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are none.
    ///
    /// ```
    /// use gpu_std::shared::SharedSlice;
    ///
    /// fn is_there(part: SharedSlice<f32>) -> bool {
    ///     !part.is_empty()
    /// }
    /// ```
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl<T: CheckedBitPattern> Target for SharedSlice<T> {}

impl<T: CheckedBitPattern> AsyncCopy for SharedSlice<T> {
    type Element = T;
    type Index = usize;

    #[inline]
    #[track_caller]
    fn places(self, index: usize, count: usize) -> *mut T {
        super::check_copy(index, count, self.len);
        // SAFETY: `index` is inside the block's part of `len` elements, or at its end.
        unsafe { self.first.add(index) }
    }
}

/// Rows and columns of elements in dynamic shared memory, from [`DynamicShared::array_2d`].
///
/// CUDA C: `float *` into shared memory, indexed by `row * cols + col`.
///
/// ```
/// use gpu_std::shared::SharedSlice2d;
/// use gpu_std::sync_threads;
///
/// fn transposed(tile: SharedSlice2d<f32>, row: usize, col: usize, x: f32) -> f32 {
///     tile.set((row, col), x);
///     sync_threads();
///     tile.get((col, row))
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SharedSlice2d<T> {
    first: *mut T,
    rows: usize,
    cols: usize,
}

impl<T: CheckedBitPattern> SharedSlice2d<T> {
    /// The element at `(row, col)`.
    ///
    /// ```
    /// use gpu_std::shared::SharedSlice2d;
    ///
    /// fn first(tile: SharedSlice2d<f32>) -> f32 {
    ///     tile.get((0, 0))
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `row` is not below the rows, or `col` not below the columns.
    #[inline]
    #[track_caller]
    pub fn get(self, index: (usize, usize)) -> T {
        // SAFETY: the element is inside the block's part.
        unsafe { super::read(self.first.add(self.offset(index))) }
    }

    /// Writes the element at `(row, col)`.
    ///
    /// ```
    /// use gpu_std::shared::SharedSlice2d;
    ///
    /// fn clear(tile: SharedSlice2d<f32>) {
    ///     tile.set((0, 0), 0.0);
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `row` is not below the rows, or `col` not below the columns.
    #[inline]
    #[track_caller]
    pub fn set(self, index: (usize, usize), value: T) {
        // SAFETY: the element is inside the block's part.
        unsafe { super::write(self.first.add(self.offset(index)), value) }
    }

    /// How many rows.
    ///
    /// ```
    /// use gpu_std::shared::SharedSlice2d;
    ///
    /// fn extent(tile: SharedSlice2d<f32>) -> usize {
    ///     tile.rows()
    /// }
    /// ```
    #[inline]
    pub fn rows(self) -> usize {
        self.rows
    }

    /// How many columns.
    ///
    /// ```
    /// use gpu_std::shared::SharedSlice2d;
    ///
    /// fn extent(tile: SharedSlice2d<f32>) -> usize {
    ///     tile.cols()
    /// }
    /// ```
    #[inline]
    pub fn cols(self) -> usize {
        self.cols
    }

    /// The first element, or where it would be.
    #[inline]
    pub(crate) fn as_ptr(self) -> *const T {
        self.first
    }

    #[inline]
    #[track_caller]
    fn offset(self, (row, col): (usize, usize)) -> usize {
        check(row, self.rows);
        check(col, self.cols);
        // Inside of the part, whose length did not overflow.
        row.wrapping_mul(self.cols).wrapping_add(col)
    }
}

impl<T: CheckedBitPattern> Target for SharedSlice2d<T> {}

impl<T: CheckedBitPattern> AsyncCopy for SharedSlice2d<T> {
    type Element = T;
    type Index = (usize, usize);

    #[inline]
    #[track_caller]
    fn places(self, (row, col): (usize, usize), count: usize) -> *mut T {
        check(row, self.rows);
        super::check_copy(col, count, self.cols);
        // SAFETY: the place is inside a row of the block's part, or at its end.
        unsafe {
            self.first
                .add(row.wrapping_mul(self.cols).wrapping_add(col))
        }
    }
}

/// Panics as slice indexing does, with the same message.
#[inline]
#[track_caller]
pub(crate) fn check(index: usize, len: usize) {
    // SAFETY: elements of no size are anywhere, as many as one likes.
    let elements =
        unsafe { core::slice::from_raw_parts(core::ptr::NonNull::<()>::dangling().as_ptr(), len) };
    let () = elements[index];
}
