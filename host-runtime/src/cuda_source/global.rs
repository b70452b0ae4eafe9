//! A variable of a module, which the host reads and writes.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::AnyBitPattern;

use super::error::CudaSourceError;
use super::module::Loaded;
use crate::DeviceCopy;
use crate::error::Result;

/// A `__constant__` or `__device__` variable of a [`CudaModule`](super::CudaModule), as elements of `T`: see
/// [`CudaModule::get_global`](super::CudaModule::get_global). A single number is one element, and so is a struct.
///
/// Reading and writing wait for what was queued on all streams of the device before, and are done when they return.
/// CUDA C: `cudaMemcpyFromSymbol`, `cudaMemcpyToSymbol`.
pub struct CudaGlobal<T> {
    module: Arc<Loaded>,
    name: String,
    address: u64,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: DeviceCopy> CudaGlobal<T> {
    pub(super) fn new(module: Arc<Loaded>, name: &str, address: u64, bytes: usize) -> Result<Self> {
        let element_bytes = size_of::<T>();
        if element_bytes == 0 || !bytes.is_multiple_of(element_bytes) {
            return Err(CudaSourceError::GlobalType {
                module: module.name().to_owned(),
                name: name.to_owned(),
                bytes,
                element: std::any::type_name::<T>(),
                element_bytes,
            }
            .into());
        }
        Ok(Self {
            module,
            name: name.to_owned(),
            address,
            len: bytes / element_bytes,
            elements: PhantomData,
        })
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements, which no variable of C++ has.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its address on the device, for the driver's own functions and for kernels that take a pointer to it.
    pub fn device_ptr(&self) -> u64 {
        self.address
    }

    /// Reads all elements. Any bytes must be a value of `T`, as for numbers and arrays of them: the kernels may have written
    /// anything.
    ///
    /// # Errors
    ///
    /// If a kernel failed since the last wait, or the device fails.
    pub fn to_vec(&self) -> Result<Vec<T>>
    where
        T: AnyBitPattern,
    {
        self.module.stream()?.wait_for_device()?;
        let mut values = vec![T::zeroed(); self.len];
        let bytes = size_of_val(&*values);
        // SAFETY: the variable and the vector have so many bytes each, and any bytes are values.
        unsafe {
            let to = values.as_mut_ptr().cast();
            self.module
                .gpu()
                .backend()
                .download(to, self.address, bytes)
        }?;
        Ok(values)
    }

    /// Writes all elements.
    ///
    /// # Errors
    ///
    /// If there are not as many as the variable has, a kernel failed since the last wait, or the device fails.
    pub fn copy_from(&self, values: &[T]) -> Result<()> {
        if values.len() != self.len {
            return Err(CudaSourceError::GlobalLength {
                module: self.module.name().to_owned(),
                name: self.name.clone(),
                len: self.len,
                given: values.len(),
            }
            .into());
        }
        self.module.stream()?.wait_for_device()?;
        let backend = self.module.gpu().backend();
        let from = values.as_ptr().cast();
        // SAFETY: the variable and the slice have so many bytes each.
        unsafe { backend.upload(self.address, from, size_of_val(values), false) }?;
        // What reads the variable later, on any stream, does not know of this copy.
        backend.synchronize()
    }
}

impl<T> fmt::Debug for CudaGlobal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaGlobal({}: {} elements)", self.name, self.len)
    }
}
