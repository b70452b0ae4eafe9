//! Copies to a device and back, on the device that `OXWARP_DEVICE` names, else on the simulator.
#![allow(missing_docs)]

mod common;

use common::random;
use host_runtime::{DeviceArray, DeviceArray2, Error, Gpu, Result};
use ndarray::{Array1, Array2, Array3, Axis, Ix2, array, s};

fn gpu() -> Gpu {
    match std::env::var_os("OXWARP_DEVICE") {
        Some(_) => Gpu::new().unwrap(),
        None => Gpu::cpu(),
    }
}

#[test]
fn random_numbers_come_back_bit_by_bit() -> Result<()> {
    let numbers = random(400);
    let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for gpu in [gpu(), gpu()] {
        let there = gpu.to_device(&numbers)?;
        assert_eq!(
            (there.len(), there.dim(), there.shape()),
            (400, 400, &[400][..])
        );
        assert_eq!(bits(&there.to_vec()?), bits(&numbers));
        assert_eq!(there.to_host()?, Array1::from(numbers.clone()));
    }
    Ok(())
}

#[test]
fn every_kind_of_host_data() -> Result<()> {
    let gpu = gpu();
    let wanted = [1i64, -2, 3];
    let vector = wanted.to_vec();
    let slice: &[i64] = &wanted;
    assert_eq!(gpu.to_device(&wanted)?.to_vec()?, wanted);
    assert_eq!(gpu.to_device(&vector)?.to_vec()?, wanted);
    assert_eq!(gpu.to_device(slice)?.to_vec()?, wanted);
    assert_eq!(gpu.to_device(&slice)?.to_vec()?, wanted);
    assert_eq!(gpu.to_device(&Array1::from(vector))?.to_vec()?, wanted);
    assert_eq!(gpu.to_device(&slice[1..])?.to_vec()?, [-2, 3]);
    Ok(())
}

#[test]
fn shapes_are_kept_and_layouts_made_standard() -> Result<()> {
    let gpu = gpu();
    let matrix = Array2::from_shape_vec((20, 20), random(400)).unwrap();
    let there: DeviceArray2<f32> = gpu.to_device(&matrix)?;
    assert_eq!(there.dim(), (20, 20));
    assert_eq!(there.to_host()?, matrix);

    let transposed = matrix.t();
    assert_eq!(gpu.to_device(&transposed)?.to_host()?, transposed);
    let strided = matrix.slice(s![..;3, 1..;-2]);
    assert_eq!(gpu.to_device(&strided)?.to_host()?, strided);

    let cube = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 100 + j * 10 + k) as u16);
    assert_eq!(gpu.to_device(&cube)?.to_host()?, cube);
    assert_eq!(
        gpu.to_device(&cube.index_axis(Axis(1), 1))?.to_vec()?,
        [10, 11, 12, 13, 110, 111, 112, 113]
    );
    let dynamic = cube.clone().into_dyn();
    assert_eq!(gpu.to_device(&dynamic)?.to_host()?, dynamic);
    let single = ndarray::arr0(2.5f64);
    assert_eq!(gpu.to_device(&single)?.to_host()?, single);
    Ok(())
}

#[test]
fn arrays_without_elements() -> Result<()> {
    let gpu = gpu();
    let none: [f64; 0] = [];
    let mut there = gpu.to_device(&none)?;
    assert!(there.is_empty());
    there.fill(1.0)?;
    there.copy_from(&none)?;
    assert_eq!(there.to_vec()?, none);
    assert_eq!(gpu.zeros_nd::<f32, _>((0, 7))?.to_host()?.dim(), (0, 7));
    assert_eq!(gpu.zeros::<()>(5)?.to_vec()?, [(); 5]);
    assert_eq!(gpu.full((3, 0), 1u8)?.len(), 0);
    Ok(())
}

