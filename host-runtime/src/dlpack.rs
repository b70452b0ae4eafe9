//! DLPack: arrays that go to and come from other libraries without a copy, such as PyTorch, CuPy, JAX and NumPy.
//!
//! In and out: the structs of `dlpack.h`, of version 1 and of the time before versions. A tensor that goes out owns the
//! array, and its deleter drops it; one that comes in is given back by its deleter when the array is dropped. Tensors carry
//! no stream here: what goes out has been waited for, and what comes in must be.

use std::ffi::c_void;
use std::ptr::NonNull;

use gpu_std::half::{Bf16, F16};
use ndarray::Dimension;

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::error::{Error, Result};
use crate::foreign::ForeignFault;
use crate::gpu::Gpu;
use crate::ordering::Access;
use crate::stream::Backend;

/// `kDLCPU`.
const CPU: i32 = 1;
/// `kDLCUDA`.
const CUDA: i32 = 2;
/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
const READ_ONLY: u64 = 1;

/// Where a tensor is: `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// 1 for the host, 2 for a CUDA device.
    pub device_type: i32,
    /// The device's number.
    pub device_id: i32,
}

/// The type of a tensor's elements: `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// 0 for signed integers, 1 for unsigned ones, 2 for IEEE floats, 4 for bfloat16, 6 for bool.
    pub code: u8,
    /// Bits of an element.
    pub bits: u8,
    /// Elements of a vector; 1 for scalars.
    pub lanes: u16,
}

/// A tensor without an owner: `DLTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct DLTensor {
    /// The address of the allocation.
    pub data: *mut c_void,
    /// Where it is.
    pub device: DLDevice,
    /// How many extents there are.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DLDataType,
    /// The extents.
    pub shape: *mut i64,
    /// The distances of neighbours in elements; null for row-major order without gaps.
    pub strides: *mut i64,
    /// Where the first element is, in bytes from `data`.
    pub byte_offset: u64,
}

/// A tensor with its owner, of the time before versions: `DLManagedTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The owner's.
    pub manager_ctx: *mut c_void,
    /// Gives the tensor back.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// A version of DLPack.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// Changes with the layout of the structs.
    pub major: u32,
    /// Changes with what values mean.
    pub minor: u32,
}

/// A tensor with its owner: `DLManagedTensorVersioned`.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// The version of the struct.
    pub version: DLPackVersion,
    /// The owner's.
    pub manager_ctx: *mut c_void,
    /// Gives the tensor back.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// Bit 0: read-only.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

/// An element type that DLPack has.
#[diagnostic::on_unimplemented(
    message = "DLPack has no elements of type `{Self}`",
    label = "DLPack takes integers of 8 to 64 bits, `bool`, `F16`, `Bf16`, `f32` and `f64`"
)]
pub trait DlpackElement: DeviceCopy + Send + Sync + 'static {
    /// DLPack's word for it.
    const DATA_TYPE: DLDataType;
}

macro_rules! elements {
    ($($type:ty: $code:literal)*) => {$(
        impl DlpackElement for $type {
            const DATA_TYPE: DLDataType = DLDataType {
                code: $code,
                bits: 8 * size_of::<$type>() as u8,
                lanes: 1,
            };
        }
    )*};
}

elements!(i8: 0 i16: 0 i32: 0 i64: 0 u8: 1 u16: 1 u32: 1 u64: 1 F16: 2 f32: 2 f64: 2 Bf16: 4 bool: 6);

/// What a tensor that went out owns.
struct Owner<T: DeviceCopy, D: Dimension> {
    array: DeviceArray<T, D>,
    extents: Vec<i64>,
    strides: Vec<i64>,
}

