//! A slice of device memory that all threads read and write, on their own responsibility.

use crate::kernel::{KernelParam, RawView};
use crate::live::live;
use crate::note;

/// A kernel parameter that every thread of the launch reads and writes where it likes: for algorithms of which the compiler
/// cannot know that no two threads meet at one element, such as a scatter by a permutation.
///
/// Indices are checked; who accesses what and when is for the kernel to see to, so that the accesses are unsafe, not the launch.
/// On the host the argument is a `&mut DeviceArray`. CUDA C: `float *x`. The simulator's check `race` finds accesses of two
/// threads that nothing orders; where the kernel has `&[AtomicU32]` or the like too, only those of one block.
///
/// ```
/// use gpu_std::view::UnsafeSlice;
/// use gpu_std::thread;
///
/// /// `to` is a permutation.
/// fn scatter(x: &[f32], to: &[u32], out: UnsafeSlice<f32>) {
///     let i = *thread::index_1d();
///     if i < x.len() {
///         // SAFETY: no two elements of a permutation are equal.
///         unsafe { out.set(to[i] as usize, x[i]) };
///     }
/// }
/// ```
#[derive(Debug)]
pub struct UnsafeSlice<T> {
    first: *mut T,
    len: usize,
}

// Not derived: that would ask the element to be `Copy`.
impl<T> Clone for UnsafeSlice<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for UnsafeSlice<T> {}

impl<T: Copy> UnsafeSlice<T> {
    /// A slice of `len` elements from an address on, such as one that another library gave.
    ///
    /// CUDA C: a `float *` among the parameters.
    ///
    /// ```
    /// use gpu_std::view::UnsafeSlice;
    ///
    /// /// # Safety
    /// ///
    /// /// `x` points to 100 elements.
    /// unsafe fn first(x: *mut f32) -> f32 {
    ///     // SAFETY: the caller's promise.
    ///     unsafe { UnsafeSlice::from_raw_parts(x, 100).get(0) }
    /// }
    /// ```
    ///
    /// # Safety
    ///
    /// The elements are live, initialised and aligned as long as the slice is used.
    #[inline]
    pub unsafe fn from_raw_parts(first: *mut T, len: usize) -> Self {
        Self { first, len }
    }

    /// The element at `index`.
    ///
    /// CUDA C: `x[i]`; PTX: `ld.global`.
    ///
    /// ```
    /// use gpu_std::view::UnsafeSlice;
    ///
    /// fn last(x: UnsafeSlice<f32>) -> f32 {
    ///     // SAFETY: nothing writes to it in this kernel.
    ///     unsafe { x.get(x.len() - 1) }
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `index` is not below the length.
    ///
    /// # Safety
    ///
    /// No other thread writes the element at the same time: a barrier, an atomic or the end of a launch stands between.
    #[inline]
    #[track_caller]
    pub unsafe fn get(self, index: usize) -> T {
        crate::shared::check_len(index, self.len);
        // SAFETY: `index` is inside.
        let element = unsafe { self.first.add(index) };
        note::global_read(element);
        // SAFETY: the element is live, and the caller promises that nothing writes it.
        unsafe { element.read() }
    }

    /// Writes the element at `index`.
    ///
    /// CUDA C: `x[i] = value`; PTX: `st.global`.
    ///
    /// ```
    /// use gpu_std::view::UnsafeSlice;
    /// use gpu_std::thread;
    ///
    /// fn reverse(x: &[f32], out: UnsafeSlice<f32>) {
    ///     let i = *thread::index_1d();
    ///     if i < x.len() {
    ///         // SAFETY: each thread has its own element.
    ///         unsafe { out.set(x.len() - 1 - i, x[i]) };
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `index` is not below the length.
    ///
    /// # Safety
    ///
    /// No other thread accesses the element at the same time, and nothing holds a reference to it.
    #[inline]
    #[track_caller]
    pub unsafe fn set(self, index: usize, value: T) {
        crate::shared::check_len(index, self.len);
        // SAFETY: `index` is inside.
        let element = unsafe { self.first.add(index) };
        note::global_write(element);
        // SAFETY: the element is live, and the caller promises that nothing else accesses it.
        unsafe { element.write(value) }
    }

    /// Elements.
    ///
    /// No load: it came with the parameter.
    ///
    /// ```
    /// use gpu_std::view::UnsafeSlice;
    ///
    /// fn half(x: UnsafeSlice<f32>) -> usize {
    ///     x.len() / 2
    /// }
    /// ```
    #[inline]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use gpu_std::view::UnsafeSlice;
    ///
    /// fn is_there(x: UnsafeSlice<f32>) -> bool {
    ///     !x.is_empty()
    /// }
    /// ```
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

// SAFETY: `RawView` is `repr(C)`.
unsafe impl<T: 'static> KernelParam for UnsafeSlice<T> {
    type Raw = RawView<T, usize>;

    #[inline]
    unsafe fn from_raw(view: Self::Raw) -> Self {
        Self {
            // SAFETY: a live view's pointer is not null.
            first: unsafe { live(view.pointer) }.as_ptr(),
            len: view.shape,
        }
    }
}
