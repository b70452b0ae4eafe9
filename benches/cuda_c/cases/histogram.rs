//! Histograms: of bytes, with bins in shared memory, and of 65536 keys, with bins in global memory.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use oxwarp::atomic::{AtomicScope, Device};
use oxwarp::prelude::*;
use oxwarp::unroll;
use oxwarp::vector::UInt4;

use super::case::{arguments, launch_either, with_unchecked};
use super::random::Random;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const BLOCK: usize = 256;
/// Blocks of `histogram_shared`, two for each multiprocessor of a large GPU, their threads and bins.
const SHARED_BLOCKS: usize = 264;
const SHARED_BLOCK: usize = 512;
const BINS: usize = 256;
const LANES: usize = 32;
const KEYS: usize = 1 << 16;

with_unchecked! {
    histogram_shared_unchecked:
    /// `x` has 16 bytes in a vector. Each lane of a warp has bins of its own, in a bank of its own: no two threads of a warp
    /// count in the same place, or wait for the same bank.
    #[kernel(block(SHARED_BLOCK))]
    fn histogram_shared(x: &[UInt4], counts: &[AtomicU32]) {
        let bins = shared_atomics![AtomicU32; BINS * LANES];
        let t = thread::index_in_block();
        let lane = t % LANES;
        bins.fill(0);
        sync_threads();
        for i in thread::grid_stride(x.len()) {
            for word in x[*i].to_array() {
                unroll::full();
                for byte in word.to_le_bytes() {
                    bins.at(LANES * usize::from(byte) + lane)
                        .fetch_add(1, Relaxed);
                }
            }
        }
        sync_threads();
        if t < BINS {
            let count = counts[t].scoped(Device);
            let of_lane = |k: usize| bins.at(LANES * t + (t + k) % LANES).load(Relaxed);
            count.fetch_add((0..LANES).map(of_lane).sum(), Relaxed);
        }
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
    let n: usize = size.pick(1 << 24, 2500);
    let blocks = size.pick(SHARED_BLOCKS, 3);
    let mut random = Random::new(1);
    let mut word = || random.bits() as u32;
    let x: Vec<UInt4> = (0..n)
        .map(|_| UInt4::new(word(), word(), word(), word()))
        .collect();
    let x_gpu = gpu.to_device(&x)?;
    let counts = gpu.zeros::<u32>(BINS)?;
    let twin = Twin::new(
        "histogram_shared",
        blocks,
        SHARED_BLOCK,
        arguments![x_gpu, counts, n],
    );
    let mut wanted = vec![0; BINS];
    x.iter()
        .flat_map(|x| x.to_array())
        .flat_map(u32::to_le_bytes)
        .for_each(|byte| wanted[usize::from(byte)] += 1);
    Ok(Case::new(
        Work::Bytes(16.0 * n as f64),
        vec![twin],
        counts,
        |counts| counts.fill(0),
        move |checks, counts| launch_either!(checks, histogram_shared / histogram_shared_unchecked[blocks, SHARED_BLOCK](&x_gpu, counts)),
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
