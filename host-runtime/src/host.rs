//! Host data that can be copied to a device: vectors, slices, arrays and `ndarray` arrays.
//!
//! In: a reference to any of them. Out: its shape, and its elements in standard (row-major) order: all at once where
//! they lie so already, and otherwise in runs, each of which is copied straight to where the device reads it. An array
//! in any layout is therefore read once, and no second array is made of it.

use std::borrow::Cow;

use ndarray::{ArrayBase, ArrayRef, Axis, Data, DataMut, Dimension, Ix1, Ix2};

use crate::DeviceCopy;
use crate::pinned::PinnedArray;

/// Most bytes that are gathered to a run.
const RUN_BYTES: usize = 32 << 10;
/// Most bytes of rows that are gathered together, of an array whose columns are contiguous.
const ROWS_BYTES: usize = 1 << 20;
/// Most rows that are gathered together: some cache lines of each column.
const ROWS: usize = 64;
/// Columns of a tile: cache lines of each row.
const TILE: usize = 32;

/// Host data that [`Gpu::to_device`](crate::Gpu::to_device) and
/// [`DeviceArray::copy_from`](crate::DeviceArray::copy_from) take: a `Vec`, slice, array, [`PinnedArray`], or `ndarray`
/// array or view of any layout.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be copied to a device",
    label = "give a `Vec`, a slice, an array or an `ndarray` array whose elements are `DeviceCopy`",
    note = "for elements of a type of your own: `#[derive(Clone, Copy, DeviceCopy)]`"
)]
pub trait HostData: sealed::Sealed {
    /// The element type.
    type Element: DeviceCopy;
    /// The `ndarray` dimension of the device array that holds the copy.
    type Dim: Dimension;

    /// The extents.
    fn extents(&self) -> Self::Dim;

    /// All elements, where they lie in standard order without gaps.
    fn as_standard(&self) -> Option<&[Self::Element]>;

    /// Hands over all elements in standard order, in runs.
    #[doc(hidden)]
    fn for_each_run(&self, take: &mut dyn FnMut(&[Self::Element])) {
        if let Some(elements) = self.as_standard() {
            take(elements);
        }
    }

    /// Whether the device reads it without a copy of the driver's.
    #[doc(hidden)]
    fn is_pinned(&self) -> bool {
        false
    }
}

/// Host data that [`DeviceArray::copy_to`](crate::DeviceArray::copy_to) fills: a slice, `Vec`, array, [`PinnedArray`],
/// or `ndarray` array or mutable view in standard layout.
pub trait HostDataMut: HostData {
    /// All elements, where they lie in standard order without gaps.
    fn as_standard_mut(&mut self) -> Option<&mut [Self::Element]>;

    /// Takes over all elements, which come in standard order.
    #[doc(hidden)]
    fn assign(&mut self, elements: &[Self::Element]) {
        if let Some(all) = self.as_standard_mut() {
            all.copy_from_slice(elements);
        }
    }
}

/// All elements in standard order: where they are, or else a copy.
pub(crate) fn in_standard_order<H: HostData + ?Sized>(source: &H) -> Cow<'_, [H::Element]> {
    match source.as_standard() {
        Some(elements) => Cow::Borrowed(elements),
        None => {
            let mut elements = Vec::with_capacity(source.extents().size());
            source.for_each_run(&mut |run| elements.extend_from_slice(run));
            Cow::Owned(elements)
        }
    }
}

mod sealed {
    /// The sources are the crate's: what is copied to a device must have as many elements as it says.
    pub trait Sealed {}
}

macro_rules! flat {
    ($($(const $n:ident)? $type:ty: |$this:ident| $len:expr;)*) => {$(
        impl<T: DeviceCopy $(, const $n: usize)?> sealed::Sealed for $type {}

        impl<T: DeviceCopy $(, const $n: usize)?> HostData for $type {
            type Element = T;
            type Dim = Ix1;

            fn extents(&self) -> Ix1 {
                let $this = self;
                Ix1($len)
            }

            fn as_standard(&self) -> Option<&[T]> {
                Some(self)
            }
        }

        impl<T: DeviceCopy $(, const $n: usize)?> HostDataMut for $type {
            fn as_standard_mut(&mut self) -> Option<&mut [T]> {
                Some(self)
            }
        }
    )*};
}

flat! {
    [T]: |this| this.len();
    Vec<T>: |this| this.len();
    const N [T; N]: |_this| N;
}

impl<T: DeviceCopy> sealed::Sealed for PinnedArray<T> {}

impl<T: DeviceCopy> HostData for PinnedArray<T> {
    type Element = T;
    type Dim = Ix1;

    fn extents(&self) -> Ix1 {
        Ix1(self.len())
    }

    fn as_standard(&self) -> Option<&[T]> {
        Some(self)
    }

    fn is_pinned(&self) -> bool {
        true
    }
}

impl<T: DeviceCopy> HostDataMut for PinnedArray<T> {
    fn as_standard_mut(&mut self) -> Option<&mut [T]> {
        Some(self)
    }
}

impl<T: DeviceCopy, D: Dimension> sealed::Sealed for ArrayRef<T, D> {}

