//! Puzzle 15: turn a matrix over its diagonal. Reads and writes both go along rows, because a warp is fast where its
//! threads use neighbouring addresses; the turn happens in shared memory.

use oxwarp::prelude::*;

pub const TILE: usize = 16;

#[kernel]
pub fn transpose(a: &[f32], mut out: DisjointSlice<f32, ThreadIndex2d>) {
    // One column more than the tile needs: without it a column would lie in one or two banks.
    let tile = shared_array![f32; TILE, TILE + 1];
    let (i, [cols, rows]) = (thread::index_2d(), out.shape());
    let (y, x) = (i.row() % TILE, i.col() % TILE);
    // The block writes its tile of `out`, and reads the tile of `a` on the other side of the diagonal.
    let (row, col) = (i.col() - x + y, i.row() - y + x);
    if row < rows && col < cols {
        tile.set((y, x), a[row * cols + col]);
    }
    sync_threads();
    if let Some(out) = out.get_mut(i) {
        *out = tile.get((x, y));
    }
}
