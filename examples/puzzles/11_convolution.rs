//! Puzzle 11: a one-dimensional convolution of any width, known when it compiles.

use oxwarp::prelude::*;

pub const BLOCK: usize = 128;

#[kernel]
pub fn convolution<const N: usize>(weights: [f32; N], a: &[f32], mut out: DisjointSlice<f32>) {
    // The block's elements and those that the windows of its last threads reach beyond.
    let part = shared_array![f32; 2 * BLOCK];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    for ahead in [0, BLOCK] {
        part.set(t + ahead, a.get(*i + ahead).copied().unwrap_or(0.0));
    }
    sync_threads();
    if let Some(out) = out.get_mut(i) {
        *out = (0..N).map(|k| weights[k] * part.get(t + k)).sum();
    }
}
