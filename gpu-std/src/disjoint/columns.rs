//! One column of a matrix for each thread.

use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};
use core::ptr::NonNull;

use super::{DisjointIndex, ThreadIndex};
use crate::kernel::{KernelParam, RawView};
use crate::live::live;
use crate::view::check_index;

/// A kernel parameter of rows and columns, each column of which belongs to one thread. Neighbours in a warp have
/// neighbouring columns, so the threads that go down their columns together write neighbours in memory.
/// On the host the argument is a `&mut DeviceArray2<T>`. CUDA C: `out[row * cols + col]` in a loop over rows.
///
/// ```
/// use gpu_std::disjoint::DisjointColumns;
/// use gpu_std::thread;
///
/// /// Each thread makes a column its running sum.
/// fn scan_columns(mut x: DisjointColumns<f32>) {
///     if let Some(mut column) = x.get_mut(thread::index_1d()) {
///         let mut sum = 0.0;
///         for x in column.iter_mut() {
///             sum += *x;
///             *x = sum;
///         }
///     }
/// }
/// ```
pub struct DisjointColumns<T> {
    first: NonNull<T>,
    rows: usize,
    cols: usize,
}

impl<T> DisjointColumns<T> {
    /// Rows: elements of a column.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointColumns;
    ///
    /// fn extent(x: &DisjointColumns<f32>) -> usize {
    ///     x.nrows()
    /// }
    /// ```
    #[inline]
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// Columns.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointColumns;
    ///
    /// fn extent(x: &DisjointColumns<f32>) -> usize {
    ///     x.ncols()
    /// }
    /// ```
    #[inline]
    pub fn ncols(&self) -> usize {
        self.cols
    }

    /// The thread's column, or `None` where there are fewer.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointColumns;
    /// use gpu_std::thread;
    ///
    /// fn first_row(mut x: DisjointColumns<f32>) {
    ///     if let Some(mut column) = x.get_mut(thread::index_1d()) {
    ///         column[0] = 1.0;
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn get_mut(&mut self, owner: ThreadIndex) -> Option<ColumnMut<'_, T>> {
        let col = owner.place();
        (col < self.cols).then(|| ColumnMut {
            // Not beyond the array, unless there are no rows and so no elements.
            first: self.first.as_ptr().wrapping_add(col),
            rows: self.rows,
            stride: self.cols,
            _elements: PhantomData,
        })
    }
}

/// A column that belongs to this thread: `column[row]`, or [`iter_mut`](Self::iter_mut).
///
/// CUDA C: `out + col`, with a stride of `cols`.
///
/// ```
/// use gpu_std::disjoint::ColumnMut;
///
/// fn difference(column: &mut ColumnMut<'_, f32>) {
///     for row in (1..column.len()).rev() {
///         column[row] = column[row] - column[row - 1];
///     }
/// }
/// ```
#[derive(Debug)]
pub struct ColumnMut<'a, T> {
    first: *mut T,
    rows: usize,
    stride: usize,
    _elements: PhantomData<&'a mut [T]>,
}

impl<T> ColumnMut<'_, T> {
    /// Elements: the rows of the array.
    ///
    /// ```
    /// use gpu_std::disjoint::ColumnMut;
    ///
    /// fn last(column: &ColumnMut<'_, f32>) -> f32 {
    ///     column[column.len() - 1]
    /// }
    /// ```
    #[inline]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use gpu_std::disjoint::ColumnMut;
    ///
    /// fn is_there(column: &ColumnMut<'_, f32>) -> bool {
    ///     !column.is_empty()
    /// }
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The elements from the first row to the last. Bounds are not checked for each.
    ///
    /// ```
    /// use gpu_std::disjoint::ColumnMut;
    ///
    /// fn double(column: &mut ColumnMut<'_, f32>) {
    ///     column.iter_mut().for_each(|x| *x *= 2.0);
    /// }
    /// ```
    #[inline]
    pub fn iter_mut(&mut self) -> ColumnIterMut<'_, T> {
        ColumnIterMut {
            next: self.first,
            left: self.rows,
            stride: self.stride,
            _elements: PhantomData,
        }
    }

    /// The place of a row below `rows`.
    #[inline]
    fn element(&self, row: usize) -> *mut T {
        self.first.wrapping_add(row.wrapping_mul(self.stride))
    }
}

/// Panics as slice indexing does.
impl<T> Index<usize> for ColumnMut<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, row: usize) -> &T {
        check_index(row, self.rows);
        // SAFETY: the row is inside the column, which no other thread names.
        unsafe { &*self.element(row) }
    }
}

/// Panics as slice indexing does.
impl<T> IndexMut<usize> for ColumnMut<'_, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, row: usize) -> &mut T {
        check_index(row, self.rows);
        // SAFETY: the row is inside the column, which no other thread names.
        unsafe { &mut *self.element(row) }
    }
}

/// The elements of a column, from [`ColumnMut::iter_mut`].
///
/// ```
/// use gpu_std::disjoint::ColumnIterMut;
///
/// fn clear(rows: ColumnIterMut<'_, f32>) {
///     rows.for_each(|x| *x = 0.0);
/// }
/// ```
#[derive(Debug)]
pub struct ColumnIterMut<'a, T> {
    next: *mut T,
    left: usize,
    stride: usize,
    _elements: PhantomData<&'a mut [T]>,
}

impl<'a, T> Iterator for ColumnIterMut<'a, T> {
    type Item = &'a mut T;

    #[inline]
    fn next(&mut self) -> Option<&'a mut T> {
        if self.left == 0 {
            return None;
        }
        // SAFETY: `left` rows are left, this is the first of them, and it is given once.
        let element = unsafe { live(self.next).as_mut() };
        self.left -= 1;
        self.next = self.next.wrapping_add(self.stride);
        Some(element)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for ColumnIterMut<'_, T> {}
impl<T> FusedIterator for ColumnIterMut<'_, T> {}

// SAFETY: `RawView` is `repr(C)`.
unsafe impl<T: 'static> KernelParam for DisjointColumns<T> {
    type Raw = RawView<T, [usize; 2]>;

    #[inline]
    unsafe fn from_raw(view: Self::Raw) -> Self {
        let [rows, cols] = view.shape;
        Self {
            // SAFETY: a live view's pointer is not null.
            first: unsafe { live(view.pointer) },
            rows,
            cols,
        }
    }
}
