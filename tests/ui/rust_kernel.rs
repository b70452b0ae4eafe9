//! Declarations of kernels that are compiled at run time that cannot be, and a launch with a wrong argument.
use oxwarp::prelude::*;
use oxwarp::{RustSource, rust_kernel};

rust_kernel! {
    fn scale(factor: f32, x: &[f32], y: DisjointSlice<f32>);
}

rust_kernel! {
    fn generic<T: Copy>(x: &[T]);
}

rust_kernel! {
    fn exclusive(x: &mut [f32]);
}

rust_kernel! {
    fn returns(x: &[f32]) -> f32;
}

rust_kernel! {
    fn with_body(x: &[f32]) {}
}

struct NotDeclared;

fn launches(scale: &scale, x: &DeviceArray<f32>, y: &mut DeviceArray<f32>) {
    let _ = scale.for_each(3).launch(2, x, y);
}

fn kernels(source: &RustSource, gpu: &Gpu) {
    let _ = source.kernel::<NotDeclared>(gpu);
}

fn main() {}
