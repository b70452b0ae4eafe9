//! Arrays of one to six dimensions in device memory, as kernels read them.
//!
//! An [`ArrayView`] is what `ndarray`'s type of that name is on the host: a shape, and a reference to elements that
//! nobody writes. As a kernel's parameter it takes a device array of as many dimensions, and like `&[T]` it is read
//! through the read-only cache. Its axes are numbered from 0; for two dimensions they are rows and columns.
//!
//! ```
//! use gpu_std::disjoint::ThreadIndex2d;
//! use gpu_std::view::ArrayView2;
//! use gpu_std::{DisjointSlice, thread};
//!
//! fn matmul(a: ArrayView2<f32>, b: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
//!     let i = thread::index_2d();
//!     if let Some(c) = c.get_mut(i) {
//!         let (row, col) = *i;
//!         let mut sum = 0.0;
//!         for k in 0..a.ncols() {
//!             sum += a[(row, k)] * b[(k, col)];
//!         }
//!         *c = sum;
//!     }
//! }
//! ```
//!
//! # Layout
//!
//! A view is in [`Standard`] order unless its type says [`Strided`], because that is faster: strides that are not known
//! when a kernel is compiled cost registers, and a multiplication an index. Transposing or slicing gives a strided view.
//! A parameter `ArrayView2<f32, Strided>` takes any part of an array that the host can describe.

mod index;
mod layout;
mod lines;
mod part;
mod unsafe_slice;

use core::fmt;
use core::marker::PhantomData;
use core::ops::Index;
use core::ptr::{self, NonNull};

use crate::kernel::{KernelParam, RawView, read_only_parameter};
use crate::live::live;

pub use index::{NdIndex, NdRange};
#[doc(hidden)]
pub use layout::Extents;
pub(crate) use layout::each_axis;
pub use layout::{Layout, Shape, Standard, Strided};
pub use lines::{Columns, Iter, Rows};
pub use unsafe_slice::UnsafeSlice;

/// A read-only array of `N` dimensions, in the layout `L`: [`Standard`] unless it is named.
///
/// In a kernel's signature the lifetime may be left out. On the host the argument is a `&DeviceArray` of as many
/// dimensions, or a view of one. With atomics as elements, such as `ArrayView2<AtomicU32>`, it is a `&mut DeviceArray`
/// of plain numbers.
///
/// CUDA C: a pointer with its extents, indexed by `row * cols + col`.
///
/// ```
/// use gpu_std::view::ArrayView;
///
/// fn last(x: ArrayView<f32, 2>) -> f32 {
///     x[(x.nrows() - 1, x.ncols() - 1)]
/// }
/// ```
pub struct ArrayView<'a, T, const N: usize, L: Layout = Standard> {
    first: NonNull<T>,
    shape: [usize; N],
    strides: L::Strides<N>,
    _elements: PhantomData<&'a [T]>,
}

/// One dimension.
///
/// ```
/// use gpu_std::view::ArrayView1;
///
/// fn first(x: ArrayView1<f32>) -> f32 {
///     x[0]
/// }
/// ```
pub type ArrayView1<'a, T, L = Standard> = ArrayView<'a, T, 1, L>;
/// Rows and columns.
///
/// ```
/// use gpu_std::view::ArrayView2;
///
/// fn first(x: ArrayView2<f32>) -> f32 {
///     x[(0, 0)]
/// }
/// ```
pub type ArrayView2<'a, T, L = Standard> = ArrayView<'a, T, 2, L>;
/// Three dimensions.
///
/// ```
/// use gpu_std::view::ArrayView3;
///
/// fn first(x: ArrayView3<f32>) -> f32 {
///     x[(0, 0, 0)]
/// }
/// ```
pub type ArrayView3<'a, T, L = Standard> = ArrayView<'a, T, 3, L>;
/// Four dimensions.
///
/// ```
/// use gpu_std::view::ArrayView4;
///
/// fn first(x: ArrayView4<f32>) -> f32 {
///     x[(0, 0, 0, 0)]
/// }
/// ```
pub type ArrayView4<'a, T, L = Standard> = ArrayView<'a, T, 4, L>;
/// Five dimensions.
///
/// ```
/// use gpu_std::view::ArrayView5;
///
/// fn first(x: ArrayView5<f32>) -> f32 {
///     x[(0, 0, 0, 0, 0)]
/// }
/// ```
pub type ArrayView5<'a, T, L = Standard> = ArrayView<'a, T, 5, L>;
/// Six dimensions.
///
/// ```
/// use gpu_std::view::ArrayView6;
///
/// fn first(x: ArrayView6<f32>) -> f32 {
///     x[(0, 0, 0, 0, 0, 0)]
/// }
/// ```
pub type ArrayView6<'a, T, L = Standard> = ArrayView<'a, T, 6, L>;

