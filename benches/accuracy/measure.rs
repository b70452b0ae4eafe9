//! The kernels, and how far a result is from the right one.
//!
//! The distance is that of NVIDIA's tables: in units in the last place, between the result and the correctly rounded one;
//! from a number to an infinity it is one more than to the greatest number, and between a number and a NaN it has no bound.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use oxwarp::prelude::*;

/// The worst result of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worst {
    pub distance: u64,
    /// The arguments; the second is 0 where there is only one.
    pub at: [f64; 2],
}

impl Worst {
    /// The worse of both.
    pub fn or(self, other: Worst) -> Worst {
        if other.distance > self.distance {
            other
        } else {
            self
        }
    }
}

/// How far a single is from the right one.
fn distance(got: f32, right: f32) -> u32 {
    // The bits in the order of the numbers.
    let ordered = |x: f32| {
        let size = (x.to_bits() & !(1 << 31)) as i32;
        if x.is_sign_negative() { -size } else { size }
    };
    match (got.is_nan(), right.is_nan()) {
        (false, false) => (ordered(got) as i64).abs_diff(ordered(right).into()) as u32,
        (true, true) => 0,
        _ => u32::MAX,
    }
}

/// How far a double is from the right one.
pub fn distance_of_doubles(got: f64, right: f64) -> u64 {
    let ordered = |x: f64| {
        let size = (x.to_bits() & !(1 << 63)) as i64;
        if x.is_sign_negative() { -size } else { size }
    };
    match (got.is_nan(), right.is_nan()) {
        (false, false) => ordered(got).abs_diff(ordered(right)),
        (true, true) => 0,
        _ => u64::MAX,
    }
}

