//! The fragments and their product.
//!
//! # Which lane has which element
//!
//! PTX ISA, "Matrix fragments for `mma.m16n8k16` with floating point type" and the sections beside it, for the other
//! shapes. With `g = lane / 4`, `t = lane % 4`, and registers of 32 bits (64 for `f64`) that hold `V` elements:
//!
//! - A, element `e` of register `r`: row `g + 8 (r % 2)`, column `V t + e + 4 V (r / 2)`;
//! - B, element `e` of register `r`: row `V t + e + 4 V r`, column `g`;
//! - C, element `i`: row `g + 8 (i / 2)`, column `2 t + i % 2`.

use core::panic::Location;

use super::element::{Accumulator, Element, Lane};
use super::place::{Place, group_and_thread};
use super::source::{Matrix, WritableMatrix};
use crate::intrinsics as gpu;
use crate::note;
use crate::target;

/// Columns of B and C.
const COLS: usize = 8;

/// The left factor: [`Element::ROWS`] rows and [`Element::DEPTH`] columns, spread over the lanes of a warp.
/// CUDA C++: `wmma::fragment<matrix_a, ...>`. From sm_80 on.
///
/// ```
/// use gpu_std::half::F16;
/// use gpu_std::matrix::FragmentA;
///
/// assert_eq!((FragmentA::<F16>::ROWS, FragmentA::<F16>::COLS), (16, 16));
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct FragmentA<T: Element> {
    elements: T::A,
}

/// The right factor: [`Element::DEPTH`] rows and 8 columns, spread over the lanes of a warp.
/// CUDA C++: `wmma::fragment<matrix_b, ...>`. From sm_80 on.
///
/// ```
/// use gpu_std::half::F16;
/// use gpu_std::matrix::FragmentB;
///
/// assert_eq!((FragmentB::<F16>::ROWS, FragmentB::<F16>::COLS), (16, 8));
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct FragmentB<T: Element> {
    elements: T::B,
}

/// What products are added to: [`Accumulator::ROWS`] rows and 8 columns, spread over the lanes of a warp.
/// CUDA C++: `wmma::fragment<accumulator, ...>`. From sm_80 on.
///
/// ```
/// use gpu_std::matrix::FragmentC;
///
/// assert_eq!((FragmentC::<f32>::ROWS, FragmentC::<f32>::COLS), (16, 8));
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct FragmentC<T: Accumulator> {
    elements: T::C,
}

/// `a * b + c`. All 32 lanes of the warp come to this call together; see [the module](super) for what happens otherwise.
///
/// One instruction. CUDA C++: `wmma::mma_sync`; PTX: `mma.sync`, from sm_80 on.
///
/// ```
/// use gpu_std::matrix::{FragmentA, FragmentB, FragmentC, mma};
///
/// fn multiply(a: &FragmentA<f64>, b: &FragmentB<f64>) -> FragmentC<f64> {
///     mma(a, b, FragmentC::fill(0.0))
/// }
/// ```
#[inline]
#[track_caller]
pub fn mma<T: Element>(
    a: &FragmentA<T>,
    b: &FragmentB<T>,
    mut c: FragmentC<T::Accumulator>,
) -> FragmentC<T::Accumulator> {
    target::require_sm(80, "`matrix::mma`");
    gpu::place(Location::caller());
    // SAFETY: the pointers are those of fragments of this element.
    unsafe {
        T::multiply(
            (&raw mut c).cast(),
            (&raw const *a).cast(),
            (&raw const *b).cast(),
        );
    }
    c
}

/// Row and column that a lane's element of A has.
#[inline]
fn position_in_a<T: Element>(index: usize) -> (usize, usize) {
    let (register, element) = (index / T::IN_REGISTER, index % T::IN_REGISTER);
    let (group, thread) = group_and_thread();
    let col = T::IN_REGISTER * (thread + 4 * (register / 2)) + element;
    (group + 8 * (register % 2), col)
}

/// Row and column that a lane's element of B has.
#[inline]
fn position_in_b<T: Element>(index: usize) -> (usize, usize) {
    let (register, element) = (index / T::IN_REGISTER, index % T::IN_REGISTER);
    let (group, thread) = group_and_thread();
    (T::IN_REGISTER * (thread + 4 * register) + element, group)
}

/// Row and column that a lane's element of C has.
#[inline]
fn position_in_c(index: usize) -> (usize, usize) {
    let (group, thread) = group_and_thread();
    (group + 8 * (index / 2), 2 * thread + index % 2)
}

