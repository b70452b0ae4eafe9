//! What fragments are loaded from: matrices in global or shared memory.

use bytemuck::AnyBitPattern;

use crate::shared::SharedArray2d;
use crate::view::{ArrayView2, Layout};

mod private {
    pub trait Sealed {}
}

/// A matrix of `T` in memory that fragments are loaded from.
///
/// CUDA C++: the pointer, leading dimension and layout of `wmma::load_matrix_sync`.
///
/// ```
/// use gpu_std::half::F16;
/// use gpu_std::matrix::{FragmentA, Matrix};
///
/// fn first(x: impl Matrix<F16>) -> FragmentA<F16> {
///     FragmentA::load(x, (0, 0))
/// }
/// ```
pub trait Matrix<T>: Copy + private::Sealed {
    /// Whether it lies in shared memory.
    #[doc(hidden)]
    const IS_SHARED: bool;

    /// The part of `rows` and `cols` that starts at a row and a column.
    ///
    /// # Panics
    ///
    /// If it is not inside of the matrix.
    #[doc(hidden)]
    #[track_caller]
    fn window(self, at: (usize, usize), rows: usize, cols: usize) -> Window<T>;

    /// The matrix with rows and columns exchanged; nothing is moved. ndarray: `t()`.
    ///
    /// ```
    /// use gpu_std::half::F16;
    /// use gpu_std::matrix::{FragmentB, Matrix, RowMajor};
    ///
    /// /// Weights are often stored by output: B is their transpose.
    /// fn weights(w: RowMajor<F16>) -> FragmentB<F16> {
    ///     FragmentB::load(w.t(), (0, 0))
    /// }
    /// ```
    ///
    /// CUDA C++: `wmma::col_major` for `row_major`.
    #[inline]
    fn t(self) -> Transposed<Self> {
        Transposed(self)
    }
}

/// Part of a matrix: its first element, and how many elements the next row and the next column are away.
#[doc(hidden)]
pub struct Window<T> {
    pub(super) first: *const T,
    pub(super) row: usize,
    pub(super) col: usize,
}

impl<T> Window<T> {
    /// Where an element is.
    #[inline]
    pub(super) fn at(&self, row: usize, col: usize) -> *const T {
        self.first
            .wrapping_add(row.wrapping_mul(self.row))
            .wrapping_add(col.wrapping_mul(self.col))
    }

    /// The same matrix from an element on.
    #[inline]
    fn from(self, (row, col): (usize, usize)) -> Self {
        Self {
            first: self.at(row, col),
            ..self
        }
    }
}

/// A view of rows and columns, of any layout, is a matrix.
///
/// ```
/// use gpu_std::half::F16;
/// use gpu_std::matrix::{FragmentA, FragmentB, FragmentC, mma};
/// use gpu_std::view::ArrayView2;
///
/// /// 16 x 8 elements of a product, from `(row, col)` on.
/// fn tile(a: ArrayView2<F16>, b: ArrayView2<F16>, row: usize, col: usize) -> FragmentC<f32> {
///     let mut c = FragmentC::fill(0.0);
///     for k in (0..a.ncols()).step_by(16) {
///         let a = FragmentA::<F16>::load(a, (row, k));
///         c = mma(&a, &FragmentB::load(b, (k, col)), c);
///     }
///     c
/// }
/// ```
impl<T: AnyBitPattern, L: Layout> Matrix<T> for ArrayView2<'_, T, L> {
    const IS_SHARED: bool = false;

    #[inline]
    #[track_caller]
    fn window(self, at: (usize, usize), rows: usize, cols: usize) -> Window<T> {
        check(self.shape(), at, rows, cols);
        // A negative distance is one that wraps, as the address does.
        let [row, col] = self.strides().map(|stride| stride as usize);
        Window {
            first: self.as_ptr(),
            row,
            col,
        }
        .from(at)
    }
}

impl<T, L: Layout> private::Sealed for ArrayView2<'_, T, L> {}

