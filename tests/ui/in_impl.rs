//! Associated functions, of a type and of a trait. A free function with a name like theirs is one of the module's own.
use oxwarp::prelude::*;

struct Model;

impl Model {
    #[kernel]
    fn run(x: &[f32]) {
        let _ = x;
    }

    #[oxwarp::kernel(launch_bounds(64))]
    pub fn step(mut y: DisjointSlice<f32>) {
        if let Some(y) = y.get_mut(thread::index_1d()) {
            *y = 1.0;
        }
    }
}

trait Layer {
    #[kernel]
    fn forward(x: &[f32]) {
        let _ = x;
    }
}

mod inner {
    use super::*;

    impl Model {
        pub fn inside() {
            #[kernel]
            fn local(x: &[f32]) {
                let _ = x;
            }
        }
    }
}

fn main() {}
