//! An output where an input belongs, and the other way round.
use oxwarp::prelude::*;

#[kernel]
fn copy(a: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = a[*i];
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let a = gpu.zeros::<f32>(4)?;
    let mut c = gpu.zeros::<f32>(4)?;
    launch!(copy[1, 4](&mut c, &a))?;
    Ok(())
}
