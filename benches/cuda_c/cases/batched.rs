//! Many products of 16x16 matrices, a warp for each.

use oxwarp::prelude::*;
use oxwarp::unroll;
use oxwarp::vector::Float4;

use super::case::{arguments, close, launch_either, places, with_unchecked};
use super::random::{components, vectors};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const SIDE: usize = 16;
/// Numbers of a matrix, and vectors.
const MATRIX: usize = SIDE * SIDE;
const VECTORS: usize = MATRIX / 4;
/// Warps of a block.
const WARPS: usize = 4;
const BLOCK: usize = 32 * WARPS;

with_unchecked! {
    batched_matmul_unchecked:
    /// A warp has a matrix, a thread four columns of two rows.
    #[kernel(block(BLOCK))]
    fn batched_matmul(a: &[Float4], b: &[Float4], mut c: DisjointChunks<Float4, VECTORS, WarpIndex>) {
        let tile_a = shared_array![Float4; WARPS, VECTORS];
        let tile_b = shared_array![Float4; WARPS, VECTORS];
        let (matrix, t) = (warp::index_1d(), thread::index_in_block());
        let (warp, lane) = (t / 32, t % 32);
        let (row, col) = (lane / 4, lane % 4);
        let [a, b] = [a, b].map(|x| &x.as_chunks::<VECTORS>().0[*matrix]);
        for i in [lane, lane + 32] {
            tile_a.set((warp, i), a[i]);
            tile_b.set((warp, i), b[i]);
        }
        warp::sync_warp(warp::FULL_MASK);
        let mut sums = [Float4::default(); 2];
        for k in 0..4 {
            unroll::full();
            let [low, high] =
                [row, row + 8].map(|row| tile_a.get((warp, 4 * row + k)).to_array());
            for (j, (low, high)) in low.into_iter().zip(high).enumerate() {
                let b = tile_b.get((warp, 16 * k + 4 * j + col));
                sums[0] += b * low;
                sums[1] += b * high;
            }
        }
        if let Some(mut c) = c.get_mut(matrix) {
            c.iter_mut().zip(sums).for_each(|(c, sum)| *c = sum);
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
    let count: usize = size.pick(1 << 17, 2 * WARPS);
    let n = count * MATRIX;
    let [a, b] = [1, 2].map(|seed| vectors(n / 4, -1.0, 1.0, seed));
    let (a_gpu, b_gpu) = (gpu.to_device(&a)?, gpu.to_device(&b)?);
    let c_gpu = gpu.zeros::<Float4>(n / 4)?;
    let grid = count / WARPS;
    let twin = Twin::new(
        "batched_matmul",
        grid,
        BLOCK,
        arguments![a_gpu, b_gpu, c_gpu],
    );
    Ok(Case::new(
        Work::Bytes(12.0 * n as f64),
        vec![twin],
        c_gpu,
        |c| c.fill(Float4::splat(f32::NAN)),
        move |checks, c| launch_either!(checks, batched_matmul / batched_matmul_unchecked[grid, BLOCK](&a_gpu, &b_gpu, c)),
        move |c| {
            let (a, b) = (components(&a), components(&b));
            let element = |i: usize| -> f64 {
                let (first, row, col) = (i / MATRIX * MATRIX, i % MATRIX / SIDE, i % SIDE);
                let product =
                    |k| f64::from(a[first + row * SIDE + k]) * f64::from(b[first + k * SIDE + col]);
                (0..SIDE).map(product).sum()
            };
            close(components(&c.to_vec()?), places(n, 100_000), 1e-5, element)
        },
    ))
}