macro_rules! fragment {
    ($name:ident, $bound:ident, $lane:ident, $rows:expr, $cols:expr, $position:expr) => {
        impl<T: $bound> $name<T> {
            /// Rows of the matrix.
            pub const ROWS: usize = $rows;
            /// Columns of the matrix.
            pub const COLS: usize = $cols;
            /// Elements in each lane.
            pub const LEN: usize = T::$lane::LEN;

            /// All elements equal. CUDA C++: `wmma::fill_fragment`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::matrix::", stringify!($name), ";\n\nfn zeros() -> ", stringify!($name), "<f64> {\n    ", stringify!($name), "::fill(0.0)\n}")]
            /// ```
            #[inline]
            pub fn fill(value: T) -> Self {
                Self {
                    elements: T::$lane::from_fn(|_| value),
                }
            }

            /// Each element from its row and column.
            ///
            /// Nothing is exchanged between lanes. CUDA C++ has no such function.
            ///
            /// ```
            #[doc = concat!("use gpu_std::matrix::", stringify!($name), ";\n\nfn identity() -> ", stringify!($name), "<f64> {\n    ", stringify!($name), "::from_fn(|row, col| if row == col { 1.0 } else { 0.0 })\n}")]
            /// ```
            #[inline]
            pub fn from_fn(mut element: impl FnMut(usize, usize) -> T) -> Self {
                Self {
                    elements: T::$lane::from_fn(|index| {
                        let (row, col) = Self::position(index);
                        element(row, col)
                    }),
                }
            }

            /// Row and column of this lane's element `index`, which is below [`Self::LEN`].
            ///
            /// A few shifts of the lane's number. CUDA C++ leaves it unspecified for `wmma`; PTX ISA, "Matrix fragments for `mma`".
            ///
            /// ```
            #[doc = concat!("use gpu_std::matrix::", stringify!($name), ";\n\nfn first() -> (usize, usize) {\n    ", stringify!($name), "::<f64>::position(0)\n}")]
            /// ```
            #[inline]
            pub fn position(index: usize) -> (usize, usize) {
                $position(index)
            }

            /// This lane's elements.
            ///
            /// CUDA C++: the member `x`, `num_elements`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::matrix::", stringify!($name), ";\n\nfn sum(x: &", stringify!($name), "<f64>) -> f64 {\n    x.elements().iter().sum()\n}")]
            /// ```
            #[inline]
            pub fn elements(&self) -> &[T] {
                self.elements.as_slice()
            }

            /// This lane's elements.
            ///
            /// CUDA C++: the member `x`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::matrix::", stringify!($name), ";\n\nfn scale(x: &mut ", stringify!($name), "<f64>) {\n    x.elements_mut().iter_mut().for_each(|element| *element *= 2.0);\n}")]
            /// ```
            #[inline]
            pub fn elements_mut(&mut self) -> &mut [T] {
                self.elements.as_mut_slice()
            }

            /// Calls `visit` with row, column and value of each of this lane's elements.
            ///
            /// CUDA C++ has no such function.
            ///
            /// ```
            #[doc = concat!("use gpu_std::matrix::", stringify!($name), ";\n\nfn trace(x: &", stringify!($name), "<f64>) -> f64 {\n    let mut sum = 0.0;\n    x.for_each(|row, col, value| if row == col { sum += value });\n    sum\n}")]
            /// ```
            #[inline]
            pub fn for_each(&self, mut visit: impl FnMut(usize, usize, T)) {
                for (index, &value) in self.elements().iter().enumerate() {
                    let (row, col) = Self::position(index);
                    visit(row, col, value);
                }
            }
        }
    };
}

fragment!(FragmentA, Element, A, T::ROWS, T::DEPTH, position_in_a::<T>);
fragment!(FragmentB, Element, B, T::DEPTH, COLS, position_in_b::<T>);
fragment!(FragmentC, Accumulator, C, T::ROWS, COLS, position_in_c);

impl<T: Element> FragmentA<T> {
    /// The part of a matrix that starts at row and column `at`. All 32 lanes of the warp come to this call together.
    ///
    /// From shared memory it is one `ldmatrix` where rows start at multiples of 16 bytes; else elements that share a
    /// register are loaded at once where they lie side by side and rows start at multiples of 4 bytes. CUDA C++:
    /// `wmma::load_matrix_sync`.
    ///
    /// ```
    /// use gpu_std::half::F16;
    /// use gpu_std::matrix::FragmentA;
    /// use gpu_std::view::ArrayView2;
    ///
    /// fn load(x: ArrayView2<F16>, row: usize) -> FragmentA<F16> {
    ///     FragmentA::load(x, (row, 0))
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the part is not inside of the matrix.
    #[inline]
    #[track_caller]
    pub fn load<M: Matrix<T::Stored>>(from: M, at: (usize, usize)) -> Self {
        let window = from.window(at, Self::ROWS, Self::COLS);
        let place = Place {
            first: window.first,
            is_shared: M::IS_SHARED,
            outer: window.row,
            depth: window.col,
        };
        target::require_sm(80, "a fragment of `matrix`");
        gpu::place(Location::caller());
        // SAFETY: the window has the rows and columns of A.
        let elements = unsafe { place.load::<T, T::A, 2>() };
        Self { elements }
    }
}

