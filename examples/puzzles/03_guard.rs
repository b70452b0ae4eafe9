//! Puzzle 3: more threads than elements. Those beyond the end leave before they read.

use oxwarp::prelude::*;

#[kernel]
pub fn guard(a: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    *out = 2.0 * a[i];
}
