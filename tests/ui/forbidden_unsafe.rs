//! What the author of a kernel promises is `unsafe` code, which a crate can forbid.
#![forbid(unsafe_code)]

use oxwarp::prelude::*;

#[kernel(unsafe(unchecked))]
fn promised(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i];
    }
}

#[oxwarp::device_link("../../../../tests/linked/ops.ptx")]
unsafe extern "C" {
    safe fn mul_f32_f32(a: f32, b: f32) -> f32;
}

#[kernel(fast_math, fma = false, launch_bounds(128), max_registers = 32)]
fn harmless(x: &[f32]) {
    let _ = x;
}

fn main() {}
