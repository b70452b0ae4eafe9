//! One rectangle of a matrix for each owner.

use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::{BlockIndex2d, DisjointIndex, ThreadIndex2d};
use crate::kernel::{KernelParam, RawView};
use crate::live::live;

/// A kernel parameter of rows and columns, cut into tiles of `R` rows and `C` columns, each of which belongs to one block
/// of a grid of two dimensions ([`BlockIndex2d`], the default) or one thread
/// ([`ThreadIndex2d`](super::ThreadIndex2d)). The last tiles of a row or column of tiles may be cut off by the array's
/// edge. On the host the argument is a `&mut DeviceArray2<T>`. CUDA C: `blockIdx.y * R + y`, `blockIdx.x * C + x`, and a
/// comparison with the extents.
///
/// ```
/// use gpu_std::disjoint::DisjointTiles;
/// use gpu_std::view::ArrayView2;
/// use gpu_std::{block, shared_array, sync_threads, thread};
///
/// /// Reads and writes rows, so that neighbours in a warp access neighbours in memory both times.
/// fn transpose(a: ArrayView2<f32>, mut out: DisjointTiles<f32, 32, 32>) {
///     let tile = shared_array![f32; 32, 33];
///     let (row, col) = *block::index_2d();
///     for e in (thread::index_in_block()..32 * 32).step_by(block::len()) {
///         if let Some(&x) = a.get((col * 32 + e / 32, row * 32 + e % 32)) {
///             tile.set((e / 32, e % 32), x);
///         }
///     }
///     sync_threads();
///     if let Some(mut out) = out.get_mut(block::index_2d()) {
///         for ((row, col), out) in out.indexed_iter_mut() {
///             *out = tile.get((col, row));
///         }
///     }
/// }
/// ```
pub struct DisjointTiles<
    T,
    const R: usize,
    const C: usize,
    I: DisjointIndex<Shape = [usize; 2]> = BlockIndex2d,
> {
    first: NonNull<T>,
    shape: [usize; 2],
    _owner: PhantomData<I>,
}

impl<T, const R: usize, const C: usize, I: DisjointIndex<Shape = [usize; 2]>>
    DisjointTiles<T, R, C, I>
{
    /// Rows and columns of the array.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointTiles;
    ///
    /// fn tiles(x: &DisjointTiles<f32, 16, 16>) -> usize {
    ///     x.shape().map(|extent| extent.div_ceil(16)).iter().product()
    /// }
    /// ```
    #[inline]
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// This thread's share of its owner's tile, or `None` where the tile lies outside the array.
    ///
    /// ```
    /// use gpu_std::block;
    /// use gpu_std::disjoint::DisjointTiles;
    ///
    /// fn double(mut x: DisjointTiles<f32, 16, 16>) {
    ///     if let Some(mut tile) = x.get_mut(block::index_2d()) {
    ///         tile.indexed_iter_mut().for_each(|(_, x)| *x *= 2.0);
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn get_mut(&mut self, owner: I) -> Option<TileShare<'_, T, R, C>> {
        const {
            assert!(R > 0 && C > 0, "a tile has at least one element");
            assert!(
                R <= 1 << 15 && C <= 1 << 15,
                "a tile has at most 32768 rows and columns"
            );
        }
        let ([row, col], [rows, cols]) = (owner.place(), self.shape);
        let row = row.checked_mul(R).filter(|&row| row < rows)?;
        let col = col.checked_mul(C).filter(|&col| col < cols)?;
        // SAFETY: the element is one of the array's.
        let first = unsafe { self.first.add(row.wrapping_mul(cols)).add(col) };
        Some(TileShare {
            first,
            stride: cols,
            rows: (rows - row).min(R),
            cols: (cols - col).min(C),
            rank: owner.rank() as u32,
            sharers: owner.sharers() as u32,
            _elements: PhantomData,
        })
    }
}

impl<T, const R: usize, const C: usize> DisjointTiles<T, R, C, ThreadIndex2d> {
    /// The rows of the thread's tile, or `None` where it does not lie inside the array as a whole. For tiles that a thread
    /// has computed in registers: each element has its place when the kernel is compiled.
    ///
    /// ```
    /// use gpu_std::disjoint::{DisjointTiles, ThreadIndex2d};
    /// use gpu_std::thread;
    ///
    /// /// Each thread adds 1 to 2 x 4 elements. The array has whole tiles.
    /// fn increment(mut x: DisjointTiles<f32, 2, 4, ThreadIndex2d>) {
    ///     let rows = x.whole_mut(thread::index_2d());
    ///     for x in rows.into_iter().flatten().flatten() {
    ///         *x += 1.0;
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn whole_mut(&mut self, owner: ThreadIndex2d) -> Option<[&mut [T; C]; R]> {
        let tile = self.get_mut(owner)?;
        let is_whole = tile.rows == R && tile.cols == C;
        is_whole.then(|| {
            core::array::from_fn(|row| {
                // SAFETY: the tile lies inside the array and is the thread's own, and its rows do not overlap.
                unsafe {
                    let line = tile.first.add(row.wrapping_mul(tile.stride));
                    line.cast::<[T; C]>().as_mut()
                }
            })
        })
    }
}

