//! Launches of a CUDA C kernel whose arguments are not as declared, and declarations that cannot be.
use oxwarp::{DeviceArray, cuda_kernel, launch};

cuda_kernel! {
    unsafe fn saxpy(n: i32, a: f32, x: &[f32], y: &mut [f32]);
}

struct Settings {
    names: Vec<String>,
}

cuda_kernel! {
    unsafe fn owns(settings: Settings);
}

cuda_kernel! {
    unsafe fn refers(value: &f32);
}

struct NotDeclared;

fn launches(saxpy: &saxpy, x: &DeviceArray<f32>, y: &mut DeviceArray<f32>, wide: &DeviceArray<f64>) {
    let shaped = saxpy.grid(1).block(32);
    let _ = unsafe { shaped.launch(32, 2.0, x) };
    let _ = unsafe { shaped.launch(32, 2, x, &mut *y) };
    let _ = unsafe { shaped.launch(32, 2.0, wide, &mut *y) };
    let _ = unsafe { shaped.launch(32, 2.0, x, x) };
    let _ = unsafe { launch!(saxpy[1, 32](32, 2.0, x, &[1.0f32])) };
}

fn functions(module: &oxwarp::CudaModule) {
    let _ = module.function::<NotDeclared>("saxpy");
}

fn main() {}
