//! Where in memory the element of an index lies: the layouts of a view as types.
//!
//! A layout is a type, so that a view in standard order carries no strides: its address arithmetic is that of
//! `a[row * cols + col]` on a slice, and the last axis costs no multiplication.
//!
//! Everything over axes is written out for up to six of them rather than as loops, so that the arrays of extents are
//! registers from the first pass on, and the compiler sees each bounds check by itself.

use core::fmt::Debug;
use core::ptr::NonNull;

/// Runs the body once for each axis below `$n`, with `$axis` the constant number of it.
macro_rules! each_axis {
    ($n:expr, |$axis:ident| $body:expr) => {
        each_axis!(@ $n, $axis, $body, 0 1 2 3 4 5)
    };
    (@ $n:expr, $axis:ident, $body:expr, $($number:literal)*) => {$(
        if $number < $n {
            #[allow(non_upper_case_globals)]
            const $axis: usize = $number;
            $body;
        }
    )*};
}
pub(crate) use each_axis;

mod sealed {
    pub trait Sealed {}
}

/// How a view's elements lie in memory: [`Standard`] or [`Strided`].
///
/// CUDA C: whether a kernel takes a leading dimension.
///
/// ```
/// use gpu_std::view::{ArrayView2, Layout};
///
/// fn first<L: Layout>(x: ArrayView2<f32, L>) -> f32 {
///     x[(0, 0)]
/// }
/// ```
pub trait Layout: sealed::Sealed + Copy + 'static {
    /// What a view of `N` dimensions carries for it.
    #[doc(hidden)]
    type Strides<const N: usize>: Copy + Debug + 'static;

    /// The element at an index. It is reached in steps from element to element, each of which LLVM knows to stay inside
    /// the array, so that it sees that the address is not null.
    ///
    /// # Safety
    ///
    /// The index lies inside the shape, and `first` is the first element of a view with this shape and these strides.
    #[doc(hidden)]
    unsafe fn element<T, const N: usize>(
        first: NonNull<T>,
        index: [usize; N],
        shape: [usize; N],
        strides: Self::Strides<N>,
    ) -> NonNull<T>;

    /// The distances of neighbours along each axis, in elements.
    #[doc(hidden)]
    fn strides<const N: usize>(shape: [usize; N], strides: Self::Strides<N>) -> [isize; N];

    /// What a view with these distances carries, or `None` where the layout has no such view.
    #[doc(hidden)]
    fn of_strides<const N: usize>(
        shape: [usize; N],
        strides: [isize; N],
    ) -> Option<Self::Strides<N>>;

    /// What a view without elements carries.
    #[doc(hidden)]
    fn of_nothing<const N: usize>() -> Self::Strides<N>;
}

/// Row-major order without gaps: the last axis runs fastest. What a device array has, C's
/// `a[i][j]`, NumPy's "C order".
///
/// ```
/// use gpu_std::view::{ArrayView, Standard};
///
/// fn first(x: ArrayView<f32, 2, Standard>) -> f32 {
///     x[(0, 0)]
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Standard;

/// Any distance between the neighbours along each axis: transposed, column-major ("Fortran order"), reversed, with
/// gaps. Costs a multiplication an axis.
///
/// CUDA C: `a[row * row_stride + col * col_stride]`.
///
/// ```
/// use gpu_std::view::{ArrayView, Strided};
///
/// fn first(x: ArrayView<f32, 2, Strided>) -> f32 {
///     x[(0, 0)]
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Strided;

impl sealed::Sealed for Standard {}
impl sealed::Sealed for Strided {}

impl Layout for Standard {
    type Strides<const N: usize> = ();

    #[inline]
    unsafe fn element<T, const N: usize>(
        first: NonNull<T>,
        index: [usize; N],
        shape: [usize; N],
        (): (),
    ) -> NonNull<T> {
        let mut line = 0usize;
        each_axis!(N, |AXIS| if AXIS + 1 < N {
            line = line.wrapping_add(index[AXIS]).wrapping_mul(shape[AXIS + 1]);
        });
        // SAFETY: a line along the last axis starts with an element.
        unsafe { first.add(line).add(index[N - 1]) }
    }

    #[inline]
    fn strides<const N: usize>(shape: [usize; N], (): ()) -> [isize; N] {
        let mut strides = [1isize; N];
        each_axis!(N, |BACK| if BACK != 0 {
            let axis = N - 1 - BACK;
            strides[axis] = strides[axis + 1].wrapping_mul(shape[axis + 1] as isize);
        });
        strides
    }