impl<T: Element> FragmentB<T> {
    /// The part of a matrix that starts at row and column `at`. All 32 lanes of the warp come to this call together.
    ///
    /// See [`FragmentA::load`]; elements that share a register are neighbours in a column of B, so they lie side by side
    /// in a [transposed](Matrix::t) matrix. `ldmatrix` takes 16-bit elements either way. CUDA C++:
    /// `wmma::load_matrix_sync`.
    ///
    /// ```
    /// use gpu_std::half::F16;
    /// use gpu_std::matrix::FragmentB;
    /// use gpu_std::view::ArrayView2;
    ///
    /// fn load(x: ArrayView2<F16>, col: usize) -> FragmentB<F16> {
    ///     FragmentB::load(x, (0, col))
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the part is not inside of the matrix.
    #[inline]
    #[track_caller]
    pub fn load<M: Matrix<T::Stored>>(from: M, at: (usize, usize)) -> Self {
        let window = from.window(at, Self::ROWS, Self::COLS);
        let place = Place {
            first: window.first,
            is_shared: M::IS_SHARED,
            outer: window.col,
            depth: window.row,
        };
        target::require_sm(80, "a fragment of `matrix`");
        gpu::place(Location::caller());
        // SAFETY: the window has the rows and columns of B.
        let elements = unsafe { place.load::<T, T::B, 1>() };
        Self { elements }
    }
}

impl<T: Accumulator> FragmentC<T> {
    /// The part of a matrix that starts at row and column `at`. CUDA C++: `wmma::load_matrix_sync`.
    ///
    /// ```
    /// use gpu_std::matrix::FragmentC;
    /// use gpu_std::view::ArrayView2;
    ///
    /// fn load(x: ArrayView2<f32>, at: (usize, usize)) -> FragmentC<f32> {
    ///     FragmentC::load(x, at)
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the part is not inside of the matrix.
    #[inline]
    #[track_caller]
    pub fn load<M: Matrix<T>>(from: M, at: (usize, usize)) -> Self {
        let window = from.window(at, Self::ROWS, Self::COLS);
        let place = Location::caller();
        Self::from_fn(|row, col| {
            let element = window.at(row, col);
            if M::IS_SHARED {
                note::shared_read_at(element, place);
            }
            // SAFETY: the element is inside of the window.
            unsafe { element.read() }
        })
    }

    /// Writes the matrix to the part of `to` that starts at row and column `at`. Other lanes see it after a barrier of
    /// the warp or block. CUDA C++: `wmma::store_matrix_sync`.
    ///
    /// ```
    /// use gpu_std::matrix::FragmentC;
    /// use gpu_std::shared_array;
    ///
    /// fn store(sum: &FragmentC<f32>) {
    ///     let tile = shared_array![f32; 16, 8];
    ///     sum.store(tile, (0, 0));
    ///     gpu_std::warp::sync_warp(gpu_std::warp::FULL_MASK);
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the part is not inside of `to`.
    #[inline]
    #[track_caller]
    pub fn store(&self, to: impl WritableMatrix<T>, at: (usize, usize)) {
        let window = to.window(at, Self::ROWS, Self::COLS);
        let place = Location::caller();
        self.for_each(|row, col, value| {
            let element = window.at(row, col).cast_mut();
            note::shared_write_at(element, &value, place);
            // SAFETY: the element is inside of the window, which is part of the block's allocation.
            unsafe { element.write(value) };
        });
    }

    /// Writes the matrix to global memory: `to` is the place of its first element, and the next row starts
    /// `leading_dimension` elements after it. CUDA C++: `wmma::store_matrix_sync`.
    ///
    /// ```
    /// use gpu_std::matrix::FragmentC;
    ///
    /// /// # Safety
    /// ///
    /// /// `to` is the first of 16 rows of 64, which only this warp writes.
    /// unsafe fn store(sum: &FragmentC<f32>, to: *mut f32) {
    ///     // SAFETY: as above.
    ///     unsafe { sum.store_to(to, 64) }
    /// }
    /// ```
    ///
    /// # Safety
    ///
    /// The [`Self::ROWS`] rows of [`Self::COLS`] elements can be written, and no other thread accesses them meanwhile.
    #[inline]
    pub unsafe fn store_to(&self, to: *mut T, leading_dimension: usize) {
        // SAFETY: the caller's promise.
        self.for_each(|row, col, value| unsafe {
            to.add(row.wrapping_mul(leading_dimension))
                .add(col)
                .write(value)
        });
    }
}
