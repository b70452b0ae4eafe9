//! The kernels in safe Rust, bounds checks and all.

use oxwarp::prelude::*;

#[kernel]
fn saxpy(alpha: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += alpha * x[*i];
    }
}

#[kernel]
fn dot(a: &[f32], b: &[f32], mut partial: DisjointSlice<f32, BlockIndex>) {
    let sums = shared_array![f32; 256];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    sums.set(t, if *i < a.len() { a[*i] * b[*i] } else { 0.0 });
    sync_threads();
    let mut stride = block::len() / 2;
    while stride > 0 {
        if t < stride {
            sums.set(t, sums.get(t) + sums.get(t + stride));
        }
        sync_threads();
        stride /= 2;
    }
    if let Some(partial) = partial.get_mut(block::index()) {
        *partial = sums.get(0);
    }
}

#[kernel]
fn matmul_naive(a: &[f32], b: &[f32], n: usize, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let i = thread::index_2d();
    let (row, col) = (i.row(), i.col());
    if let Some(c) = c.get_mut(i) {
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[row * n + k] * b[k * n + col];
        }
        *c = sum;
    }
}

#[kernel]
fn matmul_tiled(a: &[f32], b: &[f32], n: usize, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let (tile_a, tile_b) = (shared_array![f32; 32, 32], shared_array![f32; 32, 32]);
    let i = thread::index_2d();
    let (row, col) = (i.row(), i.col());
    let (x, y) = (
        thread::thread_idx_x() as usize,
        thread::thread_idx_y() as usize,
    );
    let mut sum = 0.0;
    for m in (0..n).step_by(32) {
        tile_a.set(
            (y, x),
            if row < n && m + x < n {
                a[row * n + m + x]
            } else {
                0.0
            },
        );
        tile_b.set(
            (y, x),
            if col < n && m + y < n {
                b[(m + y) * n + col]
            } else {
                0.0
            },
        );
        sync_threads();
        for k in 0..32 {
            sum += tile_a.get((y, k)) * tile_b.get((k, x));
        }
        sync_threads();
    }
    if let Some(c) = c.get_mut(i) {
        *c = sum;
    }
}

/// As CUDA's `float4`.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Body {
    x: f32,
    y: f32,
    z: f32,
    mass: f32,
}

#[kernel]
fn nbody(bodies: &[Body], mut forces: DisjointSlice<Body>) {
    let i = thread::index_1d();
    if let Some(force) = forces.get_mut(i) {
        let own = bodies[*i];
        let (mut fx, mut fy, mut fz) = (0.0, 0.0, 0.0);
        for other in bodies {
            let (dx, dy, dz) = (other.x - own.x, other.y - own.y, other.z - own.z);
            let r2 = dx * dx + dy * dy + dz * dz + 1e-6;
            let f = other.mass / (r2 * r2 * r2).sqrt();
            fx += dx * f;
            fy += dy * f;
            fz += dz * f;
        }
        *force = Body {
            x: fx,
            y: fy,
            z: fz,
            mass: 0.0,
        };
    }
}

#[kernel]
fn mandelbrot(
    width: usize,
    height: usize,
    most: u32,
    mut counts: DisjointSlice<u32, ThreadIndex2d>,
) {
    let i = thread::index_2d();
    let cx = i.col() as f32 / width as f32 * 3.0 - 2.0;
    let cy = i.row() as f32 / height as f32 * 2.0 - 1.0;
    if let Some(counts) = counts.get_mut(i) {
        let (mut zx, mut zy, mut count) = (0.0f32, 0.0f32, 0);
        while count < most && zx * zx + zy * zy < 4.0 {
            (zx, zy) = (zx * zx - zy * zy + cx, 2.0 * zx * zy + cy);
            count += 1;
        }
        *counts = count;
    }
}
