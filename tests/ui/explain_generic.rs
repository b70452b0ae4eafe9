//! A generic kernel has many instances: which one is explained must be said.

use oxwarp::prelude::*;

#[kernel]
fn scale<T: Copy + std::ops::Mul<Output = T>>(factor: T, mut x: DisjointSlice<T>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = *x * factor;
    }
}

fn main() {
    println!("{}", scale.explain().unwrap());
    println!("{}", scale().explain::<f32>().unwrap());
}
