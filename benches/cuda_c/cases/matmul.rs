//! Products of square matrices of `f32`: straight from global memory, and through tiles in shared memory.

use oxwarp::DeviceArray2;
use oxwarp::prelude::*;

use super::case::{Checks, arguments, close, launch_either, places, with_unchecked};
use super::random::floats;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

with_unchecked! {
    matmul_naive_unchecked:
    #[kernel(launch_bounds(1024))]
    fn matmul_naive(a: &[f32], b: &[f32], n: u32, mut c: DisjointSlice<f32, ThreadIndex2d>) {
        let i = thread::index_2d();
        let (row, col) = (i.row() as u32, i.col() as u32);
        if let Some(c) = c.get_mut(i) {
            let mut sum = 0.0;
            for k in 0..n {
                sum += a[(row * n + k) as usize] * b[(k * n + col) as usize];
            }
            *c = sum;
        }
    }
}

with_unchecked! {
    matmul_tiled_unchecked:
    #[kernel(launch_bounds(1024))]
    fn matmul_tiled(a: &[f32], b: &[f32], n: u32, mut c: DisjointSlice<f32, ThreadIndex2d>) {
        let (tile_a, tile_b) = (shared_array![f32; 32, 32], shared_array![f32; 32, 32]);
        let i = thread::index_2d();
        let (row, col) = (i.row() as u32, i.col() as u32);
        let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
        let here = (y as usize, x as usize);
        let mut sum = 0.0;
        for m in (0..n).step_by(32) {
            let of_a = row < n && m + x < n;
            tile_a.set(
                here,
                if of_a {
                    a[(row * n + m + x) as usize]
                } else {
                    0.0
                },
            );
            let of_b = col < n && m + y < n;
            tile_b.set(
                here,
                if of_b {
                    b[((m + y) * n + col) as usize]
                } else {
                    0.0
                },
            );
            sync_threads();
            for k in 0..32 {
                sum += tile_a.get((y as usize, k)) * tile_b.get((k, x as usize));
            }
            sync_threads();
        }
        if let Some(c) = c.get_mut(i) {
            *c = sum;
        }
    }
}

const SOURCE: Source = Source {
    name: "matmul.cu",
    text: include_str!("matmul.cu"),
    fast_math: false,
};

pub const NAIVE: Entry = Entry {
    name: "matmul_naive",
    kernels: &["matmul_naive"],
    index_bits: 32,
    source: SOURCE,
    build: |gpu, size| {
        case(
            gpu,
            size,
            "matmul_naive",
            |checks, grid, a, b, n, c| launch_either!(checks, matmul_naive / matmul_naive_unchecked[grid, (32, 32)](a, b, n, c)),
        )
    },
};

pub const TILED: Entry = Entry {
    name: "matmul_tiled",
    kernels: &["matmul_tiled"],
    index_bits: 32,
    source: SOURCE,
    build: |gpu, size| {
        case(
            gpu,
            size,
            "matmul_tiled",
            |checks, grid, a, b, n, c| launch_either!(checks, matmul_tiled / matmul_tiled_unchecked[grid, (32, 32)](a, b, n, c)),
        )
    },
};

type Launch = fn(
    Checks,
    (usize, usize),
    &DeviceArray<f32>,
    &DeviceArray<f32>,
    u32,
    &mut DeviceArray2<f32>,
) -> oxwarp::Result<()>;

fn case(gpu: &Gpu, size: Size, name: &'static str, launch: Launch) -> Outcome<Case> {
    let n: usize = size.pick(4096, 45);
    let (a, b) = (floats(n * n, -1.0, 1.0, 1), floats(n * n, -1.0, 1.0, 2));
    let (a_gpu, b_gpu) = (gpu.to_device(&a)?, gpu.to_device(&b)?);
    let c_gpu = gpu.zeros_nd::<f32, _>((n, n))?;
    let grid = (n.div_ceil(32), n.div_ceil(32));
    let twin = Twin::new(
        name,
        grid,
        (32, 32),
        arguments![a_gpu, b_gpu, c_gpu, n as u32],
    );
    Ok(Case::new(
        Work::Flops(2.0 * (n as f64).powi(3)),
        vec![twin],
        c_gpu,
        |c| c.fill(f32::NAN),
        move |checks, c| launch(checks, grid, &a_gpu, &b_gpu, n as u32, c),
        move |c| {
            let element = |i: usize| {
                let (row, col) = (i / n, i % n);
                let products =
                    (0..n).map(|k| f64::from(a[row * n + k]) * f64::from(b[k * n + col]));
                products.sum::<f64>()
            };
            close(&c.to_vec()?, places(n * n, 5000), 1e-3, element)
        },
    ))
}