/// A shape that does not have as many elements as the slice that it was to give a shape to.
///
/// ```
/// use gpu_std::view::{ArrayView2, ShapeError};
///
/// let error = ArrayView2::from_shape((2, 2), &[1, 2, 3]).unwrap_err();
/// assert_eq!(error, ShapeError { len: 3 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// Elements of the slice.
    pub len: usize,
}

impl fmt::Display for ShapeError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the product of the extents is not {}, the length of the slice",
            self.len
        )
    }
}

impl core::error::Error for ShapeError {}

impl<T, const N: usize, L: Layout> Clone for ArrayView<'_, T, N, L> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize, L: Layout> Copy for ArrayView<'_, T, N, L> {}

impl<'a, T, const N: usize> ArrayView<'a, T, N> {
    /// Gives a slice a shape, the last axis running fastest.
    ///
    /// # Errors
    ///
    /// If the slice has more or fewer elements than the shape.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x[(1, 0)], 4);
    /// assert!(ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5]).is_err());
    /// ```
    #[inline]
    pub fn from_shape(shape: impl NdIndex<N>, elements: &'a [T]) -> Result<Self, ShapeError> {
        let shape = shape.into_array();
        let error = ShapeError {
            len: elements.len(),
        };
        let mut product = 1usize;
        let mut fits = true;
        let mut empty = false;
        each_axis!(N, |AXIS| {
            let (next, overflows) = product.overflowing_mul(shape[AXIS]);
            fits &= !overflows;
            empty |= shape[AXIS] == 0;
            product = next;
        });
        let fits = if empty {
            elements.is_empty()
        } else {
            fits && product == elements.len()
        };
        if fits {
            Ok(Self::of_slice(shape, elements))
        } else {
            Err(error)
        }
    }

    /// The product of `shape` is the slice's length.
    #[inline]
    fn of_slice(shape: [usize; N], elements: &'a [T]) -> Self {
        ArrayView {
            first: NonNull::from(elements).cast(),
            shape,
            strides: (),
            _elements: PhantomData,
        }
    }

    /// All elements, in order.
    ///
    /// `ndarray`: `as_slice`, which may be `None` there.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.as_slice(), [1, 2, 3, 4, 5, 6]);
    /// ```
    #[inline]
    pub fn as_slice(&self) -> &'a [T] {
        // SAFETY: a view in standard order refers to as many elements as its shape has, one after the other.
        unsafe { &*NonNull::slice_from_raw_parts(self.first, self.len()).as_ptr() }
    }

    /// The same view, with its strides carried along.
    ///
    /// For a helper that takes any layout as [`Strided`].
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.to_strided()[(1, 0)], 4);
    /// ```
    #[inline]
    pub fn to_strided(&self) -> ArrayView<'a, T, N, Strided> {
        ArrayView {
            first: self.first,
            shape: self.shape,
            strides: self.strides(),
            _elements: PhantomData,
        }
    }
}

impl<'a, T, const N: usize> ArrayView<'a, T, N, Strided> {
    /// The same view in standard order, or `None` where it has gaps or runs otherwise.
    ///
    /// A few comparisons.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert!(x.to_strided().to_standard().is_some() && x.t().to_standard().is_none());
    /// ```
    #[inline]
    pub fn to_standard(&self) -> Option<ArrayView<'a, T, N>> {
        if self.is_empty() {
            return Some(ArrayView::of_slice(self.shape, &[]));
        }
        Standard::of_strides(self.shape, self.strides)?;
        Some(ArrayView {
            first: self.first,
            shape: self.shape,
            strides: (),
            _elements: PhantomData,
        })
    }

    /// All elements in order, or `None` where they do not lie so. `ndarray`: `to_slice`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert!(x.to_strided().to_slice().is_some());
    /// ```
    #[inline]
    pub fn to_slice(&self) -> Option<&'a [T]> {
        Some(self.to_standard()?.as_slice())
    }
}

impl<'a, T, const N: usize, L: Layout> ArrayView<'a, T, N, L> {
    /// The extents.
    ///
    /// No load: they came with the parameter.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.shape(), [2, 3]);
    /// ```
    #[inline]
    pub fn shape(&self) -> [usize; N] {
        self.shape
    }

    /// The distance of neighbours along each axis, in elements; negative where an axis is reversed.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!((x.strides(), x.t().strides()), ([3, 1], [1, 3]));
    /// ```
    #[inline]
    pub fn strides(&self) -> [isize; N] {
        L::strides(self.shape, self.strides)
    }

    /// Elements in all.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.len(), 6);
    /// ```
    #[inline]
    pub fn len(&self) -> usize {
        self.shape.elements()
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert!(!x.is_empty());
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address of the element whose index is all zeros; of no meaning where there are no elements. `ndarray`:
    /// `as_ptr`.
    ///
    /// CUDA C: the pointer itself.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert!(x.as_ptr().is_aligned());
    /// ```
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.first.as_ptr()
    }

