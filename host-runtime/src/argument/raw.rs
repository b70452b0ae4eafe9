//! The raw views that cross a launch: a pointer with a length, or with extents and strides. What does not have the
//! parameter's dimensions or layout is noted as the launch's error, in place of a view of nothing.

use gpu_std::kernel::RawView;
use gpu_std::view::{Extents, Layout, Standard};
use ndarray::{Dimension, Ix2};

use super::Arguments;
use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::error::Error;
use crate::ordering::Access;

/// The raw form of a view of `N` dimensions.
pub(super) type Shaped<T, const N: usize, L> =
    RawView<T, Extents<[usize; N], <L as Layout>::Strides<N>>>;

/// All elements, in order.
#[inline]
pub(super) fn flat<T: DeviceCopy, D: Dimension>(
    array: &DeviceArray<T, D>,
    access: Access,
    arguments: &mut Arguments,
) -> RawView<T, usize> {
    arguments.uses(array.memory(), access);
    RawView {
        pointer: array.address(),
        shape: array.len(),
    }
}

#[inline]
pub(super) fn rows_and_columns<T: DeviceCopy>(
    array: &DeviceArray<T, Ix2>,
    arguments: &mut Arguments,
) -> RawView<T, [usize; 2]> {
    arguments.uses(array.memory(), Access::Write);
    let (rows, cols) = array.dim();
    RawView {
        pointer: array.address(),
        shape: [rows, cols],
    }
}

/// A whole array, for a parameter of any layout.
#[inline]
pub(super) fn of_array<T, const N: usize, L: Layout>(
    pointer: *mut T,
    shape: &[usize],
    arguments: &mut Arguments,
) -> Shaped<T, N, L> {
    let strides = match <[usize; N]>::try_from(shape) {
        Ok(shape) => Standard::strides(shape, ()),
        // Refused with the shape.
        Err(_) => [0; N],
    };
    of_view::<T, N, L>(pointer, shape, &strides, arguments)
}

/// A part of an array, if it has the parameter's dimensions and layout.
#[inline]
pub(super) fn of_view<T, const N: usize, L: Layout>(
    pointer: *mut T,
    shape: &[usize],
    strides: &[isize],
    arguments: &mut Arguments,
) -> Shaped<T, N, L> {
    let of = |shape: [usize; N], strides| RawView {
        pointer,
        shape: Extents { shape, strides },
    };
    let (Ok(extents), Ok(distances)) = (shape.try_into(), strides.try_into()) else {
        arguments.fails(Error::DimensionMismatch {
            wanted: N,
            shape: shape.to_vec(),
        });
        return of([0; N], L::of_nothing());
    };
    match L::of_strides(extents, distances) {
        Some(strides) => of(extents, strides),
        None => {
            arguments.fails(not_standard(shape, strides));
            of([0; N], L::of_nothing())
        }
    }
}

#[inline]
pub(super) fn one_dimension<T, R>(
    view: RawView<T, Extents<[usize; 1], R>>,
) -> RawView<T, Extents<usize, R>> {
    let Extents {
        shape: [len],
        strides,
    } = view.shape;
    RawView {
        pointer: view.pointer,
        shape: Extents {
            shape: len,
            strides,
        },
    }
}

#[cold]
pub(super) fn not_standard(shape: &[usize], strides: &[isize]) -> Error {
    Error::NotStandardLayout {
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    }
}
