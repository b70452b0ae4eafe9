//! Shared memory: arrays of each block, seen by its threads. Static ones have a constant length
//! ([`shared_array!`](crate::shared_array)); [`dynamic`] gives parts whose length the launch decides.
//!
//! # Soundness
//!
//! All threads of a block hold the same [`SharedArray`], so it hands out no references: [`get`](SharedArray::get) and
//! [`set`](SharedArray::set) copy whole elements. The element type must be plain data
//! ([`bytemuck::CheckedBitPattern`]): a read that races with a write, or comes before any write, gives an unspecified
//! value of that type, as on the hardware, and never an invalid one. Where not all bytes are a value (`bool`, `char`, an
//! enum), a read that finds others panics. Indices are checked.
//!
//! A view `&[T]` for the time between two barriers would not be sound: it needs that no other thread writes meanwhile,
//! but a barrier does not know which call its threads came from. A thread that takes another way through the kernel can
//! open the barrier that this thread waits at with one of its own, and write.

mod dynamic;
mod place;

use core::any::TypeId;

use bytemuck::CheckedBitPattern;

use crate::async_copy::AsyncCopy;
use crate::async_copy::sealed::Target;
use crate::intrinsics as gpu;
use crate::note;

pub(crate) use dynamic::check as check_len;
pub use dynamic::{
    DYNAMIC_ALIGN, DynamicShared, SharedLayout, SharedSlice, SharedSlice2d, dynamic,
};
#[doc(hidden)]
pub use place::SharedElement;

/// Makes a static shared array: `shared_array![f32; 256]`, with rows and columns `shared_array![f32; 32, 33]`, or with
/// planes, rows and columns `shared_array![f32; 4, 8, 8]`. CUDA C: `__shared__ float a[256]`; Numba:
/// `cuda.shared.array`.
///
/// The element is any plain data ([`bytemuck::CheckedBitPattern`], which `#[derive(bytemuck::AnyBitPattern)]` gives a
/// structure, with `bytemuck = { version = "1", features = ["derive"] }` in `Cargo.toml`), with its own alignment
/// (`#[repr(align(64))]`).
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
    ($element:ty; $planes:expr, $rows:expr, $cols:expr) => {
        $crate::shared::SharedArray3d::<$element, { $planes }, { $rows }, { $cols }>::of_place(
            || (),
        )
    };
}

/// `N` elements in shared memory, from [`shared_array!`](crate::shared_array).
///
/// Copying it copies an address. CUDA C: `__shared__ float a[256]`; Numba: `cuda.shared.array`.
///
/// ```
/// use gpu_std::shared::SharedArray;
/// use gpu_std::{shared_array, sync_threads};
///
/// /// A helper that gets the kernel's array.
/// fn exchange(array: SharedArray<f32, 256>, t: usize, x: f32) -> f32 {
///     array.set(t, x);
///     sync_threads();
///     array.get(t)
/// }
///
/// fn use_it(t: usize, x: f32) -> f32 {
///     exchange(shared_array![f32; 256], t, x)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SharedArray<T, const N: usize> {
    first: *mut T,
}

impl<T: CheckedBitPattern, const N: usize> SharedArray<T, N> {
    /// The element at `index`.
    ///
    /// CUDA C: `a[i]`; PTX: `ld.shared`.
    ///
    /// ```
    /// use gpu_std::{shared_array, sync_threads, thread};
    ///
    /// fn share(x: f32) -> f32 {
    ///     let array = shared_array![f32; 256];
    ///     let t = thread::index_in_block();
    ///     array.set(t, x);
    ///     sync_threads();
    ///     let t = 255 - t;
    ///     array.get(t)
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `index` is not below `N`.
    #[inline]
    #[track_caller]
    pub fn get(self, index: usize) -> T {
        check::<N>(index);
        // SAFETY: `index` is inside the block's allocation of `N` elements.
        unsafe { read(self.first.add(index)) }
    }

    /// Writes the element at `index`.
    ///
    /// CUDA C: `a[i] = value`; PTX: `st.shared`.
    ///
    /// ```
    /// use gpu_std::{shared_array, sync_threads, thread};
    ///
    /// fn clear() {
    ///     let array = shared_array![f32; 256];
    ///     let t = thread::index_in_block();
    ///     array.set(t, 0.0);
    ///     sync_threads();
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `index` is not below `N`.
    #[inline]
    #[track_caller]
    pub fn set(self, index: usize, value: T) {
        check::<N>(index);
        // SAFETY: `index` is inside the block's allocation of `N` elements.
        unsafe { write(self.first.add(index), value) }
    }

    /// `N`.
    ///
    /// A constant.
    ///
    /// ```
    /// use gpu_std::shared_array;
    ///
    /// fn places() -> usize {
    ///     shared_array![f32; 256].len()
    /// }
    /// ```
    #[inline]
    pub fn len(self) -> usize {
        N
    }

