//! Prices of European options by the formula of Black and Scholes.

use oxwarp::prelude::*;
use oxwarp::unroll;
use oxwarp::vector::Float4;

use super::case::{arguments, close, launch_either, with_unchecked};
use super::random::{components, vectors};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;

/// The distribution function of the normal distribution (Abramowitz and Stegun, 26.2.17): to 7.5e-8.
#[inline]
fn normal(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let polynomial =
        k * (0.31938153 + k * (-0.35656378 + k * (1.781478 + k * (-1.821256 + k * 1.3302744))));
    let tail = 0.3989423 * (-0.5 * d * d).exp() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}

/// Of the call and the put.
#[inline]
fn prices(s: f32, x: f32, t: f32, rate: f32, volatility: f32) -> (f32, f32) {
    let spread = volatility * t.sqrt();
    let d1 = ((s / x).ln() + (rate + 0.5 * volatility * volatility) * t) / spread;
    let d2 = d1 - spread;
    let (n1, n2) = (normal(d1), normal(d2));
    let discounted = x * (-rate * t).exp();
    (
        s * n1 - discounted * n2,
        discounted * (1.0 - n2) - s * (1.0 - n1),
    )
}

with_unchecked! {
    black_scholes_unchecked:
    /// Four options a thread.
    #[kernel(fast_math)]
    fn black_scholes(
        price: &[Float4],
        strike: &[Float4],
        years: &[Float4],
        rate: f32,
        volatility: f32,
        mut call: DisjointSlice<Float4>,
        mut put: DisjointSlice<Float4>,
    ) {
        let i = thread::index_1d();
        if let (Some(call), Some(put)) = (call.get_mut(i), put.get_mut(i)) {
            let [s, x, t] = [price[*i], strike[*i], years[*i]].map(Float4::to_array);
            let prices = [0, 1, 2, 3].map(|k| {
                unroll::full();
                prices(s[k], x[k], t[k], rate, volatility)
            });
            *call = prices.map(|(call, _)| call).into();
            *put = prices.map(|(_, put)| put).into();
        }
    }
}

pub const BLACK_SCHOLES: Entry = Entry {
    name: "black_scholes",
    kernels: &["black_scholes"],
    index_bits: 64,
    source: Source {
        name: "black_scholes.cu",
        text: include_str!("black_scholes.cu"),
        fast_math: true,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    const BLOCK: usize = 256;
    let n: usize = size.pick(1 << 23, 999);
    let (price, strike) = (vectors(n, 5.0, 30.0, 1), vectors(n, 1.0, 100.0, 2));
    let years = vectors(n, 0.25, 10.0, 3);
    let (price_gpu, strike_gpu) = (gpu.to_device(&price)?, gpu.to_device(&strike)?);
    let years_gpu = gpu.to_device(&years)?;
    let prices = [gpu.zeros::<Float4>(n)?, gpu.zeros::<Float4>(n)?];
    let [call, put] = &prices;
    let grid = n.div_ceil(BLOCK);
    let words = arguments![
        price_gpu, strike_gpu, years_gpu, RATE, VOLATILITY, *call, *put, n
    ];
    Ok(Case::new(
        Work::Bytes(80.0 * n as f64),
        vec![Twin::new("black_scholes", grid, BLOCK, words)],
        prices,
        |prices| {
            prices
                .iter_mut()
                .try_for_each(|price| price.fill(Float4::splat(f32::NAN)))
        },
        move |checks, [call, put]| {
            launch_either!(checks, black_scholes / black_scholes_unchecked[grid, BLOCK](
                &price_gpu, &strike_gpu, &years_gpu, RATE, VOLATILITY, call, put
            ))
        },
        move |[call, put]| {
            let [price, strike, years] = [&price, &strike, &years].map(|x| components(x));
            let exact = |i: usize| {
                let (s, x, t) = (
                    f64::from(price[i]),
                    f64::from(strike[i]),
                    f64::from(years[i]),
                );
                let (rate, volatility) = (f64::from(RATE), f64::from(VOLATILITY));
                let spread = volatility * t.sqrt();
                let d1 = ((s / x).ln() + (rate + 0.5 * volatility * volatility) * t) / spread;
                let (n1, n2) = (distribution(d1), distribution(d1 - spread));
                let discounted = x * (-rate * t).exp();
                (
                    s * n1 - discounted * n2,
                    discounted * (1.0 - n2) - s * (1.0 - n1),
                )
            };
            let places = || (0..4 * n).step_by(size.pick(101, 1));
            close(components(&call.to_vec()?), places(), 2e-4, |i| exact(i).0)?;
            close(components(&put.to_vec()?), places(), 2e-4, |i| exact(i).1)
        },
    ))
}

/// As [`normal`], in `f64`.
fn distribution(d: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let coefficients = [
        1.330274429,
        -1.821255978,
        1.781477937,
        -0.356563782,
        0.31938153,
    ];
    let polynomial = coefficients.iter().fold(0.0, |sum, c| k * (c + sum));
    let tail = (-0.5 * d * d).exp() / (2.0 * std::f64::consts::PI).sqrt() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}