/// A slice as a matrix, one row after the other.
///
/// CUDA C++: a pointer with `wmma::row_major` and a leading dimension.
///
/// ```
/// use gpu_std::matrix::RowMajor;
///
/// let rows = RowMajor::new(&[1, 2, 3, 4, 5, 6], [2, 3]);
/// assert_eq!((rows.rows(), rows.cols()), (2, 3));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RowMajor<'a, T> {
    slice: &'a [T],
    shape: [usize; 2],
}

impl<'a, T> RowMajor<'a, T> {
    /// The first `rows * cols` elements of `slice`.
    ///
    /// ```
    /// use gpu_std::matrix::RowMajor;
    ///
    /// fn matrix(x: &[f64], n: usize) -> RowMajor<'_, f64> {
    ///     RowMajor::new(x, [n, n])
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the slice has fewer.
    #[inline]
    #[track_caller]
    pub fn new(slice: &'a [T], shape: [usize; 2]) -> Self {
        let elements = shape[0].checked_mul(shape[1]);
        assert!(
            elements.is_some_and(|elements| elements <= slice.len()),
            "a matrix has more elements than its slice"
        );
        Self { slice, shape }
    }

    /// Rows.
    ///
    /// ```
    /// assert_eq!(gpu_std::matrix::RowMajor::new(&[0; 6], [2, 3]).rows(), 2);
    /// ```
    #[inline]
    pub fn rows(self) -> usize {
        self.shape[0]
    }

    /// Columns.
    ///
    /// ```
    /// assert_eq!(gpu_std::matrix::RowMajor::new(&[0; 6], [2, 3]).cols(), 3);
    /// ```
    #[inline]
    pub fn cols(self) -> usize {
        self.shape[1]
    }
}

impl<T> private::Sealed for RowMajor<'_, T> {}

impl<T: AnyBitPattern> Matrix<T> for RowMajor<'_, T> {
    const IS_SHARED: bool = false;

    #[inline]
    #[track_caller]
    fn window(self, at: (usize, usize), rows: usize, cols: usize) -> Window<T> {
        check(self.shape, at, rows, cols);
        Window {
            first: self
                .slice
                .as_ptr()
                .wrapping_add(at.0 * self.shape[1] + at.1),
            row: self.shape[1],
            col: 1,
        }
    }
}

impl<T, const ROWS: usize, const COLS: usize> private::Sealed for SharedArray2d<T, ROWS, COLS> {}

impl<T: AnyBitPattern, const ROWS: usize, const COLS: usize> Matrix<T>
    for SharedArray2d<T, ROWS, COLS>
{
    const IS_SHARED: bool = true;

    #[inline]
    #[track_caller]
    fn window(self, at: (usize, usize), rows: usize, cols: usize) -> Window<T> {
        check([ROWS, COLS], at, rows, cols);
        Window {
            first: self.as_ptr().wrapping_add(at.0 * COLS + at.1),
            row: COLS,
            col: 1,
        }
    }
}

/// A matrix with rows and columns exchanged, from [`Matrix::t`].
///
/// CUDA C++: `wmma::col_major`.
///
/// ```
/// use gpu_std::matrix::{Matrix, RowMajor, Transposed};
///
/// fn columns(x: RowMajor<'_, f64>) -> Transposed<RowMajor<'_, f64>> {
///     x.t()
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Transposed<M>(M);

impl<M: private::Sealed> private::Sealed for Transposed<M> {}

impl<T, M: Matrix<T>> Matrix<T> for Transposed<M> {
    const IS_SHARED: bool = M::IS_SHARED;

    #[inline]
    #[track_caller]
    fn window(self, at: (usize, usize), rows: usize, cols: usize) -> Window<T> {
        let Window { first, row, col } = self.0.window((at.1, at.0), cols, rows);
        Window {
            first,
            row: col,
            col: row,
        }
    }
}

/// One check for all elements of a fragment.
#[inline]
#[track_caller]
fn check(shape: [usize; 2], at: (usize, usize), rows: usize, cols: usize) {
    let inside = |extent: usize, at: usize, part: usize| part <= extent && at <= extent - part;
    assert!(
        inside(shape[0], at.0, rows) && inside(shape[1], at.1, cols),
        "a fragment is not inside of its matrix"
    );
}
