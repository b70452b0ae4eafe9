//! Puzzle 7: a matrix that no whole number of blocks covers, and a function that the host chooses.

use oxwarp::prelude::*;

#[kernel]
pub fn blocks_2d(
    f: impl Fn(f32) -> f32 + Copy,
    a: ArrayView2<f32>,
    mut out: DisjointSlice<f32, ThreadIndex2d>,
) {
    let i = thread::index_2d();
    if let Some(out) = out.get_mut(i) {
        *out = f(a[i]);
    }
}
