//! Counts bytes: all threads write to the same bins, so these are atomics.
//! `cargo run --release --example histogram [length]`

use std::sync::atomic::{AtomicU32, Ordering};

use oxwarp::prelude::*;

mod common;

#[kernel]
fn histogram(bytes: &[u8], bins: &[AtomicU32]) {
    for i in thread::grid_stride(bytes.len()) {
        bins[usize::from(bytes[i])].fetch_add(1, Ordering::Relaxed);
    }
}

fn main() -> oxwarp::Result<()> {
    let n = common::size(1 << 22);
    // The lesser of two random bytes, so that the bins differ.
    let bytes: Vec<u8> = common::random_bits(1)
        .map(|bits| (bits as u8).min((bits >> 8) as u8))
        .take(n)
        .collect();

    let gpu = Gpu::new()?;
    let device_bytes = gpu.to_device(&bytes)?;
    let mut bins = gpu.zeros::<u32>(256)?; // `&mut` plain numbers for the kernel's atomics
    let time = common::time(
        &gpu,
        || launch!(histogram[512, 256](&device_bytes, &mut bins)),
    )?;

    // Two launches, a warm-up and the timed one, count each byte twice. Counts are exact.
    let mut expected = [0u32; 256];
    for byte in bytes {
        expected[usize::from(byte)] += 2;
    }
    common::report("histogram", &gpu, time, &bins.to_vec()?, &expected, 0.0);
    Ok(())
}
