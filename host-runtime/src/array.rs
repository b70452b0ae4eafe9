//! Arrays in device memory, typed and shaped.
//!
//! In: host data, a value, or a shape. Out: an owned array that kernels take as an argument and that reads back as an
//! `ndarray` array. Elements lie in standard (row-major) order without gaps. An array keeps its device alive, and its
//! memory is freed in queue order, after the launches that use it.

use std::fmt;
use std::marker::PhantomData;

use bytemuck::Zeroable;
use ndarray::{Array, Dimension, IntoDimension, Ix1, Ix2, Ix3};

use crate::DeviceCopy;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::host::HostData;
use crate::memory::Memory;
use crate::ordering::Access;
use crate::stream::Backend;
use crate::view::{DeviceView, DeviceViewMut};

/// Bytes of the host copy that a fill starts from.
const FILL_BYTES: usize = 64 << 10;

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
    /// Copies host data to the device: a `Vec`, slice, array, or `ndarray` array or view, whose shape is kept.
    /// CUDA C: `cudaMalloc` and `cudaMemcpy`; Numba: `cuda.to_device`.
    ///
    /// An `ndarray` that is not in standard layout is first copied into it on the host.
    ///
    /// # Errors
    ///
    /// If memory runs out, a kernel panicked since the last wait, or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let x = gpu.to_device(&vec![1.5f32; 100])?;
    /// let m = gpu.to_device(&ndarray::Array2::<f64>::eye(4))?;
    /// assert_eq!((x.len(), m.dim()), (100, (4, 4)));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn to_device<H: HostData + ?Sized>(
        &self,
        source: &H,
    ) -> Result<DeviceArray<H::Element, H::Dim>> {
        let mut array = DeviceArray::allocate(self, source.extents())?;
        array.upload(0, &source.elements())?;
        Ok(array)
    }

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
            // SAFETY: the memory is the new array's, and all-zero bytes are a `T`.
            let zero = |backend: &Backend| unsafe { backend.zero(address, bytes) };
            array.memory.access(Access::Write, zero)?;
        }
        Ok(array)
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
    fn allocate(gpu: &Gpu, extents: D) -> Result<Self> {
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
            memory: Memory::new(gpu, len * size_of::<T>())?,
            len,
            extents,
            _elements: PhantomData,
        })
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

    /// Sets all elements to `value`. CUDA C: `cudaMemset`, but for whole elements.
    ///
    /// # Errors
    ///
    /// If the device fails, or a kernel panicked since the last wait.
    pub fn fill(&mut self, value: T) -> Result<()> {
        if self.memory.bytes() == 0 {
            return Ok(());
        }
        let first = self.len.min((FILL_BYTES / size_of::<T>()).max(1));
        self.upload(0, &vec![value; first])?;
        let bytes = |elements: usize| elements * size_of::<T>();
        let start = self.memory.address();
        self.memory.access(Access::Write, |backend| {
            let mut filled = first;
            while filled < self.len {
                let count = filled.min(self.len - filled);
                // SAFETY: the first `filled` elements are written and `count` is at most that, so that both ranges lie
                // in the array and do not overlap.
                unsafe { backend.copy(start + bytes(filled) as u64, start, bytes(count)) }?;
                filled += count;
            }
            Ok(())
        })
    }

    /// Waits and copies the elements to the host, in the array's shape. Numba: `copy_to_host`.
    ///
    /// # Errors
    ///
    /// If a kernel panicked since the last wait, or the device failed.
    pub fn to_host(&self) -> Result<Array<T, D>> {
        let elements = self.to_vec()?;
        Array::from_shape_vec(self.extents.clone(), elements).map_err(|_| Error::ShapeMismatch {
            len: self.len,
            shape: self.shape().to_vec(),
        })
    }

    /// Waits and copies the elements to the host, in standard order.
    ///
    /// # Errors
    ///
    /// If a kernel panicked since the last wait, or the device failed.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut elements = Vec::<T>::with_capacity(self.len);
        let (address, bytes) = (self.memory.address(), self.memory.bytes());
        if bytes == 0 {
            self.gpu().synchronize()?;
        } else {
            self.memory.access(Access::Read, |backend| {
                // SAFETY: the vector has room for the array's bytes.
                unsafe { backend.download(elements.as_mut_ptr().cast(), address, bytes) }
            })?;
        }
        // SAFETY: `len` elements were copied, or have no bytes; all elements of a device array are written before the
        // array is given out (for `uninit`, as its caller promised).
        unsafe { elements.set_len(self.len) };
        Ok(elements)
    }

    /// Replaces all elements by those of host data of the same length; its shape is not looked at.
    ///
    /// # Errors
    ///
    /// If the lengths differ, a kernel panicked since the last wait, or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let mut x = gpu.zeros::<i32>(3)?;
    /// x.copy_from(&[1, 2, 3])?;
    /// assert_eq!(x.to_vec()?, [1, 2, 3]);
    /// let error = x.copy_from(&[1, 2]).unwrap_err();
    /// assert!(error.to_string().contains("2 elements into a device array of 3"));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn copy_from<H: HostData<Element = T> + ?Sized>(&mut self, source: &H) -> Result<()> {
        let elements = source.elements();
        if elements.len() != self.len {
            return Err(Error::LengthMismatch {
                source_len: elements.len(),
                array_len: self.len,
            });
        }
        self.upload(0, &elements)
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

    /// Copies host elements to the place `first` and waits. The caller sees to it that they fit.
    fn upload(&mut self, first: usize, elements: &[T]) -> Result<()> {
        debug_assert!(first + elements.len() <= self.len);
        let bytes = size_of_val(elements);
        if bytes == 0 {
            return self.gpu().synchronize();
        }
        let address = self.memory.address() + (first * size_of::<T>()) as u64;
        self.memory.access(Access::Write, |backend| {
            // SAFETY: the elements fit into the array from `first` on.
            unsafe { backend.upload(address, elements.as_ptr().cast(), bytes) }
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
