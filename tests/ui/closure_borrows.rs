//! A closure that captures a host variable by reference.
use oxwarp::prelude::*;

#[kernel]
fn map<F: Fn(f32) -> f32 + Copy>(f: F, mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = f(*y);
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let mut y = gpu.zeros::<f32>(4)?;
    let factor = 2.0;
    launch!(map[1, 4](|x| factor * x, &mut y))?;
    Ok(())
}
