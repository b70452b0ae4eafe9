//! A fixed number of neighbouring elements for each owner.

use core::marker::PhantomData;
use core::ptr::NonNull;

use super::{BlockIndex, DisjointIndex, Share, ThreadIndex, WarpIndex};
use crate::kernel::{KernelParam, RawView};
use crate::live::live;

/// The widest access of a thread, in bytes.
const WIDEST: usize = 16;

/// A kernel parameter in chunks of `K` elements, each of which belongs to one thread ([`ThreadIndex`], the default), one
/// warp ([`WarpIndex`]) or one block ([`BlockIndex`]). On the host the argument is a `&mut DeviceArray` whose length is a
/// multiple of `K`: another one is an error of the launch.
///
/// A thread's chunk of 8 or 16 bytes is written at once (`st.global.v2`, `v4`). CUDA C: `float4 *out`.
///
/// ```
/// use gpu_std::disjoint::DisjointChunks;
/// use gpu_std::thread;
///
/// fn squares(mut out: DisjointChunks<u32, 4>) {
///     let i = thread::index_1d();
///     if let Some(out) = out.get_mut(i) {
///         *out = core::array::from_fn(|k| (4 * *i + k).pow(2) as u32);
///     }
/// }
/// ```
pub struct DisjointChunks<T, const K: usize, I: DisjointIndex<Shape = usize> = ThreadIndex> {
    first: NonNull<[T; K]>,
    chunks: usize,
    _owner: PhantomData<I>,
}

impl<T, const K: usize, I: DisjointIndex<Shape = usize>> DisjointChunks<T, K, I> {
    /// How the host aligns the first element: to the largest power of two that divides a chunk's bytes, at most 16.
    #[doc(hidden)]
    pub const ALIGN: usize = {
        assert!(K > 0, "a chunk has at least one element");
        let bytes = size_of::<[T; K]>();
        let power = if bytes == 0 {
            1
        } else {
            1 << bytes.trailing_zeros()
        };
        let least = align_of::<T>();
        if power >= WIDEST && least <= WIDEST {
            WIDEST
        } else if power > least {
            power
        } else {
            least
        }
    };

    /// Chunks.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointChunks;
    ///
    /// fn elements(out: &DisjointChunks<f32, 4>) -> usize {
    ///     4 * out.len()
    /// }
    /// ```
    #[inline]
    pub fn len(&self) -> usize {
        self.chunks
    }

    /// Whether there are no chunks.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointChunks;
    ///
    /// fn is_there(out: &DisjointChunks<f32, 4>) -> bool {
    ///     !out.is_empty()
    /// }
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.chunks == 0
    }

    /// A chunk inside the array.
    #[inline]
    fn chunk(&self, owner: I) -> Option<NonNull<[T; K]>> {
        let chunk = owner.place();
        // SAFETY: the chunk is one of the array's.
        (chunk < self.chunks).then(|| unsafe { self.first.add(chunk) })
    }
}

impl<T, const K: usize> DisjointChunks<T, K, ThreadIndex> {
    /// The thread's chunk, or `None` where there are fewer.
    ///
    /// ```
    /// use gpu_std::disjoint::DisjointChunks;
    /// use gpu_std::thread;
    ///
    /// fn double(mut x: DisjointChunks<f32, 4>) {
    ///     if let Some(x) = x.get_mut(thread::index_1d()) {
    ///         *x = x.map(|x| 2.0 * x);
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn get_mut(&mut self, owner: ThreadIndex) -> Option<&mut [T; K]> {
        let mut chunk = self.chunk(owner)?;
        // SAFETY: no other thread names the chunk.
        Some(unsafe { chunk.as_mut() })
    }
}

macro_rules! shared {
    ($($owner:ident: $who:literal;)*) => {$(
        impl<T, const K: usize> DisjointChunks<T, K, $owner> {
            #[doc = concat!("This thread's share of its ", $who, "'s chunk, or `None` where there are fewer chunks.")]
            ///
            /// ```
            #[doc = concat!("use gpu_std::disjoint::{DisjointChunks, ", stringify!($owner), "};\n\nfn double(x: &mut DisjointChunks<f32, 128, ", stringify!($owner), ">, owner: ", stringify!($owner), ") {\n    if let Some(mut x) = x.get_mut(owner) {\n        x.iter_mut().for_each(|x| *x *= 2.0);\n    }\n}")]
            /// ```
            #[inline]
            pub fn get_mut(&mut self, owner: $owner) -> Option<Share<'_, T>> {
                let chunk = self.chunk(owner)?;
                // SAFETY: the chunk has `K` elements, and is the part of this place.
                Some(unsafe { Share::of_known_len(chunk.cast(), K, owner) })
            }
        }
    )*};
}

shared! {
    WarpIndex: "warp";
    BlockIndex: "block";
}

// SAFETY: `RawView` is `repr(C)`.
unsafe impl<T: 'static, const K: usize, I: DisjointIndex<Shape = usize>> KernelParam
    for DisjointChunks<T, K, I>
{
    /// Its shape is the number of chunks, and its pointer is aligned to [`ALIGN`](Self::ALIGN).
    type Raw = RawView<T, usize>;

    #[inline]
    unsafe fn from_raw(view: Self::Raw) -> Self {
        // SAFETY: the host sees to the alignment, which makes the wide accesses.
        unsafe { core::hint::assert_unchecked(view.pointer.addr().is_multiple_of(Self::ALIGN)) };
        Self {
            // SAFETY: a live view's pointer is not null.
            first: unsafe { live(view.pointer.cast()) },
            chunks: view.shape,
            _owner: PhantomData,
        }
    }
}
