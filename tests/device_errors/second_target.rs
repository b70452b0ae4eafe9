//! Only the code for the second target needs more than it has.
use oxwarp::prelude::*;
use oxwarp::target;

#[kernel]
fn in_vain(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        if target::sm() >= 80 {
            target::require_sm(100, "the newest"); //~ the newest needs sm_100 or newer, and this crate is compiled for sm_90
        }
        *y = target::sm();
    }
}

fn main() {}
