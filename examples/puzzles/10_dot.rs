//! Puzzle 10: the dot product. Each block adds up its products in a tree and writes one sum.

use oxwarp::prelude::*;

pub const BLOCK: usize = 128;

#[kernel]
pub fn dot(a: &[f32], b: &[f32], mut sums: DisjointSlice<f32, BlockIndex>) {
    let part = shared_array![f32; BLOCK];
    let t = thread::index_in_block();
    let products = thread::grid_stride(a.len()).map(|i| a[i] * b[i]);
    part.set(t, products.sum());
    sync_threads();
    let mut half = BLOCK / 2;
    while half > 0 {
        if t < half {
            part.set(t, part.get(t) + part.get(t + half));
        }
        sync_threads();
        half /= 2;
    }
    if let Some(sum) = sums.get_mut(block::index()) {
        *sum = part.get(0);
    }
}
