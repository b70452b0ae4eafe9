//! A sparse matrix in compressed rows (CSR) times a vector, a warp for each row.

use oxwarp::prelude::*;

use super::case::{arguments, close, launch_either, with_unchecked};
use super::random::{Random, floats};
use super::reduction::warp_reduce;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

with_unchecked! {
    spmv_unchecked:
    /// Row `r` has the elements `offsets[r]..offsets[r + 1]` of `columns` and `values`. A column that `x` does not have makes
    /// its row NaN.
    #[kernel(block(BLOCK))]
    fn spmv(offsets: &[u32], columns: &[u32], values: &[f32], x: &[f32], mut y: DisjointSlice<f32, WarpIndex>) {
        let row = warp::index_1d();
        if *row >= y.len() {
            return;
        }
        let (end, begin) = (offsets[*row + 1], offsets[*row]);
        let (mut sum, mut k) = (0.0, begin + warp::lane_id());
        while k < end {
            let x = x.get(columns[k as usize] as usize);
            sum += values[k as usize] * x.copied().unwrap_or(f32::NAN);
            k += 32;
        }
        let sum = warp_reduce(sum, |a, b| a + b);
        if let Some(y) = y.get_mut(row) {
            *y = sum;
        }
    }
}

pub const SPMV: Entry = Entry {
    name: "spmv",
    kernels: &["spmv"],
    index_bits: 32,
    source: Source {
        name: "spmv.cu",
        text: include_str!("spmv.cu"),
        fast_math: false,
    },
    build: case,
};

const BLOCK: usize = 256;
/// Columns of a row lie so near the diagonal.
const BAND: usize = 4096;

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 20, 300);
    let mut random = Random::new(1);
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for row in 0..n {
        for _ in 0..random.below(96) {
            columns.push(((row + random.below(BAND)) % n) as u32);
        }
        offsets.push(columns.len() as u32);
    }
    let (values, x) = (floats(columns.len(), -1.0, 1.0, 2), floats(n, -1.0, 1.0, 3));
    let (offsets_gpu, columns_gpu) = (gpu.to_device(&offsets)?, gpu.to_device(&columns)?);
    let (values_gpu, x_gpu) = (gpu.to_device(&values)?, gpu.to_device(&x)?);
    let y_gpu = gpu.zeros::<f32>(n)?;
    let grid = n.div_ceil(BLOCK / 32);
    let words = arguments![offsets_gpu, columns_gpu, values_gpu, x_gpu, y_gpu, n as u32];
    Ok(Case::new(
        Work::Bytes(8.0 * columns.len() as f64 + 12.0 * n as f64),
        vec![Twin::new("spmv", grid, BLOCK, words)],
        y_gpu,
        |y| y.fill(f32::NAN),
        move |checks, y| launch_either!(checks, spmv / spmv_unchecked[grid, BLOCK](&offsets_gpu, &columns_gpu, &values_gpu, &x_gpu, y)),
        move |y| {
            close(&y.to_vec()?, 0..n, 1e-4, |row| {
                let of_row = offsets[row] as usize..offsets[row + 1] as usize;
                let product = |k: usize| f64::from(values[k]) * f64::from(x[columns[k] as usize]);
                of_row.map(product).sum()
            })
        },
    ))
}
