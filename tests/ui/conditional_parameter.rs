//! A parameter that is there or not: the launch could not know.
use oxwarp::prelude::*;

#[kernel]
fn scale(x: &[f32], #[cfg(debug_assertions)] checks: u32, mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = x[0];
    }
}

fn main() {}
