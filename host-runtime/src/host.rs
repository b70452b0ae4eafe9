//! Host data that can be copied to a device: vectors, slices, arrays and `ndarray` arrays.
//!
//! In: a reference to any of them. Out: its shape, and its elements in standard (row-major) order, borrowed where they
//! lie so already and copied once where they do not.

use std::borrow::Cow;

use ndarray::{ArrayBase, ArrayRef, Data, Dimension, Ix1};

use crate::DeviceCopy;

/// Host data that [`Gpu::to_device`](crate::Gpu::to_device) and
/// [`DeviceArray::copy_from`](crate::DeviceArray::copy_from) take.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be copied to a device",
    label = "give a `Vec`, a slice, an array or an `ndarray` array whose elements are `DeviceCopy`"
)]
pub trait HostData {
    /// The element type.
    type Element: DeviceCopy;
    /// The `ndarray` dimension of the device array that holds the copy.
    type Dim: Dimension;

    /// The extents.
    fn extents(&self) -> Self::Dim;

    /// The elements in standard order.
    fn elements(&self) -> Cow<'_, [Self::Element]>;
}

impl<T: DeviceCopy> HostData for [T] {
    type Element = T;
    type Dim = Ix1;

    fn extents(&self) -> Ix1 {
        Ix1(self.len())
    }

    fn elements(&self) -> Cow<'_, [T]> {
        Cow::Borrowed(self)
    }
}

impl<T: DeviceCopy, const N: usize> HostData for [T; N] {
    type Element = T;
    type Dim = Ix1;

    fn extents(&self) -> Ix1 {
        Ix1(N)
    }

    fn elements(&self) -> Cow<'_, [T]> {
        Cow::Borrowed(self)
    }
}

impl<T: DeviceCopy> HostData for Vec<T> {
    type Element = T;
    type Dim = Ix1;

    fn extents(&self) -> Ix1 {
        Ix1(self.len())
    }

    fn elements(&self) -> Cow<'_, [T]> {
        Cow::Borrowed(self)
    }
}

impl<T: DeviceCopy, D: Dimension> HostData for ArrayRef<T, D> {
    type Element = T;
    type Dim = D;

    fn extents(&self) -> D {
        self.raw_dim()
    }

    fn elements(&self) -> Cow<'_, [T]> {
        match self.as_slice() {
            Some(elements) => Cow::Borrowed(elements),
            None => Cow::Owned(self.iter().copied().collect()),
        }
    }
}

impl<T: DeviceCopy, S: Data<Elem = T>, D: Dimension> HostData for ArrayBase<S, D> {
    type Element = T;
    type Dim = D;

    fn extents(&self) -> D {
        self.raw_dim()
    }

    fn elements(&self) -> Cow<'_, [T]> {
        let array: &ArrayRef<T, D> = self;
        array.elements()
    }
}

impl<H: HostData + ?Sized> HostData for &H {
    type Element = H::Element;
    type Dim = H::Dim;

    fn extents(&self) -> H::Dim {
        (**self).extents()
    }

    fn elements(&self) -> Cow<'_, [H::Element]> {
        (**self).elements()
    }
}
