//! Work on all devices at once: each has a part of the data, and all get the mean and the variance of the whole.
//! With two simulators where there is no GPU. `cargo run --release --example devices [length]`

use oxwarp::prelude::*;
use oxwarp::{Devices, Reduction};

mod common;

/// The sums of `x - shift` and of its square, added up from all threads.
#[kernel]
fn moments(x: &[f32], shift: f64, sums: &[AtomicF64]) {
    let (mut sum, mut squares) = (0.0, 0.0);
    for i in thread::grid_stride(x.len()) {
        let x = f64::from(x[i]) - shift;
        sum += x;
        squares += x * x;
    }
    let (sum, squares) = (
        warp::reduce_add(warp::FULL_MASK, sum),
        warp::reduce_add(warp::FULL_MASK, squares),
    );
    if warp::lane_id() == 0 {
        sums[0].fetch_add(sum);
        sums[1].fetch_add(squares);
    }
}

fn main() -> oxwarp::Result<()> {
    let n = common::size(1 << 20);
    let host = common::random(n, 1);

    let mut devices = Devices::all()?;
    if devices[0].is_simulator() {
        devices = Devices::simulated(2);
    }
    println!("{} devices: {devices:?}", devices.len());
    let parts = devices.scatter(&host)?;
    let mut sums = devices.replicate(&[0.0f64; 2])?;
    for (part, sums) in parts.iter().zip(&mut sums) {
        moments.grid(64).block(256).launch(part, 0.5, sums)?; // runs beside those of the other devices
    }
    devices.all_reduce(Reduction::Sum, &mut sums)?;

    let [sum, squares] = sums[devices.len() - 1].to_vec()?[..] else {
        unreachable!("two sums")
    };
    let (mean, variance) = (
        0.5 + sum / n as f64,
        squares / n as f64 - (sum / n as f64).powi(2),
    );
    let expected_mean = host.iter().map(|x| f64::from(*x)).sum::<f64>() / n as f64;
    let squares = host.iter().map(|x| (f64::from(*x) - expected_mean).powi(2));
    let expected_variance = squares.sum::<f64>() / n as f64;
    println!("mean {mean:.9}, variance {variance:.9}");
    assert!((mean - expected_mean).abs() < 1e-12 && (variance - expected_variance).abs() < 1e-12);
    println!("ok");
    Ok(())
}
