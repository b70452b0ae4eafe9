//! A map whose hashes start from the system's random numbers, which lie deep in the standard library.
use oxwarp::prelude::*;

#[kernel]
fn counts() {
    let map: std::collections::HashMap<u32, u32> = std::collections::HashMap::new(); //~ `std::sys::random
    core::mem::forget(map);
}

fn main() {}
