//! One call that needs a dozen things of the system, some of them only through pointers: it is one error.
use oxwarp::prelude::*;

#[kernel]
fn spawns() {
    let thread = std::thread::spawn(|| 1); //~ `<std::thread
    core::mem::forget(thread);
}

fn main() {}
