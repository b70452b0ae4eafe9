//! A kernel that asks for standard output without the macros.
use oxwarp::prelude::*;

#[kernel]
fn prints(x: &[u32]) {
    let i = thread::index_1d();
    if x[*i] > 3 {
        let _stdout = std::io::stdout(); //~ `std::io::stdio::stdout
    }
}

fn main() {}
