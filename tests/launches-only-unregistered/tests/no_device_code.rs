//! A crate without kernels that launches another crate's and does not say `device_code!`.
#![allow(missing_docs)]

use oxwarp::__private::DeviceCode;
use oxwarp::{Error, Gpu};

#[test]
fn there_is_no_device_code_of_this_crate() {
    let codes = inventory::iter::<DeviceCode>.into_iter();
    let names: Vec<&str> = codes
        .filter(|code| !code.kernels.is_empty())
        .map(|code| code.crate_name)
        .collect();
    assert!(!names.contains(&"launches_only_unregistered"), "{names:?}");
}

/// The simulator needs no device code; a GPU does.
#[test]
fn the_launch_runs_on_the_simulator_and_says_what_to_add_on_a_gpu() {
    let gpu = Gpu::new().unwrap();
    let result = launches_only_unregistered::scaled(&gpu, 2.0, &[1.0, 2.0]);
    if gpu.is_simulator() {
        assert_eq!(result.unwrap(), [3.0, 5.0]);
    } else {
        check(result.unwrap_err());
    }
}

#[test]
fn the_error_says_what_to_add() {
    check(Error::NotCompiled {
        kernel: "map",
        module: "gpu_kernels::map_kernel",
        crates: vec!["other"],
    });
}

fn check(error: Error) {
    assert!(
        matches!(error, Error::NotCompiled { kernel: "map", .. }),
        "{error}"
    );
    let text = error.to_string();
    assert!(
        text.contains("kernel `map` of `gpu_kernels::map_kernel`"),
        "{text}"
    );
    assert!(
        text.contains("add `oxwarp::device_code!();` to that crate"),
        "{text}"
    );
}
