//! Elements that a shared array cannot have.
use oxwarp::prelude::*;

#[derive(Clone, Copy)]
struct Particle {
    _mass: f32,
}

#[kernel]
fn tiles() {
    let _ = shared_array![Particle; 32];
    let _ = shared_array![&'static f32; 8, 8];
    let _ = shared_array![Vec<f32>; 2, 2, 2];
}

fn main() {}
