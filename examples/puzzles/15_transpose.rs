//! Puzzle 15: turn a matrix over its diagonal. Reads and writes both go along rows, because a warp is fast where its
//! threads use neighbouring addresses; the turn happens in shared memory.

use oxwarp::prelude::*;

pub const TILE: usize = 16;

#[kernel]
pub fn transpose(a: ArrayView2<f32>, mut out: DisjointSlice<f32, ThreadIndex2d>) {
    // One column more than the tile needs: without it a column would lie in one or two banks.
    let tile = shared_array![f32; TILE, TILE + 1];
    let i = thread::index_2d();
    let (row, col) = *i;
    let (y, x) = (row % TILE, col % TILE);
    // The block writes its tile of `out`, and reads the tile of `a` on the other side of the diagonal.
    if let Some(element) = a.get((col - x + y, row - y + x)) {
        tile.set((y, x), *element);
    }
    sync_threads();
    if let Some(out) = out.get_mut(i) {
        *out = tile.get((x, y));
    }
}
