//! Launches in the forms of CUDA C, of a function call and without a block.
use oxwarp::prelude::*;

#[kernel]
fn clear(mut c: DisjointSlice<f32>) {
    if let Some(c) = c.get_mut(thread::index_1d()) {
        *c = 0.0;
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let mut c = gpu.zeros::<f32>(4)?;
    launch!(clear<<<4, 256>>>(&mut c))?;
    launch!(clear(&mut c))?;
    launch!(clear[4](&mut c))?;
    launch!(clear[4, 256], &mut c)?;
    launch!(clear[4, 256, 1024](&mut c))?;
    Ok(())
}
