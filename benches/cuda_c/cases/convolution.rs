//! A separable convolution with 17 weights in constant memory: along rows, then along columns.

use std::array;

use oxwarp::DeviceArray2;
use oxwarp::prelude::*;
use oxwarp::unroll;
use oxwarp::vector::Float4;

use super::case::{arguments, close, launch_either, places, with_unchecked};
use super::random::{components, vectors};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const RADIUS: usize = 8;
const TAPS: usize = 2 * RADIUS + 1;
/// Threads of a block in the first pass.
const ROW_BLOCK: usize = 128;
/// Threads of a block in the second pass, and numbers of each.
const COLUMN_BLOCK: usize = 256;
const COLUMN: usize = 32;

oxwarp::constant! {
    /// Of a bell curve.
    static WEIGHTS: [f32; TAPS] = [
        0.0038, 0.0088, 0.0181, 0.0333, 0.0549, 0.081, 0.107, 0.1264, 0.1336, 0.1264, 0.107, 0.081, 0.0549, 0.0333, 0.0181, 0.0088, 0.0038,
    ];
}

/// The sum of neighbours by their weights.
#[inline]
fn weighted(near: &[f32]) -> f32 {
    WEIGHTS.iter().zip(near).map(|(weight, x)| weight * x).sum()
}

with_unchecked! {
    convolve_rows_unchecked:
    /// Four numbers a thread. What neighbours in the block load too comes from the L1 cache.
    #[kernel(block(ROW_BLOCK))]
    fn convolve_rows(x: ArrayView2<Float4>, mut y: DisjointSlice<Float4, ThreadIndex2d>) {
        let i = thread::index_2d();
        if let Some(y) = y.get_mut(i) {
            // Five vectors, of which the middle one is the thread's own; 0 outside.
            let near: [Float4; 5] = array::from_fn(|k| {
                let x = x.get((i.row(), (i.col() + k).wrapping_sub(2)));
                x.copied().unwrap_or_default()
            });
            let near = near.map(Float4::to_array);
            *y = [0, 1, 2, 3].map(|k| weighted(&near.as_flattened()[k..])).into();
        }
    }
}

with_unchecked! {
    convolve_columns_unchecked:
    /// `COLUMN` numbers of a column a thread, from registers. The rows are a multiple of as many.
    #[kernel(block(COLUMN_BLOCK))]
    fn convolve_columns(x: &[Float4], mut y: DisjointTiles<f32, COLUMN, 1, ThreadIndex2d>) {
        let (i, [_, cols]) = (thread::index_2d(), y.shape());
        let x: &[f32] = bytemuck::cast_slice(x);
        // From RADIUS rows before the first to as many after the last; 0 outside.
        let near: [f32; COLUMN + 2 * RADIUS] = array::from_fn(|k| {
            unroll::full();
            let row = (COLUMN * i.row() + k).wrapping_sub(RADIUS);
            let x = x.get(row.wrapping_mul(cols).wrapping_add(i.col()));
            x.copied().unwrap_or_default()
        });
        if let Some(y) = y.whole_mut(i) {
            for (k, [y]) in y.into_iter().enumerate() {
                unroll::full();
                *y = weighted(&near[k..]);
            }
        }
    }
}

pub const CONVOLUTION: Entry = Entry {
    name: "convolution",
    kernels: &["convolve_rows", "convolve_columns"],
    index_bits: 64,
    source: Source {
        name: "convolution.cu",
        text: include_str!("convolution.cu"),
        fast_math: false,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let (rows, cols): (usize, usize) = size.pick((8192, 8192), (2 * COLUMN, 44));
    let x = vectors(rows * cols / 4, 0.0, 1.0, 1);
    let x_gpu = gpu.to_device(&x)?.into_shape((rows, cols / 4))?;
    let between: DeviceArray2<Float4> = gpu.zeros_nd((rows, cols / 4))?;
    let y_gpu: DeviceArray2<f32> = gpu.zeros_nd((rows, cols))?;
    let of_rows = ((cols / 4).div_ceil(ROW_BLOCK), rows);
    let of_columns = (cols.div_ceil(COLUMN_BLOCK), rows / COLUMN);
    let twin = vec![
        Twin::new(
            "convolve_rows",
            of_rows,
            ROW_BLOCK,
            arguments![x_gpu, between, rows, cols / 4],
        ),
        Twin::new(
            "convolve_columns",
            of_columns,
            COLUMN_BLOCK,
            arguments![between, y_gpu, rows, cols],
        ),
    ];
    Ok(Case::new(
        Work::Bytes(16.0 * (rows * cols) as f64),
        twin,
        (between, y_gpu),
        |(_, y)| y.fill(f32::NAN),
        move |checks, (between, y)| {
            launch_either!(checks, convolve_rows / convolve_rows_unchecked[of_rows, ROW_BLOCK](&x_gpu, &mut *between))?;
            launch_either!(checks, convolve_columns / convolve_columns_unchecked[of_columns, COLUMN_BLOCK](&*between, y
            ))
        },
        move |(_, y)| {
            let x = components(&x);
            // The number that lies so far before `at + k`, of `len`.
            let near = |at: usize, k: usize, len: usize| {
                (at + k).checked_sub(RADIUS).filter(|&at| at < len)
            };
            let row_sum = |row: usize, col: usize| -> f64 {
                let products = (0..TAPS).filter_map(|k| {
                    Some(f64::from(WEIGHTS[k]) * f64::from(x[row * cols + near(col, k, cols)?]))
                });
                products.sum()
            };
            let wanted = |p: usize| -> f64 {
                let (row, col) = (p / cols, p % cols);
                (0..TAPS)
                    .filter_map(|k| Some(f64::from(WEIGHTS[k]) * row_sum(near(row, k, rows)?, col)))
                    .sum()
            };
            close(&y.to_vec()?, places(rows * cols, 20_000), 1e-5, wanted)
        },
    ))
}
