//! A kernel whose vector grows by a function of which another crate has rustc's only instance.
use oxwarp::prelude::*;

#[kernel]
fn grows(mut c: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        let mut pairs: Vec<(u8, u64)> = Vec::new();
        pairs.push((1, *c)); //~ grow_one` has no device code
        *c = pairs[0].1;
    }
}

fn main() {
    println!("{:?}", host_only::pairs(1));
}
