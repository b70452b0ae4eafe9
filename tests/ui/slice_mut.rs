//! A `&mut [T]` parameter.
use oxwarp::prelude::*;

#[kernel]
fn double(x: &mut [f32]) {
    x[0] *= 2.0;
}

fn main() {}
