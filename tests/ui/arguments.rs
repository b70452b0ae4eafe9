//! Arguments of the wrong type.
use oxwarp::prelude::*;

#[kernel]
fn add(a: &[f32], n: u32, mut c: DisjointSlice<f32>) {
    if let Some(c) = c.get_mut(thread::index_1d()) {
        *c = a[0] + n as f32;
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let host = vec![1.0f32; 4];
    let a = gpu.to_device(&host)?;
    let doubles = gpu.zeros::<f64>(4)?;
    let mut c = gpu.zeros::<f32>(4)?;
    launch!(add[1, 4](&host, 1, &mut c))?;
    launch!(add[1, 4](&doubles, 1, &mut c))?;
    launch!(add[1, 4](&a, 1, &c))?;
    launch!(add[1, 4](&a, 1.5, &mut c))?;
    launch!(add[1, 4](a, 1, &mut c))?;
    Ok(())
}
