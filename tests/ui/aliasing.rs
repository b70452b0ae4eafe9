//! One array as an input and an output.
use oxwarp::prelude::*;

#[kernel]
fn copy(a: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = a[*i];
    }
}

#[kernel]
fn both(mut a: DisjointSlice<f32>, mut b: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let (Some(a), Some(b)) = (a.get_mut(i), b.get_mut(i)) {
        *a = *b;
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let mut a = gpu.zeros::<f32>(4)?;
    launch!(copy[1, 4](&a, &mut a))?;
    launch!(both[1, 4](&mut a, &mut a))?;
    Ok(())
}
