//! CUDA C beside Rust: the same `y = a * x + y` in both, compared. CUDA C needs a GPU and NVRTC: where there is none, the
//! example says so. `cargo run --release --example cuda_source [length]`

use oxwarp::prelude::*;
use oxwarp::{CudaSourceError, Error};

mod common;

const SOURCE: &str = r#"
extern "C" __global__ void saxpy(size_t n, float a, const float *x, float *y) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"#;

mod in_c {
    oxwarp::cuda_kernel! {
        /// `y = a * x + y`
        pub unsafe fn saxpy(n: usize, a: f32, x: &[f32], y: &mut [f32]);
    }
}

#[kernel]
fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i];
    }
}

fn main() -> oxwarp::Result<()> {
    let n = common::size(1 << 22);
    let (a, x, y) = (2.5, common::random(n, 1), common::random(n, 2));

    let gpu = Gpu::new()?;
    let device_x = gpu.to_device(&x)?;
    let mut from_rust = gpu.to_device(&y)?;
    let time = common::time(&gpu, || {
        saxpy.for_each(n).launch(a, &device_x, &mut from_rust)
    })?;
    let from_rust = from_rust.to_vec()?;

    // The signature is compared with the compiled kernel.
    let module = match gpu.compile_cuda(SOURCE) {
        Ok(module) => module,
        Err(Error::CudaSource(error)) if is_missing(&error) => {
            println!(
                "cuda_source on {}: {time:.3?} in Rust, ok; {error}",
                gpu.name()
            );
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let in_c = module.function::<in_c::saxpy>("saxpy")?;
    let mut from_c = gpu.to_device(&y)?;
    let time_of_c = common::time(&gpu, || {
        // SAFETY: both arrays have `n` elements, and the kernel leaves out threads beyond.
        unsafe { in_c.for_each(n).launch(n, a, &device_x, &mut from_c) }
    })?;

    // Both round `y + a * x` once, so they agree in every bit.
    common::report(
        "cuda_source, in Rust",
        &gpu,
        time,
        &from_rust,
        &from_c.to_vec()?,
        0.0,
    );
    println!("cuda_source, in CUDA C: {time_of_c:.3?}");
    Ok(())
}

/// Whether there is no GPU or no compiler of CUDA C here.
fn is_missing(error: &CudaSourceError) -> bool {
    matches!(
        error,
        CudaSourceError::Simulator { .. } | CudaSourceError::NoCompiler(_)
    )
}
