//! As `launches-only`, but without `device_code!`: on a GPU its launches are an error that says so.

use oxwarp::kernels::map;
use oxwarp::prelude::*;

/// `a * x + 1` for each element.
pub fn scaled(gpu: &Gpu, a: f32, x: &[f32]) -> oxwarp::Result<Vec<f32>> {
    let device_x = gpu.to_device(x)?;
    let mut y = gpu.zeros::<f32>(x.len())?;
    map.for_each(x.len())
        .launch(move |x| a * x + 1.0, &device_x, &mut y)?;
    y.to_vec()
}
