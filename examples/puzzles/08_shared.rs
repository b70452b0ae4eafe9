//! Puzzle 8: each block turns its part of the array around, through shared memory.

use oxwarp::prelude::*;

pub const BLOCK: usize = 64;

#[kernel]
pub fn shared(a: &[f32], mut out: DisjointSlice<f32>) {
    let part = shared_array![f32; BLOCK];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    part.set(t, a[i]);
    sync_threads();
    if let Some(out) = out.get_mut(i) {
        *out = part.get(BLOCK - 1 - t);
    }
}
