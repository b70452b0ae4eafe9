//! The price of a call option by simulation: 64 normal numbers a thread, from Philox4x32-10 by the formula of Box and
//! Muller.

use oxwarp::prelude::*;
use oxwarp::random::{Philox, philox4x32_10};

use super::case::{arguments, close, launch_either, places, with_unchecked};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const SEED: u64 = 0x0123_4567_89ab_cdef;
/// Calls of Philox in a thread; each gives four numbers.
const CALLS: u32 = 16;
const PRICE: f32 = 100.0;
const STRIKE: f32 = 105.0;
/// Of the logarithm of the price in a year, and its deviation.
const DRIFT: f32 = -0.025;
const DEVIATION: f32 = 0.3;

/// What the option pays for two random words' pair of normal numbers, together.
#[inline]
fn payoffs(words: [u32; 2]) -> f32 {
    const SCALE: f32 = 1.0 / (1u64 << 32) as f32;
    // In (0, 1], so that there is a logarithm.
    let u = words[0] as f32 * SCALE + 0.5 * SCALE;
    let angle = words[1] as f32 * (SCALE * std::f32::consts::TAU);
    let radius = (-2.0 * u.ln()).sqrt();
    let payoff = |z: f32| (PRICE * (DRIFT + DEVIATION * z).exp() - STRIKE).max(0.0);
    payoff(radius * angle.cos()) + payoff(radius * angle.sin())
}

with_unchecked! {
    monte_carlo_unchecked:
    #[kernel(fast_math)]
    fn monte_carlo(seed: u64, mut sums: DisjointSlice<f32>) {
        let i = thread::index_1d();
        let mut random = Philox::new(seed, *i as u64);
        let mut sum = 0.0;
        for _ in 0..CALLS {
            let [a, b, c, d] = random.next_4();
            sum += payoffs([a, b]) + payoffs([c, d]);
        }
        if let Some(sums) = sums.get_mut(i) {
            *sums = sum;
        }
    }
}

pub const MONTE_CARLO: Entry = Entry {
    name: "monte_carlo",
    kernels: &["monte_carlo"],
    index_bits: 64,
    source: Source {
        name: "monte_carlo.cu",
        text: include_str!("monte_carlo.cu"),
        fast_math: true,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    const BLOCK: usize = 256;
    let n: usize = size.pick(1 << 22, 999);
    let sums = gpu.zeros::<f32>(n)?;
    let grid = n.div_ceil(BLOCK);
    // Two words, as the C side takes them.
    let seed = [SEED as u32, (SEED >> 32) as u32];
    let twin = Twin::new("monte_carlo", grid, BLOCK, arguments![seed, sums, n]);
    Ok(Case::new(
        Work::Results(n as f64 * 4.0 * f64::from(CALLS)),
        vec![twin],
        sums,
        |sums| sums.fill(f32::NAN),
        move |checks, sums| launch_either!(checks, monte_carlo / monte_carlo_unchecked[grid, BLOCK](SEED, sums)),
        move |sums| {
            let sum = |i: usize| {
                let words = |call| philox4x32_10([call, 0, i as u32, 0], seed);
                let sums = (0..CALLS).map(|call| {
                    let [a, b, c, d] = words(call);
                    f64::from(payoffs([a, b])) + f64::from(payoffs([c, d]))
                });
                sums.sum()
            };
            close(&sums.to_vec()?, places(n, 5000), 1e-3, sum)
        },
    ))
}
