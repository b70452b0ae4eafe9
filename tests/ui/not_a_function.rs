//! `#[kernel]` on something else.
use oxwarp::prelude::*;

#[kernel]
struct Add {
    a: f32,
}

#[kernel]
const N: usize = 4;

fn main() {}
