//! Puzzle 13: the sum of each row of a matrix. A block of one warp takes a row; its lanes add up without shared memory.

use oxwarp::prelude::*;

#[kernel]
pub fn axis_sum(a: ArrayView2<f32>, mut sums: DisjointSlice<f32, BlockIndex>) {
    let (row, warp) = (block::index(), group::warp());
    let lane = warp.rank() as usize;
    let own = a.row(*row).iter().skip(lane).step_by(32).sum();
    let sum = warp.reduce_add(own);
    if let Some(out) = sums.get_mut(row) {
        *out = sum;
    }
}
