//! A product of square matrices of `f32` with tiles of 128x128 in a block and of 8x8 in the registers of a thread. The next
//! tiles are loaded while the present ones are multiplied, and are stored beside them.

use std::array;

use oxwarp::DeviceArray2;
use oxwarp::disjoint::DisjointTiles;
use oxwarp::prelude::*;
use oxwarp::unroll;
use oxwarp::vector::Float4;

use super::case::{arguments, close, launch_either, places, with_unchecked};
use super::random::{components, vectors};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

/// Rows and columns of a block's tile.
const TILE: u32 = 128;
/// Products of an element that are added before the next tiles.
const DEPTH: u32 = 8;
/// From an even column of the tile of B to the odd one beside it, in vectors: sixteen, and four more that move it to other banks.
const HALF: usize = 20;

with_unchecked! {
    matmul_blocked_unchecked:
    /// `n` is a multiple of 128. Matrices are of vectors of four, so `n / 4` is the length of a row.
    #[kernel(block(16, 16), launch_bounds(256, 2))]
    fn matmul_blocked(a: &[Float4], b: &[Float4], n: u32, mut c: DisjointTiles<Float4, 8, 2, ThreadIndex2d>) {
        // Two of each: one is read while the other is written. That of A is transposed, so that a thread reads its 8 rows in
        // one go; in that of B, even columns lie before odd ones, so that neighbours read from different banks.
        let tile_a = shared_array![f32; 2, DEPTH as usize, TILE as usize];
        let tile_b = shared_array![Float4; 2, DEPTH as usize, 2 * HALF];
        let of_column = |column: usize| column / 2 + HALF * (column % 2);
        let i = thread::index_2d();
        let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
        let t = y * 16 + x;
        let row = n / 4;
        // What this thread copies of each tile: four of a row of A, four of a row of B.
        let (a_row, a_col) = (t / 2, t % 2);
        let (b_row, b_col) = (t / 32, t % 32);
        let of_a = (thread::block_idx_y() * TILE + a_row) * row + a_col;
        let of_b = b_row * row + thread::block_idx_x() * (TILE / 4) + b_col;
        let load = |first: u32| (a[(of_a + first / 4) as usize], b[(of_b + first * row) as usize]);
        let store = |stage: usize, (a, b): (Float4, Float4)| {
            for (k, element) in a.to_array().into_iter().enumerate() {
                tile_a.set((stage, 4 * a_col as usize + k, a_row as usize), element);
            }
            tile_b.set((stage, b_row as usize, of_column(b_col as usize)), b);
        };

        store(0, load(0));
        sync_threads();
        let mut sums = [[0.0f32; 8]; 8];
        for first in (0..n).step_by(2 * DEPTH as usize) {
            for stage in 0..2 {
                unroll::full();
                // After the last tiles, these once more, which nobody reads.
                let next = load((first + DEPTH * (stage as u32 + 1)).min(n - DEPTH));
                for k in 0..DEPTH as usize {
                    unroll::full();
                    let of_a: [f32; 8] = array::from_fn(|r| tile_a.get((stage, k, 8 * y as usize + r)));
                    let [low, high] = [0, 1].map(|half| tile_b.get((stage, k, of_column(2 * x as usize + half))).to_array());
                    for (sums, a) in sums.iter_mut().zip(of_a) {
                        for (sum, b) in sums.iter_mut().zip(low.into_iter().chain(high)) {
                            *sum += a * b;
                        }
                    }
                }
                store(1 - stage, next);
                sync_threads();
            }
        }
        for (c, sums) in c.whole_mut(i).into_iter().flatten().zip(sums) {
            let [p, q, r, s, t, u, v, w] = sums;
            *c = [Float4::new(p, q, r, s), Float4::new(t, u, v, w)];
        }
    }
}

pub const BLOCKED: Entry = Entry {
    name: "matmul_blocked",
    kernels: &["matmul_blocked"],
    index_bits: 32,
    source: Source {
        name: "blocked.cu",
        text: include_str!("blocked.cu"),
        fast_math: false,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    const BLOCK: (usize, usize) = (16, 16);
    let n: usize = size.pick(4096, 256);
    let (a, b) = (
        vectors(n * n / 4, -1.0, 1.0, 1),
        vectors(n * n / 4, -1.0, 1.0, 2),
    );
    let (a_gpu, b_gpu) = (gpu.to_device(&a)?, gpu.to_device(&b)?);
    let c_gpu: DeviceArray2<Float4> = gpu.zeros_nd((n, n / 4))?;
    let tiles = n / TILE as usize;
    let grid = (tiles, tiles);
    let words = arguments![a_gpu, b_gpu, c_gpu, n as u32];
    Ok(Case::new(
        Work::Flops(2.0 * (n as f64).powi(3)),
        vec![Twin::new("matmul_blocked", grid, BLOCK, words)],
        c_gpu,
        |c| c.fill(Float4::splat(f32::NAN)),
        move |checks, c| launch_either!(checks, matmul_blocked / matmul_blocked_unchecked[grid, BLOCK](&a_gpu, &b_gpu, n as u32, c)),
        move |c| {
            let (a, b) = (components(&a), components(&b));
            let element = |i: usize| {
                let (row, col) = (i / n, i % n);
                let products =
                    (0..n).map(|k| f64::from(a[row * n + k]) * f64::from(b[k * n + col]));
                products.sum::<f64>()
            };
            close(components(&c.to_vec()?), places(n * n, 5000), 1e-3, element)
        },
    ))
}
