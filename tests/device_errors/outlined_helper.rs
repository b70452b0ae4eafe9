//! The fault is in a function that is not inlined into the kernel.
use oxwarp::prelude::*;

#[inline(never)]
fn own_id(x: u64) -> u64 {
    x + u64::from(std::process::id())
}

#[kernel]
fn through_call(mut c: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = own_id(7); //~ `std::process::id
    }
}

fn main() {}