/// Arguments number `index` of random ones: any bits, or sizes near 1.
fn pair(index: u64) -> [f32; 2] {
    let mixed = |x: u64| {
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    let bits = mixed(
        index
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(0x632b_e59b_d9b4_e019),
    );
    let any = [bits as u32, (bits >> 32) as u32].map(f32::from_bits);
    // From 2^-8 to 2^8.
    let near = |x: f32| {
        let (bits, exponent) = (x.to_bits(), 119 + (x.to_bits() >> 23 & 15));
        f32::from_bits(bits & 0x807f_ffff | exponent << 23)
    };
    match index % 4 {
        0 => any,
        1 => any.map(near),
        2 => [any[0], near(any[1])],
        _ => [near(any[0]), any[1]],
    }
}

/// What a launch of [`of_one`] or [`of_two`] does.
#[derive(Clone, Copy)]
pub struct Task {
    /// How many arguments.
    pub count: u64,
    /// From the bits of one single to those of the next; 0 to compute doubles.
    pub stride: u64,
}

/// The worst single over arguments from all 32 bits in steps of a stride, against the double's function; or the doubles'
/// results. One call of the double's function serves both, so that its code is there once.
#[kernel]
pub fn of_one<S, D, C>(
    single: S,
    double: D,
    counts: C,
    task: Task,
    x: &[f64],
    mut out: DisjointSlice<f64>,
    worst: &[AtomicU64],
) where
    S: Fn(f32) -> f32 + Copy + 'static,
    D: Fn(f64) -> f64 + Copy + 'static,
    C: Fn(f64) -> bool + Copy + 'static,
{
    let mut most = 0;
    for i in thread::grid_stride(task.count as usize) {
        let bits = (*i as u64 * task.stride) as u32;
        let given = if task.stride == 0 {
            x[*i]
        } else {
            f32::from_bits(bits).into()
        };
        let right = double(given);
        if task.stride == 0 {
            if let Some(out) = out.get_mut(i) {
                *out = right;
            }
        } else if counts(given) {
            let distance = distance(single(given as f32), right as f32);
            most = most.max(u64::from(distance) << 32 | u64::from(bits));
        }
    }
    let most = group::warp().reduce_max(most);
    if warp::lane_id() == 0 {
        worst[0].fetch_max(most, Relaxed);
    }
}

/// [`of_one`] for functions of two arguments, of which the singles' are random.
#[kernel]
pub fn of_two<S, D>(
    single: S,
    double: D,
    task: Task,
    x: &[[f64; 2]],
    mut out: DisjointSlice<f64>,
    worst: &[AtomicU64],
) where
    S: Fn(f32, f32) -> f32 + Copy + 'static,
    D: Fn(f64, f64) -> f64 + Copy + 'static,
{
    let mut most = 0;
    for i in thread::grid_stride(task.count as usize) {
        let given = if task.stride == 0 {
            x[*i]
        } else {
            pair(*i as u64).map(f64::from)
        };
        let right = double(given[0], given[1]);
        if task.stride == 0 {
            if let Some(out) = out.get_mut(i) {
                *out = right;
            }
        } else {
            let distance = distance(single(given[0] as f32, given[1] as f32), right as f32);
            most = most.max(u64::from(distance) << 32 | *i as u64);
        }
    }
    let most = group::warp().reduce_max(most);
    if warp::lane_id() == 0 {
        worst[0].fetch_max(most, Relaxed);
    }
}

/// Blocks and threads of a launch.
fn shape(gpu: &Gpu) -> (u32, u32) {
    if gpu.is_simulator() {
        (4, 32)
    } else {
        (4096, 256)
    }
}

/// The worst result of a function of singles.
pub fn worst_single<S, D, C>(
    gpu: &Gpu,
    stride: u64,
    single: S,
    double: D,
    counts: C,
) -> oxwarp::Result<Worst>
where
    S: Fn(f32) -> f32 + Copy + 'static,
    D: Fn(f64) -> f64 + Copy + 'static,
    C: Fn(f64) -> bool + Copy + 'static,
{
    let task = Task {
        count: (1 << 32) / stride,
        stride,
    };
    let (x, mut out) = (gpu.zeros::<f64>(1)?, gpu.zeros::<f64>(1)?);
    let mut worst = gpu.zeros::<u64>(1)?;
    let (grid, block) = shape(gpu);
    launch!(of_one[grid, block](single, double, counts, task, &x, &mut out, &mut worst))?;
    let worst = worst.to_vec()?[0];
    Ok(Worst {
        distance: worst >> 32,
        at: [f32::from_bits(worst as u32).into(), 0.0],
    })
}

/// The results of a function of doubles.
pub fn doubles<S, D, C>(
    gpu: &Gpu,
    x: &[f64],
    single: S,
    double: D,
    counts: C,
) -> oxwarp::Result<Vec<f64>>
where
    S: Fn(f32) -> f32 + Copy + 'static,
    D: Fn(f64) -> f64 + Copy + 'static,
    C: Fn(f64) -> bool + Copy + 'static,
{
    let task = Task {
        count: x.len() as u64,
        stride: 0,
    };
    let (x, mut out) = (gpu.to_device(x)?, gpu.zeros::<f64>(x.len())?);
    let mut worst = gpu.zeros::<u64>(1)?;
    let (grid, block) = shape(gpu);
    launch!(of_one[grid, block](single, double, counts, task, &x, &mut out, &mut worst))?;
    out.to_vec()
}

/// The worst result of a function of two singles.
pub fn worst_single_of_two<S, D>(
    gpu: &Gpu,
    count: u64,
    single: S,
    double: D,
) -> oxwarp::Result<Worst>
where
    S: Fn(f32, f32) -> f32 + Copy + 'static,
    D: Fn(f64, f64) -> f64 + Copy + 'static,
{
    let task = Task { count, stride: 1 };
    let (x, mut out) = (gpu.zeros::<[f64; 2]>(1)?, gpu.zeros::<f64>(1)?);
    let mut worst = gpu.zeros::<u64>(1)?;
    let (grid, block) = shape(gpu);
    launch!(of_two[grid, block](single, double, task, &x, &mut out, &mut worst))?;
    let worst = worst.to_vec()?[0];
    Ok(Worst {
        distance: worst >> 32,
        at: pair(worst & u64::from(u32::MAX)).map(f64::from),
    })
}

/// The results of a function of two doubles.
pub fn doubles_of_two<S, D>(
    gpu: &Gpu,
    x: &[[f64; 2]],
    single: S,
    double: D,
) -> oxwarp::Result<Vec<f64>>
where
    S: Fn(f32, f32) -> f32 + Copy + 'static,
    D: Fn(f64, f64) -> f64 + Copy + 'static,
{
    let task = Task {
        count: x.len() as u64,
        stride: 0,
    };
    let (x, mut out) = (gpu.to_device(x)?, gpu.zeros::<f64>(x.len())?);
    let mut worst = gpu.zeros::<u64>(1)?;
    let (grid, block) = shape(gpu);
    launch!(of_two[grid, block](single, double, task, &x, &mut out, &mut worst))?;
    out.to_vec()
}
