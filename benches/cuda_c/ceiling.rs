//! What the device reaches at most, measured in the same run: bytes a second in a copy, `f32` operations a second in a loop of
//! fused multiply-adds, and operations of the matrix units in a loop of `mma.sync`.

use oxwarp::Gpu;

use crate::cases::case::arguments;
use crate::cases::{Outcome, Size, Source, Twin, Work};
use crate::driver::{Driver, Twins};

const SOURCE: Source = Source {
    name: "ceiling.cu",
    text: include_str!("ceiling.cu"),
    fast_math: false,
};
const TRIPS: u32 = 1000;
/// Chains, unrolled copies, and two operations in each.
const FLOPS_OF_A_TRIP: f64 = 8.0 * 16.0 * 2.0;
const BLOCK: usize = 256;
const MEASUREMENTS: usize = 9;

/// The most of each kind of work in a second.
#[derive(Clone, Copy, Debug)]
pub struct Ceilings {
    /// Bytes read and written.
    pub bytes: f64,
    /// Operations on `f32`.
    pub flops: f64,
    /// Operations of the matrix units, on bf16.
    pub matrix_flops: f64,
}

impl Ceilings {
    /// Measures them.
    pub fn measure(gpu: &Gpu, driver: &Driver, twins: &mut Twins) -> Outcome<Self> {
        Ok(Ceilings {
            bytes: copy(gpu, driver)?,
            flops: multiply_add(gpu, driver, twins)?,
            matrix_flops: matrix_multiply(gpu, driver, twins)?,
        })
    }

    /// The ceiling of this kind of work.
    pub fn of(&self, work: Work) -> Option<f64> {
        match work {
            Work::Bytes(_) => Some(self.bytes),
            Work::Flops(_) => Some(self.flops),
            Work::MatrixFlops(_) => Some(self.matrix_flops),
            Work::Results(_) => None,
        }
    }
}

/// By the driver's own copy, of as many bytes as a case of `Size::Full` has.
fn copy(gpu: &Gpu, driver: &Driver) -> Outcome<f64> {
    let bytes: usize = Size::Full.pick(1 << 29, 0);
    let (from, to) = (gpu.zeros::<u8>(bytes)?, gpu.zeros::<u8>(bytes)?);
    let seconds = fastest(driver, || {
        driver.copy(to.device_ptr(), from.device_ptr(), bytes)
    })?;
    Ok(2.0 * bytes as f64 / seconds)
}

fn multiply_add(gpu: &Gpu, driver: &Driver, twins: &mut Twins) -> Outcome<f64> {
    let function = twins.function(SOURCE, "fma_ceiling")?;
    let out = gpu.zeros::<f32>(1)?;
    let grid = driver.multiprocessors()? * 16;
    let arguments = arguments![0.999f32, 0.001f32, TRIPS, out];
    let twin = Twin::new("fma_ceiling", grid, BLOCK, arguments);
    let seconds = fastest(driver, || driver.launch(function, &twin))?;
    Ok((grid * BLOCK) as f64 * f64::from(TRIPS) * FLOPS_OF_A_TRIP / seconds)
}

fn matrix_multiply(gpu: &Gpu, driver: &Driver, twins: &mut Twins) -> Outcome<f64> {
    let function = twins.function(SOURCE, "mma_ceiling")?;
    let out = gpu.zeros::<f32>(1)?;
    let grid = driver.multiprocessors()? * 8;
    let twin = Twin::new("mma_ceiling", grid, BLOCK, arguments![TRIPS, out]);
    let seconds = fastest(driver, || driver.launch(function, &twin))?;
    // Eight products a trip in a warp, each of 16x8x16.
    let flops_of_a_warp = f64::from(TRIPS) * 8.0 * 2.0 * 16.0 * 8.0 * 16.0;
    Ok((grid * BLOCK / 32) as f64 * flops_of_a_warp / seconds)
}

fn fastest(driver: &Driver, run: impl Fn() -> Outcome<()>) -> Outcome<f64> {
    run()?;
    let mut best = f64::INFINITY;
    for _ in 0..MEASUREMENTS {
        best = best.min(driver.time(&run)?);
    }
    Ok(best)
}
