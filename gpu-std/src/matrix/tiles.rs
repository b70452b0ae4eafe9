//! A matrix in global memory that warps store fragments to, without a data race.
//!
//! # Soundness
//!
//! A block gets the tile of its own row and column in the grid. The fragments of the tile are numbered row by row and dealt
//! out to the block's warps in turn, and an element of a fragment belongs to the lane that has it in a [`FragmentC`]. So each
//! element belongs to one thread of the launch. In a thread, a place is borrowed from its tile, and each is given out once
//! for a borrow.

use core::marker::PhantomData;
use core::ptr::NonNull;

use super::{Accumulator, FragmentC};
use crate::disjoint::{BlockIndex2d, DisjointIndex};
use crate::kernel::{KernelParam, RawView};
use crate::live::live;
use crate::warp::WARP_SIZE;

/// A kernel parameter of rows and columns, cut into tiles of `R` rows and `C` columns. A tile belongs to one block of a
/// grid of two dimensions, whose warps store its [fragments](FragmentC). The last tiles may be cut off by the matrix's edge.
///
/// `R` is a multiple of the rows of a `FragmentC<T>`, `C` one of 8; else it is a compile error. On the host the argument is a
/// `&mut DeviceArray2<T>`. CUDA C++: the pointer and leading dimension of `wmma::store_matrix_sync`.
///
/// ```
/// use gpu_std::block;
/// use gpu_std::matrix::{DisjointFragments, FragmentC};
///
/// fn clear(mut c: DisjointFragments<f32, 64, 64>) {
///     if let Some(mut tile) = c.get_mut(block::index_2d()) {
///         for mut place in tile.fragments() {
///             place.store(&FragmentC::fill(0.0));
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct DisjointFragments<T, const R: usize, const C: usize> {
    first: NonNull<T>,
    shape: [usize; 2],
}

impl<T: Accumulator, const R: usize, const C: usize> DisjointFragments<T, R, C> {
    /// Rows and columns of the matrix.
    ///
    /// ```
    /// use gpu_std::matrix::DisjointFragments;
    ///
    /// fn tiles(c: &DisjointFragments<f32, 64, 64>) -> usize {
    ///     c.shape().map(|extent| extent.div_ceil(64)).iter().product()
    /// }
    /// ```
    #[inline]
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// The block's tile, or `None` where it lies outside of the matrix.
    ///
    /// ```
    /// use gpu_std::block;
    /// use gpu_std::matrix::DisjointFragments;
    ///
    /// fn is_inside(mut c: DisjointFragments<f32, 64, 64>) -> bool {
    ///     c.get_mut(block::index_2d()).is_some()
    /// }
    /// ```
    #[inline]
    pub fn get_mut(&mut self, owner: BlockIndex2d) -> Option<FragmentTile<'_, T, R, C>> {
        const {
            assert!(
                R > 0 && C > 0 && R.is_multiple_of(T::ROWS) && C.is_multiple_of(8),
                "a tile is of whole fragments: 16 rows (8 of f64) and 8 columns"
            );
        }
        let ([row, col], [rows, cols]) = (owner.place(), self.shape);
        let row = row.checked_mul(R).filter(|&row| row < rows)?;
        let col = col.checked_mul(C).filter(|&col| col < cols)?;
        let lanes = WARP_SIZE as usize;
        Some(FragmentTile {
            first: self.first,
            shape: self.shape,
            at: (row, col),
            warp: owner.rank() / lanes,
            warps: owner.sharers().div_ceil(lanes),
            _elements: PhantomData,
        })
    }
}

/// A block's tile, from [`DisjointFragments::get_mut`].
///
/// ```
/// use gpu_std::matrix::FragmentTile;
///
/// fn double(tile: &mut FragmentTile<f32, 32, 32>) {
///     for mut place in tile.fragments() {
///         let mut c = place.load();
///         c.elements_mut().iter_mut().for_each(|x| *x *= 2.0);
///         place.store(&c);
///     }
/// }
/// ```
#[derive(Debug)]
pub struct FragmentTile<'a, T, const R: usize, const C: usize> {
    first: NonNull<T>,
    shape: [usize; 2],
    at: (usize, usize),
    warp: usize,
    warps: usize,
    _elements: PhantomData<&'a mut [T]>,
}

impl<T: Accumulator, const R: usize, const C: usize> FragmentTile<'_, T, R, C> {
    /// Row and column of the tile's first element in the matrix.
    ///
    /// ```
    /// use gpu_std::matrix::FragmentTile;
    ///
    /// fn first_row(tile: &FragmentTile<f32, 32, 32>) -> usize {
    ///     tile.at().0
    /// }
    /// ```
    #[inline]
    pub fn at(&self) -> (usize, usize) {
        self.at
    }

    /// The places of this warp's fragments, those that lie inside of the matrix at least in part. Row by row, every one as
    /// many further as the block has warps: with `C / 8` warps, each has a strip of 8 columns.
    ///
    /// ```
    /// use gpu_std::matrix::{FragmentC, FragmentTile};
    ///
    /// fn clear(tile: &mut FragmentTile<f32, 32, 32>) {
    ///     tile.fragments().for_each(|mut place| place.store(&FragmentC::fill(0.0)));
    /// }
    /// ```
    #[inline]
    pub fn fragments(&mut self) -> FragmentPlaces<'_, T, R, C> {
        FragmentPlaces {
            tile: FragmentTile {
                _elements: PhantomData,
                ..*self
            },
            next: self.warp,
        }
    }
}