#[test]
fn fills() -> Result<()> {
    let gpu = gpu();
    for len in [1, 2, 3, 1000, 65_536, 65_537, 200_001] {
        let filled = gpu.full(len, (1u8, 0xdead_beef_u32))?;
        assert!(
            filled
                .to_vec()?
                .iter()
                .all(|value| *value == (1, 0xdead_beef))
        );
        let mut zeros = gpu.zeros::<u8>(len)?;
        assert!(zeros.to_vec()?.iter().all(|value| *value == 0));
        zeros.fill(7)?;
        assert_eq!(zeros.to_vec()?, vec![7; len]);
    }
    assert_eq!(
        gpu.full((2, 3), 0.5f32)?.to_host()?,
        Array2::from_elem((2, 3), 0.5)
    );
    // SAFETY: all elements are written before they are read.
    let mut late = unsafe { gpu.uninit::<[f32; 3], _>((2, 2)) }?;
    late.copy_from(&[[1.0; 3], [2.0; 3], [3.0; 3], [4.0; 3]])?;
    assert_eq!(late.to_host()?[(1, 0)], [3.0; 3]);
    Ok(())
}

#[test]
fn copies_replace_all_elements_or_none() -> Result<()> {
    let gpu = gpu();
    let mut there = gpu.zeros_nd::<i32, _>((2, 2))?;
    there.copy_from(&array![[1, 2], [3, 4]])?;
    assert_eq!(there.to_host()?, array![[1, 2], [3, 4]]);
    let error = there.copy_from(&[1, 2, 3, 4, 5]).unwrap_err();
    assert!(matches!(
        error,
        Error::LengthMismatch {
            source_len: 5,
            array_len: 4
        }
    ));
    assert_eq!(there.to_vec()?, [1, 2, 3, 4]);
    Ok(())
}

#[test]
fn shapes_can_be_changed_to_ones_of_the_same_length() -> Result<()> {
    let flat = gpu().to_device(&(0..12).collect::<Vec<i32>>())?;
    let matrix: DeviceArray<i32, Ix2> = flat.into_shape((3, 4))?;
    assert_eq!(matrix.to_host()?[(2, 1)], 9);
    let error = matrix.into_shape((5, 2)).unwrap_err().to_string();
    assert!(error.contains("12 elements with shape [5, 2]"), "{error}");
    Ok(())
}

#[test]
fn too_much_memory_is_an_error_with_the_numbers() {
    let gpu = gpu();
    let bytes = 1usize << 46;
    match gpu.zeros::<u64>(bytes / 8).unwrap_err() {
        Error::OutOfMemory {
            wanted,
            free,
            total,
            ..
        } => {
            assert_eq!(wanted, bytes);
            assert!(
                0 < free && free <= total && total < bytes,
                "{free} of {total}"
            );
        }
        other => panic!("{other}"),
    }
    let error = gpu.zeros::<u64>(usize::MAX / 8).unwrap_err().to_string();
    assert!(error.contains(&(usize::MAX / 8).to_string()), "{error}");
    let error = gpu.zeros_nd::<u8, _>((usize::MAX, 2)).unwrap_err();
    assert!(matches!(error, Error::ArrayTooLarge { .. }), "{error}");
    assert_eq!(gpu.full(2, 1u8).unwrap().to_vec().unwrap(), [1, 1]);
}

#[test]
fn handles_say_what_they_are() -> Result<()> {
    fn shared<T: Clone + Send + Sync + std::fmt::Debug>(_: &T) {}
    let gpu = Gpu::cpu();
    shared(&gpu);
    assert!(gpu.is_simulator());
    assert!(gpu.name().starts_with("CPU simulator ("), "{}", gpu.name());
    assert_eq!(gpu.compute_capability(), None);
    let x = gpu.zeros_nd::<f32, _>((2, 3))?;
    let text = format!("{x:?}");
    assert!(
        text.contains("f32") && text.contains("[2, 3]") && text.contains("simulator"),
        "{text}"
    );
    Ok(())
}

#[test]
fn absent_devices_are_named() {
    let error = Gpu::cuda(4711).unwrap_err();
    assert!(matches!(error, Error::NoDevice { ordinal: 4711, .. }));
    assert!(error.to_string().contains("cuda:4711"), "{error}");
}
