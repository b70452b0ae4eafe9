//! The bitcode has no such function, though its name is in there.
use oxwarp::prelude::*;

#[oxwarp::device_link("../../../tests/linked/ops.bc")]
unsafe extern "C" {
    safe fn collatz(x: u32) -> u32;
}

#[kernel]
fn calls_it(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = collatz(x[*i]); //~ there is no function `collatz` in
    }
}

fn main() {}
