//! One row of a matrix for each owner.

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::slice;

use super::{BlockIndex, DisjointIndex, Share, ThreadIndex, WarpIndex};
use crate::kernel::{KernelParam, RawView};
use crate::live::live;

/// A kernel parameter of rows and columns, each row of which belongs to one thread ([`ThreadIndex`], the default), one
/// warp ([`WarpIndex`]) or one block ([`BlockIndex`]). On the host the argument is a `&mut DeviceArray2<T>`.
///
/// Rows for warps and blocks are the faster choice: neighbours in a warp then write neighbours in memory. CUDA C:
/// `out + row * cols`.
///
/// ```
/// use gpu_std::disjoint::DisjointRows;
/// use gpu_std::thread;
///
/// /// Each thread sorts a row.
/// fn sort_rows(mut x: DisjointRows<u32>) {
///     if let Some(row) = x.get_mut(thread::index_1d()) {
///         row.sort_unstable();
///     }
/// }
/// ```
pub struct DisjointRows<T, I: DisjointIndex<Shape = usize> = ThreadIndex> {
    first: NonNull<T>,
    rows: usize,
    cols: usize,
    _owner: PhantomData<I>,
}

impl<T, I: DisjointIndex<Shape = usize>> DisjointRows<T, I> {
    /// Rows.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointRows;
    ///
    /// fn extent(x: &DisjointRows<f32>) -> usize {
    ///     x.nrows()
    /// }
    /// ```
    #[inline]
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// Columns: elements of a row.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointRows;
    ///
    /// fn extent(x: &DisjointRows<f32>) -> usize {
    ///     x.ncols()
    /// }
    /// ```
    #[inline]
    pub fn ncols(&self) -> usize {
        self.cols
    }

    /// The first element of a row inside the array.
    #[inline]
    fn row(&self, owner: I) -> Option<NonNull<T>> {
        let row = owner.place();
        // SAFETY: the row is one of the array's.
        (row < self.rows).then(|| unsafe { self.first.add(row.wrapping_mul(self.cols)) })
    }
}

impl<T> DisjointRows<T, ThreadIndex> {
    /// The thread's row, or `None` where there are fewer.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointRows;
    /// use gpu_std::thread;
    ///
    /// fn clear(mut x: DisjointRows<f32>) {
    ///     if let Some(row) = x.get_mut(thread::index_1d()) {
    ///         row.fill(0.0);
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn get_mut(&mut self, owner: ThreadIndex) -> Option<&mut [T]> {
        let first = self.row(owner)?;
        // SAFETY: a row has `cols` elements, and no other thread names it.
        Some(unsafe { slice::from_raw_parts_mut(first.as_ptr(), self.cols) })
    }
}

macro_rules! shared {
    ($($owner:ident: $who:literal;)*) => {$(
        impl<T> DisjointRows<T, $owner> {
            #[doc = concat!("This thread's share of its ", $who, "'s row, or `None` where there are fewer rows.")]
            ///
            /// ```
            #[doc = concat!("use gpu_std::disjoint::{DisjointRows, ", stringify!($owner), "};\n\nfn double(x: &mut DisjointRows<f32, ", stringify!($owner), ">, owner: ", stringify!($owner), ") {\n    if let Some(mut row) = x.get_mut(owner) {\n        row.iter_mut().for_each(|x| *x *= 2.0);\n    }\n}")]
            /// ```
            #[inline]
            pub fn get_mut(&mut self, owner: $owner) -> Option<Share<'_, T>> {
                let first = self.row(owner)?;
                // SAFETY: a row has `cols` elements, and is the part of this place.
                Some(unsafe { Share::new(first, self.cols, owner) })
            }
        }
    )*};
}

shared! {
    WarpIndex: "warp";
    BlockIndex: "block";
}

// SAFETY: `RawView` is `repr(C)`.
unsafe impl<T: 'static, I: DisjointIndex<Shape = usize>> KernelParam for DisjointRows<T, I> {
    type Raw = RawView<T, [usize; 2]>;

    #[inline]
    unsafe fn from_raw(view: Self::Raw) -> Self {
        let [rows, cols] = view.shape;
        Self {
            // SAFETY: a live view's pointer is not null.
            first: unsafe { live(view.pointer) },
            rows,
            cols,
            _owner: PhantomData,
        }
    }
}
