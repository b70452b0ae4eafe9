//! What threads write, each its own parts: the disjoint parameters, and the one that nothing makes disjoint, from mutable
//! borrows of arrays and views.

use gpu_std::disjoint::{
    BlockIndex, BlockIndex2d, DisjointChunks, DisjointColumns, DisjointIndex, DisjointRows,
    DisjointSlice, DisjointTiles, ThreadIndex, ThreadIndex2d, ThreadIndex3d, WarpIndex,
};
use gpu_std::kernel::RawView;
use gpu_std::matrix::DisjointFragments;
use gpu_std::view::{Extents, Layout, UnsafeSlice};
use ndarray::{Dim, Dimension, Ix1, Ix2, IxDyn};

use super::raw::{Shaped, flat, of_array, of_view, one_dimension, rows_and_columns};
use super::{Arguments, KernelArg};
use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::error::Error;
use crate::memory;
use crate::ordering::Access;
use crate::view::DeviceViewMut;

/// One number counts the parts: they are the elements in order, whatever the array's shape.
macro_rules! in_one_dimension {
    ($($index:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, D: Dimension, L: Layout> KernelArg<DisjointSlice<T, $index, L>>
            for &mut DeviceArray<T, D>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> RawView<T, Extents<usize, L::Strides<1>>> {
                let RawView { pointer, shape } = flat(self, Access::Write, arguments);
                one_dimension(of_array::<T, 1, L>(pointer, &[shape], arguments))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, L: Layout> KernelArg<DisjointSlice<T, $index, L>>
            for DeviceViewMut<'_, T, Ix1>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> RawView<T, Extents<usize, L::Strides<1>>> {
                arguments.uses(self.memory(), Access::Write);
                one_dimension(of_view::<T, 1, L>(self.address(), self.shape(), self.strides(), arguments))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, D: Dimension, const K: usize> KernelArg<DisjointChunks<T, K, $index>>
            for &mut DeviceArray<T, D>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
                const { assert!(DisjointChunks::<T, K, $index>::ALIGN <= memory::ALIGN) };
                let RawView { pointer, shape: len } = flat(self, Access::Write, arguments);
                if !len.is_multiple_of(K) {
                    arguments.fails(Error::NotInChunks { len, chunk: K });
                }
                RawView { pointer, shape: len / K }
            }
        }
    )*};
}

in_one_dimension!(ThreadIndex WarpIndex BlockIndex);

/// The parts are counted along each axis.
macro_rules! in_several_dimensions {
    ($($index:ident: $n:literal;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, L: Layout> KernelArg<DisjointSlice<T, $index, L>>
            for &mut DeviceArray<T, Dim<[usize; $n]>>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> Shaped<T, $n, L> {
                arguments.uses(self.memory(), Access::Write);
                of_array::<T, $n, L>(self.address(), self.shape(), arguments)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, L: Layout> KernelArg<DisjointSlice<T, $index, L>>
            for &mut DeviceArray<T, IxDyn>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> Shaped<T, $n, L> {
                arguments.uses(self.memory(), Access::Write);
                of_array::<T, $n, L>(self.address(), self.shape(), arguments)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, L: Layout> KernelArg<DisjointSlice<T, $index, L>>
            for DeviceViewMut<'_, T, Dim<[usize; $n]>>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> Shaped<T, $n, L> {
                arguments.uses(self.memory(), Access::Write);
                of_view::<T, $n, L>(self.address(), self.shape(), self.strides(), arguments)
            }
        }
    )*};
}

in_several_dimensions! {
    ThreadIndex2d: 2;
    BlockIndex2d: 2;
    ThreadIndex3d: 3;
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, I: DisjointIndex<Shape = usize>> KernelArg<DisjointRows<T, I>>
    for &mut DeviceArray<T, Ix2>
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, [usize; 2]> {
        rows_and_columns(self, arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static> KernelArg<DisjointColumns<T>> for &mut DeviceArray<T, Ix2> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, [usize; 2]> {
        rows_and_columns(self, arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T, I, const R: usize, const C: usize> KernelArg<DisjointTiles<T, R, C, I>>
    for &mut DeviceArray<T, Ix2>
where
    T: DeviceCopy + 'static,
    I: DisjointIndex<Shape = [usize; 2]>,
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, [usize; 2]> {
        rows_and_columns(self, arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T, const R: usize, const C: usize> KernelArg<DisjointFragments<T, R, C>>
    for &mut DeviceArray<T, Ix2>
where
    T: DeviceCopy + 'static,
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, [usize; 2]> {
        rows_and_columns(self, arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, D: Dimension> KernelArg<UnsafeSlice<T>> for &mut DeviceArray<T, D> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
        flat(self, Access::Write, arguments)
    }
}
