//! Generic kernels of another crate, launched by a crate without kernels that says `device_code!`.
#![allow(missing_docs)]

use oxwarp::__private::DeviceCode;
use oxwarp::Gpu;

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
    assert_eq!(names, ["map", "map", "zip_map"]);
    let ptx = code.images[0].ptx.to_str().unwrap();
    for kernel in code.kernels {
        assert!(ptx.contains(&format!(".entry {}(", kernel.symbol.to_str().unwrap())));
    }
}
