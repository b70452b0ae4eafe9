//! What fragments are loaded from: matrices in global or shared memory.

use bytemuck::AnyBitPattern;

use crate::shared::{SharedArray2d, SharedSlice2d};
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
    /// use gpu_std::matrix::{FragmentB, Matrix};
    /// use gpu_std::shared::SharedArray2d;
    ///
    /// /// Weights are often stored by output: B is their transpose.
    /// fn weights(w: SharedArray2d<F16, 8, 16>) -> FragmentB<F16> {
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

/// A matrix in shared memory, to which fragments are stored.
///
/// CUDA C++: the pointer and leading dimension of `wmma::store_matrix_sync`.
///
/// ```
/// use gpu_std::matrix::{FragmentC, WritableMatrix};
///
/// fn store(c: &FragmentC<f32>, to: impl WritableMatrix<f32>) {
///     c.store(to, (0, 0));
/// }
/// ```
pub trait WritableMatrix<T>: Matrix<T> {}

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

impl<T, L: Layout> private::Sealed for ArrayView2<'_, T, L> {}

impl<T: AnyBitPattern, L: Layout> Matrix<T> for ArrayView2<'_, T, L> {
    const IS_SHARED: bool = false;

    #[inline]
    #[track_caller]
    fn window(self, at: (usize, usize), rows: usize, cols: usize) -> Window<T> {
        check(self.shape(), at, rows, cols);
        // Negative strides wrap around.
        let [row, col] = self.strides().map(|stride| stride as usize);
        let view = Window {
            first: self.as_ptr(),
            row,
            col,
        };
        view.from(at)
    }
}

impl<T> private::Sealed for SharedSlice2d<T> {}

impl<T: AnyBitPattern> Matrix<T> for SharedSlice2d<T> {
    const IS_SHARED: bool = true;

    #[inline]
    #[track_caller]
    fn window(self, at: (usize, usize), rows: usize, cols: usize) -> Window<T> {
        check([self.rows(), self.cols()], at, rows, cols);
        let part = Window {
            first: self.as_ptr(),
            row: self.cols(),
            col: 1,
        };
        part.from(at)
    }
}

impl<T: AnyBitPattern> WritableMatrix<T> for SharedSlice2d<T> {}

impl<T, const ROWS: usize, const COLS: usize> private::Sealed for SharedArray2d<T, ROWS, COLS> {}

impl<T: AnyBitPattern, const ROWS: usize, const COLS: usize> Matrix<T>
    for SharedArray2d<T, ROWS, COLS>
{
    const IS_SHARED: bool = true;

    #[inline]
    #[track_caller]
    fn window(self, at: (usize, usize), rows: usize, cols: usize) -> Window<T> {
        check([ROWS, COLS], at, rows, cols);
        let array = Window {
            first: self.as_ptr(),
            row: COLS,
            col: 1,
        };
        array.from(at)
    }
}

impl<T: AnyBitPattern, const ROWS: usize, const COLS: usize> WritableMatrix<T>
    for SharedArray2d<T, ROWS, COLS>
{
}

/// A matrix with rows and columns exchanged, from [`Matrix::t`].
///
/// CUDA C++: `wmma::col_major`.
///
/// ```
/// use gpu_std::matrix::{Matrix, Transposed};
/// use gpu_std::shared::SharedSlice2d;
///
/// fn columns(x: SharedSlice2d<f64>) -> Transposed<SharedSlice2d<f64>> {
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