impl<T: DeviceCopy, D: Dimension> HostData for ArrayRef<T, D> {
    type Element = T;
    type Dim = D;

    fn extents(&self) -> D {
        self.raw_dim()
    }

    fn as_standard(&self) -> Option<&[T]> {
        self.as_slice()
    }

    fn for_each_run(&self, take: &mut dyn FnMut(&[T])) {
        if let Some(elements) = self.as_slice() {
            return take(elements);
        }
        let matrix = self.view().into_dimensionality::<Ix2>();
        match matrix {
            Ok(matrix) if matrix.strides()[0].abs() == 1 => columns_to_rows(&matrix, take),
            _ => rows(self, take),
        }
    }
}

/// The rows one after the other.
fn rows<T: DeviceCopy, D: Dimension>(array: &ArrayRef<T, D>, take: &mut dyn FnMut(&[T])) {
    let most = (RUN_BYTES / size_of::<T>().max(1)).max(1);
    let mut gathered = Vec::with_capacity(most);
    for row in array.rows() {
        match row.as_slice() {
            Some(elements) if elements.len() >= most => {
                take(&gathered);
                gathered.clear();
                take(elements);
            }
            Some(elements) => {
                if gathered.len() + elements.len() > most {
                    take(&gathered);
                    gathered.clear();
                }
                gathered.extend_from_slice(elements);
            }
            None => {
                for &element in row {
                    gathered.push(element);
                    if gathered.len() == most {
                        take(&gathered);
                        gathered.clear();
                    }
                }
            }
        }
    }
    take(&gathered);
}

/// The rows of a matrix whose columns are contiguous: several at once, through tiles that stay in the cache, so that
/// each cache line of the matrix is read once and each of the rows is written once.
fn columns_to_rows<T: DeviceCopy>(matrix: &ArrayRef<T, Ix2>, take: &mut dyn FnMut(&[T])) {
    let (rows, cols) = matrix.dim();
    let Some(&first) = matrix.first() else {
        return;
    };
    let most = ROWS_BYTES / (cols * size_of::<T>()).max(1);
    let together = most.clamp(1, ROWS).min(rows);
    let mut gathered = vec![first; together * cols];
    let mut tile = vec![first; together * TILE];
    for block in matrix.axis_chunks_iter(Axis(0), together) {
        for left in (0..cols).step_by(TILE) {
            let width = TILE.min(cols - left);
            for (number, place) in tile.chunks_exact_mut(together).take(width).enumerate() {
                let column = block.column(left + number);
                match column.as_slice() {
                    Some(elements) => place[..elements.len()].copy_from_slice(elements),
                    None => place
                        .iter_mut()
                        .zip(column)
                        .for_each(|(to, &from)| *to = from),
                }
            }
            for (row, line) in gathered
                .chunks_exact_mut(cols)
                .take(block.nrows())
                .enumerate()
            {
                for (number, place) in line[left..left + width].iter_mut().enumerate() {
                    *place = tile[number * together + row];
                }
            }
        }
        take(&gathered[..block.len()]);
    }
}

impl<T: DeviceCopy, D: Dimension> HostDataMut for ArrayRef<T, D> {
    fn as_standard_mut(&mut self) -> Option<&mut [T]> {
        self.as_slice_mut()
    }

    fn assign(&mut self, elements: &[T]) {
        for (place, &element) in self.iter_mut().zip(elements) {
            *place = element;
        }
    }
}

impl<T: DeviceCopy, S: Data<Elem = T>, D: Dimension> sealed::Sealed for ArrayBase<S, D> {}

impl<T: DeviceCopy, S: Data<Elem = T>, D: Dimension> HostData for ArrayBase<S, D> {
    type Element = T;
    type Dim = D;

    fn extents(&self) -> D {
        self.raw_dim()
    }

    fn as_standard(&self) -> Option<&[T]> {
        self.as_slice()
    }

    fn for_each_run(&self, take: &mut dyn FnMut(&[T])) {
        let array: &ArrayRef<T, D> = self;
        array.for_each_run(take);
    }
}

impl<T: DeviceCopy, S: DataMut<Elem = T>, D: Dimension> HostDataMut for ArrayBase<S, D> {
    fn as_standard_mut(&mut self) -> Option<&mut [T]> {
        self.as_slice_mut()
    }

    fn assign(&mut self, elements: &[T]) {
        let array: &mut ArrayRef<T, D> = self;
        HostDataMut::assign(array, elements);
    }
}

impl<H: HostData + ?Sized> sealed::Sealed for &H {}

impl<H: HostData + ?Sized> HostData for &H {
    type Element = H::Element;
    type Dim = H::Dim;

    fn extents(&self) -> H::Dim {
        (**self).extents()
    }

    fn as_standard(&self) -> Option<&[H::Element]> {
        (**self).as_standard()
    }

    fn for_each_run(&self, take: &mut dyn FnMut(&[H::Element])) {
        (**self).for_each_run(take);
    }

    fn is_pinned(&self) -> bool {
        (**self).is_pinned()
    }
}
