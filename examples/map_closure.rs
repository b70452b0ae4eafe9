//! Closures as kernels: the library's `map` and `zip_map`, without a `#[kernel]` in sight.
//! `cargo run --release --example map_closure [length]`

use oxwarp::kernels::{map, zip_map};
use oxwarp::prelude::*;

mod common;

// This crate launches kernels of another crate and has none of its own, so it asks for their device code.
oxwarp::device_code!();

fn main() -> oxwarp::Result<()> {
    let n = common::size(1 << 20);
    let (x, y) = (common::random(n, 1), common::random(n, 2));

    let gpu = Gpu::new()?;
    let device_x = gpu.to_device(&x)?;
    let device_y = gpu.to_device(&y)?;
    let mut out = gpu.zeros::<f32>(n)?;

    // What a closure captures goes to the device with it.
    let (scale, offset) = (3.0, 0.5);
    let wave = move |x: f32| (scale * x + offset).sin() + 2.0;
    let time = common::time(&gpu, || map.for_each(n).launch(wave, &device_x, &mut out))?;
    // `sin` comes from another library on each device; they are good to two epsilons or so, and the result is
    // above 1. `scale * x + offset` is at most 3.5, and a GPU rounds it once, the CPU twice.
    let expected: Vec<f32> = x.iter().map(|&x| wave(x)).collect();
    common::report("map", &gpu, time, &out.to_vec()?, &expected, 1e-6);

    let mut smaller = gpu.zeros::<u32>(n)?;
    let compare = |x: f32, y: f32| u32::from(x < y);
    let time = common::time(&gpu, || {
        zip_map
            .for_each(n)
            .launch(compare, &device_x, &device_y, &mut smaller)
    })?;
    // A comparison does not round.
    let expected: Vec<u32> = x.iter().zip(&y).map(|(&x, &y)| compare(x, y)).collect();
    common::report("zip_map", &gpu, time, &smaller.to_vec()?, &expected, 0.0);
    Ok(())
}
