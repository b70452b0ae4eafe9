//! One element for each owner.

use core::ptr::NonNull;

use super::{DisjointIndex, ThreadIndex, ThreadIndex2d, ThreadIndex3d};
use crate::kernel::{KernelParam, RawView};
use crate::live::live;
use crate::thread;
use crate::view::{Extents, Layout, Shape, Standard};

/// A kernel parameter that every thread of the launch writes, each its own elements.
///
/// `I` says who owns an element: a thread of a one-dimensional launch ([`ThreadIndex`], the default), of a
/// two-dimensional one ([`ThreadIndex2d`], the array then has rows and columns) or three-dimensional one
/// ([`ThreadIndex3d`]: planes, rows and columns), a warp ([`WarpIndex`](super::WarpIndex)) or a block
/// ([`BlockIndex`](super::BlockIndex), [`BlockIndex2d`](super::BlockIndex2d)), whose first thread gets the element.
/// `L` is the layout: [`Standard`] unless [`Strided`](crate::view::Strided) is named.
///
/// On the host the argument is a `&mut DeviceArray` of as many dimensions, or a mutable view of one; for one dimension
/// a device array of any shape.
///
/// ```
/// use gpu_std::disjoint::ThreadIndex2d;
/// use gpu_std::view::ArrayView2;
/// use gpu_std::{DisjointSlice, thread};
///
/// fn transpose(a: ArrayView2<f32>, mut out: DisjointSlice<f32, ThreadIndex2d>) {
///     let i = thread::index_2d();
///     if let Some(out) = out.get_mut(i) {
///         *out = a[(i.col(), i.row())];
///     }
/// }
/// ```
///
/// CUDA C: `float *out`, which each thread writes at its own index.
pub struct DisjointSlice<T, I: DisjointIndex = ThreadIndex, L: Layout = Standard> {
    first: NonNull<T>,
    shape: I::Shape,
    strides: <I::Shape as Shape>::Strides<L>,
}

impl<T, I: DisjointIndex, L: Layout> DisjointSlice<T, I, L> {
    /// The element of `index`, or `None` where it lies outside the slice (a thread beyond the end) or belongs to
    /// another thread (the index of a block or warp in a thread that is not its first).
    ///
    /// A comparison with the length. CUDA C: `if (i < n) out[i] = ...`.
    ///
    /// ```
    /// use gpu_std::{DisjointSlice, thread};
    ///
    /// fn double(x: &[f32], mut out: DisjointSlice<f32>) {
    ///     let i = thread::index_1d();
    ///     if let Some(out) = out.get_mut(i) {
    ///         *out = 2.0 * x[i];
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn get_mut(&mut self, index: I) -> Option<&mut T> {
        let inside = index.is_first() && self.shape.contains(index.place());
        // SAFETY: the element lies inside the shape, and by `DisjointIndex` no other thread names it.
        inside.then(|| unsafe { self.element(index).as_mut() })
    }

    /// # Safety
    /// The index lies inside the shape.
    #[inline]
    unsafe fn element(&self, index: I) -> NonNull<T> {
        let place = index.place();
        // SAFETY: the place lies inside the shape.
        unsafe { self.shape.element::<T, L>(self.first, place, self.strides) }
    }

    /// Length, or the extents: rows and columns, or planes, rows and columns.
    ///
    /// No load: it came with the parameter.
    ///
    /// ```
    /// use gpu_std::DisjointSlice;
    /// use gpu_std::disjoint::ThreadIndex2d;
    ///
    /// fn cols(out: &DisjointSlice<f32, ThreadIndex2d>) -> usize {
    ///     out.shape()[1]
    /// }
    /// ```
    #[inline]
    pub fn shape(&self) -> I::Shape {
        self.shape
    }

    /// Elements in all.
    ///
    /// ```
    /// use gpu_std::{DisjointSlice, thread};
    ///
    /// fn own(out: &DisjointSlice<f32>) -> usize {
    ///     thread::grid_stride(out.len()).count()
    /// }
    /// ```
    #[inline]
    pub fn len(&self) -> usize {
        self.shape.elements()
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use gpu_std::DisjointSlice;
    ///
    /// fn is_there(out: &DisjointSlice<f32>) -> bool {
    ///     !out.is_empty()
    /// }
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

macro_rules! grid_stride {
    ($($index:ident: $function:ident, $doc:literal;)*) => {$(
        impl<T, L: Layout> DisjointSlice<T, $index, L> {
            #[doc = concat!("This thread's elements in a grid-stride loop, each with its index: those of [`thread::", stringify!($function), "`].")]
            #[doc = "Together the threads of a launch visit each element exactly once, whatever the grid."]
            #[doc = ""]
            #[doc = $doc]
            #[inline]
            pub fn grid_stride_mut(&mut self) -> impl Iterator<Item = ($index, &mut T)> {
                let slice = &*self;
                thread::$function(slice.shape).map(|index| {
                    // SAFETY: the index lies inside the shape, no other thread names it, and this loop comes to it
                    // once, while the slice is borrowed.
                    (index, unsafe { slice.element(index).as_mut() })
                })
            }
        }
    )*};
}

grid_stride! {
    ThreadIndex: grid_stride, "
```
use gpu_std::DisjointSlice;

fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    for (i, y) in y.grid_stride_mut() {
        *y += a * x[i];
    }
}
```";
    ThreadIndex2d: grid_stride_2d, "
```
use gpu_std::DisjointSlice;
use gpu_std::disjoint::ThreadIndex2d;
use gpu_std::view::ArrayView2;

fn add(a: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    for (i, c) in c.grid_stride_mut() {
        *c += a[i];
    }
}
```";
    ThreadIndex3d: grid_stride_3d, "
```
use gpu_std::DisjointSlice;
use gpu_std::disjoint::ThreadIndex3d;
use gpu_std::view::ArrayView3;

fn add(a: ArrayView3<f32>, mut c: DisjointSlice<f32, ThreadIndex3d>) {
    for (i, c) in c.grid_stride_mut() {
        *c += a[i];
    }
}
```";
}

// SAFETY: `RawView` and `Extents` are `repr(C)`.
unsafe impl<T: 'static, I: DisjointIndex, L: Layout> KernelParam for DisjointSlice<T, I, L> {
    type Raw = RawView<T, Extents<I::Shape, <I::Shape as Shape>::Strides<L>>>;

    #[inline]
    unsafe fn from_raw(view: Self::Raw) -> Self {
        let Extents { shape, strides } = view.shape;
        Self {
            // SAFETY: a live view's pointer is not null.
            first: unsafe { live(view.pointer) },
            shape,
            strides,
        }
    }
}
