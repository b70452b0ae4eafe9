//! The matrix product, first as its formula says, then with tiles in shared memory.
//! `cargo run --release --example matmul [rows and columns]`

use ndarray::Array2;
use oxwarp::prelude::*;

mod common;

const TILE: usize = 32;

/// One thread for each element of `c`.
#[kernel]
fn naive(a: ArrayView2<f32>, b: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let i = thread::index_2d();
    if let Some(c) = c.get_mut(i) {
        let mut sum = 0.0;
        for k in 0..a.ncols() {
            sum += a[(i.row(), k)] * b[(k, i.col())];
        }
        *c = sum;
    }
}

/// The same, but a block first copies what its threads all need: each element is read once a block, not `TILE` times.
#[kernel]
fn tiled(a: ArrayView2<f32>, b: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let a_tile = shared_array![f32; TILE, TILE];
    let b_tile = shared_array![f32; TILE, TILE];
    let i = thread::index_2d();
    let (y, x) = (
        thread::thread_idx_y() as usize,
        thread::thread_idx_x() as usize,
    );

    let mut sum = 0.0;
    for first in (0..a.ncols()).step_by(TILE) {
        // Zero outside the matrices.
        a_tile.set((y, x), a.get((i.row(), first + x)).copied().unwrap_or(0.0));
        b_tile.set((y, x), b.get((first + y, i.col())).copied().unwrap_or(0.0));
        sync_threads();
        for k in 0..TILE {
            sum += a_tile.get((y, k)) * b_tile.get((k, x));
        }
        sync_threads();
    }
    if let Some(c) = c.get_mut(i) {
        *c = sum;
    }
}

fn main() -> oxwarp::Result<()> {
    let n = common::size(400);
    let matrix = |seed| {
        let elements = common::random(n * n, seed);
        Array2::from_shape_fn((n, n), |(row, col)| elements[row * n + col])
    };
    let (a, b) = (matrix(1), matrix(2));
    let expected = a.dot(&b).into_raw_vec_and_offset().0;
    // Both add up n positive products; each addition rounds by half an epsilon, on either side.
    let tolerance = n as f64 * f64::from(f32::EPSILON);

    let gpu = Gpu::new()?;
    let device_a = gpu.to_device(&a)?;
    let device_b = gpu.to_device(&b)?;
    let (grid, block) = (n.div_ceil(TILE), (TILE, TILE));

    let mut c = gpu.zeros_nd::<f32, _>((n, n))?;
    let time = common::time(
        &gpu,
        || launch!(naive[(grid, grid), block](&device_a, &device_b, &mut c)),
    )?;
    common::report(
        "naive matmul",
        &gpu,
        time,
        &c.to_vec()?,
        &expected,
        tolerance,
    );

    let mut c = gpu.zeros_nd::<f32, _>((n, n))?;
    let time = common::time(
        &gpu,
        || launch!(tiled[(grid, grid), block](&device_a, &device_b, &mut c)),
    )?;
    common::report(
        "tiled matmul",
        &gpu,
        time,
        &c.to_vec()?,
        &expected,
        tolerance,
    );
    Ok(())
}