    /// Whether `N` is zero.
    ///
    /// A constant.
    ///
    /// ```
    /// use gpu_std::shared_array;
    ///
    /// fn has_places() -> bool {
    ///     !shared_array![f32; 256].is_empty()
    /// }
    /// ```
    #[inline]
    pub fn is_empty(self) -> bool {
        N == 0
    }
}

impl<T: CheckedBitPattern, const N: usize> Target for SharedArray<T, N> {}

impl<T: CheckedBitPattern, const N: usize> AsyncCopy for SharedArray<T, N> {
    type Element = T;
    type Index = usize;

    #[inline]
    #[track_caller]
    fn places(self, index: usize, count: usize) -> *mut T {
        check_copy(index, count, N);
        // SAFETY: `index` is inside the block's allocation of `N` elements, or at its end.
        unsafe { self.first.add(index) }
    }
}

/// `ROWS` rows of `COLS` elements in shared memory, from [`shared_array!`](crate::shared_array).
///
/// Copying it copies an address. CUDA C: `__shared__ float a[16][16]`; Numba: `cuda.shared.array`.
///
/// ```
/// use gpu_std::shared::SharedArray2d;
/// use gpu_std::{shared_array, sync_threads};
///
/// /// A helper that gets the kernel's array.
/// fn exchange(array: SharedArray2d<f32, 16, 16>, t: usize, x: f32) -> f32 {
///     array.set((t / 16, t % 16), x);
///     sync_threads();
///     array.get((t / 16, t % 16))
/// }
///
/// fn use_it(t: usize, x: f32) -> f32 {
///     exchange(shared_array![f32; 16, 16], t, x)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SharedArray2d<T, const ROWS: usize, const COLS: usize> {
    first: *mut T,
}

impl<T: CheckedBitPattern, const ROWS: usize, const COLS: usize> SharedArray2d<T, ROWS, COLS> {
    /// The element at `(row, col)`.
    ///
    /// CUDA C: `a[i]`; PTX: `ld.shared`.
    ///
    /// ```
    /// use gpu_std::{shared_array, sync_threads, thread};
    ///
    /// fn share(x: f32) -> f32 {
    ///     let array = shared_array![f32; 16, 16];
    ///     let t = thread::index_in_block();
    ///     array.set((t / 16, t % 16), x);
    ///     sync_threads();
    ///     let t = 255 - t;
    ///     array.get((t / 16, t % 16))
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `row` is not below `ROWS`, or `col` not below `COLS`.
    #[inline]
    #[track_caller]
    pub fn get(self, (row, col): (usize, usize)) -> T {
        check::<ROWS>(row);
        check::<COLS>(col);
        // SAFETY: the element is inside the block's allocation.
        unsafe { read(self.first.add(row * COLS + col)) }
    }

    /// The first element.
    #[inline]
    pub(crate) fn as_ptr(self) -> *const T {
        self.first
    }

    /// Writes the element at `(row, col)`.
    ///
    /// CUDA C: `a[i] = value`; PTX: `st.shared`.
    ///
    /// ```
    /// use gpu_std::{shared_array, sync_threads, thread};
    ///
    /// fn clear() {
    ///     let array = shared_array![f32; 16, 16];
    ///     let t = thread::index_in_block();
    ///     array.set((t / 16, t % 16), 0.0);
    ///     sync_threads();
    /// }
    /// ```
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
        unsafe { write(self.first.add(row * COLS + col), value) }
    }
}

impl<T: CheckedBitPattern, const ROWS: usize, const COLS: usize> Target
    for SharedArray2d<T, ROWS, COLS>
{
}

impl<T: CheckedBitPattern, const ROWS: usize, const COLS: usize> AsyncCopy
    for SharedArray2d<T, ROWS, COLS>
{
    type Element = T;
    type Index = (usize, usize);

    #[inline]
    #[track_caller]
    fn places(self, (row, col): (usize, usize), count: usize) -> *mut T {
        check::<ROWS>(row);
        check_copy(col, count, COLS);
        // SAFETY: the place is inside a row of the block's allocation, or at its end.
        unsafe { self.first.add(row * COLS + col) }
    }
}

/// `PLANES` planes of `ROWS` rows of `COLS` elements in shared memory, from [`shared_array!`](crate::shared_array).
///
/// Copying it copies an address. CUDA C: `__shared__ float a[4][8][8]`; Numba: `cuda.shared.array`.
///
/// ```
/// use gpu_std::shared::SharedArray3d;
/// use gpu_std::{shared_array, sync_threads};
///
/// /// A helper that gets the kernel's array.
/// fn exchange(array: SharedArray3d<f32, 4, 8, 8>, t: usize, x: f32) -> f32 {
///     array.set((t / 64, t / 8 % 8, t % 8), x);
///     sync_threads();
///     array.get((t / 64, t / 8 % 8, t % 8))
/// }
///
/// fn use_it(t: usize, x: f32) -> f32 {
///     exchange(shared_array![f32; 4, 8, 8], t, x)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SharedArray3d<T, const PLANES: usize, const ROWS: usize, const COLS: usize> {
    first: *mut T,
}

