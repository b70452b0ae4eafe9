//! A sparse matrix in compressed rows (CSR) times a vector, sixteen lanes for each row.

use std::array;

use oxwarp::memory::ldcs;
use oxwarp::prelude::*;
use oxwarp::unroll;

use super::case::{arguments, close, launch_either, with_unchecked};
use super::random::{Random, floats};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

/// Lanes that have a row, and its elements that each of them loads at once.
const LANES: usize = 16;
const AT_ONCE: usize = 3;
/// Threads of a block, and rows.
const BLOCK: usize = 1024;

with_unchecked! {
    spmv_unchecked:
    /// Row `r` has the elements `offsets[r]..offsets[r + 1]` of `columns` and `values`; one whose elements are not there is zero.
    /// Panics at a column that `x` does not have. With fewer values than columns nothing is computed.
    #[kernel(block(BLOCK), launch_bounds(1024, 2))]
    fn spmv(offsets: &[u32], columns: &[u32], values: &[f32], x: &[f32], mut y: DisjointSlice<f32>) {
        let sums = shared_array![f32; BLOCK];
        let t = thread::index_in_block();
        // As many values as columns, which is known of each row from here on.
        let Some(values) = values.get(..columns.len()) else { return };
        for turn in 0..LANES as u32 {
            unroll::never();
            let mut sum = 0.0;
            let r = (turn as usize * BLOCK + t) / LANES;
            let row = *block::index_1d() * BLOCK + r;
            if let (Some(&begin), Some(&end)) = (offsets.get(row), offsets.get(row + 1)) {
                let of_row = begin as usize..end as usize;
                let (columns, values) = (columns.get(of_row.clone()), values.get(of_row));
                if let (Some(columns), Some(values)) = (columns, values) {
                    let mut k = t % LANES;
                    while let (Some(columns), Some(values)) = (columns.get(k..), values.get(k..)) {
                        unroll::never();
                        // All loads come before the first use. Where there is no element, column 0 is read and not used.
                        let elements: [_; AT_ONCE] = array::from_fn(|j| {
                            unroll::full();
                            let element = columns.get(LANES * j).zip(values.get(LANES * j));
                            element.map_or((0, None), |(column, value)| (ldcs(column), Some(ldcs(value))))
                        });
                        for (value, x) in elements.map(|(column, value)| (value, x[column as usize])) {
                            unroll::full();
                            if let Some(value) = value {
                                sum += value * x;
                            }
                        }
                        k += LANES * AT_ONCE;
                    }
                }
            }
            for lanes in [8, 4, 2, 1] {
                sum += warp::shuffle_xor(warp::FULL_MASK, sum, lanes);
            }
            if t.is_multiple_of(LANES) {
                sums.set(r, sum);
            }
        }
        sync_threads();
        if let Some(y) = y.get_mut(thread::index_1d()) {
            *y = sums.get(t);
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

/// Columns of a row lie so near the diagonal.
const BAND: usize = 4096;

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 20, 1300);
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
    let grid = n.div_ceil(BLOCK);
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
