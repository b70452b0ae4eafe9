//! Asynchronous copies in a crate that is compiled for the default target.
use oxwarp::async_copy;
use oxwarp::prelude::*;

#[kernel]
fn through_shared_memory(x: &[f32], mut y: DisjointSlice<f32>) {
    let tile = shared_array![f32; 256];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    tile.copy_async::<1>(t, x, *i); //~ `cp.async` needs sm_80 or newer, and this crate is compiled for sm_75
    async_copy::wait_all();
    if let Some(y) = y.get_mut(i) {
        *y = tile.get(t);
    }
}

fn main() {}
