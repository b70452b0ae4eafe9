//! Transposition of a matrix: straight, and through tiles in shared memory so that reads and writes are both contiguous.

use oxwarp::DeviceArray2;
use oxwarp::disjoint::DisjointTiles;
use oxwarp::prelude::*;
use oxwarp::unroll;
use oxwarp::view::ArrayView2;

use super::case::{Checks, arguments, launch_either, with_unchecked};
use super::random::floats;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

with_unchecked! {
    transpose_naive_unchecked:
    #[kernel]
    fn transpose_naive(x: ArrayView2<f32>, mut y: DisjointSlice<f32, ThreadIndex2d>) {
        let i = thread::index_2d();
        if let Some(y) = y.get_mut(i) {
            *y = x[(i.col(), i.row())];
        }
    }
}

with_unchecked! {
    transpose_tiled_unchecked:
    /// A block of 32x8 makes a tile of 32x32 of `y` from the tile of `x` that lies across the diagonal.
    #[kernel(block(32, 8))]
    fn transpose_tiled(x: ArrayView2<f32>, mut y: DisjointTiles<f32, 32, 32>) {
        // A column more, so that a warp reads a column from 32 banks.
        let tile = shared_array![f32; 32, 33];
        let (row, col) = *block::index_2d();
        let tx = thread::thread_idx_x() as usize;
        let ty = thread::thread_idx_y() as usize;
        for k in (0..32).step_by(8) {
            let x = x.get((32 * col + ty + k, 32 * row + tx));
            tile.set((ty + k, tx), x.copied().unwrap_or(0.0));
        }
        sync_threads();
        if let Some(mut y) = y.get_mut(block::index_2d()) {
            for ((row, col), y) in y.indexed_iter_mut() {
                unroll::by::<4>();
                *y = tile.get((col, row));
            }
        }
    }
}

const SOURCE: Source = Source {
    name: "transpose.cu",
    text: include_str!("transpose.cu"),
    fast_math: false,
};

pub const NAIVE: Entry = Entry {
    name: "transpose_naive",
    kernels: &["transpose_naive"],
    index_bits: 64,
    source: SOURCE,
    build: naive_case,
};

fn naive_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    case(
        gpu,
        size,
        "transpose_naive",
        8,
        |checks, grid, x, y| launch_either!(checks, transpose_naive / transpose_naive_unchecked[grid, BLOCK](x, y)),
    )
}

pub const TILED: Entry = Entry {
    name: "transpose_tiled",
    kernels: &["transpose_tiled"],
    index_bits: 64,
    source: SOURCE,
    build: tiled_case,
};

fn tiled_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    case(
        gpu,
        size,
        "transpose_tiled",
        32,
        |checks, grid, x, y| launch_either!(checks, transpose_tiled / transpose_tiled_unchecked[grid, BLOCK](x, y)),
    )
}

const BLOCK: (usize, usize) = (32, 8);

type Launch =
    fn(Checks, (usize, usize), &DeviceArray2<f32>, &mut DeviceArray2<f32>) -> oxwarp::Result<()>;

/// With blocks that make 32 columns of so many rows.
fn case(
    gpu: &Gpu,
    size: Size,
    name: &'static str,
    rows_of_block: usize,
    launch: Launch,
) -> Outcome<Case> {
    // Of the result.
    let (rows, cols) = size.pick((8192, 8192), (70, 45));
    let x = floats(rows * cols, 0.0, 1.0, 1);
    let x_gpu = gpu.to_device(&x)?.into_shape((cols, rows))?;
    let y_gpu = gpu.zeros_nd::<f32, _>((rows, cols))?;
    let grid = (cols.div_ceil(32), rows.div_ceil(rows_of_block));
    let twin = Twin::new(name, grid, BLOCK, arguments![x_gpu, y_gpu, rows, cols]);
    Ok(Case::new(
        Work::Bytes(8.0 * (rows * cols) as f64),
        vec![twin],
        y_gpu,
        |y| y.fill(f32::NAN),
        move |checks, y| launch(checks, grid, &x_gpu, y),
        move |y| {
            let y = y.to_vec()?;
            let wrong = (0..rows * cols).find(|&i| y[i] != x[i % cols * rows + i / cols]);
            wrong.map_or(Ok(()), |i| Err(format!("element {i} is wrong").into()))
        },
    ))
}
