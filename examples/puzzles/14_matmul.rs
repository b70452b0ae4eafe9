//! Puzzle 14: the product of two matrices of any shape, tile by tile through shared memory.

use oxwarp::prelude::*;

pub const TILE: usize = 16;

/// The element of a matrix, or zero outside of it.
fn at(m: ArrayView2<f32>, row: usize, col: usize) -> f32 {
    m.get((row, col)).copied().unwrap_or(0.0)
}

#[kernel]
pub fn matmul(a: ArrayView2<f32>, b: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let tile_a = shared_array![f32; TILE, TILE];
    let tile_b = shared_array![f32; TILE, TILE];
    let i = thread::index_2d();
    let (row, col) = *i;
    let (y, x) = (row % TILE, col % TILE);
    let mut sum = 0.0;
    for first in (0..a.ncols()).step_by(TILE) {
        tile_a.set((y, x), at(a, row, first + x));
        tile_b.set((y, x), at(b, first + y, col));
        sync_threads();
        for k in 0..TILE {
            sum += tile_a.get((y, k)) * tile_b.get((k, x));
        }
        sync_threads(); // all have read before the next tiles are written
    }
    if let Some(c) = c.get_mut(i) {
        *c = sum;
    }
}
