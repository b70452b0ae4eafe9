//! A kernel that reads a file.
use oxwarp::prelude::*;

#[kernel]
fn read_file(mut c: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = std::fs::read("weights").map_or(0, |bytes| bytes.len() as u32); //~ `std::fs::read
    }
}

fn main() {}
