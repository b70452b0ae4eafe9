//! Particles that move, as an array of structures and as a structure of arrays.

use oxwarp::prelude::*;
use oxwarp::vector::Float4;

use super::case::{arguments, close, launch_either, with_unchecked};
use super::random::{components, floats, vectors};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

#[derive(Clone, Copy, Debug, PartialEq, oxwarp::DeviceCopy)]
#[repr(C, align(16))]
struct Particle {
    position: [f32; 3],
    mass: f32,
    velocity: [f32; 3],
    charge: f32,
}

with_unchecked! {
    move_aos_unchecked:
    #[kernel]
    fn move_aos(dt: f32, mut particles: DisjointSlice<Particle>) {
        if let Some(particle) = particles.get_mut(thread::index_1d()) {
            let mut moved = *particle;
            for (x, v) in moved.position.iter_mut().zip(moved.velocity) {
                *x += dt * v;
            }
            *particle = moved;
        }
    }
}

with_unchecked! {
    move_soa_unchecked:
    /// Four particles a thread.
    #[kernel]
    fn move_soa(
        dt: f32,
        vx: &[Float4],
        vy: &[Float4],
        vz: &[Float4],
        mut x: DisjointSlice<Float4>,
        mut y: DisjointSlice<Float4>,
        mut z: DisjointSlice<Float4>,
    ) {
        let i = thread::index_1d();
        if let (Some(x), Some(y), Some(z)) = (x.get_mut(i), y.get_mut(i), z.get_mut(i)) {
            let v = [vx[*i], vy[*i], vz[*i]];
            *x += v[0] * dt;
            *y += v[1] * dt;
            *z += v[2] * dt;
        }
    }
}

const SOURCE: Source = Source {
    name: "structs.cu",
    text: include_str!("structs.cu"),
    fast_math: false,
};
const BLOCK: usize = 256;
const DT: f32 = 0.125;

pub const AOS: Entry = Entry {
    name: "aos",
    kernels: &["move_aos"],
    index_bits: 64,
    source: SOURCE,
    build: aos_case,
};

fn aos_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 24, 999);
    let particle = |v: &[f32]| Particle {
        position: [v[0], v[1], v[2]],
        mass: v[3],
        velocity: [v[4], v[5], v[6]],
        charge: v[7],
    };
    let before: Vec<Particle> = floats(8 * n, -1.0, 1.0, 1)
        .chunks(8)
        .map(particle)
        .collect();
    let particles = gpu.to_device(&before)?;
    let grid = n.div_ceil(BLOCK);
    let twin = Twin::new("move_aos", grid, BLOCK, arguments![DT, particles, n]);
    let start = before.clone();
    Ok(Case::new(
        Work::Bytes(64.0 * n as f64),
        vec![twin],
        particles,
        move |particles| particles.copy_from(&start),
        move |checks, particles| launch_either!(checks, move_aos / move_aos_unchecked[grid, BLOCK](DT, particles)),
        move |particles| {
            let particles = particles.to_vec()?;
            let is_right = |(now, before): (&Particle, &Particle)| {
                let close = |axis: usize| {
                    (now.position[axis] - before.position[axis] - DT * before.velocity[axis]).abs()
                        < 1e-6
                };
                let rest = Particle {
                    position: before.position,
                    ..*now
                };
                rest == *before && (0..3).all(close)
            };
            match particles
                .iter()
                .zip(&before)
                .position(|pair| !is_right(pair))
            {
                Some(i) => Err(format!("particle {i} is {:?}", particles[i]).into()),
                None => Ok(()),
            }
        },
    ))
}

pub const SOA: Entry = Entry {
    name: "soa",
    kernels: &["move_soa"],
    index_bits: 64,
    source: SOURCE,
    build: soa_case,
};

fn soa_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 23, 999);
    let before = [1, 2, 3].map(|seed| vectors(n, -1.0, 1.0, seed));
    let velocity = [4, 5, 6].map(|seed| vectors(n, -1.0, 1.0, seed));
    let [vx, vy, vz] = [0, 1, 2].map(|axis| gpu.to_device(&velocity[axis]));
    let (vx, vy, vz) = (vx?, vy?, vz?);
    let [x, y, z] = [0, 1, 2].map(|axis| gpu.to_device(&before[axis]));
    let position = [x?, y?, z?];
    let grid = n.div_ceil(BLOCK);
    let [x, y, z] = &position;
    let twin = Twin::new(
        "move_soa",
        grid,
        BLOCK,
        arguments![DT, vx, vy, vz, *x, *y, *z, n],
    );
    let start = before.clone();
    Ok(Case::new(
        Work::Bytes(144.0 * n as f64),
        vec![twin],
        position,
        move |position| {
            position
                .iter_mut()
                .zip(&start)
                .try_for_each(|(x, start)| x.copy_from(start))
        },
        move |checks, [x, y, z]| launch_either!(checks, move_soa / move_soa_unchecked[grid, BLOCK](DT, &vx, &vy, &vz, x, y, z)),
        move |position| {
            for (now, (before, velocity)) in position.iter().zip(before.iter().zip(&velocity)) {
                let (before, velocity) = (components(before), components(velocity));
                let wanted = |i: usize| f64::from(before[i]) + f64::from(DT * velocity[i]);
                close(components(&now.to_vec()?), 0..4 * n, 1e-6, wanted)?;
            }
            Ok(())
        },
    ))
}
