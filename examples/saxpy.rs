//! `y = a * x + y`, with a grid-stride loop: a grid of any size does all elements.
//! `cargo run --release --example saxpy [length]`

use oxwarp::prelude::*;

mod common;

#[kernel]
fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    for i in thread::grid_stride(y.len()) {
        if let Some(y) = y.get_mut(i) {
            *y += a * x[i];
        }
    }
}

fn main() -> oxwarp::Result<()> {
    let n = common::size(1 << 22);
    let a = 2.5;
    let (x, y) = (common::random(n, 1), common::random(n, 2));

    let gpu = Gpu::new()?;
    let device_x = gpu.to_device(&x)?;
    let mut device_y = gpu.to_device(&y)?;
    let time = common::time(
        &gpu,
        || launch!(saxpy[1024, 256](a, &device_x, &mut device_y)),
    )?;

    // Two launches, a warm-up and the timed one. A GPU rounds `y + a * x` once (`fma`), the CPU here twice: with
    // positive numbers that is at most three halves of an epsilon for each launch.
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| y + a * x + a * x).collect();
    let tolerance = 3.0 * f64::from(f32::EPSILON);
    common::report(
        "saxpy",
        &gpu,
        time,
        &device_y.to_vec()?,
        &expected,
        tolerance,
    );
    Ok(())
}
