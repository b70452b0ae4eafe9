//! References that are not slices.
use oxwarp::prelude::*;

#[kernel]
fn one(x: &f32, mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = *x;
    }
}

#[kernel]
fn one_mut(x: &mut u64) {
    *x += 1;
}

#[kernel]
fn text(s: &str) {
    assert!(s.is_empty());
}

fn main() {}
