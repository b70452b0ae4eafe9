//! Constants that are larger together than constant memory.
use oxwarp::prelude::*;

constant! {
    static WEIGHTS: [f32; 10_000] = [0.0; 10_000];
    static BYTES: [u8; 30_000] = [0; 30_000];
    static UNUSED: [u8; 60_000] = [0; 60_000];
}

#[kernel]
fn weighted(mut out: DisjointSlice<f32>) { //~ the kernels of this crate read 70000 bytes of constant memory
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = WEIGHTS[*i] + f32::from(BYTES[*i]);
    }
}

fn main() {}
