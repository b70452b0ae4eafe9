//! Adds two vectors: the first program to read. `cargo run --release --example vector_add [length]`

use oxwarp::prelude::*;

mod common;

#[kernel]
fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d(); // this thread's own index
    if let Some(c) = c.get_mut(i) {
        *c = a[i] + b[i]; // bounds-checked
    }
}

fn main() -> oxwarp::Result<()> {
    let n = common::size(1 << 20);
    let (a, b) = (common::random(n, 1), common::random(n, 2));

    let gpu = Gpu::new()?; // the first GPU, or the CPU simulator when there is none
    let device_a = gpu.to_device(&a)?;
    let device_b = gpu.to_device(&b)?;
    let mut device_c = gpu.zeros::<f32>(n)?;
    let time = common::time(&gpu, || {
        add.for_each(n).launch(&device_a, &device_b, &mut device_c)
    })?;
    let c = device_c.to_vec()?;

    // One addition, rounded once: the same on every device.
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    common::report("vector_add", &gpu, time, &c, &expected, 0.0);
    Ok(())
}
