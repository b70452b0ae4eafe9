//! Puzzle 6: fewer threads than elements. Each thread takes every element that is a whole grid from its first.

use oxwarp::prelude::*;

#[kernel]
pub fn blocks(a: &[f32], mut out: DisjointSlice<f32>) {
    for i in thread::grid_stride(out.len()) {
        if let Some(out) = out.get_mut(i) {
            *out = a[*i] + 10.0;
        }
    }
}
