//! Rows and columns of a view, and the iterators along them: bounds are checked once for a line, not for an element.

use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::slice;

use crate::live::live;

use super::{ArrayView, ArrayView1, ArrayView2, Layout, Standard, Strided};

impl<'a, T, L: Layout> ArrayView2<'a, T, L> {
    /// Rows: the extent of axis 0.
    ///
    /// No load: it came with the parameter. CUDA C: the argument `rows`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.nrows(), 2);
    /// ```
    #[inline]
    pub fn nrows(&self) -> usize {
        self.shape[0]
    }

    /// Columns: the extent of axis 1.
    ///
    /// No load: it came with the parameter. CUDA C: the argument `cols`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.ncols(), 3);
    /// ```
    #[inline]
    pub fn ncols(&self) -> usize {
        self.shape[1]
    }

    /// A column.
    ///
    /// # Panics
    ///
    /// If `col` is not below the number of columns.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert!(x.column(1).iter().eq(&[2, 5]));
    /// ```
    #[inline]
    #[track_caller]
    pub fn column(&self, col: usize) -> ArrayView1<'a, T, Strided> {
        self.index_axis(1, col)
    }

    /// All columns, one after the other.
    ///
    /// `ndarray`: `columns`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert!(x.columns().map(|column| column.iter().sum::<i32>()).eq([5, 7, 9]));
    /// ```
    #[inline]
    pub fn columns(&self) -> Columns<'a, T, L> {
        Columns {
            view: *self,
            next: 0,
        }
    }

    /// All rows, one after the other.
    ///
    /// `ndarray`: `rows`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert!(x.rows().map(|row| row.iter().sum::<i32>()).eq([6, 15]));
    /// ```
    #[inline]
    pub fn rows(&self) -> Rows<'a, T, L> {
        Rows {
            view: *self,
            next: 0,
        }
    }
}

impl<'a, T> ArrayView2<'a, T, Standard> {
    /// A row; [`as_slice`](ArrayView::as_slice) of it is its elements.
    ///
    /// CUDA C: `a + row * cols`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.row(1).as_slice(), [4, 5, 6]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `row` is not below the number of rows.
    #[inline]
    #[track_caller]
    pub fn row(&self, row: usize) -> ArrayView1<'a, T> {
        self.outer(row)
    }
}

impl<'a, T> ArrayView2<'a, T, Strided> {
    /// A row.
    ///
    /// CUDA C: `a + row * row_stride`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert!(x.t().row(1).iter().eq(&[2, 5]));
    /// ```
    ///
    /// # Panics
    ///
    /// If `row` is not below the number of rows.
    #[inline]
    #[track_caller]
    pub fn row(&self, row: usize) -> ArrayView1<'a, T, Strided> {
        self.index_axis(0, row)
    }
}

/// The rows of a view, from [`rows`](ArrayView::rows).
///
/// ```
/// use gpu_std::view::ArrayView2;
///
/// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
/// assert_eq!(x.rows().len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Rows<'a, T, L: Layout> {
    view: ArrayView2<'a, T, L>,
    next: usize,
}

/// The columns of a view, from [`columns`](ArrayView::columns).
///
/// ```
/// use gpu_std::view::ArrayView2;
///
/// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
/// assert_eq!(x.columns().len(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct Columns<'a, T, L: Layout> {
    view: ArrayView2<'a, T, L>,
    next: usize,
}

macro_rules! lines {
    ($name:ident, $layout:ty, $line:ident, $line_layout:ty, $axis:literal) => {
        impl<'a, T> Iterator for $name<'a, T, $layout> {
            type Item = ArrayView1<'a, T, $line_layout>;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                let line = self.next;
                (line < self.view.shape[$axis]).then(|| {
                    self.next = line + 1;
                    self.view.$line(line)
                })
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                let left = self.view.shape[$axis] - self.next;
                (left, Some(left))
            }
        }

        impl<T> ExactSizeIterator for $name<'_, T, $layout> {}
        impl<T> FusedIterator for $name<'_, T, $layout> {}
    };
}

lines!(Rows, Standard, row, Standard, 0);
lines!(Rows, Strided, row, Strided, 0);
lines!(Columns, Standard, column, Strided, 1);
lines!(Columns, Strided, column, Strided, 1);

impl<'a, T, const N: usize> ArrayView<'a, T, N, Standard> {
    /// All elements, in order.
    ///
    /// `ndarray`: `iter`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(x.iter().sum::<i32>(), 21);
    /// ```
    #[inline]
    pub fn iter(&self) -> slice::Iter<'a, T> {
        self.as_slice().iter()
    }
}

impl<'a, T, const N: usize> IntoIterator for ArrayView<'a, T, N, Standard> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T> ArrayView1<'a, T, Strided> {
    /// All elements, in order.
    ///
    /// `ndarray`: `iter`.
    ///
    /// ```
    /// use gpu_std::view::ArrayView2;
    ///
    /// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
    /// assert!(x.column(2).iter().eq(&[3, 6]));
    /// ```
    #[inline]
    pub fn iter(&self) -> Iter<'a, T> {
        Iter {
            next: self.first.as_ptr(),
            stride: self.strides[0],
            left: self.shape[0],
            _elements: PhantomData,
        }
    }
}

impl<'a, T> IntoIterator for ArrayView1<'a, T, Strided> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// The elements of a strided view of one dimension, from [`iter`](ArrayView::iter).
///
/// ```
/// use gpu_std::view::ArrayView2;
///
/// let x = ArrayView2::from_shape((2, 3), &[1, 2, 3, 4, 5, 6]).unwrap();
/// assert_eq!(x.column(0).iter().len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Iter<'a, T> {
    next: *mut T,
    stride: isize,
    left: usize,
    _elements: PhantomData<&'a [T]>,
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        if self.left == 0 {
            return None;
        }
        // SAFETY: `left` elements are left, and this is the first of them.
        let element = unsafe { live(self.next).as_ref() };
        self.left -= 1;
        self.next = self.next.wrapping_offset(self.stride);
        Some(element)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}
impl<T> FusedIterator for Iter<'_, T> {}
