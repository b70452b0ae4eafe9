//! Parameters that hold a reference to host memory.
use oxwarp::prelude::*;

#[kernel]
fn tuple(x: (u32, &'static f32)) {
    let _ = x;
}

#[kernel]
fn option(x: Option<&u32>) {
    let _ = x;
}

fn main() {}
