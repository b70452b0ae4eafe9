//! Types that own host memory.
use oxwarp::prelude::*;

#[kernel]
fn vector(x: Vec<f32>) {
    let _ = x;
}

#[kernel]
fn string(x: String) {
    let _ = x;
}

#[kernel]
fn array(x: oxwarp::DeviceArray<f32>) {
    let _ = x;
}

fn main() {}
