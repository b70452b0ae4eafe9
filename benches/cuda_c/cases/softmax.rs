//! Softmax of rows of 1024 numbers: a block for each row, four numbers a thread, maximum and sum by warp shuffles.

use oxwarp::prelude::*;
use oxwarp::vector::Float4;

use super::case::{arguments, close, launch_either, with_unchecked};
use super::random::{components, vectors};
use super::reduction::block_reduce_for_all;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const BLOCK: usize = 256;
const COLS: usize = 4 * BLOCK;

with_unchecked! {
    softmax_unchecked:
    #[kernel(fast_math)]
    fn softmax(x: &[Float4], mut y: DisjointSlice<Float4>) {
        let i = thread::index_1d();
        let x = x[*i];
        let own = x.x.max(x.y).max(x.z.max(x.w));
        let most = block_reduce_for_all(own, f32::NEG_INFINITY, f32::max);
        let powers = x.map(|x| (x - most).exp());
        let sum = block_reduce_for_all(powers.sum(), 0.0, |a, b| a + b);
        if let Some(y) = y.get_mut(i) {
            *y = powers * (1.0 / sum);
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
    let x = vectors(rows * BLOCK, -5.0, 5.0, 1);
    let x_gpu = gpu.to_device(&x)?;
    let y_gpu = gpu.zeros::<Float4>(rows * BLOCK)?;
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
