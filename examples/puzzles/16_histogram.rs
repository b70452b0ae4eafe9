//! Puzzle 16: how often each byte occurs. Each block counts in shared memory and adds its counts to the result.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use oxwarp::prelude::*;

#[kernel]
pub fn histogram(bytes: &[u8], counts: &[AtomicU32]) {
    let bins = shared_atomics![AtomicU32; 256];
    bins.fill(0);
    sync_threads();
    for i in thread::grid_stride(bytes.len()) {
        bins.at(bytes[i].into()).fetch_add(1, Relaxed);
    }
    sync_threads();
    for bin in (thread::index_in_block()..256).step_by(block::len()) {
        counts[bin].fetch_add(bins.at(bin).load(Relaxed), Relaxed);
    }
}
