//! Arrays in memory of another library: a raw pointer in.
//!
//! In: an address on the device, and what gives the memory back. Out: an array like any other, which is not freed but given
//! back. DLPack tensors come in the same way ([`dlpack`](crate::dlpack)).

use std::fmt;

use ndarray::IntoDimension;

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::memory::{ALIGN, Memory, Release};

/// Why memory of another library cannot be an array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForeignFault {
    /// Its address is not a multiple of what arrays begin at.
    Alignment {
        /// The address.
        address: u64,
    },
    /// A tensor's elements are of another type.
    Element {
        /// The type of the array, as DLPack's code, bits and lanes.
        wanted: (u8, u8, u16),
        /// The tensor's.
        given: (u8, u8, u16),
    },
    /// A tensor is on another device.
    Device {
        /// The device, as DLPack's type and number.
        wanted: (i32, i32),
        /// The tensor's.
        given: (i32, i32),
    },
    /// A tensor has another number of dimensions than the array's type.
    Dimensions {
        /// Of the array.
        wanted: usize,
        /// Of the tensor.
        given: usize,
    },
    /// A tensor's elements do not lie in row-major order without gaps, or an extent is negative.
    Layout {
        /// The tensor's extents.
        shape: Vec<i64>,
        /// Its strides, in elements.
        strides: Vec<i64>,
    },
    /// A tensor is of a major version of DLPack that is not known here.
    Version {
        /// The version.
        given: (u32, u32),
    },
    /// A tensor is marked as read-only, and arrays can be written.
    ReadOnly,
}

impl fmt::Display for ForeignFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alignment { address } => write!(
                f,
                "it begins at {address:#x}, and arrays at multiples of {ALIGN}; copy it"
            ),
            Self::Element { wanted, given } => write!(
                f,
                "its elements have DLPack's (code, bits, lanes) {given:?}, and those of the array {wanted:?}"
            ),
            Self::Device { wanted, given } => write!(
                f,
                "it is on DLPack's device (type, number) {given:?}, and this is {wanted:?}"
            ),
            Self::Dimensions { wanted, given } => {
                write!(f, "it has {given} dimension(s), and the array {wanted}")
            }
            Self::Layout { shape, strides } => write!(
                f,
                "its shape {shape:?} with strides {strides:?} is not row-major without gaps; make it contiguous"
            ),
            Self::Version {
                given: (major, minor),
            } => {
                write!(f, "it is of DLPack {major}.{minor}, and only 1 is known")
            }
            Self::ReadOnly => f.write_str("it is marked as read-only; copy it"),
        }
    }
}

impl Gpu {
    /// An array in memory of another library, from `address` on, which is given back by `release` when the array is
    /// dropped and all that used it is done. On the simulator it is host memory.
    /// CuPy: `cuda.UnownedMemory`; PyCUDA: `GPUArray(gpudata=...)`.
    ///
    /// The other way is [`device_ptr`](DeviceArray::device_ptr).
    ///
    /// # Errors
    ///
    /// If the address is not a multiple of 256, as CUDA's allocations are, or the shape is too large. Then `release` is
    /// called before this returns.
    ///
    /// # Safety
    ///
    /// The memory is this device's, holds valid elements for the whole shape, and its allocation has whole units of 16
    /// bytes, as those of CUDA have. Until `release` is called nothing else writes it, and what is queued elsewhere to do
    /// so is done when this is called.
    ///
    /// ```
    /// use host_runtime::Gpu;
    ///
    /// # #[repr(align(256))]
    /// # struct Aligned([f32; 64]);
    /// let gpu = Gpu::cpu();
    /// let mut owner = Box::new(Aligned([1.5; 64]));
    /// let address = (&raw mut *owner) as u64;
    /// // SAFETY: the box has these elements, is aligned, and is dropped by the release.
    /// let x = unsafe { gpu.array_from_raw::<f32, _>(address, (8, 8), move || drop(owner)) }?;
    /// assert_eq!(x.to_host()?, ndarray::Array2::from_elem((8, 8), 1.5));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub unsafe fn array_from_raw<T: DeviceCopy, S: IntoDimension>(
        &self,
        address: u64,
        shape: S,
        release: impl FnOnce() + Send + Sync + 'static,
    ) -> Result<DeviceArray<T, S::Dim>> {
        let mut release: Option<Release> = Some(Box::new(release));
        let array = DeviceArray::in_memory(shape.into_dimension(), |bytes| {
            if bytes > 0 && !address.is_multiple_of(ALIGN as u64) {
                let what = ForeignFault::Alignment { address };
                return Err(Error::Foreign { what });
            }
            let release = release.take().unwrap_or_else(|| Box::new(|| ()));
            Ok(Memory::foreign(self, address, bytes, release))
        });
        if let Some(release) = release {
            release();
        }
        array
    }
}
