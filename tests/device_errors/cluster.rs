//! The barrier of a cluster in a crate that is compiled for the default target.
use oxwarp::prelude::*;

#[kernel]
fn waits_for_its_cluster(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    cluster::sync(); //~ `cluster::sync` needs sm_90 or newer, and this crate is compiled for sm_75
    if let Some(y) = y.get_mut(i) {
        *y = x[*i];
    }
}

fn main() {}
