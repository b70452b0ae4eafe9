//! One step of diffusion on a grid: the 5-point stencil in two dimensions, and the 7-point stencil in three.

use oxwarp::prelude::*;
use oxwarp::vector::Float4;
use oxwarp::{DeviceArray2, unroll};

use super::case::{arguments, close, launch_either, with_unchecked};
use super::random::{components, vectors};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

/// The sums of each cell's neighbours in a row, of which there is one more on either side.
#[inline]
fn beside(left: f32, x: Float4, right: f32) -> Float4 {
    Float4::new(left + x.y, x.x + x.z, x.y + x.w, x.z + right)
}

with_unchecked! {
    stencil_2d_unchecked:
    /// Four cells of a row a thread. The edge stays as it is.
    #[kernel(block(32, 8))]
    fn stencil_2d(k: f32, x: ArrayView2<Float4>, mut y: DisjointSlice<Float4, ThreadIndex2d>) {
        let i = thread::index_2d();
        let (row, col) = *i;
        if let (Some(y), Some(&here)) = (y.get_mut(i), x.get((row, col))) {
            let mut next = here;
            let in_column = (x.get((row.wrapping_sub(1), col)), x.get((row + 1, col)));
            if let (Some(&above), Some(&below)) = in_column {
                let left = x.get((row, col.wrapping_sub(1))).map_or(0.0, |x| x.w);
                let right = x.get((row, col + 1)).map_or(0.0, |x| x.x);
                next += (beside(left, here, right) + above + below - here * 4.0) * k;
                if col == 0 {
                    next.x = here.x;
                }
                if col == x.ncols() - 1 {
                    next.w = here.w;
                }
            }
            *y = next;
        }
    }
}

with_unchecked! {
    stencil_3d_unchecked:
    /// Four cells of a row a thread, in `PLANES` planes: each is loaded when it lies ahead, and kept until it is behind. A row
    /// of `x` and `y` is a plane, with rows of `cols` vectors. The faces stay as they are.
    #[kernel(block(CELLS))]
    fn stencil_3d(k: f32, cols: usize, x: ArrayView2<Float4>, mut y: DisjointTiles<Float4, PLANES, 1, ThreadIndex2d>) {
        let i = thread::index_2d();
        let (first, cell) = (PLANES * i.row(), i.col());
        let col = cell as u32 % cols as u32;
        let mut behind = x.get((first.wrapping_sub(1), cell)).copied();
        let mut here = x.get((first, cell)).copied().unwrap_or_default();
        let Some(mut y) = y.get_mut(i) else { return };
        for ((plane, _), y) in y.indexed_iter_mut() {
            unroll::by::<2>();
            let plane = first + plane;
            let ahead = x.get((plane + 1, cell)).copied();
            let mut next = here;
            let in_rows = (x.get((plane, cell.wrapping_sub(cols))), x.get((plane, cell + cols)));
            if let (Some(behind), Some(ahead), (Some(&above), Some(&below))) = (behind, ahead, in_rows) {
                let left = x.get((plane, cell.wrapping_sub(1))).map_or(0.0, |x| x.w);
                let right = x.get((plane, cell + 1)).map_or(0.0, |x| x.x);
                next += (beside(left, here, right) + (above + below) + (behind + ahead) - here * 6.0) * k;
                if col == 0 {
                    next.x = here.x;
                }
                if col as usize == cols - 1 {
                    next.w = here.w;
                }
            }
            *y = next;
            (behind, here) = (Some(here), ahead.unwrap_or_default());
        }
    }
}

const SOURCE: Source = Source {
    name: "stencil.cu",
    text: include_str!("stencil.cu"),
    fast_math: false,
};
const K: f32 = 0.2;
/// Planes of a thread, and cells of a block, in the stencil in three dimensions.
const PLANES: usize = 32;
const CELLS: usize = 384;

pub const STENCIL_2D: Entry = Entry {
    name: "stencil_2d",
    kernels: &["stencil_2d"],
    index_bits: 64,
    source: SOURCE,
    build: case_2d,
};

fn case_2d(gpu: &Gpu, size: Size) -> Outcome<Case> {
    const BLOCK: (usize, usize) = (32, 8);
    let (rows, cols): (usize, usize) = size.pick((8192, 8192), (45, 140));
    let x = vectors(rows * cols / 4, 0.0, 1.0, 1);
    let x_gpu = gpu.to_device(&x)?.into_shape((rows, cols / 4))?;
    let y_gpu: DeviceArray2<Float4> = gpu.zeros_nd((rows, cols / 4))?;
    let grid = ((cols / 4).div_ceil(BLOCK.0), rows.div_ceil(BLOCK.1));
    let words = arguments![K, x_gpu, y_gpu, rows, cols / 4];
    Ok(Case::new(
        Work::Bytes(8.0 * (rows * cols) as f64),
        vec![Twin::new("stencil_2d", grid, BLOCK, words)],
        y_gpu,
        |y| y.fill(Float4::splat(f32::NAN)),
        move |checks, y| launch_either!(checks, stencil_2d / stencil_2d_unchecked[grid, BLOCK](K, &x_gpu, y)),
        move |y| {
            let x = components(&x);
            close(components(&y.to_vec()?), 0..rows * cols, 1e-5, |p| {
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
    let [planes, rows, cols]: [usize; 3] = size.pick([512, 384, 384], [37, 9, 36]);
    let (n, cells) = (planes * rows * cols, rows * cols / 4);
    let x = vectors(n / 4, 0.0, 1.0, 2);
    let x_gpu = gpu.to_device(&x)?.into_shape((planes, cells))?;
    let y_gpu: DeviceArray2<Float4> = gpu.zeros_nd((planes, cells))?;
    let grid = (cells.div_ceil(CELLS), planes.div_ceil(PLANES));
    let words = arguments![K, cols / 4, x_gpu, y_gpu, planes, cells];
    Ok(Case::new(
        Work::Bytes(8.0 * n as f64),
        vec![Twin::new("stencil_3d", grid, CELLS, words)],
        y_gpu,
        |y| y.fill(Float4::splat(f32::NAN)),
        move |checks, y| launch_either!(checks, stencil_3d / stencil_3d_unchecked[grid, CELLS](K, cols / 4, &x_gpu, y)),
        move |y| {
            let of_plane = rows * cols;
            let x = components(&x);
            close(components(&y.to_vec()?), 0..n, 1e-5, |p| {
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
