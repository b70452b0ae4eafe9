//! Writing through a number instead of an index of the library.
use oxwarp::prelude::*;

#[kernel]
fn clear(mut c: DisjointSlice<f32>) {
    if let Some(c) = c.get_mut(0) {
        *c = 0.0;
    }
}

#[kernel]
fn clear_2d(mut c: DisjointSlice<f32>) {
    if let Some(c) = c.get_mut(thread::index_2d()) {
        *c = 0.0;
    }
}

#[kernel]
fn write_input(a: &[f32]) {
    a[0] = 1.0;
}

fn main() {}
