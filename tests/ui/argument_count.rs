//! Too few and too many arguments.
use oxwarp::prelude::*;

#[kernel]
fn add(a: &[f32], mut c: DisjointSlice<f32>) {
    if let Some(c) = c.get_mut(thread::index_1d()) {
        *c = a[0];
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let a = gpu.zeros::<f32>(4)?;
    let mut c = gpu.zeros::<f32>(4)?;
    launch!(add[1, 4](&a))?;
    launch!(add[1, 4](&a, 2, &mut c))?;
    Ok(())
}
