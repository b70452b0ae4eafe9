//! Puzzle 6: fewer threads than elements. Each thread takes every element that is a whole grid from its first.

use oxwarp::prelude::*;

#[kernel]
pub fn blocks(a: &[f32], mut out: DisjointSlice<f32>) {
    for (i, out) in out.grid_stride_mut() {
        *out = a[i] + 10.0;
    }
}
