//! A kernel that calls a function which another crate compiled for the host only.
use oxwarp::prelude::*;

#[kernel]
fn foreign(x: &[u64], mut c: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = host_only::collatz(x[*i]); //~ `host_only::collatz
    }
}

fn main() {}
