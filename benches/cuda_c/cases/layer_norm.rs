//! Layer normalisation of rows of 2048 16-bit floats, with sums in `f32`: a block for each row, twice 16 bytes a thread.

use oxwarp::half::{F16, F16x2};
use oxwarp::prelude::*;

use super::case::{arguments, launch_either, with_unchecked};
use super::random::floats;
use super::reduction::block_reduce_for_all;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

/// What a thread loads at once.
#[derive(Clone, Copy, oxwarp::DeviceCopy)]
#[repr(C, align(16))]
struct Eight([F16x2; 4]);

impl Eight {
    #[inline]
    fn to_f32(self) -> [f32; 8] {
        let [a, b, c, d] = self.0.map(|pair| [pair.lo().to_f32(), pair.hi().to_f32()]);
        [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]
    }

    #[inline]
    fn from_f32(x: [f32; 8]) -> Self {
        Eight([0, 2, 4, 6].map(|k| F16x2::new(F16::from_f32(x[k]), F16::from_f32(x[k + 1]))))
    }
}

const COLS: usize = 2048;
/// What a row has of them.
const ROW: usize = COLS / 8;
/// A thread has two of the row.
const BLOCK: usize = ROW / 2;
const EPSILON: f32 = 1e-5;

/// The mean of the row that the block has.
#[inline]
fn mean(of: [[f32; 8]; 2]) -> f32 {
    block_reduce_for_all(of.iter().flatten().sum(), 0.0, |a, b| a + b) / COLS as f32
}

with_unchecked! {
    layer_norm_unchecked:
    #[kernel(block(BLOCK))]
    fn layer_norm(x: &[Eight], gamma: &[Eight], beta: &[Eight], mut y: DisjointChunks<Eight, ROW, BlockIndex>) {
        let (row, t) = (block::index(), thread::index_in_block());
        let (rows, _) = x.as_chunks::<ROW>();
        let own = [t, t + BLOCK].map(|i| rows[*row][i].to_f32());
        let mean_of_row = mean(own);
        let centred = own.map(|x| x.map(|x| x - mean_of_row));
        let variance = mean(centred.map(|x| x.map(|x| x * x)));
        let scale = 1.0 / (variance + EPSILON).sqrt();
        let [gamma, beta] = [gamma, beta].map(|of_cols| &of_cols.as_chunks::<ROW>().0[0]);
        let normal = [0, 1].map(|half| {
            let i = t + half * BLOCK;
            let (x, gamma, beta) = (centred[half], gamma[i].to_f32(), beta[i].to_f32());
            Eight::from_f32([0, 1, 2, 3, 4, 5, 6, 7].map(|k| x[k] * scale * gamma[k] + beta[k]))
        });
        if let Some(mut y) = y.get_mut(row) {
            y.iter_mut().zip(normal).for_each(|(y, normal)| *y = normal);
        }
    }
}

pub const LAYER_NORM: Entry = Entry {
    name: "layer_norm",
    kernels: &["layer_norm"],
    index_bits: 64,
    source: Source {
        name: "layer_norm.cu",
        text: include_str!("layer_norm.cu"),
        fast_math: false,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let rows: usize = size.pick(1 << 15, 3);
    let eights = |count: usize, seed: u64| -> Vec<Eight> {
        let numbers = floats(8 * count, -2.0, 2.0, seed);
        let (eights, _) = numbers.as_chunks();
        eights.iter().map(|&eight| Eight::from_f32(eight)).collect()
    };
    let (x, gamma, beta) = (eights(rows * ROW, 1), eights(ROW, 2), eights(ROW, 3));
    let (x_gpu, gamma_gpu, beta_gpu) = (
        gpu.to_device(&x)?,
        gpu.to_device(&gamma)?,
        gpu.to_device(&beta)?,
    );
    let y_gpu = gpu.full(rows * ROW, Eight::from_f32([0.0; 8]))?;
    let words = arguments![x_gpu, gamma_gpu, beta_gpu, y_gpu];
    Ok(Case::new(
        Work::Bytes(4.0 * (rows * COLS) as f64),
        vec![Twin::new("layer_norm", rows, BLOCK, words)],
        y_gpu,
        |y| y.fill(Eight::from_f32([f32::NAN; 8])),
        move |checks, y| launch_either!(checks, layer_norm / layer_norm_unchecked[rows, BLOCK](&x_gpu, &gamma_gpu, &beta_gpu, y)),
        move |y| {
            let y = y.to_vec()?;
            let numbers = |eights: &[Eight]| -> Vec<f64> {
                eights
                    .iter()
                    .flat_map(|eight| eight.to_f32())
                    .map(f64::from)
                    .collect()
            };
            let (gamma, beta) = (numbers(&gamma), numbers(&beta));
            for row in (0..rows).step_by(size.pick(7, 1)) {
                let of_row = row * ROW..(row + 1) * ROW;
                let (x, y) = (numbers(&x[of_row.clone()]), numbers(&y[of_row]));
                let mean = x.iter().sum::<f64>() / COLS as f64;
                let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / COLS as f64;
                let scale = 1.0 / (variance + f64::from(EPSILON)).sqrt();
                let wanted = |col: usize| (x[col] - mean) * scale * gamma[col] + beta[col];
                super::case::close(&y, 0..COLS, 2e-3, wanted)
                    .map_err(|error| format!("row {row}: {error}"))?;
            }
            Ok(())
        },
    ))
}
