//! Functions that cannot be kernels.
use oxwarp::prelude::*;

#[kernel]
async fn later(x: &[f32]) {
    let _ = x;
}

#[kernel]
unsafe extern "C" fn variadic(x: u32, _: ...) {
    let _ = x;
}

#[kernel]
fn returning(x: &[f32]) -> f32 {
    x[0]
}

struct Model;

impl Model {
    #[kernel]
    fn run(&self, x: &[f32]) {
        let _ = x;
    }
}

fn main() {}
