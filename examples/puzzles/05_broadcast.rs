//! Puzzle 5: a column plus a row is a matrix.

use oxwarp::prelude::*;

#[kernel]
pub fn broadcast(a: &[f32], b: &[f32], mut out: DisjointSlice<f32, ThreadIndex2d>) {
    let i = thread::index_2d();
    let (row, col) = *i;
    if let Some(out) = out.get_mut(i) {
        *out = a[row] + b[col];
    }
}
