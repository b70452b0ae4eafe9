//! What `a[i]` says of a device array: its elements are not the host's to refer to.
//!
//! rustc has no more to say than "cannot index into a value of type" where a type is not [`Index`]; where it is, for indices
//! that do not exist, the error says what to write.

use std::ops::{Index, IndexMut};

use ndarray::Dimension;

use crate::{DeviceArray, DeviceCopy};

/// An index of a [`DeviceArray`] in brackets: there is none.
#[diagnostic::on_unimplemented(
    message = "the host does not index a `DeviceArray`: its elements are in device memory",
    label = "copy it to the host first",
    note = "to read: `let host = array.to_host()?;` (an `ndarray`) or `array.to_vec()?`, then `host[i]`",
    note = "to write: fill a host array and `gpu.to_device(&host)?` or `array.copy_from(&host)?`; or write in a kernel"
)]
pub trait NoIndexOfDeviceArray {
    /// Nothing can.
    fn never(self) -> !;
}

#[doc(hidden)]
impl<T: DeviceCopy, D: Dimension, N: NoIndexOfDeviceArray> Index<N> for DeviceArray<T, D> {
    type Output = T;

    fn index(&self, index: N) -> &T {
        index.never()
    }
}

#[doc(hidden)]
impl<T: DeviceCopy, D: Dimension, N: NoIndexOfDeviceArray> IndexMut<N> for DeviceArray<T, D> {
    fn index_mut(&mut self, index: N) -> &mut T {
        index.never()
    }
}
