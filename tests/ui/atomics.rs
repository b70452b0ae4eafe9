//! Atomics are written, so they take `&mut`.
use std::sync::atomic::{AtomicU32, Ordering};

use oxwarp::prelude::*;

#[kernel]
fn count(bins: &[AtomicU32]) {
    bins[0].fetch_add(1, Ordering::Relaxed);
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let bins = gpu.zeros::<u32>(4)?;
    launch!(count[1, 4](&bins))?;
    Ok(())
}
