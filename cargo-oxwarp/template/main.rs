use oxwarp::prelude::*;

/// `y[i] += a * x[i]`, an element for each thread.
#[kernel]
fn axpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i];
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?; // the first CUDA device, or the CPU simulator when there is none
    let n = 1 << 20;
    let x = gpu.to_device(&vec![1.0f32; n])?;
    let mut y = gpu.to_device(&vec![2.0f32; n])?;
    launch!(axpy[n.div_ceil(256), 256](3.0, &x, &mut y))?; // blocks, and threads in each
    println!("{} on {}", y.to_host()?, gpu.name());
    Ok(())
}

/// On the simulator with its checks, and on the GPU where there is one.
#[oxwarp::test]
fn axpy_adds(gpu: &Gpu) -> oxwarp::Result<()> {
    let x = gpu.to_device(&[1.0f32, 10.0, 100.0])?;
    let mut y = gpu.to_device(&[1.0f32, 2.0, 3.0])?;
    launch!(axpy[1, 32](2.0, &x, &mut y))?;
    assert_eq!(y.to_vec()?, [3.0, 22.0, 203.0]);
    Ok(())
}
