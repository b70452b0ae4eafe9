//! A kernel that calls a C function.
use oxwarp::prelude::*;

unsafe extern "C" {
    safe fn abs(x: i32) -> i32;
}

#[kernel]
fn calls_c(x: &[i32], mut c: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = abs(x[*i]); //~ `abs`
    }
}

fn main() {}
