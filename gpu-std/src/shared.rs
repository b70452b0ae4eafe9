//! Static shared memory: one array for each block, seen by its threads.
//!
//! # Soundness
//!
//! All threads of a block hold the same [`SharedArray`], so it hands out no references: [`get`](SharedArray::get) and
//! [`set`](SharedArray::set) copy whole elements. The element type must be plain data
//! ([`bytemuck::AnyBitPattern`]): a read that races with a write, or comes before any write, gives an unspecified
//! value of that type, as on the hardware, and never an invalid one. Indices are checked.

use core::any::TypeId;

use bytemuck::AnyBitPattern;

use crate::intrinsics as gpu;

/// Makes a static shared array: `shared_array![f32; 256]`, or with rows and columns `shared_array![f32; 32, 33]`.
/// CUDA C: `__shared__ float a[256]`; Numba: `cuda.shared.array`.
///
/// Each place in the source is an array of its own, and in a generic function each instance has its own. The contents
/// are unspecified until written. The lengths are constants; the sum of a kernel's arrays is checked against the
/// device's limit at launch (48 KiB on every GPU).
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
#[macro_export]
macro_rules! shared_array {
    ($element:ty; $len:expr) => {
        $crate::shared::SharedArray::<$element, { $len }>::of_place(|| ())
    };
    ($element:ty; $rows:expr, $cols:expr) => {
        $crate::shared::SharedArray2d::<$element, { $rows }, { $cols }>::of_place(|| ())
    };
}

/// `N` elements in shared memory, from [`shared_array!`](crate::shared_array).
#[derive(Clone, Copy, Debug)]
pub struct SharedArray<T, const N: usize> {
    first: *mut T,
}

impl<T: AnyBitPattern, const N: usize> SharedArray<T, N> {
    /// The block's array of the source place that `place` stands for.
    #[doc(hidden)]
    #[inline]
    pub fn of_place<P: Fn() + 'static>(_place: P) -> Self {
        Self {
            first: storage::<[T; N], P>().cast(),
        }
    }

    /// The element at `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not below `N`.
    #[inline]
    #[track_caller]
    pub fn get(self, index: usize) -> T {
        check::<N>(index);
        // SAFETY: `index` is inside the block's allocation of `N` elements, and any bytes are a `T`.
        unsafe { self.first.add(index).read() }
    }

    /// Writes the element at `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not below `N`.
    #[inline]
    #[track_caller]
    pub fn set(self, index: usize, value: T) {
        check::<N>(index);
        // SAFETY: `index` is inside the block's allocation of `N` elements.
        unsafe { self.first.add(index).write(value) }
    }

    /// `N`.
    #[inline]
    pub fn len(self) -> usize {
        N
    }

    /// Whether `N` is zero.
    #[inline]
    pub fn is_empty(self) -> bool {
        N == 0
    }
}

/// `ROWS` rows of `COLS` elements in shared memory, from [`shared_array!`](crate::shared_array).
#[derive(Clone, Copy, Debug)]
pub struct SharedArray2d<T, const ROWS: usize, const COLS: usize> {
    first: *mut T,
}

impl<T: AnyBitPattern, const ROWS: usize, const COLS: usize> SharedArray2d<T, ROWS, COLS> {
    /// The block's array of the source place that `place` stands for.
    #[doc(hidden)]
    #[inline]
    pub fn of_place<P: Fn() + 'static>(_place: P) -> Self {
        Self {
            first: storage::<[[T; COLS]; ROWS], P>().cast(),
        }
    }

    /// The element at `(row, col)`.
    ///
    /// # Panics
    ///
    /// If `row` is not below `ROWS`, or `col` not below `COLS`.
    #[inline]
    #[track_caller]
    pub fn get(self, (row, col): (usize, usize)) -> T {
        check::<ROWS>(row);
        check::<COLS>(col);
        // SAFETY: the element is inside the block's allocation, and any bytes are a `T`.
        unsafe { self.first.add(row * COLS + col).read() }
    }

    /// The first element.
    #[inline]
    pub(crate) fn as_ptr(self) -> *const T {
        self.first
    }

    /// Writes the element at `(row, col)`.
    ///
    /// # Panics
    ///
    /// If `row` is not below `ROWS`, or `col` not below `COLS`.
    #[inline]
    #[track_caller]
    pub fn set(self, (row, col): (usize, usize), value: T) {
        check::<ROWS>(row);
        check::<COLS>(col);
        // SAFETY: the element is inside the block's allocation.
        unsafe { self.first.add(row * COLS + col).write(value) }
    }
}

/// The block's memory for an `A`, one for each `P`.
#[inline]
pub(crate) fn storage<A, P: Fn() + 'static>() -> *mut u8 {
    // Constants, so that the device compiler reads them off the call.
    let size = const { size_of::<A>() };
    let align = const { align_of::<A>() };
    let key = const {
        let id: &'static TypeId = const { &TypeId::of::<P>() };
        (&raw const *id).cast()
    };
    // SAFETY: size and alignment are those of a type, and the key is a constant's.
    unsafe { gpu::shared_static(size, align, key) }
}

/// Panics as slice indexing does, with the same message.
#[inline]
#[track_caller]
pub(crate) fn check<const N: usize>(index: usize) {
    let () = [(); N][index];
}
