//! Parts of device arrays, as arguments of launches.
//!
//! In: a device array, and `ndarray`'s ways to look at one: slices (`s![1..3, ..;2]`), transposes, other orders of the
//! axes. Out: a pointer, a shape and strides, which a kernel's `ArrayView` or `DisjointSlice` takes. Nothing is copied.
//! `ndarray`'s own raw view does the arithmetic; it never looks at an element.

use std::fmt;
use std::marker::PhantomData;

use ndarray::{Array, Dimension, IntoDimension, RawArrayView, RawArrayViewMut, SliceArg};

use crate::DeviceCopy;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::memory::Memory;
use crate::ordering::Access;

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

            fn with<E: Dimension>(&self, raw: $raw<T, E>) -> $name<'a, T, E> {
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

impl<T: DeviceCopy, D: Dimension> DeviceView<'_, T, D> {
    /// Waits and copies the elements to the host, in the view's shape.
    ///
    /// # Errors
    ///
    /// If a kernel panicked since the last wait, or the device failed.
    pub fn to_host(&self) -> Result<Array<T, D>> {
        let (first, elements) = self.span()?;
        let strides = self.strides();
        Ok(Array::from_shape_fn(self.raw.raw_dim(), |index| {
            let index = index.into_dimension();
            let steps = index.slice().iter().zip(strides);
            let offset: isize = steps.map(|(&i, &stride)| i as isize * stride).sum();
            elements[(first + offset) as usize]
        }))
    }

    /// Everything from the view's lowest element to its highest, and which of them its first is.
    fn span(&self) -> Result<(isize, Vec<T>)> {
        if self.is_empty() || size_of::<T>() == 0 {
            self.gpu().synchronize()?;
        }
        if self.is_empty() {
            return Ok((0, Vec::new()));
        }
        let reaches = || {
            let axes = self.shape().iter().zip(self.strides());
            axes.map(|(&extent, &stride)| (extent as isize - 1) * stride)
        };
        let below: isize = reaches().filter(|&reach| reach < 0).sum();
        let above: isize = reaches().filter(|&reach| reach > 0).sum();
        let count = (above - below) as usize + 1;
        let mut elements = Vec::<T>::with_capacity(count);
        let bytes = count * size_of::<T>();
        if bytes > 0 {
            let lowest = self.address().wrapping_offset(below).addr() as u64;
            self.memory.access(Access::Read, |backend| {
                // SAFETY: the elements between two of an array are the array's, and the vector has room for them.
                unsafe { backend.download(elements.as_mut_ptr().cast(), lowest, bytes) }
            })?;
        }
        // SAFETY: they were copied or have no bytes, and all elements of a device array are written.
        unsafe { elements.set_len(count) };
        Ok((-below, elements))
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
