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

#[kernel]
fn of_a_vec(v: &Vec<f32>) {
    assert!(v.is_empty());
}

#[kernel]
fn of_an_array(a: &ndarray::Array2<f32>) {
    assert!(a.is_empty());
}

#[kernel]
fn of_a_device_array(a: &DeviceArray<f32>) {
    assert!(a.is_empty());
}

#[kernel]
fn of_a_function(f: &dyn Fn(f32) -> f32) {
    assert!(f(0.0) == 0.0);
}

#[kernel]
fn of_pairs(p: &Option<(u32, f32)>) {
    assert!(p.is_none());
}

#[kernel]
fn boxed(f: Box<dyn Fn(f32) -> f32>) {
    assert!(f(0.0) == 0.0);
}

fn main() {}
