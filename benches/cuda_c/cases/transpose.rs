//! Transposition of a matrix: straight, and through tiles in shared memory so that reads and writes are both contiguous.

use bytemuck::{Pod, cast_slice};
use oxwarp::DeviceArray2;
use oxwarp::disjoint::DisjointTiles;
use oxwarp::prelude::*;
use oxwarp::unroll;
use oxwarp::vector::Float4;
use oxwarp::view::ArrayView2;

use super::case::{Checks, arguments, launch_either, with_unchecked};
use super::random::{components, vectors};
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
    /// A block of 16x16 makes a tile of 64x64 numbers of `y` from the tile of `x` that lies across the diagonal. A thread loads
    /// and stores four numbers at once.
    #[kernel(block(16, 16))]
    fn transpose_tiled(x: ArrayView2<Float4>, mut y: DisjointTiles<Float4, 64, 16>) {
        // A column more, so that neighbours in a column lie in different banks.
        let tile = shared_array![f32; 64, 65];
        let (row, col) = *block::index_2d();
        let tx = thread::thread_idx_x() as usize;
        let ty = thread::thread_idx_y() as usize;
        for k in (0..64).step_by(16) {
            let four = x.get((64 * col + ty + k, 16 * row + tx));
            for (j, x) in four.copied().unwrap_or_default().to_array().into_iter().enumerate() {
                tile.set((ty + k, 4 * tx + j), x);
            }
        }
        sync_threads();
        if let Some(mut y) = y.get_mut(block::index_2d()) {
            for ((row, col), y) in y.indexed_iter_mut() {
                unroll::by::<4>();
                *y = [0, 1, 2, 3].map(|j| tile.get((4 * col + j, row))).into();
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
        ((8, 32), (8, 32)),
        |checks, [grid, block], x: &DeviceArray2<f32>, y| launch_either!(checks, transpose_naive / transpose_naive_unchecked[grid, block](x, y)),
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
        ((16, 16), (64, 64)),
        |checks, [grid, block], x: &DeviceArray2<Float4>, y| launch_either!(checks, transpose_tiled / transpose_tiled_unchecked[grid, block](x, y)),
    )
}

type Pair = (usize, usize);
type Launch<T> =
    fn(Checks, [Pair; 2], &DeviceArray2<T>, &mut DeviceArray2<T>) -> oxwarp::Result<()>;

/// With matrices of numbers or vectors, blocks of so many threads, and of so many columns and rows of numbers.
fn case<T: DeviceCopy + Pod>(
    gpu: &Gpu,
    size: Size,
    name: &'static str,
    (block, of_block): (Pair, Pair),
    launch: Launch<T>,
) -> Outcome<Case> {
    // Of the result.
    let (rows, cols): (usize, usize) = size.pick((8192, 8192), (72, 44));
    let wide = size_of::<T>() / size_of::<f32>();
    let x = vectors(rows * cols / 4, 0.0, 1.0, 1);
    let x_gpu = gpu
        .to_device(cast_slice::<_, T>(&x))?
        .into_shape((cols, rows / wide))?;
    let y_gpu = gpu.zeros_nd::<T, _>((rows, cols / wide))?;
    let grid = (cols.div_ceil(of_block.0), rows.div_ceil(of_block.1));
    let twin = Twin::new(name, grid, block, arguments![x_gpu, y_gpu, rows, cols]);
    Ok(Case::new(
        Work::Bytes(8.0 * (rows * cols) as f64),
        vec![twin],
        y_gpu,
        |y| y.fill(T::zeroed()),
        move |checks, y| launch(checks, [grid, block], &x_gpu, y),
        move |y| {
            let (x, y) = (components(&x), y.to_vec()?);
            let y: &[f32] = cast_slice(&y);
            let wrong = (0..rows * cols).find(|&i| y[i] != x[i % cols * rows + i / cols]);
            wrong.map_or(Ok(()), |i| Err(format!("element {i} is wrong").into()))
        },
    ))
}