impl<T: DlpackElement, D: Dimension + 'static> DeviceArray<T, D> {
    /// The array as a DLPack tensor of version 1.0, which owns it. Waits for what uses the array, so that the receiver may
    /// use it on any stream. Its deleter must be called, else the memory is lost. CuPy: `a.toDlpack()`.
    ///
    /// # Errors
    ///
    /// If a plan or a graph has the array too, a kernel panicked, or the device failed.
    ///
    /// ```
    /// let gpu = host_runtime::Gpu::cpu();
    /// let tensor = gpu.to_device(&[1.0f32, 2.0])?.into_dlpack()?;
    /// // SAFETY: the tensor is valid, and is given to one receiver.
    /// let back = unsafe { gpu.from_dlpack::<f32, ndarray::Ix1>(tensor) }?;
    /// assert_eq!(back.to_vec()?, [1.0, 2.0]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn into_dlpack(self) -> Result<NonNull<DLManagedTensorVersioned>> {
        let (owner, dl_tensor) = self.exported()?;
        let tensor = Box::new(DLManagedTensorVersioned {
            version: DLPackVersion { major: 1, minor: 0 },
            manager_ctx: Box::into_raw(owner).cast(),
            deleter: Some(delete_versioned::<T, D>),
            flags: 0,
            dl_tensor,
        });
        Ok(NonNull::from(Box::leak(tensor)))
    }

    /// As [`into_dlpack`](Self::into_dlpack), for receivers of the time before versions.
    ///
    /// # Errors
    ///
    /// As for [`into_dlpack`](Self::into_dlpack).
    pub fn into_dlpack_unversioned(self) -> Result<NonNull<DLManagedTensor>> {
        let (owner, dl_tensor) = self.exported()?;
        let tensor = Box::new(DLManagedTensor {
            dl_tensor,
            manager_ctx: Box::into_raw(owner).cast(),
            deleter: Some(delete::<T, D>),
        });
        Ok(NonNull::from(Box::leak(tensor)))
    }

    fn exported(self) -> Result<(Box<Owner<T, D>>, DLTensor)> {
        if self.memory().is_shared() {
            return Err(Error::InPlan);
        }
        self.memory().wait_on_host(Access::Write)?;
        self.gpu().synchronize()?;
        let signed = |value: &usize| *value as i64;
        let mut owner = Box::new(Owner {
            extents: self.shape().iter().map(signed).collect(),
            strides: self.shape().iter().map(signed).collect(),
            array: self,
        });
        let mut distance = 1;
        for stride in owner.strides.iter_mut().rev() {
            distance *= std::mem::replace(stride, distance);
        }
        let dl_tensor = DLTensor {
            data: owner.array.address().cast(),
            device: device_of(owner.array.gpu()),
            ndim: owner.extents.len() as i32,
            dtype: T::DATA_TYPE,
            shape: owner.extents.as_mut_ptr(),
            strides: owner.strides.as_mut_ptr(),
            byte_offset: 0,
        };
        Ok((owner, dl_tensor))
    }
}

/// Drops a tensor that went out.
unsafe extern "C" fn delete_versioned<T: DeviceCopy, D: Dimension>(
    tensor: *mut DLManagedTensorVersioned,
) {
    // SAFETY: the receiver calls this once, with the tensor that it was given; both boxes were made for it.
    unsafe {
        let tensor = Box::from_raw(tensor);
        drop(Box::from_raw(tensor.manager_ctx.cast::<Owner<T, D>>()));
    }
}

/// Drops a tensor that went out.
unsafe extern "C" fn delete<T: DeviceCopy, D: Dimension>(tensor: *mut DLManagedTensor) {
    // SAFETY: as in `delete_versioned`.
    unsafe {
        let tensor = Box::from_raw(tensor);
        drop(Box::from_raw(tensor.manager_ctx.cast::<Owner<T, D>>()));
    }
}

/// A tensor that came in, to be given back on any thread.
struct Given<T>(NonNull<T>);

// SAFETY: DLPack demands of deleters that they may be called on any thread.
unsafe impl<T> Send for Given<T> {}

// SAFETY: a shared reference gives nothing.
unsafe impl<T> Sync for Given<T> {}

impl Given<DLManagedTensorVersioned> {
    fn give_back(self) {
        // SAFETY: the tensor is valid until this, and its deleter is called once.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter {
                deleter(self.0.as_ptr());
            }
        }
    }
}

impl Given<DLManagedTensor> {
    fn give_back(self) {
        // SAFETY: the tensor is valid until this, and its deleter is called once.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter {
                deleter(self.0.as_ptr());
            }
        }
    }
}

impl Gpu {
    /// The array of a DLPack tensor, which is given back when the array is dropped. CuPy: `cupy.from_dlpack`.
    ///
    /// # Errors
    ///
    /// If the tensor is of another type, device, number of dimensions or major version, is not row-major without gaps, is
    /// read-only, or does not begin at a multiple of 256 bytes, as CUDA's allocations do. Then it is given back before this
    /// returns.
    ///
    /// # Safety
    ///
    /// The tensor is valid and given to this call alone. What its producer has queued to write it is done. Until it is
    /// given back nothing else writes it.
    pub unsafe fn from_dlpack<T: DlpackElement, D: Dimension>(
        &self,
        tensor: NonNull<DLManagedTensorVersioned>,
    ) -> Result<DeviceArray<T, D>> {
        let given = Given(tensor);
        // SAFETY: the caller gives a valid tensor. Of another major version only the beginning is looked at.
        let (version, flags) = unsafe {
            (
                (*tensor.as_ptr()).version,
                &raw const (*tensor.as_ptr()).flags,
            )
        };
        let fault = match version.major {
            // SAFETY: the tensor has the layout of this version.
            1 if unsafe { *flags } & READ_ONLY != 0 => Some(ForeignFault::ReadOnly),
            1 => None,
            major => Some(ForeignFault::Version {
                given: (major, version.minor),
            }),
        };
        if let Some(what) = fault {
            given.give_back();
            return Err(Error::Foreign { what });
        }
        // SAFETY: the caller gives a valid tensor, whose layout is that of this version, and sees to the rest.
        unsafe { self.imported(&(*tensor.as_ptr()).dl_tensor, move || given.give_back()) }
    }

