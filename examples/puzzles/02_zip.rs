//! Puzzle 2: add two arrays, element by element.

use oxwarp::prelude::*;

#[kernel]
pub fn zip(a: &[f32], b: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = a[i] + b[i];
    }
}
