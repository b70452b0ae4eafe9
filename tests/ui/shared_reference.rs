//! A shared array of a type that is not plain data.
use oxwarp::prelude::*;

#[kernel]
fn share(x: &[f32]) {
    let places = shared_array![&'static f32; 32];
    let _ = (places.len(), x);
    let _ = places.get(0);
}

fn main() {}