/// The elements of a tile that belong to this thread: of the tile's `R * C` places, row by row, the one of its own
/// number among the block's threads, then every one as many further as the block has threads. Places beyond the array's
/// edge are left out.
///
/// ```
/// use gpu_std::disjoint::TileShare;
///
/// fn clear(tile: &mut TileShare<'_, f32, 16, 16>) {
///     tile.indexed_iter_mut().for_each(|(_, x)| *x = 0.0);
/// }
/// ```
#[derive(Debug)]
pub struct TileShare<'a, T, const R: usize, const C: usize> {
    first: NonNull<T>,
    stride: usize,
    rows: usize,
    cols: usize,
    rank: u32,
    sharers: u32,
    _elements: PhantomData<&'a mut [T]>,
}

impl<T, const R: usize, const C: usize> TileShare<'_, T, R, C> {
    /// Rows and columns of the tile that lie inside the array.
    ///
    /// ```
    /// use gpu_std::disjoint::TileShare;
    ///
    /// fn is_whole(tile: &TileShare<'_, f32, 16, 16>) -> bool {
    ///     tile.shape() == [16, 16]
    /// }
    /// ```
    #[inline]
    pub fn shape(&self) -> [usize; 2] {
        [self.rows, self.cols]
    }

    /// This thread's elements, each with its row and column in the tile.
    ///
    /// ```
    /// use gpu_std::disjoint::TileShare;
    ///
    /// fn identity(tile: &mut TileShare<'_, f32, 16, 16>) {
    ///     for ((row, col), x) in tile.indexed_iter_mut() {
    ///         *x = if row == col { 1.0 } else { 0.0 };
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn indexed_iter_mut(&mut self) -> TileIterMut<'_, T, R, C> {
        let (row, col) = (self.rank / C as u32, self.rank % C as u32);
        // Where each step is by whole rows, a thread has one column.
        let has_none = self.keeps_column() && col as usize >= self.cols;
        TileIterMut {
            tile: TileShare {
                rows: if has_none { 0 } else { self.rows },
                _elements: PhantomData,
                ..*self
            },
            row,
            col,
        }
    }

    /// Whether all elements of a thread lie in one column of the tile.
    #[inline]
    fn keeps_column(&self) -> bool {
        self.sharers.is_multiple_of(C as u32)
    }
}

/// This thread's elements of a tile, from [`TileShare::indexed_iter_mut`].
///
/// ```
/// use gpu_std::disjoint::TileIterMut;
///
/// fn clear(elements: TileIterMut<'_, f32, 16, 16>) {
///     elements.for_each(|(_, x)| *x = 0.0);
/// }
/// ```
#[derive(Debug)]
pub struct TileIterMut<'a, T, const R: usize, const C: usize> {
    tile: TileShare<'a, T, R, C>,
    row: u32,
    col: u32,
}

impl<'a, T, const R: usize, const C: usize> Iterator for TileIterMut<'a, T, R, C> {
    type Item = ((usize, usize), &'a mut T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let tile = &self.tile;
        let (rows, cols) = (tile.sharers / C as u32, tile.sharers % C as u32);
        // A block has at most 1024 threads, and a tile at most 2^15 rows and columns.
        while (self.row as usize) < tile.rows {
            let (row, col) = (self.row as usize, self.col as usize);
            self.row = self.row.wrapping_add(rows);
            self.col = self.col.wrapping_add(cols);
            if self.col >= C as u32 {
                self.row = self.row.wrapping_add(1);
                self.col = self.col.wrapping_sub(C as u32);
            }
            if tile.keeps_column() || col < tile.cols {
                let line = row.wrapping_mul(tile.stride);
                // SAFETY: the element lies inside the array and the tile, its place is this thread's rank modulo the
                // sharers, and the loop comes to it once.
                let element = unsafe { tile.first.add(line).add(col).as_mut() };
                return Some(((row, col), element));
            }
        }
        None
    }
}

impl<T, const R: usize, const C: usize> FusedIterator for TileIterMut<'_, T, R, C> {}

// SAFETY: `RawView` is `repr(C)`.
unsafe impl<T: 'static, const R: usize, const C: usize, I: DisjointIndex<Shape = [usize; 2]>>
    KernelParam for DisjointTiles<T, R, C, I>
{
    type Raw = RawView<T, [usize; 2]>;

    #[inline]
    unsafe fn from_raw(view: Self::Raw) -> Self {
        Self {
            // SAFETY: a live view's pointer is not null.
            first: unsafe { live(view.pointer) },
            shape: view.shape,
            _owner: PhantomData,
        }
    }
}
