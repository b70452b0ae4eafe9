//! Puzzle 4: add 10 to every element of a matrix, one thread an element.

use oxwarp::prelude::*;

#[kernel]
pub fn map_2d(a: ArrayView2<f32>, mut out: DisjointSlice<f32, ThreadIndex2d>) {
    let i = thread::index_2d();
    if let Some(out) = out.get_mut(i) {
        *out = a[i] + 10.0;
    }
}
