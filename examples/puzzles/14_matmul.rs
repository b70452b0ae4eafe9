//! Puzzle 14: the product of two matrices of any shape, tile by tile through shared memory.

use oxwarp::prelude::*;

pub const TILE: usize = 16;

/// The element of a matrix, or zero outside of it.
fn at(m: &[f32], [rows, cols]: [usize; 2], row: usize, col: usize) -> f32 {
    if row < rows && col < cols {
        m[row * cols + col]
    } else {
        0.0
    }
}

#[kernel]
pub fn matmul(a: &[f32], b: &[f32], inner: usize, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let tile_a = shared_array![f32; TILE, TILE];
    let tile_b = shared_array![f32; TILE, TILE];
    let (i, [rows, cols]) = (thread::index_2d(), c.shape());
    let (y, x) = (i.row() % TILE, i.col() % TILE);
    let mut sum = 0.0;
    for first in (0..inner).step_by(TILE) {
        tile_a.set((y, x), at(a, [rows, inner], i.row(), first + x));
        tile_b.set((y, x), at(b, [inner, cols], first + y, i.col()));
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
