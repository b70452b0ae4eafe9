//! A product of square matrices of bf16 on the matrix units, with sums in `f32`: tiles of 64x64 in a block of four warps, of
//! 32x32 in a warp. The next tiles are copied to shared memory while the present ones are multiplied.

use oxwarp::DeviceArray2;
use oxwarp::async_copy::{self, AsyncCopy};
use oxwarp::disjoint::DisjointTiles;
use oxwarp::half::Bf16;
use oxwarp::matrix::{FragmentA, FragmentB, FragmentC, Matrix, mma};
use oxwarp::prelude::*;
use oxwarp::unroll;

use super::case::{arguments, close, launch_either, places, with_unchecked};
use super::random::floats;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const BLOCK: u32 = 128;
/// Rows and columns of a block's tile.
const TILE: u32 = 64;
/// Columns of A that are multiplied before the next tiles.
const DEPTH: u32 = 32;
/// The length of a row in shared memory: eight more, so that eight rows lie in different banks.
const ROW: usize = DEPTH as usize + 8;

with_unchecked! {
    matmul_bf16_unchecked:
    /// `b` is transposed. `n` is a multiple of 64.
    #[kernel(launch_bounds(128))]
    fn matmul_bf16(a: &[Bf16], b: &[Bf16], n: u32, mut c: DisjointTiles<f32, 64, 64>) {
        // Two tiles of each, one below the other.
        let tiles_a = shared_array![Bf16; 2 * TILE as usize, ROW];
        let tiles_b = shared_array![Bf16; 2 * TILE as usize, ROW];
        let result = shared_array![f32; TILE as usize, TILE as usize + 8];
        let t = thread::thread_idx_x();
        let (warp_row, warp_col) = (t / 64 * 32, t / 32 % 2 * 32);
        let (first_row, first_col) = (thread::block_idx_y() * TILE, thread::block_idx_x() * TILE);
        let fetch = |first: u32| {
            let stage = first / DEPTH % 2 * TILE;
            for part in 0..2 {
                let chunk = t + part * BLOCK;
                let (row, col) = (chunk / 4, chunk % 4 * 8);
                let to = ((stage + row) as usize, col as usize);
                tiles_a.copy_async::<8>(to, a, ((first_row + row) * n + first + col) as usize);
                tiles_b.copy_async::<8>(to, b, ((first_col + row) * n + first + col) as usize);
            }
        };

        let mut sums = [[FragmentC::<f32>::fill(0.0); 4]; 2];
        fetch(0);
        async_copy::commit_group();
        for first in (0..n).step_by(DEPTH as usize) {
            if first + DEPTH < n {
                fetch(first + DEPTH);
            }
            async_copy::commit_group();
            async_copy::wait_group::<1>();
            sync_threads();
            let stage = first / DEPTH % 2 * TILE;
            for k in (0..DEPTH as usize).step_by(16) {
                unroll::full();
                let of_a: [_; 2] = std::array::from_fn(|r| {
                    FragmentA::<Bf16>::load(tiles_a, ((stage + warp_row) as usize + 16 * r, k))
                });
                let of_b: [_; 4] = std::array::from_fn(|c| {
                    FragmentB::<Bf16>::load(tiles_b.t(), (k, (stage + warp_col) as usize + 8 * c))
                });
                for (sums, a) in sums.iter_mut().zip(&of_a) {
                    for (sum, b) in sums.iter_mut().zip(&of_b) {
                        *sum = mma(a, b, *sum);
                    }
                }
            }
            sync_threads();
        }
        for (r, sums) in sums.iter().enumerate() {
            for (c, sum) in sums.iter().enumerate() {
                sum.store(result, (warp_row as usize + 16 * r, warp_col as usize + 8 * c));
            }
        }
        sync_threads();
        if let Some(mut c) = c.get_mut(block::index_2d()) {
            for (place, c) in c.indexed_iter_mut() {
                *c = result.get(place);
            }
        }
    }
}

pub const MATMUL_BF16: Entry = Entry {
    name: "matmul_bf16",
    kernels: &["matmul_bf16"],
    index_bits: 32,
    source: Source {
        name: "matrix_units.cu",
        text: include_str!("matrix_units.cu"),
        fast_math: false,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(8192, 128);
    let matrix = |seed| -> Vec<Bf16> {
        let numbers = floats(n * n, -1.0, 1.0, seed).into_iter();
        numbers.map(Bf16::from_f32).collect()
    };
    let (a, b) = (matrix(1), matrix(2));
    let (a_gpu, b_gpu) = (gpu.to_device(&a)?, gpu.to_device(&b)?);
    let c_gpu: DeviceArray2<f32> = gpu.zeros_nd((n, n))?;
    let tiles = n / TILE as usize;
    let (grid, block) = ((tiles, tiles), BLOCK as usize);
    let words = arguments![a_gpu, b_gpu, c_gpu, n as u32];
    Ok(Case::new(
        Work::MatrixFlops(2.0 * (n as f64).powi(3)),
        vec![Twin::new("matmul_bf16", grid, block, words)],
        c_gpu,
        |c| c.fill(f32::NAN),
        move |checks, c| launch_either!(checks, matmul_bf16 / matmul_bf16_unchecked[grid, block](&a_gpu, &b_gpu, n as u32, c)),
        move |c| {
            let element = |i: usize| {
                let (row, col) = (i / n * n, i % n * n);
                let products = (0..n).map(|k| a[row + k].to_f64() * b[col + k].to_f64());
                products.sum::<f64>()
            };
            close(&c.to_vec()?, places(n * n, 2000), 1e-2, element)
        },
    ))
}
