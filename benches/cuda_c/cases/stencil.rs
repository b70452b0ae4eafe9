//! One step of diffusion on a grid: the 5-point stencil in two dimensions, and the 7-point stencil in three.

use oxwarp::prelude::*;
use oxwarp::view::{ArrayView2, ArrayView3};
use oxwarp::{DeviceArray2, DeviceArray3};

use super::case::{arguments, close, launch_either, with_unchecked};
use super::random::floats;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

with_unchecked! {
    stencil_2d_unchecked:
    /// The edge stays as it is.
    #[kernel]
    fn stencil_2d(k: f32, x: ArrayView2<f32>, mut y: DisjointSlice<f32, ThreadIndex2d>) {
        let i = thread::index_2d();
        let (row, col) = *i;
        let [rows, cols] = x.shape();
        if let (Some(y), Some(&here)) = (y.get_mut(i), x.get((row, col))) {
            let is_inside = row > 0 && row < rows - 1 && col > 0 && col < cols - 1;
            *y = if is_inside {
                let in_row = x[(row, col - 1)] + x[(row, col + 1)];
                here + k * (in_row + x[(row - 1, col)] + x[(row + 1, col)] - 4.0 * here)
            } else {
                here
            };
        }
    }
}

with_unchecked! {
    stencil_3d_unchecked:
    /// The faces stay as they are.
    #[kernel]
    fn stencil_3d(k: f32, x: ArrayView3<f32>, mut y: DisjointSlice<f32, ThreadIndex3d>) {
        let i = thread::index_3d();
        let (plane, row, col) = *i;
        let [planes, rows, cols] = x.shape();
        if let (Some(y), Some(&here)) = (y.get_mut(i), x.get((plane, row, col))) {
            let is_inside = plane > 0 && plane < planes - 1 && row > 0 && row < rows - 1 && col > 0 && col < cols - 1;
            *y = if is_inside {
                let along_cols = x[(plane, row, col - 1)] + x[(plane, row, col + 1)];
                let along_rows = x[(plane, row - 1, col)] + x[(plane, row + 1, col)];
                let along_planes = x[(plane - 1, row, col)] + x[(plane + 1, row, col)];
                here + k * (along_cols + along_rows + along_planes - 6.0 * here)
            } else {
                here
            };
        }
    }
}

const SOURCE: Source = Source {
    name: "stencil.cu",
    text: include_str!("stencil.cu"),
    fast_math: false,
};
const K: f32 = 0.2;

pub const STENCIL_2D: Entry = Entry {
    name: "stencil_2d",
    kernels: &["stencil_2d"],
    index_bits: 64,
    source: SOURCE,
    build: case_2d,
};

fn case_2d(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let (rows, cols): (usize, usize) = size.pick((8192, 8192), (45, 70));
    let x = floats(rows * cols, 0.0, 1.0, 1);
    let x_gpu = gpu.to_device(&x)?.into_shape((rows, cols))?;
    let y_gpu: DeviceArray2<f32> = gpu.zeros_nd((rows, cols))?;
    let grid = (cols.div_ceil(32), rows.div_ceil(8));
    let twin = Twin::new(
        "stencil_2d",
        grid,
        (32, 8),
        arguments![K, x_gpu, y_gpu, rows, cols],
    );
    Ok(Case::new(
        Work::Bytes(8.0 * (rows * cols) as f64),
        vec![twin],
        y_gpu,
        |y| y.fill(f32::NAN),
        move |checks, y| launch_either!(checks, stencil_2d / stencil_2d_unchecked[grid, (32, 8)](K, &x_gpu, y)),
        move |y| {
            close(&y.to_vec()?, 0..rows * cols, 1e-5, |p| {
                let at = |p: usize| f64::from(x[p]);
                let (row, col) = (p / cols, p % cols);
                if row == 0 || row == rows - 1 || col == 0 || col == cols - 1 {
                    return at(p);
                }
                at(p)
                    + f64::from(K)
                        * (at(p - 1) + at(p + 1) + at(p - cols) + at(p + cols) - 4.0 * at(p))
            })
        },
    ))
}

pub const STENCIL_3D: Entry = Entry {
    name: "stencil_3d",
    kernels: &["stencil_3d"],
    index_bits: 64,
    source: SOURCE,
    build: case_3d,
};

fn case_3d(gpu: &Gpu, size: Size) -> Outcome<Case> {
    const BLOCK: (usize, usize, usize) = (32, 4, 4);
    let [planes, rows, cols]: [usize; 3] = size.pick([512, 384, 384], [6, 9, 37]);
    let n = planes * rows * cols;
    let x = floats(n, 0.0, 1.0, 2);
    let x_gpu = gpu.to_device(&x)?.into_shape((planes, rows, cols))?;
    let y_gpu: DeviceArray3<f32> = gpu.zeros_nd((planes, rows, cols))?;
    let grid = (
        cols.div_ceil(BLOCK.0),
        rows.div_ceil(BLOCK.1),
        planes.div_ceil(BLOCK.2),
    );
    let words = arguments![K, x_gpu, y_gpu, planes, rows, cols];
    Ok(Case::new(
        Work::Bytes(8.0 * n as f64),
        vec![Twin::new("stencil_3d", grid, BLOCK, words)],
        y_gpu,
        |y| y.fill(f32::NAN),
        move |checks, y| launch_either!(checks, stencil_3d / stencil_3d_unchecked[grid, BLOCK](K, &x_gpu, y)),
        move |y| {
            let of_plane = rows * cols;
            close(&y.to_vec()?, 0..n, 1e-5, |p| {
                let at = |p: usize| f64::from(x[p]);
                let is_edge = |at: usize, len: usize| at == 0 || at == len - 1;
                if is_edge(p / of_plane, planes)
                    || is_edge(p / cols % rows, rows)
                    || is_edge(p % cols, cols)
                {
                    return at(p);
                }
                let around = [1, cols, of_plane].map(|step| at(p - step) + at(p + step));
                at(p) + f64::from(K) * (around.iter().sum::<f64>() - 6.0 * at(p))
            })
        },
    ))
}