    /// The extent of an axis.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.len_of(1), 3);
    /// ```
    ///
    /// # Panics
    ///
    /// If `axis` is not below `N`.
    #[inline]
    #[track_caller]
    pub fn len_of(&self, axis: usize) -> usize {
        self.shape[axis]
    }

    /// The element at an index, or `None` if one of its numbers is not below its extent.
    ///
    /// A comparison for each axis. CUDA C: `if (row < rows && col < cols)`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!((x.get((1, 2)), x.get((2, 0))), (Some(&6), None));
    /// ```
    #[inline]
    pub fn get(&self, index: impl NdIndex<N>) -> Option<&'a T> {
        let index = index.into_array();
        // SAFETY: the index was found inside.
        let element = || unsafe { self.element(index).as_ref() };
        self.shape.contains(index).then(element)
    }

    /// The element at an index, unchecked.
    ///
    /// `ndarray`: `uget`. CUDA C: `a[row * cols + col]`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// // SAFETY: the view has two rows and three columns.
    /// assert_eq!(unsafe { x.uget((1, 2)) }, &6);
    /// ```
    ///
    /// # Safety
    ///
    /// Each number of the index is below its extent.
    #[inline]
    pub unsafe fn uget(&self, index: impl NdIndex<N>) -> &'a T {
        // SAFETY: as the caller promises.
        unsafe { self.element(index.into_array()).as_ref() }
    }

    /// # Safety
    /// The index lies inside the shape.
    #[inline]
    unsafe fn element(&self, index: [usize; N]) -> NonNull<T> {
        // SAFETY: as the caller promises.
        unsafe { L::element(self.first, index, self.shape, self.strides) }
    }

    /// Panics as slice indexing does if a number is not below its extent.
    #[inline]
    #[track_caller]
    fn check(&self, index: [usize; N]) {
        each_axis!(N, |AXIS| check_index(index[AXIS], self.shape[AXIS]));
    }
}

/// Panics as slice indexing does, with the same message, if `index` is not below `len`.
#[inline]
#[track_caller]
pub(crate) fn check_index(index: usize, len: usize) {
    // SAFETY: units have no memory.
    let units: &[()] = unsafe { &*ptr::slice_from_raw_parts(ptr::dangling(), len) };
    let () = units[index];
}

/// `x[i]`, `x[(row, col)]`, `x[(plane, row, col)]`: each number is checked against its own extent, and a wrong one
/// panics as in a slice.
impl<T, const N: usize, L: Layout, I: NdIndex<N>> Index<I> for ArrayView<'_, T, N, L> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: I) -> &T {
        let index = index.into_array();
        self.check(index);
        // SAFETY: checked.
        unsafe { self.element(index).as_ref() }
    }
}

impl<T, const N: usize, L: Layout> fmt::Debug for ArrayView<'_, T, N, L> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ArrayView(shape {:?}, strides {:?})",
            self.shape,
            self.strides()
        )
    }
}

// SAFETY: `RawView` and `Extents` are `repr(C)`.
unsafe impl<T: 'static, const N: usize, L: Layout> KernelParam for ArrayView<'_, T, N, L> {
    type Raw = RawView<T, Extents<[usize; N], L::Strides<N>>>;

    #[inline]
    unsafe fn from_raw(view: Self::Raw) -> Self {
        // SAFETY: a live view's pointer is not null.
        let first = unsafe { live(view.pointer) };
        // Through a pointer, as for `&[T]`.
        let mark: fn(&[T]) = read_only_parameter::<T>;
        // SAFETY: it is aligned too, which is all that no elements ask for.
        mark(unsafe { NonNull::slice_from_raw_parts(first, 0).as_ref() });
        let Extents { shape, strides } = view.shape;
        ArrayView {
            first,
            shape,
            strides,
            _elements: PhantomData,
        }
    }
}

macro_rules! dim {
    ($($n:literal: $dim:ty, $($axis:ident)+;)*) => {$(
        impl<T, L: Layout> ArrayView<'_, T, $n, L> {
            /// The extents: a number, or a tuple of them. `ndarray`: `dim`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::view::ArrayView;\n\nfn extents(x: ArrayView<'_, f32, ", $n, ">) {\n    let ", stringify!(($($axis),+)), " = x.dim();\n}")]
            /// ```
            #[inline]
            #[allow(unused_parens)]
            pub fn dim(&self) -> $dim {
                let [$($axis),+] = self.shape;
                ($($axis),+)
            }
        }
    )*};
}

dim! {
    1: usize, a;
    2: (usize, usize), a b;
    3: (usize, usize, usize), a b c;
    4: (usize, usize, usize, usize), a b c d;
    5: (usize, usize, usize, usize, usize), a b c d e;
    6: (usize, usize, usize, usize, usize, usize), a b c d e f;
}
