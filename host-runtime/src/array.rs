//! Arrays in device memory, typed and shaped.
//!
//! In: host data, a value, or a shape. Out: an owned array that kernels take as an argument and that reads back as an
//! `ndarray` array. Elements lie in standard (row-major) order without gaps. An array keeps its device alive, and its
//! memory is freed in queue order, after the launches that use it. Copies to and from the host are in
//! [`transfer`](crate::transfer), between devices in [`copies`](crate::copies).

use std::fmt;
use std::marker::PhantomData;

use bytemuck::Zeroable;
use ndarray::{Dimension, IntoDimension, Ix1, Ix2, Ix3};

use crate::DeviceCopy;
use crate::bytes::Pattern;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::memory::Memory;
use crate::ordering::Access;
use crate::view::{DeviceView, DeviceViewMut};

/// An array of `T` on a device, with a shape of `ndarray`'s dimension type `D` (one-dimensional by default).
///
/// Kernels take `&array` for `&[T]`, and `&mut array` for a `DisjointSlice` or for atomics.
///
/// An array belongs to the stream of the handle that made it: its copies are queued there, and it is freed there. Launches
/// on other streams of the device may use it too. Uses on different streams of which one writes are run one after the
/// other, in the order of the calls.
///
/// ```
/// use host_runtime::{DeviceArray, Gpu};
/// use ndarray::array;
///
/// let gpu = Gpu::cpu();
/// let a = gpu.to_device(&array![[1, 2, 3], [4, 5, 6]])?;
/// assert_eq!(a.dim(), (2, 3));
/// assert_eq!(a.to_host()?, array![[1, 2, 3], [4, 5, 6]]);
///
/// let flat: DeviceArray<i32> = a.into_shape(6)?;
/// assert_eq!(flat.to_vec()?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), host_runtime::Error>(())
/// ```
pub struct DeviceArray<T: DeviceCopy, D: Dimension = Ix1> {
    memory: Memory,
    len: usize,
    extents: D,
    _elements: PhantomData<T>,
}

/// A device array with rows and columns.
pub type DeviceArray2<T> = DeviceArray<T, Ix2>;
/// A device array of three dimensions.
pub type DeviceArray3<T> = DeviceArray<T, Ix3>;

impl Gpu {
    /// A one-dimensional array of zeros. For other shapes see [`zeros_nd`](Self::zeros_nd).
    ///
    /// # Errors
    ///
    /// If memory runs out or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let c = gpu.zeros::<f32>(1 << 20)?;
    /// assert!(c.to_host()?.iter().all(|x| *x == 0.0));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn zeros<T: DeviceCopy + Zeroable>(&self, len: usize) -> Result<DeviceArray<T>> {
        self.zeros_nd(len)
    }

    /// An array of zeros, of any shape: `gpu.zeros_nd::<f32, _>((rows, cols))`.
    ///
    /// # Errors
    ///
    /// If memory runs out or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let m = gpu.zeros_nd::<f32, _>((3, 4))?;
    /// assert_eq!(m.to_host()?, ndarray::Array2::zeros((3, 4)));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn zeros_nd<T: DeviceCopy + Zeroable, S: IntoDimension>(
        &self,
        shape: S,
    ) -> Result<DeviceArray<T, S::Dim>> {
        let array = DeviceArray::<T, S::Dim>::allocate(self, shape.into_dimension())?;
        let (address, bytes) = (array.memory.address(), array.memory.bytes());
        if bytes > 0 {
            array.memory.access(Access::Write, |backend| {
                // SAFETY: the memory is the new array's, and all-zero bytes are a `T`.
                unsafe { backend.fill(address, Pattern::Byte(0), bytes) }
            })?;
        }
        Ok(array)
    }

    /// An array of zeros, with the shape of another. CuPy: `zeros_like`; Numba: `cuda.device_array_like`.
    ///
    /// # Errors
    ///
    /// If memory runs out or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let m = gpu.full((2, 3), 1.5f32)?;
    /// assert_eq!(gpu.zeros_like(&m)?.to_host()?, ndarray::Array2::zeros((2, 3)));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn zeros_like<T: DeviceCopy + Zeroable, D: Dimension>(
        &self,
        array: &DeviceArray<T, D>,
    ) -> Result<DeviceArray<T, D>> {
        let extents: D = array.extents.clone();
        let mut zeros = DeviceArray::allocate(self, extents)?;
        zeros.fill(T::zeroed())?;
        Ok(zeros)
    }

    /// An array of any shape with `value` everywhere.
    ///
    /// # Errors
    ///
    /// If memory runs out or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// assert_eq!(gpu.full(3, 7u8)?.to_vec()?, [7, 7, 7]);
    /// assert_eq!(gpu.full((2, 2), 0.5)?.to_host()?, ndarray::array![[0.5, 0.5], [0.5, 0.5]]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn full<T: DeviceCopy, S: IntoDimension>(
        &self,
        shape: S,
        value: T,
    ) -> Result<DeviceArray<T, S::Dim>> {
        let mut array = DeviceArray::allocate(self, shape.into_dimension())?;
        array.fill(value)?;
        Ok(array)
    }

    /// An array of any shape whose elements are whatever the memory holds: `gpu.uninit::<f32, _>(n)`.
    ///
    /// # Errors
    ///
    /// If memory runs out or the device fails.
    ///
    /// # Safety
    ///
    /// Every element must be written, by a copy, a fill or a kernel that does not read it first, before anything reads
    /// it: a kernel through `&[T]` or `get_mut`, or the host.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// // SAFETY: the fill writes all elements before they are read.
    /// let mut x = unsafe { gpu.uninit::<u32, _>(4) }?;
    /// x.fill(9)?;
    /// assert_eq!(x.to_vec()?, [9; 4]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub unsafe fn uninit<T: DeviceCopy, S: IntoDimension>(
        &self,
        shape: S,
    ) -> Result<DeviceArray<T, S::Dim>> {
        DeviceArray::allocate(self, shape.into_dimension())
    }
}