    #[inline]
    fn of_strides<const N: usize>(shape: [usize; N], strides: [isize; N]) -> Option<()> {
        let standard = Self::strides(shape, ());
        let (mut same, mut empty) = (true, false);
        each_axis!(N, |AXIS| {
            // Along an axis of one element, there is no neighbour.
            same &= shape[AXIS] <= 1 || strides[AXIS] == standard[AXIS];
            empty |= shape[AXIS] == 0;
        });
        (same || empty).then_some(())
    }

    #[inline]
    fn of_nothing<const N: usize>() {}
}

impl Layout for Strided {
    type Strides<const N: usize> = [isize; N];

    #[inline]
    unsafe fn element<T, const N: usize>(
        first: NonNull<T>,
        index: [usize; N],
        _shape: [usize; N],
        strides: [isize; N],
    ) -> NonNull<T> {
        let mut element = first;
        each_axis!(N, |AXIS| {
            let distance = (index[AXIS] as isize).wrapping_mul(strides[AXIS]);
            // SAFETY: along each axis it goes from one of the view's elements to another.
            element = unsafe { element.offset(distance) };
        });
        element
    }

    #[inline]
    fn strides<const N: usize>(_shape: [usize; N], strides: [isize; N]) -> [isize; N] {
        strides
    }

    #[inline]
    fn of_strides<const N: usize>(_shape: [usize; N], strides: [isize; N]) -> Option<[isize; N]> {
        Some(strides)
    }

    #[inline]
    fn of_nothing<const N: usize>() -> [isize; N] {
        [0; N]
    }
}

/// The extents of a view or slice, and the numbers of an index into it: `usize`, or `[usize; N]` with `N` up to 6.
///
/// Kernels name it only in generic helpers.
///
/// ```
/// use gpu_std::DisjointSlice;
/// use gpu_std::disjoint::DisjointIndex;
///
/// fn shape<T, I: DisjointIndex>(x: &DisjointSlice<T, I>) -> I::Shape {
///     x.shape()
/// }
/// ```
pub trait Shape: sealed::Sealed + Copy + 'static {
    /// What a view of this shape carries for a layout.
    #[doc(hidden)]
    type Strides<L: Layout>: Copy + Debug + 'static;

    /// Elements in all.
    #[doc(hidden)]
    fn elements(self) -> usize;

    /// Whether an index lies inside.
    #[doc(hidden)]
    fn contains(self, index: Self) -> bool;

    /// The element at an index, as [`Layout::element`].
    ///
    /// # Safety
    ///
    /// As there.
    #[doc(hidden)]
    unsafe fn element<T, L: Layout>(
        self,
        first: NonNull<T>,
        index: Self,
        strides: Self::Strides<L>,
    ) -> NonNull<T>;
}

impl sealed::Sealed for usize {}
impl<const N: usize> sealed::Sealed for [usize; N] {}

impl Shape for usize {
    type Strides<L: Layout> = L::Strides<1>;

    #[inline]
    fn elements(self) -> usize {
        self
    }

    #[inline]
    fn contains(self, index: usize) -> bool {
        index < self
    }

    #[inline]
    unsafe fn element<T, L: Layout>(
        self,
        first: NonNull<T>,
        index: usize,
        strides: L::Strides<1>,
    ) -> NonNull<T> {
        // SAFETY: as the caller promises.
        unsafe { L::element(first, [index], [self], strides) }
    }
}

impl<const N: usize> Shape for [usize; N] {
    type Strides<L: Layout> = L::Strides<N>;

    #[inline]
    fn elements(self) -> usize {
        let mut elements = 1usize;
        each_axis!(N, |AXIS| elements = elements.wrapping_mul(self[AXIS]));
        elements
    }

    #[inline]
    fn contains(self, index: [usize; N]) -> bool {
        let mut inside = true;
        each_axis!(N, |AXIS| inside &= index[AXIS] < self[AXIS]);
        inside
    }

    #[inline]
    unsafe fn element<T, L: Layout>(
        self,
        first: NonNull<T>,
        index: [usize; N],
        strides: L::Strides<N>,
    ) -> NonNull<T> {
        // SAFETY: as the caller promises.
        unsafe { L::element(first, index, self, strides) }
    }
}

/// Extents and strides as they cross the launch.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Extents<S, R> {
    /// The extents.
    pub shape: S,
    /// What the layout carries.
    pub strides: R,
}
