//! Puzzle 13: the sum of each row of a matrix. A block of one warp takes a row; its lanes add up without shared memory.

use oxwarp::prelude::*;

#[kernel]
pub fn axis_sum(a: &[f32], cols: usize, mut sums: DisjointSlice<f32, BlockIndex>) {
    let (row, warp) = (block::index(), group::warp());
    let elements = &a[*row * cols..][..cols];
    let lane = warp.rank() as usize;
    let own = elements.iter().skip(lane).step_by(32).sum();
    let sum = warp.reduce_add(own);
    if let Some(out) = sums.get_mut(row) {
        *out = sum;
    }
}
