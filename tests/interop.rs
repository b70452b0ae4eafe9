//! Arrays that go to other libraries and come from them: DLPack, raw pointers, and a library that works on the stream.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::{Array3, Ix1, Ix2, Ix3, IxDyn};
use oxwarp::dlpack::{DLManagedTensorVersioned, DlpackElement};
use oxwarp::half::{Bf16, F16};
use oxwarp::prelude::*;
use oxwarp::{Error, ForeignFault, Result};

mod common;
use common::Random;

#[kernel]
fn add_one(mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x += 1.0;
    }
}

fn fault<T>(result: Result<T>) -> ForeignFault {
    match result.map(drop) {
        Err(Error::Foreign { what }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tensor_is_the_array_without_a_copy() -> Result<()> {
    let gpu = Gpu::new()?;
    let values = Random::new(1).floats(2 * 3 * 5, -1.0, 1.0);
    let values = Array3::from_shape_vec((2, 3, 5), values).unwrap();
    let x = gpu.to_device(&values)?;
    let address = x.device_ptr();
    let tensor = x.into_dlpack()?;
    // SAFETY: the tensor is valid until it is given back.
    let inside = unsafe { &tensor.as_ref().dl_tensor };
    assert_eq!(
        (inside.data as u64, inside.ndim, inside.byte_offset),
        (address, 3, 0)
    );
    assert_eq!(
        (inside.dtype.code, inside.dtype.bits, inside.dtype.lanes),
        (2, 32, 1)
    );
    assert_eq!(
        inside.device.device_type,
        if gpu.is_simulator() { 1 } else { 2 }
    );
    // SAFETY: there are three extents and strides.
    let lists =
        unsafe { [inside.shape, inside.strides].map(|first| std::slice::from_raw_parts(first, 3)) };
    assert_eq!(lists, [[2, 3, 5], [15, 5, 1]]);
    // SAFETY: the tensor is valid, and given to this call alone.
    let mut x = unsafe { gpu.from_dlpack::<f32, Ix3>(tensor) }?;
    assert_eq!(x.device_ptr(), address);
    add_one.for_each(x.len()).launch(&mut x)?;
    let tensor = x.into_dlpack_unversioned()?;
    // SAFETY: as above.
    let x = unsafe { gpu.from_dlpack_unversioned::<f32, IxDyn>(tensor) }?;
    assert_eq!(x.to_host()?, (values + 1.0).into_dyn());
    Ok(())
}

#[test]
fn every_type_has_its_code() -> Result<()> {
    fn code<T: DlpackElement>() -> (u8, u8, u16) {
        (T::DATA_TYPE.code, T::DATA_TYPE.bits, T::DATA_TYPE.lanes)
    }
    assert_eq!(
        [code::<i8>(), code::<i16>(), code::<i32>(), code::<i64>()],
        [8, 16, 32, 64].map(|bits| (0, bits, 1))
    );
    assert_eq!(
        [code::<u8>(), code::<u16>(), code::<u32>(), code::<u64>()],
        [8, 16, 32, 64].map(|bits| (1, bits, 1))
    );
    assert_eq!(
        [code::<F16>(), code::<f32>(), code::<f64>()],
        [16, 32, 64].map(|bits| (2, bits, 1))
    );
    assert_eq!([code::<Bf16>(), code::<bool>()], [(4, 16, 1), (6, 8, 1)]);
    Ok(())
}

/// A tensor of four elements whose deleter only counts; the caller may change it.
fn counted(gpu: &Gpu, deleted: &Arc<AtomicUsize>) -> Result<NonNull<DLManagedTensorVersioned>> {
    unsafe extern "C" fn count(tensor: *mut DLManagedTensorVersioned) {
        // SAFETY: the context is the counter, which the test keeps.
        let counter = unsafe { &*(*tensor).manager_ctx.cast::<AtomicUsize>() };
        counter.fetch_add(1, Ordering::SeqCst);
    }
    let mut tensor = gpu.to_device(&[1.0f32, 2.0, 3.0, 4.0])?.into_dlpack()?;
    // SAFETY: the tensor is valid. Its array is never dropped, which is a small loss to a test.
    unsafe {
        tensor.as_mut().manager_ctx = Arc::as_ptr(deleted).cast_mut().cast();
        tensor.as_mut().deleter = Some(count);
    }
    Ok(tensor)
}

#[test]
fn a_tensor_that_does_not_fit_is_given_back_with_the_reason() -> Result<()> {
    let gpu = Gpu::new()?;
    let deleted = Arc::new(AtomicUsize::new(0));
    let mut expected = 0;
    let mut refused = |change: &dyn Fn(&mut DLManagedTensorVersioned)| {
        let mut tensor = counted(&gpu, &deleted).unwrap();
        // SAFETY: the tensor is valid, and what is changed is looked at before it is used.
        let what = unsafe {
            change(tensor.as_mut());
            fault(gpu.from_dlpack::<f32, Ix1>(tensor))
        };
        expected += 1;
        assert_eq!(deleted.load(Ordering::SeqCst), expected, "{what}");
        what
    };
    assert_eq!(
        refused(&|tensor| tensor.dl_tensor.dtype.code = 0),
        ForeignFault::Element {
            wanted: (2, 32, 1),
            given: (0, 32, 1)
        }
    );
    assert!(matches!(
        refused(&|tensor| tensor.dl_tensor.device.device_id = 9),
        ForeignFault::Device { given: (_, 9), .. }
    ));
    assert!(matches!(
        refused(&|tensor| tensor.dl_tensor.byte_offset = 4),
        ForeignFault::Alignment { .. }
    ));
    assert!(matches!(
        refused(&|tensor| tensor.flags = 1),
        ForeignFault::ReadOnly
    ));
    assert_eq!(
        refused(&|tensor| tensor.version.major = 2),
        ForeignFault::Version { given: (2, 0) }
    );
    // SAFETY: there is one stride.
    let strided = refused(&|tensor| unsafe { *tensor.dl_tensor.strides = 2 });
    assert_eq!(
        strided,
        ForeignFault::Layout {
            shape: vec![4],
            strides: vec![2]
        }
    );
    assert!(strided.to_string().contains("make it contiguous"));
    // SAFETY: the tensor is valid.
    let what = unsafe { fault(gpu.from_dlpack::<f32, Ix2>(counted(&gpu, &deleted)?)) };
    assert_eq!(
        what,
        ForeignFault::Dimensions {
            wanted: 2,
            given: 1
        }
    );
    Ok(())
}

#[test]
fn memory_is_given_back_after_its_last_use() -> Result<()> {
    let gpu = Gpu::new()?;
    let deleted = Arc::new(AtomicUsize::new(0));
    let other = gpu.new_stream()?;
    // SAFETY: the tensor is valid.
    let mut x = unsafe { gpu.from_dlpack::<f32, Ix1>(counted(&gpu, &deleted)?) }?;
    let source = x.device_ptr();
    for _ in 0..100 {
        add_one.for_each(4).on(&other).launch(&mut x)?;
    }
    assert_eq!(
        (x.to_vec()?, deleted.load(Ordering::SeqCst)),
        (vec![101.0, 102.0, 103.0, 104.0], 0)
    );
    drop(x);
    assert_eq!(deleted.load(Ordering::SeqCst), 1);
    // The array of the test's tensor is still there: a raw pointer to it.
    let released = Arc::new(AtomicUsize::new(0));
    let count = released.clone();
    // SAFETY: the four elements are there, and nothing else uses them.
    let x = unsafe {
        gpu.array_from_raw::<f32, _>(source, (2, 2), move || {
            count.fetch_add(1, Ordering::SeqCst);
        })
    }?;
    assert_eq!(
        x.to_host()?,
        ndarray::array![[101.0, 102.0], [103.0, 104.0]]
    );
    drop(x);
    assert_eq!(released.load(Ordering::SeqCst), 1);
    // An address that arrays do not have is refused, and the memory given back.
    let count = released.clone();
    // SAFETY: the address is not used.
    let what = fault(unsafe {
        gpu.array_from_raw::<f32, _>(source + 4, 3, move || {
            count.fetch_add(1, Ordering::SeqCst);
        })
    });
    assert_eq!(
        (what, released.load(Ordering::SeqCst)),
        (
            ForeignFault::Alignment {
                address: source + 4
            },
            2
        )
    );
    Ok(())
}

/// The functions of cuBLAS that the test calls.
struct Cublas {
    library: libloading::Library,
    handle: *mut c_void,
}

impl Cublas {
    /// On the stream, if cuBLAS is found.
    fn open(stream: *mut c_void) -> Option<Self> {
        let names = ["libcublas.so.13", "libcublas.so.12", "libcublas.so"];
        // SAFETY: the library's initialiser may run in any process.
        let library = names
            .iter()
            .find_map(|name| unsafe { libloading::Library::new(*name) }.ok())?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the functions have these types, and the stream is alive.
        unsafe {
            let create = library
                .get::<unsafe extern "C" fn(*mut *mut c_void) -> c_int>(b"cublasCreate_v2\0")
                .ok()?;
            assert_eq!(create(&mut handle), 0);
            let set = library
                .get::<unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int>(
                    b"cublasSetStream_v2\0",
                )
                .ok()?;
            assert_eq!(set(handle, stream), 0);
        }
        Some(Self { library, handle })
    }

    /// `y += factor * x`.
    fn saxpy(&self, factor: f32, x: &DeviceArray<f32>, y: &mut DeviceArray<f32>) {
        type Saxpy = unsafe extern "C" fn(
            *mut c_void,
            c_int,
            *const f32,
            *const f32,
            c_int,
            *mut f32,
            c_int,
        ) -> c_int;
        let (from, to) = (x.device_ptr() as *const f32, y.device_ptr() as *mut f32);
        // SAFETY: the function has this type, and both arrays as many elements.
        let status = unsafe {
            let saxpy = self.library.get::<Saxpy>(b"cublasSaxpy_v2\0").unwrap();
            saxpy(self.handle, x.len() as c_int, &factor, from, 1, to, 1)
        };
        assert_eq!(status, 0);
    }
}

#[test]
fn a_library_works_between_launches_on_the_same_stream() -> Result<()> {
    let gpu = Gpu::new()?;
    let Some(cublas) = gpu.cuda_stream().and_then(Cublas::open) else {
        eprintln!("skipped: there is no CUDA device, or no cuBLAS");
        return Ok(());
    };
    let (mut x, mut y) = (gpu.zeros::<f32>(100_000)?, gpu.full(100_000, 0.5f32)?);
    for _ in 0..10 {
        add_one.for_each(x.len()).launch(&mut x)?;
        cublas.saxpy(2.0, &x, &mut y);
        add_one.for_each(y.len()).launch(&mut y)?;
    }
    // 0.5 + 2 (1 + 2 + ... + 10) + 10
    assert_eq!(y.to_vec()?, vec![120.5; 100_000]);
    Ok(())
}