/// The places of a warp's fragments, from [`FragmentTile::fragments`].
///
/// ```
/// use gpu_std::matrix::{FragmentC, FragmentPlaces};
///
/// fn clear(places: FragmentPlaces<f32, 32, 32>) {
///     for mut place in places {
///         place.store(&FragmentC::fill(0.0));
///     }
/// }
/// ```
#[derive(Debug)]
pub struct FragmentPlaces<'a, T, const R: usize, const C: usize> {
    tile: FragmentTile<'a, T, R, C>,
    next: usize,
}

impl<'a, T: Accumulator, const R: usize, const C: usize> Iterator for FragmentPlaces<'a, T, R, C> {
    type Item = FragmentPlace<'a, T>;

    #[inline]
    fn next(&mut self) -> Option<FragmentPlace<'a, T>> {
        let tile = &self.tile;
        while self.next < R / T::ROWS * (C / 8) {
            let (row, col) = (self.next / (C / 8), self.next % (C / 8));
            self.next += tile.warps;
            let at = (tile.at.0 + row * T::ROWS, tile.at.1 + col * 8);
            if at.0 < tile.shape[0] && at.1 < tile.shape[1] {
                return Some(FragmentPlace {
                    first: tile.first,
                    shape: tile.shape,
                    at,
                    _elements: PhantomData,
                });
            }
        }
        None
    }
}

/// Where this warp stores one fragment, from [`FragmentTile::fragments`].
///
/// ```
/// use gpu_std::matrix::{FragmentC, FragmentPlace};
///
/// fn add(mut place: FragmentPlace<f64>, c: &FragmentC<f64>) {
///     let mut sum = place.load();
///     for (sum, x) in sum.elements_mut().iter_mut().zip(c.elements()) {
///         *sum += x;
///     }
///     place.store(&sum);
/// }
/// ```
#[derive(Debug)]
pub struct FragmentPlace<'a, T> {
    first: NonNull<T>,
    shape: [usize; 2],
    at: (usize, usize),
    _elements: PhantomData<&'a mut [T]>,
}

impl<T: Accumulator> FragmentPlace<'_, T> {
    /// Row and column of the fragment's first element in the matrix.
    ///
    /// ```
    /// use gpu_std::matrix::FragmentPlace;
    ///
    /// fn is_on_the_diagonal(place: &FragmentPlace<f32>) -> bool {
    ///     place.at().0 == place.at().1
    /// }
    /// ```
    #[inline]
    pub fn at(&self) -> (usize, usize) {
        self.at
    }

    /// What the matrix has there: CUDA C++'s `wmma::load_matrix_sync`. Elements beyond its edge are 0.
    ///
    /// ```
    /// use gpu_std::matrix::{FragmentC, FragmentPlace};
    ///
    /// fn start(place: &FragmentPlace<f32>) -> FragmentC<f32> {
    ///     place.load()
    /// }
    /// ```
    #[inline]
    pub fn load(&self) -> FragmentC<T> {
        FragmentC::from_fn(|row, col| match self.element(row, col) {
            // SAFETY: the element is this lane's.
            Some(element) => unsafe { element.read() },
            None => T::zeroed(),
        })
    }

    /// Writes the fragment; what lies beyond the matrix's edge is left out. CUDA C++: `wmma::store_matrix_sync`.
    ///
    /// ```
    /// use gpu_std::matrix::{FragmentC, FragmentPlace};
    ///
    /// fn finish(place: &mut FragmentPlace<f32>, sum: &FragmentC<f32>) {
    ///     place.store(sum);
    /// }
    /// ```
    #[inline]
    pub fn store(&mut self, fragment: &FragmentC<T>) {
        let inside = |extent: usize, at: usize, part: usize| at + part <= extent;
        let [rows, cols] = self.shape;
        if inside(rows, self.at.0, T::ROWS) && inside(cols, self.at.1, 8) {
            // SAFETY: the fragment lies inside of the matrix, and its elements are its lanes' own.
            unsafe {
                let first = self.first.add(self.at.0.wrapping_mul(cols)).add(self.at.1);
                fragment.store_to(first.as_ptr(), cols);
            }
            return;
        }
        fragment.for_each(|row, col, value| {
            if let Some(element) = self.element(row, col) {
                // SAFETY: the element is this lane's.
                unsafe { element.write(value) };
            }
        });
    }

    /// An element of the fragment, if it lies inside of the matrix.
    #[inline]
    fn element(&self, row: usize, col: usize) -> Option<NonNull<T>> {
        let ([rows, cols], (row, col)) = (self.shape, (self.at.0 + row, self.at.1 + col));
        // SAFETY: the element lies inside of the matrix.
        (row < rows && col < cols)
            .then(|| unsafe { self.first.add(row.wrapping_mul(cols)).add(col) })
    }
}

// SAFETY: `RawView` is `repr(C)`.
unsafe impl<T: 'static, const R: usize, const C: usize> KernelParam for DisjointFragments<T, R, C> {
    type Raw = RawView<T, [usize; 2]>;

    #[inline]
    unsafe fn from_raw(view: Self::Raw) -> Self {
        Self {
            // SAFETY: a live view's pointer is not null.
            first: unsafe { live(view.pointer) },
            shape: view.shape,
        }
    }
}
