//! Generic kernels of another crate, launched by a crate without kernels that says `device_code!`.
#![allow(missing_docs)]

use oxwarp::__private::DeviceCode;
use oxwarp::kernels::map;
use oxwarp::{Gpu, Kernel};

// This test launches a closure of its own too.
oxwarp::device_code!();

#[test]
fn closures_run_in_kernels_of_another_crate() {
    let gpu = Gpu::new().unwrap();
    assert_eq!(
        launches_only::scaled(&gpu, 2.5, &[0.0, 1.0, -2.0]).unwrap(),
        [1.0, 3.5, -4.0]
    );
    assert_eq!(
        launches_only::square_plus(&gpu, &[1, 2, 3], &[10, 20, 30]).unwrap(),
        [11, 24, 39]
    );
}

#[test]
fn the_instances_are_registered() {
    let code = inventory::iter::<DeviceCode>
        .into_iter()
        .find(|code| code.crate_name == "launches_only")
        .unwrap();
    assert_eq!(code.skipped, None);
    assert_eq!(code.images.len(), 1);
    let mut names: Vec<&str> = code
        .kernels
        .iter()
        .map(|kernel| kernel.symbol.to_str().unwrap().rsplit_once('_').unwrap().0)
        .collect();
    names.sort();
    assert_eq!(names, ["map", "map", "map", "zip_map"]);
    let ptx = code.images[0].ptx.to_str().unwrap();
    for kernel in code.kernels {
        assert!(ptx.contains(&format!(".entry {}(", kernel.symbol.to_str().unwrap())));
    }
}

/// In device code of this crate, where `shifted` is in that of the library.
fn shifted_twice(gpu: &Gpu, x: &[u32]) -> oxwarp::Result<Vec<u32>> {
    let device_x = gpu.to_device(x)?;
    let mut y = gpu.zeros::<u32>(x.len())?;
    map.for_each(x.len())
        .launch(|x| x + 2 * *launches_only::SHIFT, &device_x, &mut y)?;
    y.to_vec()
}

#[test]
fn a_constant_has_one_value_for_the_kernels_of_all_crates() {
    use launches_only::{SHIFT, shifted};
    let gpu = Gpu::new().unwrap();
    assert_eq!(shifted(&gpu, &[1, 2]).unwrap(), [8, 9]);
    // One module is loaded, the other not yet.
    gpu.set_constant(&SHIFT, &100).unwrap();
    assert_eq!(shifted_twice(&gpu, &[1, 2]).unwrap(), [201, 202]);
    assert_eq!(shifted(&gpu, &[1, 2]).unwrap(), [101, 102]);
    gpu.set_constant(&SHIFT, &1000).unwrap();
    assert_eq!(shifted_twice(&gpu, &[1, 2]).unwrap(), [2001, 2002]);
    assert_eq!(shifted(&gpu, &[1, 2]).unwrap(), [1001, 1002]);
}
