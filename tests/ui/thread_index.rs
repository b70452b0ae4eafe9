//! A thread's index where it is none: writes of a slice, `get`, ranges, arithmetic, and a view of other dimensions.
use oxwarp::prelude::*;

#[kernel]
fn writes(a: &[f32]) {
    a[thread::index_1d()] = 1.0;
}

#[kernel]
fn writes_in_brackets(a: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    c[i] = a[i];
}

#[kernel]
fn reads(a: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = a.get(i).copied().unwrap_or(0.0);
        *c += a[i..][0];
    }
}

#[kernel]
fn computes(a: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if i < a.len() && block::index() != 0 {
        let x = a[i + 1] - a[i % 32];
        if let Some(c) = c.get_mut(i) {
            *c = x;
        }
    }
}

#[kernel]
fn of_two_dimensions(a: ArrayView2<f32>, b: &[f32], mut c: DisjointSlice<f32>) {
    if let Some(c) = c.get_mut(thread::index_1d()) {
        *c = a[thread::index_1d()] + b[thread::index_2d()];
    }
}

fn main() {}
