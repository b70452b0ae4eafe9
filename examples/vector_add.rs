//! Adds two vectors: the first program to read.

use oxwarp::prelude::*;

#[kernel]
fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = a[*i] + b[*i];
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&ndarray::Array1::linspace(0.0f32, 1.0, 1 << 20))?;
    let b = gpu.to_device(&vec![2.0f32; 1 << 20])?;
    let mut c = gpu.zeros::<f32>(1 << 20)?;
    launch!(add[4096, 256](&a, &b, &mut c))?;
    println!("{:?}", c.to_host()?.sum());
    Ok(())
}
