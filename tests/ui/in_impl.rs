//! An associated function without `self`.
use oxwarp::prelude::*;

struct Model;

impl Model {
    #[kernel]
    fn run(x: &[f32]) {
        let _ = x;
    }
}

fn main() {}
