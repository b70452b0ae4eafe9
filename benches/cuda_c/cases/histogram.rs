//! Histograms: of bytes, with bins in shared memory, and of 65536 keys, with bins in global memory.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use oxwarp::atomic::{AtomicScope, Device};
use oxwarp::prelude::*;

use super::case::{arguments, launch_either, with_unchecked};
use super::random::Random;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

/// Also the bins of `histogram_shared`.
const BLOCK: usize = 256;
const BLOCKS: usize = 1024;
const KEYS: usize = 1 << 16;

with_unchecked! {
    histogram_shared_unchecked:
    /// `x` has four bytes in a word.
    #[kernel(launch_bounds(256))]
    fn histogram_shared(x: &[u32], counts: &[AtomicU32]) {
        let bins = shared_atomics![AtomicU32; BLOCK];
        let t = thread::thread_idx_x() as usize;
        bins.at(t).store(0, Relaxed);
        sync_threads();
        for i in thread::grid_stride(x.len()) {
            for byte in x[*i].to_le_bytes() {
                bins.at(byte.into()).fetch_add(1, Relaxed);
            }
        }
        sync_threads();
        counts[t]
            .scoped(Device)
            .fetch_add(bins.at(t).load(Relaxed), Relaxed);
    }
}

with_unchecked! {
    histogram_global_unchecked:
    #[kernel]
    fn histogram_global(x: &[u32], counts: &[AtomicU32]) {
        if let Some(&key) = x.get(*thread::index_1d()) {
            counts[key as usize].scoped(Device).fetch_add(1, Relaxed);
        }
    }
}

const SOURCE: Source = Source {
    name: "histogram.cu",
    text: include_str!("histogram.cu"),
    fast_math: false,
};

pub const SHARED: Entry = Entry {
    name: "histogram_shared",
    kernels: &["histogram_shared"],
    index_bits: 64,
    source: SOURCE,
    build: shared_case,
};

fn shared_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 26, 2500);
    let blocks = size.pick(BLOCKS, 3);
    let mut random = Random::new(1);
    let x: Vec<u32> = (0..n).map(|_| random.bits() as u32).collect();
    let x_gpu = gpu.to_device(&x)?;
    let counts = gpu.zeros::<u32>(BLOCK)?;
    let twin = Twin::new(
        "histogram_shared",
        blocks,
        BLOCK,
        arguments![x_gpu, counts, n],
    );
    let mut wanted = vec![0; BLOCK];
    x.iter()
        .flat_map(|x| x.to_le_bytes())
        .for_each(|byte| wanted[usize::from(byte)] += 1);
    Ok(Case::new(
        Work::Bytes(4.0 * n as f64),
        vec![twin],
        counts,
        |counts| counts.fill(0),
        move |checks, counts| launch_either!(checks, histogram_shared / histogram_shared_unchecked[blocks, BLOCK](&x_gpu, counts)),
        move |counts| equal(&counts.to_vec()?, &wanted),
    ))
}

pub const GLOBAL: Entry = Entry {
    name: "histogram_global",
    kernels: &["histogram_global"],
    index_bits: 64,
    source: SOURCE,
    build: global_case,
};

fn global_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 26, 2500);
    let mut random = Random::new(2);
    let x: Vec<u32> = (0..n).map(|_| random.below(KEYS) as u32).collect();
    let x_gpu = gpu.to_device(&x)?;
    let counts = gpu.zeros::<u32>(KEYS)?;
    let grid = n.div_ceil(BLOCK);
    let twin = Twin::new(
        "histogram_global",
        grid,
        BLOCK,
        arguments![x_gpu, counts, n],
    );
    let mut wanted = vec![0; KEYS];
    x.iter().for_each(|&key| wanted[key as usize] += 1);
    Ok(Case::new(
        Work::Bytes(4.0 * n as f64),
        vec![twin],
        counts,
        |counts| counts.fill(0),
        move |checks, counts| launch_either!(checks, histogram_global / histogram_global_unchecked[grid, BLOCK](&x_gpu, counts)),
        move |counts| equal(&counts.to_vec()?, &wanted),
    ))
}

fn equal(counts: &[u32], wanted: &[u32]) -> Outcome<()> {
    let wrong = (0..wanted.len()).find(|&bin| counts[bin] != wanted[bin]);
    wrong.map_or(Ok(()), |bin| {
        Err(format!("bin {bin} is {}, not {}", counts[bin], wanted[bin]).into())
    })
}