impl<T: CheckedBitPattern, const PLANES: usize, const ROWS: usize, const COLS: usize>
    SharedArray3d<T, PLANES, ROWS, COLS>
{
    /// The element at `(plane, row, col)`.
    ///
    /// CUDA C: `a[i]`; PTX: `ld.shared`.
    ///
    /// ```
    /// use gpu_std::{shared_array, sync_threads, thread};
    ///
    /// fn share(x: f32) -> f32 {
    ///     let array = shared_array![f32; 4, 8, 8];
    ///     let t = thread::index_in_block();
    ///     array.set((t / 64, t / 8 % 8, t % 8), x);
    ///     sync_threads();
    ///     let t = 255 - t;
    ///     array.get((t / 64, t / 8 % 8, t % 8))
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `plane` is not below `PLANES`, `row` not below `ROWS`, or `col` not below `COLS`.
    #[inline]
    #[track_caller]
    pub fn get(self, index: (usize, usize, usize)) -> T {
        // SAFETY: the element is inside the block's allocation.
        unsafe { read(self.first.add(Self::offset(index))) }
    }

    /// Writes the element at `(plane, row, col)`.
    ///
    /// CUDA C: `a[i] = value`; PTX: `st.shared`.
    ///
    /// ```
    /// use gpu_std::{shared_array, sync_threads, thread};
    ///
    /// fn clear() {
    ///     let array = shared_array![f32; 4, 8, 8];
    ///     let t = thread::index_in_block();
    ///     array.set((t / 64, t / 8 % 8, t % 8), 0.0);
    ///     sync_threads();
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `plane` is not below `PLANES`, `row` not below `ROWS`, or `col` not below `COLS`.
    #[inline]
    #[track_caller]
    pub fn set(self, index: (usize, usize, usize), value: T) {
        // SAFETY: the element is inside the block's allocation.
        unsafe { write(self.first.add(Self::offset(index)), value) }
    }

    #[inline]
    #[track_caller]
    fn offset((plane, row, col): (usize, usize, usize)) -> usize {
        check::<PLANES>(plane);
        check::<ROWS>(row);
        check::<COLS>(col);
        (plane * ROWS + row) * COLS + col
    }
}

impl<T: CheckedBitPattern, const PLANES: usize, const ROWS: usize, const COLS: usize> Target
    for SharedArray3d<T, PLANES, ROWS, COLS>
{
}

impl<T: CheckedBitPattern, const PLANES: usize, const ROWS: usize, const COLS: usize> AsyncCopy
    for SharedArray3d<T, PLANES, ROWS, COLS>
{
    type Element = T;
    type Index = (usize, usize, usize);

    #[inline]
    #[track_caller]
    fn places(self, (plane, row, col): (usize, usize, usize), count: usize) -> *mut T {
        check::<PLANES>(plane);
        check::<ROWS>(row);
        check_copy(col, count, COLS);
        // SAFETY: the place is inside a row of the block's allocation, or at its end.
        unsafe { self.first.add((plane * ROWS + row) * COLS + col) }
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

/// Panics if `count` elements from `index` on are not among `len`.
#[inline]
#[track_caller]
fn check_copy(index: usize, count: usize, len: usize) {
    let rest = len.checked_sub(index);
    assert!(
        rest.is_some_and(|rest| count <= rest),
        "an asynchronous copy reaches beyond the shared array or its row"
    );
}

/// The element at `address`.
///
/// # Panics
///
/// If its bytes are no `T`.
///
/// # Safety
///
/// The address is that of a `T`'s bytes in the block's memory.
#[inline]
#[track_caller]
unsafe fn read<T: CheckedBitPattern>(address: *const T) -> T {
    note::shared_read(address);
    // SAFETY: the caller's promise; `Bits` has the layout of `T`, and any bytes are one.
    let bits = unsafe { address.cast::<T::Bits>().read() };
    assert!(
        T::is_valid_bit_pattern(&bits),
        "shared memory was read before it was written: its bytes are no value of the element type"
    );
    // SAFETY: these bits are a `T`.
    unsafe { core::mem::transmute_copy(&bits) }
}

/// Writes the element at `address`.
///
/// # Safety
///
/// The address is that of a `T`'s bytes in the block's memory.
#[inline]
#[track_caller]
unsafe fn write<T: CheckedBitPattern>(address: *mut T, value: T) {
    note::shared_write(address, &value);
    // SAFETY: the caller's promise.
    unsafe { address.write(value) }
}

/// Panics as slice indexing does, with the same message.
#[inline]
#[track_caller]
pub(crate) fn check<const N: usize>(index: usize) {
    let () = [(); N][index];
}
