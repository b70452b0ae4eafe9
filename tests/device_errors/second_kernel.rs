//! The first kernel is right, the second is not.
use oxwarp::prelude::*;

#[kernel]
fn good(mut c: DisjointSlice<f32>) {
    if let Some(c) = c.get_mut(thread::index_1d()) {
        *c = 1.0;
    }
}

mod inner {
    use oxwarp::prelude::*;

    #[kernel]
    pub fn bad(mut c: DisjointSlice<u32>) {
        if let Some(c) = c.get_mut(thread::index_1d()) {
            *c = std::process::id(); //~ `std::process::id
        }
    }
}

fn main() {
    let _ = (good(), inner::bad());
}
