//! Options that `#[kernel]` does not have.
use oxwarp::prelude::*;

#[kernel(fast_math = true)]
fn unknown(x: &[f32]) {
    let _ = x;
}

#[kernel(fma = 1)]
fn not_a_bool(x: &[f32]) {
    let _ = x;
}

#[kernel(fma)]
fn no_value(x: &[f32]) {
    let _ = x;
}

fn main() {}
