//! Parts of device arrays, as arguments of launches.
//!
//! In: a device array, and `ndarray`'s ways to look at one: slices (`s![1..3, ..;2]`), transposes, other orders of the
//! axes. Out: a pointer, a shape and strides, which a kernel's `ArrayView` or `DisjointSlice` takes. Nothing is copied.
//! `ndarray`'s own raw view does the arithmetic; it never looks at an element.

use std::fmt;
use std::marker::PhantomData;

use ndarray::{
    Axis, Dimension, IntoDimension, RawArrayView, RawArrayViewMut, RemoveAxis, SliceArg,
};

use crate::DeviceCopy;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::memory::Memory;

/// A part of a [`DeviceArray`](crate::DeviceArray) to read, from [`view`](crate::DeviceArray::view). A launch takes it by
/// value, for `ArrayView2<T, Strided>` and the like; where it is in standard layout also for `ArrayView2<T>` and `&[T]`.
pub struct DeviceView<'a, T: DeviceCopy, D: Dimension> {
    memory: &'a Memory,
    raw: RawArrayView<T, D>,
    _elements: PhantomData<&'a [T]>,
}

/// A part of a [`DeviceArray`](crate::DeviceArray) to write, from [`view_mut`](crate::DeviceArray::view_mut). A launch
/// takes it by value, for `DisjointSlice<T, ThreadIndex2d, Strided>` and the like; where it is in standard layout also for
/// one without `Strided`.
pub struct DeviceViewMut<'a, T: DeviceCopy, D: Dimension> {
    memory: &'a Memory,
    raw: RawArrayViewMut<T, D>,
    _elements: PhantomData<&'a mut [T]>,
}

macro_rules! views {
    ($($name:ident $raw:ident $pointer:ident;)*) => {$(
        impl<'a, T: DeviceCopy, D: Dimension> $name<'a, T, D> {
            /// # Safety
            ///
            /// From `first` on lie the elements of an array of these extents in `memory`, borrowed for `'a`.
            pub(crate) unsafe fn new(memory: &'a Memory, first: *mut T, extents: D) -> Self {
                // SAFETY: as the caller promises; the addresses of device memory are the array's alone in this process.
                let raw = unsafe { $raw::from_shape_ptr(extents, first) };
                Self { memory, raw, _elements: PhantomData }
            }

            /// A part of this view, or the same elements in another order.
            fn with<'b, E: Dimension>(&self, raw: $raw<T, E>) -> $name<'b, T, E>
            where
                'a: 'b,
            {
                $name { memory: self.memory, raw, _elements: PhantomData }
            }

            /// The part inside the ranges of `ndarray`'s `s![...]`, which may have steps, be reversed, or name one index
            /// of an axis and so take it away.
            ///
            /// # Panics
            ///
            /// If a range or index is out of bounds, as in `ndarray`.
            #[track_caller]
            pub fn slice<S: SliceArg<D>>(self, ranges: S) -> $name<'a, T, S::OutDim> {
                self.with(self.raw.clone().slice_move(ranges))
            }

            /// The same elements with the axes in reverse order; for two dimensions the transpose.
            pub fn t(self) -> Self {
                self.with(self.raw.clone().reversed_axes())
            }

            /// The same elements with the axes in the order of their old numbers.
            ///
            /// # Panics
            ///
            /// If `axes` does not name each axis once, as in `ndarray`.
            #[track_caller]
            pub fn permuted_axes(self, axes: impl IntoDimension<Dim = D>) -> Self {
                self.with(self.raw.clone().permuted_axes(axes))
            }

            /// The same elements with another shape. Nothing is copied.
            ///
            /// # Errors
            ///
            /// If the shape has more or fewer elements, or the view is not in standard layout.
            pub fn into_shape<S: IntoDimension>(self, shape: S) -> Result<$name<'a, T, S::Dim>> {
                let extents = shape.into_dimension();
                if extents.size_checked() != Some(self.len()) {
                    return Err(Error::ShapeMismatch {
                        len: self.len(),
                        shape: extents.slice().to_vec(),
                    });
                }
                let wanted = extents.clone();
                let raw = self.raw.clone().into_shape_with_order(extents);
                raw.map(|raw| self.with(raw)).map_err(|_| Error::ReshapeLayout {
                    shape: self.shape().to_vec(),
                    strides: self.strides().to_vec(),
                    wanted: wanted.slice().to_vec(),
                })
            }

            /// What lies before index `index` of the axis, and the rest. Both can be arguments of one launch.
            ///
            /// # Panics
            ///
            /// If the axis or index is out of bounds, as in `ndarray`.
            #[track_caller]
            pub fn split_at(self, axis: Axis, index: usize) -> (Self, Self) {
                let (before, rest) = self.raw.clone().split_at(axis, index);
                (self.with(before), self.with(rest))
            }

            /// The elements with that index of the axis, which is taken away.
            ///
            /// # Panics
            ///
            /// If the axis or index is out of bounds, as in `ndarray`.
            #[track_caller]
            pub fn index_axis(self, axis: Axis, index: usize) -> $name<'a, T, D::Smaller>
            where
                D: RemoveAxis,
            {
                self.with(self.raw.clone().index_axis_move(axis, index))
            }

            /// The same elements with one more axis, of one index.
            ///
            /// # Panics
            ///
            /// If the axis is more than the number of axes, as in `ndarray`.
            #[track_caller]
            pub fn insert_axis(self, axis: Axis) -> $name<'a, T, D::Larger> {
                self.with(self.raw.clone().insert_axis(axis))
            }

            /// The parts with each index of the axis, in order: the rows of two dimensions for `Axis(0)`.
            ///
            /// # Panics
            ///
            /// If the axis is out of bounds, as in `ndarray`.
            #[track_caller]
            pub fn axis_iter(self, axis: Axis) -> impl ExactSizeIterator<Item = $name<'a, T, D::Smaller>>
            where
                D: RemoveAxis,
            {
                // Each index comes once, so that the parts do not overlap.
                let extent = self.raw.len_of(axis);
                (0..extent).map(move |index| self.with(self.raw.clone().index_axis_move(axis, index)))
            }

            /// Parts of `size` indices of the axis each, in order; the last may have fewer.
            ///
            /// # Panics
            ///
            /// If the axis is out of bounds or `size` is 0, as in `ndarray`.
            #[track_caller]
            pub fn axis_chunks(self, axis: Axis, size: usize) -> impl ExactSizeIterator<Item = Self> {
                assert!(size > 0, "`axis_chunks` needs a size of at least 1");
                let extent = self.raw.len_of(axis);
                (0..extent.div_ceil(size)).map(move |number| {
                    let (_, rest) = self.raw.clone().split_at(axis, number * size);
                    let size = size.min(extent - number * size);
                    // Each index comes once, so that the parts do not overlap.
                    self.with(rest.split_at(axis, size).0)
                })
            }

            /// The extents as `ndarray` wants them back.
            pub(crate) fn raw_shape(&self) -> D {
                self.raw.raw_dim()
            }

            /// The extents as `ndarray` gives them: a number, or a tuple of them.
            pub fn dim(&self) -> D::Pattern {
                self.raw.dim()
            }

            /// The extents as a slice.
            pub fn shape(&self) -> &[usize] {
                self.raw.shape()
            }

            /// The distance of neighbours along each axis, in elements.
            pub fn strides(&self) -> &[isize] {
                self.raw.strides()
            }

            /// Elements in all.
            pub fn len(&self) -> usize {
                self.raw.len()
            }

            /// Whether there are no elements.
            pub fn is_empty(&self) -> bool {
                self.raw.is_empty()
            }

            /// Whether the elements lie in row-major order without gaps.
            pub fn is_standard_layout(&self) -> bool {
                self.raw.is_standard_layout()
            }

            /// The device that holds it.
            pub fn gpu(&self) -> &Gpu {
                self.memory.gpu()
            }

            /// The allocation behind it.
            pub(crate) fn memory(&self) -> &Memory {
                self.memory
            }

            /// The address of the element whose index is all zeros.
            pub(crate) fn address(&self) -> *mut T {
                self.raw.$pointer().cast_mut()
            }
        }

        impl<T: DeviceCopy, D: Dimension> fmt::Debug for $name<'_, T, D> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (shape, strides) = (self.shape(), self.strides());
                write!(f, "{}({shape:?}, strides {strides:?}, on {:?})", stringify!($name), self.gpu())
            }
        }
    )*};
}

