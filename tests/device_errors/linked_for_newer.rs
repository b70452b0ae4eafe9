//! The PTX of a linked function is for a newer GPU than the crate is.
use oxwarp::prelude::*;

#[oxwarp::device_link("../../../tests/linked/newer.ptx")]
unsafe extern "C" {
    safe fn newer(x: u32) -> u32;
}

#[kernel]
fn calls_it(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = newer(x[*i]); //~ `newer` is PTX for sm_100
    }
}

fn main() {}
