//! Many products of 16x16 matrices, a block for each.

use oxwarp::prelude::*;

use super::case::{arguments, close, launch_either, places, with_unchecked};
use super::random::floats;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const SIDE: usize = 16;
const BLOCK: usize = SIDE * SIDE;

with_unchecked! {
    batched_matmul_unchecked:
    #[kernel(launch_bounds(256))]
    fn batched_matmul(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
        let (tile_a, tile_b) = (
            shared_array![f32; SIDE, SIDE],
            shared_array![f32; SIDE, SIDE],
        );
        let i = thread::index_1d();
        let t = thread::thread_idx_x() as usize;
        let (row, col) = (t / SIDE, t % SIDE);
        tile_a.set((row, col), a[*i]);
        tile_b.set((row, col), b[*i]);
        sync_threads();
        let mut sum = 0.0;
        for k in 0..SIDE {
            sum += tile_a.get((row, k)) * tile_b.get((k, col));
        }
        if let Some(c) = c.get_mut(i) {
            *c = sum;
        }
    }
}

pub const BATCHED: Entry = Entry {
    name: "matmul_batched",
    kernels: &["batched_matmul"],
    index_bits: 64,
    source: Source {
        name: "batched.cu",
        text: include_str!("batched.cu"),
        fast_math: false,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let count: usize = size.pick(1 << 17, 5);
    let n = count * BLOCK;
    let (a, b) = (floats(n, -1.0, 1.0, 1), floats(n, -1.0, 1.0, 2));
    let (a_gpu, b_gpu) = (gpu.to_device(&a)?, gpu.to_device(&b)?);
    let c_gpu = gpu.zeros::<f32>(n)?;
    let twin = Twin::new(
        "batched_matmul",
        count,
        BLOCK,
        arguments![a_gpu, b_gpu, c_gpu],
    );
    Ok(Case::new(
        Work::Bytes(12.0 * n as f64),
        vec![twin],
        c_gpu,
        |c| c.fill(f32::NAN),
        move |checks, c| launch_either!(checks, batched_matmul / batched_matmul_unchecked[count, BLOCK](&a_gpu, &b_gpu, c)),
        move |c| {
            let element = |i: usize| -> f64 {
                let (first, row, col) = (i / BLOCK * BLOCK, i % BLOCK / SIDE, i % SIDE);
                let product =
                    |k| f64::from(a[first + row * SIDE + k]) * f64::from(b[first + k * SIDE + col]);
                (0..SIDE).map(product).sum()
            };
            close(&c.to_vec()?, places(n, 100_000), 1e-5, element)
        },
    ))
}