views! {
    DeviceView RawArrayView as_ptr;
    DeviceViewMut RawArrayViewMut as_ptr;
}

impl<T: DeviceCopy, D: Dimension> Clone for DeviceView<'_, T, D> {
    fn clone(&self) -> Self {
        self.with(self.raw.clone())
    }
}

impl<T: DeviceCopy, D: Dimension + Copy> Copy for DeviceView<'_, T, D> {}

impl<T: DeviceCopy, D: Dimension> DeviceViewMut<'_, T, D> {
    /// The same view for a shorter time, so that it can be sliced or passed on and used again later.
    ///
    /// ```
    /// use ndarray::{array, s};
    ///
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let mut m = gpu.zeros_nd::<i32, _>((2, 3))?;
    /// let mut view = m.view_mut();
    /// view.reborrow().slice(s![0, ..]).fill(1)?;
    /// view.slice(s![1, ..]).fill(2)?;
    /// assert_eq!(m.to_host()?, array![[1, 1, 1], [2, 2, 2]]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn reborrow(&mut self) -> DeviceViewMut<'_, T, D> {
        self.with(self.raw.clone())
    }

    /// The elements to read.
    pub fn as_view(&self) -> DeviceView<'_, T, D> {
        DeviceView {
            memory: self.memory,
            raw: self.raw.raw_view(),
            _elements: PhantomData,
        }
    }
}

// SAFETY: as a shared reference to the array.
unsafe impl<T: DeviceCopy + Sync, D: Dimension> Send for DeviceView<'_, T, D> {}

// SAFETY: as a shared reference to the array.
unsafe impl<T: DeviceCopy + Sync, D: Dimension> Sync for DeviceView<'_, T, D> {}

// SAFETY: as a mutable reference to the array.
unsafe impl<T: DeviceCopy + Send, D: Dimension> Send for DeviceViewMut<'_, T, D> {}

// SAFETY: as a shared reference to the array.
unsafe impl<T: DeviceCopy + Sync, D: Dimension> Sync for DeviceViewMut<'_, T, D> {}
