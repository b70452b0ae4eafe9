//! Softmax of rows of 1024 numbers: a block for each row, eight numbers a thread, maximum and sum by warp shuffles.

use oxwarp::prelude::*;
use oxwarp::unroll;
use oxwarp::vector::Float4;

use super::case::{arguments, close, launch_either, with_unchecked};
use super::random::{components, vectors};
use super::reduction::block_reduce_for_all;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const COLS: usize = 1024;
/// Vectors in a row.
const ROW: usize = COLS / 4;
/// A thread has two vectors of the row.
const BLOCK: usize = ROW / 2;

with_unchecked! {
    softmax_unchecked:
    #[kernel(fast_math, block(BLOCK))]
    fn softmax(x: &[Float4], mut y: DisjointChunks<Float4, ROW, BlockIndex>) {
        let (row, t) = (block::index(), thread::index_in_block());
        let (rows, _) = x.as_chunks::<ROW>();
        let x = [0, BLOCK].map(|k| rows[*row][t + k]);
        let own = x[0].max(x[1]);
        let own = own.x.max(own.y).max(own.z.max(own.w));
        let most = block_reduce_for_all(own, f32::NEG_INFINITY, f32::max);
        let powers = x.map(|x| x.map(|x| (x - most).exp()));
        let sum = block_reduce_for_all((powers[0] + powers[1]).sum(), 0.0, |a, b| a + b);
        if let Some(mut y) = y.get_mut(row) {
            for (y, powers) in y.iter_mut().zip(powers) {
                unroll::full();
                *y = powers * (1.0 / sum);
            }
        }
    }
}

pub const SOFTMAX: Entry = Entry {
    name: "softmax",
    kernels: &["softmax"],
    index_bits: 64,
    source: Source {
        name: "softmax.cu",
        text: include_str!("softmax.cu"),
        fast_math: true,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let rows: usize = size.pick(1 << 16, 3);
    let x = vectors(rows * ROW, -5.0, 5.0, 1);
    let x_gpu = gpu.to_device(&x)?;
    let y_gpu = gpu.zeros::<Float4>(rows * ROW)?;
    let twin = Twin::new("softmax", rows, BLOCK, arguments![x_gpu, y_gpu]);
    Ok(Case::new(
        Work::Bytes(8.0 * (rows * COLS) as f64),
        vec![twin],
        y_gpu,
        |y| y.fill(Float4::splat(f32::NAN)),
        move |checks, y| launch_either!(checks, softmax / softmax_unchecked[rows, BLOCK](&x_gpu, y)),
        move |y| {
            let y = y.to_vec()?;
            let rows = components(&x).chunks(COLS).zip(components(&y).chunks(COLS));
            for (row, (x, y)) in rows.enumerate().step_by(size.pick(7, 1)) {
                let power = |col: usize| f64::from(x[col]).exp();
                let sum: f64 = (0..COLS).map(power).sum();
                // Results are about 1 / 1024.
                close(y, 0..COLS, 1e-7, |col| power(col) / sum)
                    .map_err(|error| format!("row {row}: {error}"))?;
            }
            Ok(())
        },
    ))
}
