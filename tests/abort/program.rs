//! A kernel that panics, in a program that is built with `panic = "abort"`.
use oxwarp::prelude::*;

#[kernel]
fn panics(x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = x[70];
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut y = gpu.zeros::<u32>(4)?;
    panics.for_each(4usize).launch(&gpu.zeros::<u32>(4)?, &mut y)?;
    println!("{}", gpu.synchronize().unwrap_err());
    Ok(())
}
