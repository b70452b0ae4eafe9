//! Puzzle 12: the sum of all elements up to each one, within a block.

use oxwarp::prelude::*;

pub const BLOCK: usize = 256;

#[kernel]
pub fn prefix_sum(a: &[u32], mut out: DisjointSlice<u32>) {
    let part = shared_array![u32; BLOCK];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    let mut sum = a.get(*i).copied().unwrap_or(0);
    let mut distance = 1;
    while distance < BLOCK {
        part.set(t, sum);
        sync_threads();
        if t >= distance {
            sum += part.get(t - distance);
        }
        sync_threads(); // all have read before the next round writes
        distance *= 2;
    }
    if let Some(out) = out.get_mut(i) {
        *out = sum;
    }
}
