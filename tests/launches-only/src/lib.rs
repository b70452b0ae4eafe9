//! A crate without a `#[kernel]` that launches generic kernels of `gpu-kernels` with closures of its own, and says
//! `device_code!`, so that they run on a GPU too.

use oxwarp::kernels::{map, zip_map};
use oxwarp::prelude::*;

oxwarp::device_code!();

constant! {
    /// What [`shifted`] adds.
    pub static SHIFT: u32 = 7;
}

/// `a * x + 1` for each element.
pub fn scaled(gpu: &Gpu, a: f32, x: &[f32]) -> oxwarp::Result<Vec<f32>> {
    let device_x = gpu.to_device(x)?;
    let mut y = gpu.zeros::<f32>(x.len())?;
    map.for_each(x.len())
        .launch(move |x| a * x + 1.0, &device_x, &mut y)?;
    y.to_vec()
}

/// Squares, and sums of pairs: a second closure of one kernel, and a second kernel.
pub fn square_plus(gpu: &Gpu, x: &[u32], y: &[u32]) -> oxwarp::Result<Vec<u32>> {
    let (device_x, device_y) = (gpu.to_device(x)?, gpu.to_device(y)?);
    let mut squares = gpu.zeros::<u32>(x.len())?;
    map.for_each(x.len())
        .launch(|x| x * x, &device_x, &mut squares)?;
    let mut sums = gpu.zeros::<u32>(x.len())?;
    zip_map
        .for_each(x.len())
        .launch(|x, y| x + y, &squares, &device_y, &mut sums)?;
    sums.to_vec()
}

/// `x + SHIFT` for each element.
pub fn shifted(gpu: &Gpu, x: &[u32]) -> oxwarp::Result<Vec<u32>> {
    let device_x = gpu.to_device(x)?;
    let mut y = gpu.zeros::<u32>(x.len())?;
    map.for_each(x.len())
        .launch(|x| x + *SHIFT, &device_x, &mut y)?;
    y.to_vec()
}