impl<T: DeviceCopy, D: Dimension> DeviceArray<T, D> {
    /// Memory for the shape, not yet written. The caller writes every element before the array is given out.
    pub(crate) fn allocate(gpu: &Gpu, extents: D) -> Result<Self> {
        Self::in_memory(extents, |bytes| Memory::new(gpu, bytes))
    }

    /// An array of these extents in memory that is made for so many bytes.
    pub(crate) fn in_memory(
        extents: D,
        memory: impl FnOnce(usize) -> Result<Memory>,
    ) -> Result<Self> {
        let len = extents.size_checked().filter(|len| {
            len.checked_mul(size_of::<T>())
                .is_some_and(|bytes| isize::try_from(bytes).is_ok())
        });
        let Some(len) = len else {
            return Err(Error::ArrayTooLarge {
                shape: extents.slice().to_vec(),
                element_size: size_of::<T>(),
            });
        };
        Ok(Self {
            memory: memory(len * size_of::<T>())?,
            len,
            extents,
            _elements: PhantomData,
        })
    }

    /// An array without memory, in place of one that could not be made: it is not used.
    pub(crate) fn empty(gpu: &Gpu, dimensions: usize) -> Self {
        Self {
            memory: Memory::nothing(gpu),
            len: 0,
            extents: D::zeros(dimensions),
            _elements: PhantomData,
        }
    }

    /// Elements in all.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The extents as `ndarray` gives them: a number, or a tuple of them.
    pub fn dim(&self) -> D::Pattern {
        self.extents.clone().into_pattern()
    }

    /// The extents as a slice.
    pub fn shape(&self) -> &[usize] {
        self.extents.slice()
    }

    /// The device that holds it.
    pub fn gpu(&self) -> &Gpu {
        self.memory.gpu()
    }

    /// The same elements with another shape. Nothing is copied.
    ///
    /// # Errors
    ///
    /// If the shape has more or fewer elements.
    pub fn into_shape<S: IntoDimension>(self, shape: S) -> Result<DeviceArray<T, S::Dim>> {
        let extents = shape.into_dimension();
        if extents.size_checked() != Some(self.len) {
            return Err(Error::ShapeMismatch {
                len: self.len,
                shape: extents.slice().to_vec(),
            });
        }
        Ok(DeviceArray {
            memory: self.memory,
            len: self.len,
            extents,
            _elements: PhantomData,
        })
    }

    /// A view of the whole array, to slice or transpose it for a kernel's parameter.
    ///
    /// ```
    /// use ndarray::{array, s};
    ///
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let a = gpu.to_device(&array![[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(a.view().slice(s![.., ..;-1]).to_host()?, array![[3, 2, 1], [6, 5, 4]]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn view(&self) -> DeviceView<'_, T, D> {
        // SAFETY: the array's elements, which are borrowed as the view says.
        unsafe { DeviceView::new(&self.memory, self.address(), self.extents.clone()) }
    }

    /// A view of the whole array that kernels write through.
    pub fn view_mut(&mut self) -> DeviceViewMut<'_, T, D> {
        // SAFETY: the array's elements, which are borrowed mutably as the view says.
        unsafe { DeviceViewMut::new(&self.memory, self.address(), self.extents.clone()) }
    }

    /// The extents as `ndarray` wants them back.
    pub(crate) fn raw_shape(&self) -> D {
        self.extents.clone()
    }

    /// Refuses another number of elements.
    pub(crate) fn check_len(&self, source_len: usize) -> Result<()> {
        match source_len == self.len {
            true => Ok(()),
            false => Err(Error::LengthMismatch {
                source_len,
                array_len: self.len,
            }),
        }
    }

    /// The allocation behind it.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The first element's address on the device.
    pub(crate) fn address(&self) -> *mut T {
        self.memory.address() as *mut T
    }

    /// The first element's address on the device, for the driver's own functions and for libraries that take one. On the
    /// simulator it is a host address. PyCUDA: `gpudata`; CuPy: `data.ptr`.
    ///
    /// Only the array's own functions are ordered with its queue; what else uses the address must run on
    /// [`Gpu::cuda_stream`], or before or after a [`Gpu::synchronize`], and not after the array is dropped.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let x = gpu.zeros::<f32>(8)?;
    /// assert_eq!(x.device_ptr() % 256, 0);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn device_ptr(&self) -> u64 {
        self.memory.address()
    }
}

impl<T: DeviceCopy, D: Dimension> fmt::Debug for DeviceArray<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = std::any::type_name::<T>();
        write!(
            f,
            "DeviceArray<{element}>({:?} on {:?})",
            self.shape(),
            self.gpu()
        )
    }
}

// SAFETY: the array owns its elements, and the device may be used from any thread.
unsafe impl<T: DeviceCopy + Send, D: Dimension> Send for DeviceArray<T, D> {}

// SAFETY: a shared array is only read.
unsafe impl<T: DeviceCopy + Sync, D: Dimension> Sync for DeviceArray<T, D> {}
