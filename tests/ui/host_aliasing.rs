//! Host data that a launch reads and writes at once, and host memory that a copy or a view still has.
use oxwarp::prelude::*;
use oxwarp::{In, MemoryKind, Out};

#[kernel]
fn add(a: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c += a[*i];
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let mut c = vec![0.0f32; 4];
    launch!(add[1, 4](In(&c), Out(&mut c)))?;

    let mut x = gpu.with_memory(MemoryKind::Managed).to_device(&c)?;
    let seen = x.as_host()?;
    x.fill(1.0)?;
    println!("{seen}");

    let buffer = gpu.to_pinned(&c)?;
    let copy = x.copy_from_async(buffer)?;
    println!("{}", buffer[0]);
    copy.wait()?;
    Ok(())
}
