//! The dot product: each block adds up its products in shared memory. `cargo run --release --example dot [length]`

use oxwarp::prelude::*;

mod common;

const BLOCK: usize = 256;

#[kernel]
fn dot(a: &[f32], b: &[f32], mut partial: DisjointSlice<f32, BlockIndex>) {
    let temp = shared_array![f32; BLOCK];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    temp.set(t, if *i < a.len() { a[i] * b[i] } else { 0.0 });
    sync_threads();

    let mut stride = block::len() / 2;
    while stride > 0 {
        if t < stride {
            temp.set(t, temp.get(t) + temp.get(t + stride));
        }
        sync_threads();
        stride /= 2;
    }
    // `partial` is indexed by block: the first thread of each gets the element, the others `None`.
    if let Some(sum) = partial.get_mut(block::index()) {
        *sum = temp.get(0);
    }
}

fn main() -> oxwarp::Result<()> {
    let n = common::size(1 << 20);
    let (a, b) = (common::random(n, 1), common::random(n, 2));
    let blocks = n.div_ceil(BLOCK);

    let gpu = Gpu::new()?;
    let device_a = gpu.to_device(&a)?;
    let device_b = gpu.to_device(&b)?;
    let mut partial = gpu.zeros::<f32>(blocks)?;
    let time = common::time(
        &gpu,
        || launch!(dot[blocks, BLOCK](&device_a, &device_b, &mut partial)),
    )?;
    let sum: f64 = partial.to_vec()?.into_iter().map(f64::from).sum();

    // All in f64. A block's result went through a product and eight additions in f32, each of which rounds by at most
    // half an epsilon, and all terms are positive.
    let product = |(a, b): (&f32, &f32)| f64::from(*a) * f64::from(*b);
    let expected: f64 = a.iter().zip(&b).map(product).sum();
    let tolerance = 9.0 / 2.0 * f64::from(f32::EPSILON);
    common::report("dot", &gpu, time, &[sum], &[expected], tolerance);
    Ok(())
}
