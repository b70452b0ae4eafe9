//! Kernels that share things, for `tests/cache.rs`, which changes one of them after the other. Prints the PTX.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use oxwarp::__private::{DeviceCode, inventory};
use oxwarp::prelude::*;

const FACTOR: f32 = 2.5;
static COUNT: AtomicU32 = AtomicU32::new(0);

fn helper(x: f32) -> f32 {
    x + 4.5
}

#[kernel]
fn alone(mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y *= 3.5;
    }
}

#[kernel]
fn with_constant(mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y *= FACTOR;
    }
}

#[kernel]
fn with_helper(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = helper(x[*i]);
    }
}

#[kernel]
fn with_helper_too(mut y: DisjointSlice<f32>) {
    COUNT.fetch_add(1, Relaxed);
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = helper(*y) * helper(1.0);
    }
}

#[kernel]
fn generic<const N: usize>(x: [f32; N], mut y: DisjointSlice<f32>) {
    COUNT.fetch_add(2, Relaxed);
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y += x[0] + N as f32;
    }
}

#[kernel]
fn with_dependency(mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = dependency::changed(*y);
    }
}

#[kernel]
fn prints(mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        println!("{}", *y);
    }
}

fn main() -> oxwarp::Result<()> {
    let mut y = Gpu::new()?.zeros::<f32>(1)?;
    launch!(generic[1, 1]([0.0f32; 24], &mut y))?;
    let codes = inventory::iter::<DeviceCode>.into_iter();
    for code in codes.filter(|code| code.crate_name == "cache") {
        for image in code.images {
            println!("{}", image.ptx.to_str().unwrap());
        }
    }
    Ok(())
}
