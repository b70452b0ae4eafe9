//! The fault is in a function that the kernel calls.
use oxwarp::prelude::*;

fn home_length() -> usize {
    std::env::var_os("HOME").map_or(0, |home| home.len())
}

fn helper(x: u32) -> u32 {
    x + home_length() as u32
}

#[kernel]
fn through_helper(x: &[u32], mut c: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = helper(x[*i]); //~ `std::env::
    }
}

fn main() {}
