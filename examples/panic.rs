//! A kernel that panics: the launch gives an error that says where, and the device goes on.
//! `cargo run --release --example panic`

use oxwarp::prelude::*;

mod common;

/// The sum of each element and its right neighbour, which the last element does not have.
#[kernel]
fn neighbours(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[i] + x[*i + 1];
    }
}

fn main() -> oxwarp::Result<()> {
    let x = common::random(1000, 1);
    let gpu = Gpu::new()?;
    let device_x = gpu.to_device(&x)?;

    // As many results as elements: the last thread reads beyond the end.
    let mut out = gpu.zeros::<f32>(1000)?;
    launch!(neighbours[4, 256](&device_x, &mut out))?;
    // A launch returns before the kernel is done, so the error is that of the next wait.
    let error = gpu.synchronize();
    let Err(oxwarp::Error::KernelPanic(panic)) = error else {
        eprintln!("expected a panic of the kernel, got {error:?}");
        std::process::exit(1);
    };
    println!("message: {}", panic.message);
    println!("at:      {}:{}:{}", panic.file, panic.line, panic.column);
    println!("in:      block {}, thread {}", panic.block, panic.thread);

    // One result less, and the same kernel is right.
    let mut out = gpu.zeros::<f32>(999)?;
    let time = common::time(&gpu, || launch!(neighbours[4, 256](&device_x, &mut out)))?;
    // One addition, rounded once: the same on every device.
    let expected: Vec<f32> = x.windows(2).map(|pair| pair[0] + pair[1]).collect();
    common::report("a good launch", &gpu, time, &out.to_vec()?, &expected, 0.0);
    Ok(())
}
