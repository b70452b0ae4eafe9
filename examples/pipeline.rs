//! Copies that overlap with kernels: parts of the data go around three streams, from pinned host memory and back.
//! Prints the profile, and writes it to `pipeline.json` for Perfetto (<https://ui.perfetto.dev>).
//! `cargo run --release --example pipeline [length]`

use oxwarp::nvtx;
use oxwarp::prelude::*;

mod common;

/// Parts that are on their way at the same time.
const STREAMS: usize = 3;

#[kernel]
fn relax(rounds: u32, mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        for _ in 0..rounds {
            *x = 0.75 * *x + 0.125;
        }
    }
}

fn main() -> oxwarp::Result<()> {
    let n = common::size(1 << 22);
    let part = n.div_ceil(16).max(1);
    let host = common::random(n, 1);
    let rounds = 20;

    let gpu = Gpu::new()?;
    let streams: Vec<_> = (0..STREAMS)
        .map(|_| gpu.new_stream())
        .collect::<Result<_, _>>()?;
    let mut result = Vec::with_capacity(n);
    let profile = gpu.profile(|| {
        let _range = nvtx::range("pipeline"); // for Nsight Systems and Nsight Compute
        let mut on_their_way = Vec::new();
        for (number, values) in host.chunks(part).enumerate() {
            let gpu = streams[number % STREAMS].gpu();
            let mut x = gpu.zeros::<f32>(values.len())?;
            let sent = x.copy_from_async(gpu.to_pinned(values)?)?; // returns at once
            relax.for_each(x.len()).launch(rounds, &mut x)?; // after its copy, beside the others'
            on_their_way.push(x.copy_to_async(gpu.pinned(values.len())?)?);
            drop((sent, x)); // the memory stays until the copies are done
        }
        for copy in on_their_way {
            result.extend_from_slice(&copy.wait()?);
        }
        Ok(())
    })?;
    print!("{profile}");
    std::fs::write("pipeline.json", profile.to_chrome_trace()).expect("the folder can be written");

    let expected: Vec<f32> = host
        .iter()
        .map(|x| (0..rounds).fold(*x, |x, _| 0.75 * x + 0.125))
        .collect();
    // A GPU rounds each step once (`fma`), the CPU here twice: with positive numbers that is at most one and a half
    // epsilons a step.
    let tolerance = 1.5 * f64::from(rounds) * f64::from(f32::EPSILON);
    common::report(
        "pipeline",
        &gpu,
        profile.elapsed(),
        &result,
        &expected,
        tolerance,
    );
    Ok(())
}
