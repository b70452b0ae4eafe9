//! Parts of a view and the same elements otherwise: slices, sub-views at one index of an axis, transposes.

use core::marker::PhantomData;

use super::{ArrayView, Layout, NdRange, Standard, Strided, check_index, each_axis};

impl<'a, T, const N: usize, L: Layout> ArrayView<'a, T, N, L> {
    /// The elements inside a range of each axis: `x.slice((1..3, ..))`, and for one dimension `x.slice(1..3)`.
    /// `ndarray`: `slice`.
    ///
    /// # Panics
    ///
    /// If a range ends before it starts, or beyond its axis.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// let right = x.slice((.., 1..));
    /// assert_eq!((right.dim(), right[(1, 0)]), ((2, 2), 5));
    /// ```
    #[inline]
    #[track_caller]
    pub fn slice(&self, ranges: impl NdRange<N>) -> ArrayView<'a, T, N, Strided> {
        let ranges = ranges.bounds(self.shape);
        let mut start = [0; N];
        let mut shape = [0; N];
        each_axis!(N, |AXIS| {
            let (from, to) = ranges[AXIS];
            assert!(
                from <= to && to <= self.shape[AXIS],
                "range out of bounds of the view"
            );
            start[AXIS] = from;
            shape[AXIS] = to - from;
        });
        // SAFETY: if the part has elements, this is its first.
        unsafe { self.part(start, shape, self.strides()) }
    }

    /// The same elements with the axes in reverse order; for two dimensions the transpose. `ndarray`: `t`,
    /// `reversed_axes`.
    ///
    /// Nothing is moved. CUDA C: row and column exchanged in the index.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!((x.t().dim(), x.t()[(2, 0)]), ((3, 2), 3));
    /// ```
    #[inline]
    pub fn t(&self) -> ArrayView<'a, T, N, Strided> {
        let (old, mut shape, mut strides) = (self.strides(), self.shape, self.strides());
        each_axis!(N, |AXIS| {
            shape[AXIS] = self.shape[N - 1 - AXIS];
            strides[AXIS] = old[N - 1 - AXIS];
        });
        // SAFETY: all elements, from the first.
        unsafe { self.part([0; N], shape, strides) }
    }

    /// The same elements with two axes exchanged. `ndarray`: `swap_axes`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView3;
    ///
    /// let x = ArrayView3::from_shape((1, 2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.swap_axes(0, 2).dim(), (3, 2, 1));
    /// ```
    ///
    /// # Panics
    ///
    /// If an axis is not below `N`.
    #[inline]
    #[track_caller]
    pub fn swap_axes(&self, a: usize, b: usize) -> ArrayView<'a, T, N, Strided> {
        let (mut shape, mut strides) = (self.shape, self.strides());
        shape.swap(a, b);
        strides.swap(a, b);
        // SAFETY: all elements, from the first.
        unsafe { self.part([0; N], shape, strides) }
    }

    /// The same elements with an axis reversed. `ndarray`: `invert_axis`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.invert_axis(1)[(0, 0)], 3);
    /// ```
    ///
    /// # Panics
    ///
    /// If `axis` is not below `N`.
    #[inline]
    #[track_caller]
    pub fn invert_axis(&self, axis: usize) -> ArrayView<'a, T, N, Strided> {
        let (mut strides, mut start) = (self.strides(), [0; N]);
        start[axis] = self.shape[axis].saturating_sub(1);
        strides[axis] = strides[axis].wrapping_neg();
        // SAFETY: all elements, from the last along the axis.
        unsafe { self.part(start, self.shape, strides) }
    }

    /// Every `step`-th element along an axis, from the first. `ndarray`: `slice` with `s![..;step]`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert!(x.step_axis(1, 2).row(0).iter().eq(&[1, 3]));
    /// ```
    ///
    /// # Panics
    ///
    /// If `axis` is not below `N`, or `step` is zero.
    #[inline]
    #[track_caller]
    pub fn step_axis(&self, axis: usize, step: usize) -> ArrayView<'a, T, N, Strided> {
        let (mut shape, mut strides) = (self.shape, self.strides());
        shape[axis] = shape[axis].div_ceil(step);
        strides[axis] = strides[axis].wrapping_mul(step as isize);
        // SAFETY: some of the elements, from the first.
        unsafe { self.part([0; N], shape, strides) }
    }

    /// A strided view of some of the elements.
    ///
    /// # Safety
    ///
    /// All its elements are this view's, and the first of them is at `start`.
    #[inline]
    pub(super) unsafe fn part<const M: usize>(
        &self,
        start: [usize; N],
        shape: [usize; M],
        strides: [isize; M],
    ) -> ArrayView<'a, T, M, Strided> {
        let mut empty = false;
        each_axis!(M, |AXIS| empty |= shape[AXIS] == 0);
        let first = if empty {
            self.first
        } else {
            // SAFETY: as the caller promises.
            unsafe { self.element(start) }
        };
        ArrayView {
            first,
            shape,
            strides,
            _elements: PhantomData,
        }
    }
}

macro_rules! smaller {
    ($($n:literal to $m:literal: $($axis:literal)+;)*) => {$(
        impl<'a, T, L: Layout> ArrayView<'a, T, $n, L> {
            /// The view of one dimension less at one index of an axis. `ndarray`: `index_axis`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::view::{ArrayView, Strided};\n\nfn last(x: ArrayView<'_, f32, ", $n, ">) -> ArrayView<'_, f32, ", $m, ", Strided> {\n    x.index_axis(1, x.len_of(1) - 1)\n}")]
            /// ```
            ///
            /// # Panics
            ///
            /// If `axis` or `index` is out of bounds.
            #[inline]
            #[track_caller]
            pub fn index_axis(&self, axis: usize, index: usize) -> ArrayView<'a, T, $m, Strided> {
                check_index(index, self.shape[axis]);
                let (mut shape, mut strides, all) = ([0; $m], [0; $m], self.strides());
                $(
                    let from = if $axis < axis { $axis } else { $axis + 1 };
                    (shape[$axis], strides[$axis]) = (self.shape[from], all[from]);
                )+
                let mut start = [0; $n];
                start[axis] = index;
                // SAFETY: the elements at the index, which lies inside.
                unsafe { self.part(start, shape, strides) }
            }
        }

        impl<'a, T> ArrayView<'a, T, $n, Standard> {
            /// The view at one index of the first axis, which is in standard order too: a row of a matrix, a plane of
            /// a volume. `ndarray`: `index_axis(Axis(0), index)`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::view::ArrayView;\n\nfn first(x: ArrayView<'_, f32, ", $n, ">) -> ArrayView<'_, f32, ", $m, "> {\n    x.outer(0)\n}")]
            /// ```
            ///
            /// # Panics
            ///
            /// If `index` is out of bounds.
            #[inline]
            #[track_caller]
            pub fn outer(&self, index: usize) -> ArrayView<'a, T, $m> {
                check_index(index, self.shape[0]);
                let shape = [$(self.shape[$axis + 1]),+];
                let mut start = [0; $n];
                start[0] = index;
                // SAFETY: the index lies inside, or the view has no elements and its offset is 0.
                let first = unsafe { self.element(start) };
                ArrayView { first, shape, strides: (), _elements: PhantomData }
            }
        }
    )*};
}

smaller! {
    2 to 1: 0;
    3 to 2: 0 1;
    4 to 3: 0 1 2;
    5 to 4: 0 1 2 3;
    6 to 5: 0 1 2 3 4;
}
