//! Launching a function that is no kernel.
use oxwarp::prelude::*;

fn add(a: &[f32], c: &mut [f32]) {
    c[0] = a[0];
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let a = gpu.zeros::<f32>(4)?;
    let mut c = gpu.zeros::<f32>(4)?;
    launch!(add[1, 4](&a, &mut c))?;
    Ok(())
}
