//! A thread's elements of a part that it shares with its warp or block.

use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::DisjointIndex;

/// The elements of a row or chunk that belong to this thread of the warp or block that owns it: the element of its own
/// number among the threads, then every one as many further as there are threads. So neighbours write neighbours, and
/// together the threads write the whole part. CUDA C: `for (i = threadIdx.x; i < len; i += blockDim.x)`.
///
/// ```
/// use gpu_std::disjoint::{BlockIndex, DisjointRows};
/// use gpu_std::view::ArrayView2;
/// use gpu_std::block;
///
/// /// Each block subtracts a row's first element from the row.
/// fn shift(a: ArrayView2<f32>, mut out: DisjointRows<f32, BlockIndex>) {
///     let b = block::index();
///     if let Some(mut row) = out.get_mut(b) {
///         for (col, out) in row.indexed_iter_mut() {
///             *out = a[(*b, col)] - a[(*b, 0)];
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Share<'a, T> {
    first: NonNull<T>,
    len: usize,
    rank: usize,
    sharers: usize,
    /// Known to be a multiple of the sharers, so that all have as many elements.
    is_even: bool,
    _elements: PhantomData<&'a mut [T]>,
}

impl<'a, T> Share<'a, T> {
    /// # Safety
    /// The `len` elements from `first` on are the part that `owner` names, and are borrowed mutably for `'a`.
    #[inline]
    pub(super) unsafe fn new(first: NonNull<T>, len: usize, owner: impl DisjointIndex) -> Self {
        Share {
            first,
            len,
            rank: owner.rank(),
            sharers: owner.sharers(),
            is_even: false,
            _elements: PhantomData,
        }
    }

    /// As [`new`](Self::new), for a length that is known when the kernel is compiled. Where the sharers are known too, so is
    /// the number of this thread's elements, and a loop over them can be unrolled.
    ///
    /// # Safety
    /// As of `new`.
    #[inline]
    pub(super) unsafe fn of_known_len(
        first: NonNull<T>,
        len: usize,
        owner: impl DisjointIndex,
    ) -> Self {
        Share {
            is_even: len.is_multiple_of(owner.sharers()),
            // SAFETY: the caller's promise.
            ..unsafe { Share::new(first, len, owner) }
        }
    }

    /// Elements of the whole part.
    ///
    /// ```
    /// use gpu_std::disjoint::Share;
    ///
    /// fn mean(sum: f32, row: &Share<'_, f32>) -> f32 {
    ///     sum / row.len() as f32
    /// }
    /// ```
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the whole part has no elements.
    ///
    /// ```
    /// use gpu_std::disjoint::Share;
    ///
    /// fn is_there(row: &Share<'_, f32>) -> bool {
    ///     !row.is_empty()
    /// }
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// This thread's elements.
    ///
    /// ```
    /// use gpu_std::disjoint::Share;
    ///
    /// fn double(row: &mut Share<'_, f32>) {
    ///     row.iter_mut().for_each(|x| *x *= 2.0);
    /// }
    /// ```
    #[inline]
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut(self.indexed_iter_mut())
    }

    /// This thread's elements, each with its number in the part.
    ///
    /// ```
    /// use gpu_std::disjoint::Share;
    ///
    /// fn number(row: &mut Share<'_, usize>) {
    ///     row.indexed_iter_mut().for_each(|(i, x)| *x = i);
    /// }
    /// ```
    #[inline]
    pub fn indexed_iter_mut(&mut self) -> IndexedIterMut<'_, T> {
        IndexedIterMut {
            first: self.first,
            len: self.len,
            rank: self.rank,
            next: 0,
            step: self.sharers,
            is_even: self.is_even,
            _elements: PhantomData,
        }
    }
}

/// This thread's elements of a part, from [`Share::iter_mut`].
///
/// ```
/// use gpu_std::disjoint::IterMut;
///
/// fn clear(elements: IterMut<'_, f32>) {
///     elements.for_each(|x| *x = 0.0);
/// }
/// ```
#[derive(Debug)]
pub struct IterMut<'a, T>(IndexedIterMut<'a, T>);

impl<'a, T> Iterator for IterMut<'a, T> {
    type Item = &'a mut T;

    #[inline]
    fn next(&mut self) -> Option<&'a mut T> {
        Some(self.0.next()?.1)
    }
}

impl<T> FusedIterator for IterMut<'_, T> {}

/// This thread's elements of a part with their numbers, from [`Share::indexed_iter_mut`].
///
/// ```
/// use gpu_std::disjoint::IndexedIterMut;
///
/// fn number(elements: IndexedIterMut<'_, usize>) {
///     elements.for_each(|(i, x)| *x = i);
/// }
/// ```
#[derive(Debug)]
pub struct IndexedIterMut<'a, T> {
    first: NonNull<T>,
    len: usize,
    rank: usize,
    /// The next element of the thread of rank 0.
    next: usize,
    step: usize,
    is_even: bool,
    _elements: PhantomData<&'a mut [T]>,
}

impl<'a, T> Iterator for IndexedIterMut<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline]
    fn next(&mut self) -> Option<(usize, &'a mut T)> {
        // A part has at most `isize::MAX` bytes and a block at most 1024 threads, but of elements without bytes there may
        // be any number.
        let add = |index: usize, threads| match size_of::<T>() {
            0 => index.saturating_add(threads),
            _ => index.wrapping_add(threads),
        };
        let index = add(self.next, self.rank);
        // Where all threads have as many elements, the loop ends for all as for the first: after a known number of trips.
        if (if self.is_even { self.next } else { index }) >= self.len {
            return None;
        }
        self.next = add(self.next, self.step);
        // SAFETY: the element lies inside the part, its number is this thread's rank modulo the sharers, and the loop
        // comes to it once.
        Some((index, unsafe { self.first.add(index).as_mut() }))
    }
}

impl<T> FusedIterator for IndexedIterMut<'_, T> {}