    /// As [`from_dlpack`](Self::from_dlpack), for tensors of the time before versions.
    ///
    /// # Errors
    ///
    /// As for [`from_dlpack`](Self::from_dlpack).
    ///
    /// # Safety
    ///
    /// As for [`from_dlpack`](Self::from_dlpack).
    pub unsafe fn from_dlpack_unversioned<T: DlpackElement, D: Dimension>(
        &self,
        tensor: NonNull<DLManagedTensor>,
    ) -> Result<DeviceArray<T, D>> {
        let given = Given(tensor);
        // SAFETY: as the caller promises.
        unsafe { self.imported(&(*tensor.as_ptr()).dl_tensor, move || given.give_back()) }
    }

    /// # Safety
    ///
    /// As for [`from_dlpack`](Self::from_dlpack), of which this is the common part.
    unsafe fn imported<T: DlpackElement, D: Dimension>(
        &self,
        tensor: &DLTensor,
        release: impl FnOnce() + Send + Sync + 'static,
    ) -> Result<DeviceArray<T, D>> {
        // SAFETY: the tensor is valid.
        match unsafe { extents_of::<T, D>(tensor, device_of(self)) } {
            Ok(extents) => {
                let address = tensor.data as u64 + tensor.byte_offset;
                // SAFETY: the tensor is of this device and has these elements; the caller sees to the rest.
                unsafe { self.array_from_raw(address, extents, release) }
            }
            Err(what) => {
                release();
                Err(Error::Foreign { what })
            }
        }
    }
}

/// DLPack's word for a device. The simulator's memory is the host's.
fn device_of(gpu: &Gpu) -> DLDevice {
    let (device_type, device_id) = match gpu.backend() {
        Backend::Cuda(stream) => (CUDA, stream.ordinal() as i32),
        Backend::Simulator(_) => (CPU, 0),
    };
    DLDevice {
        device_type,
        device_id,
    }
}

/// The extents of a tensor that can be an array on that device.
///
/// # Safety
///
/// The tensor is valid.
unsafe fn extents_of<T: DlpackElement, D: Dimension>(
    tensor: &DLTensor,
    device: DLDevice,
) -> std::result::Result<D, ForeignFault> {
    let parts = |of: DLDataType| (of.code, of.bits, of.lanes);
    if tensor.dtype != T::DATA_TYPE {
        return Err(ForeignFault::Element {
            wanted: parts(T::DATA_TYPE),
            given: parts(tensor.dtype),
        });
    }
    if tensor.device != device {
        let pair = |of: DLDevice| (of.device_type, of.device_id);
        return Err(ForeignFault::Device {
            wanted: pair(device),
            given: pair(tensor.device),
        });
    }
    let count = usize::try_from(tensor.ndim).unwrap_or_default();
    let list = |first: *mut i64| match count {
        0 => Vec::new(),
        // SAFETY: a valid tensor has as many extents, and strides if there are any.
        _ => unsafe { std::slice::from_raw_parts(first, count) }.to_vec(),
    };
    let shape = list(tensor.shape);
    if D::NDIM.is_some_and(|wanted| wanted != count) {
        return Err(ForeignFault::Dimensions {
            wanted: D::NDIM.unwrap_or_default(),
            given: count,
        });
    }
    let strides = (!tensor.strides.is_null()).then(|| list(tensor.strides));
    if !is_row_major(&shape, strides.as_deref()) {
        let strides = strides.unwrap_or_default();
        return Err(ForeignFault::Layout { shape, strides });
    }
    let mut extents = D::zeros(count);
    for (extent, given) in extents.slice_mut().iter_mut().zip(shape) {
        *extent = given as usize;
    }
    Ok(extents)
}

/// Whether elements lie in row-major order without gaps. The stride of an axis of one element does not count.
fn is_row_major(shape: &[i64], strides: Option<&[i64]>) -> bool {
    if shape.iter().any(|&extent| extent < 0) {
        return false;
    }
    let (Some(strides), false) = (strides, shape.contains(&0)) else {
        return true;
    };
    let mut distance = 1i64;
    shape.iter().zip(strides).rev().all(|(&extent, &stride)| {
        let fits = extent == 1 || stride == distance;
        distance = distance.saturating_mul(extent);
        fits
    })
}
