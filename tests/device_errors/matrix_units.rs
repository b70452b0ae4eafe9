//! The matrix units are newer than the lowest target.
use oxwarp::matrix::{FragmentA, FragmentB, FragmentC, mma};
use oxwarp::prelude::*;

#[kernel]
fn product(mut c: DisjointSlice<f64>) {
    let (a, b) = (FragmentA::fill(1.0), FragmentB::fill(2.0));
    let product = mma(&a, &b, FragmentC::fill(0.0)); //~ `matrix::mma` needs sm_80 or newer, and this crate is compiled for sm_75
    if let Some(c) = c.get_mut(thread::index_1d()) {
        *c = product.elements()[0];
    }
}

fn main() {}
