//! A kernel that prints with the host's macro.
use oxwarp::prelude::*;

#[kernel]
fn prints(x: &[u32]) {
    let i = thread::index_1d();
    if x[*i] > 3 {
        println!("large"); //~ `std::io::stdio::_print
    }
}

fn main() {}
