//! A separable convolution with 17 weights in constant memory: along rows, then along columns, each through shared memory.

use oxwarp::DeviceArray2;
use oxwarp::prelude::*;
use oxwarp::view::ArrayView2;

use super::case::{arguments, close, launch_either, places, with_unchecked};
use super::random::floats;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const RADIUS: usize = 8;
const TAPS: usize = 2 * RADIUS + 1;
/// Threads of a block along a row, in the first pass.
const ROW: usize = 256;
/// Rows and columns of a block in the second pass.
const SIDE: usize = 32;

oxwarp::constant! {
    /// Of a bell curve.
    static WEIGHTS: [f32; TAPS] = [
        0.0038, 0.0088, 0.0181, 0.0333, 0.0549, 0.081, 0.107, 0.1264, 0.1336, 0.1264, 0.107, 0.081, 0.0549, 0.0333, 0.0181, 0.0088, 0.0038,
    ];
}

with_unchecked! {
    convolve_rows_unchecked:
    #[kernel(block(ROW))]
    fn convolve_rows(x: ArrayView2<f32>, mut y: DisjointSlice<f32, ThreadIndex2d>) {
        let line = shared_array![f32; ROW + 2 * RADIUS];
        let i = thread::index_2d();
        let t = thread::thread_idx_x() as usize;
        // The number RADIUS columns before, 0 outside.
        let before = |col: usize| {
            let x = x.get((i.row(), col.wrapping_sub(RADIUS)));
            x.copied().unwrap_or(0.0)
        };
        line.set(t, before(i.col()));
        if t < 2 * RADIUS {
            line.set(t + ROW, before(i.col() + ROW));
        }
        sync_threads();
        if let Some(y) = y.get_mut(i) {
            let mut sum = 0.0;
            for (k, weight) in WEIGHTS.iter().enumerate() {
                sum += weight * line.get(t + k);
            }
            *y = sum;
        }
    }
}

with_unchecked! {
    convolve_columns_unchecked:
    #[kernel(block(SIDE, SIDE))]
    fn convolve_columns(x: ArrayView2<f32>, mut y: DisjointSlice<f32, ThreadIndex2d>) {
        let tile = shared_array![f32; SIDE + 2 * RADIUS, SIDE];
        let i = thread::index_2d();
        let tx = thread::thread_idx_x() as usize;
        let ty = thread::thread_idx_y() as usize;
        // The number RADIUS rows before, 0 outside.
        let before = |row: usize| {
            let x = x.get((row.wrapping_sub(RADIUS), i.col()));
            x.copied().unwrap_or(0.0)
        };
        tile.set((ty, tx), before(i.row()));
        if ty < 2 * RADIUS {
            tile.set((ty + SIDE, tx), before(i.row() + SIDE));
        }
        sync_threads();
        if let Some(y) = y.get_mut(i) {
            let mut sum = 0.0;
            for (k, weight) in WEIGHTS.iter().enumerate() {
                sum += weight * tile.get((ty + k, tx));
            }
            *y = sum;
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
    let (rows, cols): (usize, usize) = size.pick((8192, 8192), (45, 70));
    let x = floats(rows * cols, 0.0, 1.0, 1);
    let x_gpu = gpu.to_device(&x)?.into_shape((rows, cols))?;
    let between: DeviceArray2<f32> = gpu.zeros_nd((rows, cols))?;
    let y_gpu: DeviceArray2<f32> = gpu.zeros_nd((rows, cols))?;
    let of_rows = (cols.div_ceil(ROW), rows);
    let of_columns = (cols.div_ceil(SIDE), rows.div_ceil(SIDE));
    let twin = vec![
        Twin::new(
            "convolve_rows",
            of_rows,
            ROW,
            arguments![x_gpu, between, rows, cols],
        ),
        Twin::new(
            "convolve_columns",
            of_columns,
            (SIDE, SIDE),
            arguments![between, y_gpu, rows, cols],
        ),
    ];
    Ok(Case::new(
        Work::Bytes(16.0 * (rows * cols) as f64),
        twin,
        (between, y_gpu),
        |(_, y)| y.fill(f32::NAN),
        move |checks, (between, y)| {
            launch_either!(checks, convolve_rows / convolve_rows_unchecked[of_rows, ROW](&x_gpu, &mut *between))?;
            launch_either!(checks, convolve_columns / convolve_columns_unchecked[of_columns, (SIDE, SIDE)](&*between, y
            ))
        },
        move |(_, y)| {
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
