//! A launch of a CUDA C kernel without `unsafe`, and with one array for two parameters.
use oxwarp::{DeviceArray, cuda_kernel};

cuda_kernel! {
    unsafe fn saxpy(n: i32, a: f32, x: &[f32], y: &mut [f32]);
}

fn launches(saxpy: &saxpy, x: &DeviceArray<f32>, y: &mut DeviceArray<f32>) {
    let shaped = saxpy.grid(1).block(32);
    let _ = shaped.launch(32, 2.0, x, &mut *y);
    let _ = unsafe { shaped.launch(32, 2.0, &*y, y) };
}

fn main() {}
