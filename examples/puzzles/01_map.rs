//! Puzzle 1: add 10 to every element, one thread an element.

use oxwarp::prelude::*;

#[kernel]
pub fn map(a: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = a[i] + 10.0;
    }
}
