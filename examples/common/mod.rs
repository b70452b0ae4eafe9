//! What the examples share: pseudo-random data, a timed launch, and the comparison with the CPU's result.

// Each example uses a part.
#![allow(dead_code)]

use std::num::NonZero;
use std::time::{Duration, Instant};

use oxwarp::Gpu;

/// The size in the first argument of the command line, or the default.
pub fn size(default: usize) -> usize {
    match std::env::args()
        .nth(1)
        .map(|size| size.parse::<NonZero<usize>>())
    {
        None => default,
        Some(Ok(size)) => size.get(),
        Some(Err(error)) => {
            eprintln!("the argument is a size, such as {default}: {error}");
            std::process::exit(2);
        }
    }
}

/// Pseudo-random 64-bit numbers (splitmix64), the same in every run.
pub fn random_bits(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |i| {
        let mut z = (seed << 32 | i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// Pseudo-random numbers from 0 to 1, without 1.
pub fn random(len: usize, seed: u64) -> Vec<f32> {
    random_bits(seed)
        .map(|bits| (bits >> 40) as f32 / (1 << 24) as f32)
        .take(len)
        .collect()
}

/// The wall-clock time of a launch until it is done. It is launched twice: the first time loads the kernel.
pub fn time(gpu: &Gpu, mut launch: impl FnMut() -> oxwarp::Result<()>) -> oxwarp::Result<Duration> {
    launch()?;
    gpu.synchronize()?;
    let start = Instant::now();
    launch()?;
    gpu.synchronize()?;
    Ok(start.elapsed())
}

/// Prints the device, the time and `ok`, if each number differs from the expected one by at most `tolerance` times
/// the expected one. Otherwise says which differs, and ends the program with exit status 1.
pub fn report<T: Copy + Into<f64>>(
    what: &str,
    gpu: &Gpu,
    time: Duration,
    found: &[T],
    expected: &[T],
    tolerance: f64,
) {
    let fail = |difference: String| {
        eprintln!("{what} on {}: {difference}", gpu.name());
        std::process::exit(1);
    };
    if found.len() != expected.len() {
        fail(format!(
            "{} results, expected {}",
            found.len(),
            expected.len()
        ));
    }
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let (found, expected): (f64, f64) = ((*found).into(), (*expected).into());
        let near = (found - expected).abs() <= tolerance * expected.abs();
        if !near {
            fail(format!("result {i} is {found}, expected {expected}"));
        }
    }
    println!("{what} on {}: {time:.3?}, ok", gpu.name());
}
