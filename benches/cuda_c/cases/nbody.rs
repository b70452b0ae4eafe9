//! Gravity between all pairs of bodies, with a tile of bodies in shared memory at a time.

use oxwarp::prelude::*;
use oxwarp::vector::Float4;

use super::case::{arguments, close, launch_either, places, with_unchecked};
use super::random::{components, vectors};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const BLOCK: usize = 256;

with_unchecked! {
    nbody_unchecked:
    /// `bodies` are x, y, z and mass; `forces` have three components.
    #[kernel(launch_bounds(256))]
    fn nbody(bodies: &[Float4], mut forces: DisjointSlice<Float4>) {
        let tile = shared_array![Float4; BLOCK];
        let i = thread::index_1d();
        let t = thread::thread_idx_x() as usize;
        let nowhere = Float4::splat(0.0);
        let own = bodies.get(*i).copied().unwrap_or(nowhere);
        let (mut fx, mut fy, mut fz) = (0.0, 0.0, 0.0);
        for first in (0..bodies.len()).step_by(BLOCK) {
            tile.set(t, bodies.get(first + t).copied().unwrap_or(nowhere));
            sync_threads();
            for j in 0..BLOCK {
                let other = tile.get(j);
                let (dx, dy, dz) = (other.x - own.x, other.y - own.y, other.z - own.z);
                let r2 = dx * dx + dy * dy + dz * dz + 1e-6;
                let f = other.w / (r2 * r2 * r2).sqrt();
                fx += dx * f;
                fy += dy * f;
                fz += dz * f;
            }
            sync_threads();
        }
        if let Some(force) = forces.get_mut(i) {
            *force = Float4::new(fx, fy, fz, 0.0);
        }
    }
}

pub const NBODY: Entry = Entry {
    name: "nbody",
    kernels: &["nbody"],
    index_bits: 64,
    source: Source {
        name: "nbody.cu",
        text: include_str!("nbody.cu"),
        fast_math: false,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(65536, 300);
    let bodies = vectors(n, 0.0, 1.0, 1);
    let bodies_gpu = gpu.to_device(&bodies)?;
    let forces = gpu.zeros::<Float4>(n)?;
    let grid = n.div_ceil(BLOCK);
    let twin = Twin::new("nbody", grid, BLOCK, arguments![bodies_gpu, forces, n]);
    Ok(Case::new(
        Work::Results((n * n) as f64),
        vec![twin],
        forces,
        |forces| forces.fill(Float4::splat(f32::NAN)),
        move |checks, forces| launch_either!(checks, nbody / nbody_unchecked[grid, BLOCK](&bodies_gpu, forces)),
        move |forces| {
            let at = |i: usize| f64::from(components(&bodies)[i]);
            let component = |place: usize| {
                let (i, axis) = (4 * (place / 4), place % 4);
                let force = (0..n).filter(|_| axis < 3).map(|j| {
                    let d = [0, 1, 2].map(|axis| at(4 * j + axis) - at(i + axis));
                    let r2 = d.iter().map(|d| d * d).sum::<f64>() + 1e-6;
                    d[axis] * at(4 * j + 3) / r2.powi(3).sqrt()
                });
                force.sum()
            };
            close(
                components(&forces.to_vec()?),
                places(4 * n, 200),
                1e-3,
                component,
            )
        },
    ))
}
