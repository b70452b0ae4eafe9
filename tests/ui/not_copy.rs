//! A parameter that is not `Copy`.
use oxwarp::prelude::*;

struct Settings {
    scale: f32,
}

#[kernel]
fn scale(settings: Settings, mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y *= settings.scale;
    }
}

#[kernel]
fn map<F: Fn(f32) -> f32>(f: F, mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = f(*y);
    }
}

fn main() {}
