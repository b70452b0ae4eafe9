//! Kernels that only move memory: copy, triad, and saxpy with one and with four numbers a thread.

use oxwarp::prelude::*;
use oxwarp::unroll;
use oxwarp::vector::Float4;

use super::case::{arguments, close, launch_either, with_unchecked};
use super::random::{components, floats, vectors};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

with_unchecked! {
    copy_unchecked:
    #[kernel]
    fn copy(x: &[Float4], mut y: DisjointSlice<Float4>) {
        let i = thread::index_1d();
        if let Some(y) = y.get_mut(i) {
            *y = x[*i];
        }
    }
}

with_unchecked! {
    triad_unchecked:
    #[kernel]
    fn triad(scale: f32, x: &[Float4], y: &[Float4], mut z: DisjointSlice<Float4>) {
        let i = thread::index_1d();
        if let Some(z) = z.get_mut(i) {
            *z = x[*i] + y[*i] * scale;
        }
    }
}

with_unchecked! {
    saxpy_unchecked:
    /// A block has a tile of `x` and `y`, a thread four numbers of it: so many loads are on their way before the first store.
    #[kernel(block(BLOCK))]
    fn saxpy(alpha: f32, x: &[f32], mut y: DisjointChunks<f32, TILE, BlockIndex>) {
        let b = block::index();
        let (x, _) = x.as_chunks::<TILE>();
        if let (Some(x), Some(mut y)) = (x.get(*b), y.get_mut(b)) {
            for (i, y) in y.indexed_iter_mut() {
                unroll::full();
                *y += alpha * x[i];
            }
        }
    }
}

with_unchecked! {
    saxpy4_unchecked:
    #[kernel]
    fn saxpy4(alpha: f32, x: &[Float4], mut y: DisjointSlice<Float4>) {
        let i = thread::index_1d();
        if let Some(y) = y.get_mut(i) {
            *y += x[*i] * alpha;
        }
    }
}

const SOURCE: Source = Source {
    name: "memory.cu",
    text: include_str!("memory.cu"),
    fast_math: false,
};
const BLOCK: usize = 256;
/// Numbers of a block in `saxpy`.
const TILE: usize = 4 * BLOCK;
const ALPHA: f32 = 1.25;

pub const COPY: Entry = Entry {
    name: "copy",
    kernels: &["copy"],
    index_bits: 64,
    source: SOURCE,
    build: copy_case,
};

fn copy_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 24, 999);
    let x = vectors(n, 0.0, 1.0, 1);
    let x_gpu = gpu.to_device(&x)?;
    let y_gpu = gpu.zeros::<Float4>(n)?;
    let grid = n.div_ceil(BLOCK);
    let twin = Twin::new("copy", grid, BLOCK, arguments![x_gpu, y_gpu, n]);
    Ok(Case::new(
        Work::Bytes(32.0 * n as f64),
        vec![twin],
        y_gpu,
        |y| y.fill(Float4::splat(0.0)),
        move |checks, y| launch_either!(checks, copy / copy_unchecked[grid, BLOCK](&x_gpu, y)),
        move |y| {
            if y.to_vec()? == x {
                Ok(())
            } else {
                Err("not a copy".into())
            }
        },
    ))
}

pub const TRIAD: Entry = Entry {
    name: "triad",
    kernels: &["triad"],
    index_bits: 64,
    source: SOURCE,
    build: triad_case,
};

fn triad_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 24, 999);
    let (x, y) = (vectors(n, 0.0, 1.0, 2), vectors(n, 0.0, 1.0, 3));
    let (x_gpu, y_gpu) = (gpu.to_device(&x)?, gpu.to_device(&y)?);
    let z_gpu = gpu.zeros::<Float4>(n)?;
    let grid = n.div_ceil(BLOCK);
    let words = arguments![ALPHA, x_gpu, y_gpu, z_gpu, n];
    Ok(Case::new(
        Work::Bytes(48.0 * n as f64),
        vec![Twin::new("triad", grid, BLOCK, words)],
        z_gpu,
        |z| z.fill(Float4::splat(0.0)),
        move |checks, z| launch_either!(checks, triad / triad_unchecked[grid, BLOCK](ALPHA, &x_gpu, &y_gpu, z)),
        move |z| {
            let (x, y) = (components(&x), components(&y));
            close(components(&z.to_vec()?), 0..x.len(), 1e-6, |i| {
                f64::from(x[i]) + f64::from(ALPHA * y[i])
            })
        },
    ))
}

pub const SAXPY: Entry = Entry {
    name: "saxpy",
    kernels: &["saxpy"],
    index_bits: 64,
    source: SOURCE,
    build: saxpy_case,
};

fn saxpy_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let tiles: usize = size.pick(1 << 16, 3);
    let n = tiles * TILE;
    let (x, y) = (floats(n, 0.0, 1.0, 4), floats(n, 0.0, 1.0, 5));
    let (x_gpu, y_gpu) = (gpu.to_device(&x)?, gpu.to_device(&y)?);
    let twin = Twin::new(
        "saxpy",
        tiles,
        BLOCK,
        arguments![ALPHA, x_gpu, y_gpu, tiles],
    );
    let before = y.clone();
    Ok(Case::new(
        Work::Bytes(12.0 * n as f64),
        vec![twin],
        y_gpu,
        move |y| y.copy_from(&before),
        move |checks, y| launch_either!(checks, saxpy / saxpy_unchecked[tiles, BLOCK](ALPHA, &x_gpu, y)),
        move |got| {
            close(&got.to_vec()?, 0..n, 1e-6, |i| {
                f64::from(ALPHA * x[i]) + f64::from(y[i])
            })
        },
    ))
}

pub const SAXPY4: Entry = Entry {
    name: "saxpy4",
    kernels: &["saxpy4"],
    index_bits: 64,
    source: SOURCE,
    build: saxpy4_case,
};

fn saxpy4_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 24, 999);
    let (x, y) = (vectors(n, 0.0, 1.0, 6), vectors(n, 0.0, 1.0, 7));
    let (x_gpu, y_gpu) = (gpu.to_device(&x)?, gpu.to_device(&y)?);
    let grid = n.div_ceil(BLOCK);
    let twin = Twin::new("saxpy4", grid, BLOCK, arguments![ALPHA, x_gpu, y_gpu, n]);
    let before = y.clone();
    Ok(Case::new(
        Work::Bytes(48.0 * n as f64),
        vec![twin],
        y_gpu,
        move |y| y.copy_from(&before),
        move |checks, y| launch_either!(checks, saxpy4 / saxpy4_unchecked[grid, BLOCK](ALPHA, &x_gpu, y)),
        move |got| {
            let (x, y) = (components(&x), components(&y));
            close(components(&got.to_vec()?), 0..x.len(), 1e-6, |i| {
                f64::from(ALPHA * x[i]) + f64::from(y[i])
            })
        },
    ))
}
