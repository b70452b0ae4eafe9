//! Launches that are prepared and repeated: plans and graphs; and what is told of work that ends, or does not.

use oxwarp::prelude::*;

mod common;
#[path = "launching/completion.rs"]
mod completion;
#[path = "launching/graphs.rs"]
mod graphs;
#[path = "launching/plans.rs"]
mod plans;

/// A step that depends on its order: `x = rotate(x) ^ by`.
#[kernel]
fn mix(mut x: DisjointSlice<u32>, by: u32) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = mixed(*x, by);
    }
}

fn mixed(x: u32, by: u32) -> u32 {
    x.rotate_left(7).wrapping_mul(0x9e37_79b9) ^ by
}

/// Takes its time, so that what overtakes it is seen.
#[kernel]
fn slow_add(x: &[u32], mut y: DisjointSlice<u32>, rounds: u32) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let mut sum = *y;
        for round in 0..rounds {
            sum = sum.rotate_left(3) ^ round;
        }
        *y = sum.wrapping_add(x[*i]);
    }
}

fn slowly_added(x: u32, y: u32, rounds: u32) -> u32 {
    (0..rounds)
        .fold(y, |sum, round| sum.rotate_left(3) ^ round)
        .wrapping_add(x)
}

/// The mean of each element's neighbours.
#[kernel]
fn smooth(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let (left, right) = (i.saturating_sub(1), (*i + 1).min(x.len() - 1));
        *y = (x[left] + x[*i] + x[right]) / 3.0;
    }
}

fn smoothed(x: &[f32]) -> Vec<f32> {
    let last = x.len() - 1;
    (0..x.len())
        .map(|i| (x[i.saturating_sub(1)] + x[i] + x[(i + 1).min(last)]) / 3.0)
        .collect()
}

#[kernel]
fn map<T: Copy, F: Fn(T) -> T + Copy>(f: F, mut x: DisjointSlice<T>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = f(*x);
    }
}

#[kernel]
fn nothing() {}

#[kernel]
fn say(number: u32) {
    println!("number {number}");
}

/// Every block adds what the block before it wrote, a round after the other.
#[kernel]
fn pass_on(
    mut x: DisjointSlice<u32, BlockIndex>,
    sums: &[core::sync::atomic::AtomicU32],
    rounds: u32,
) {
    use core::sync::atomic::Ordering::Relaxed;
    for _ in 0..rounds {
        if let Some(x) = x.get_mut(block::index()) {
            *x += 1;
            sums[0].fetch_add(*x, Relaxed);
        }
        grid::sync();
    }
}

constant! {
    static STEP: u32 = 1000;
}

#[kernel]
fn add_constant(mut x: DisjointSlice<u32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x += *STEP;
    }
}

/// Whole blocks of 256: a launch for fewer items than an array has leaves the rest alone.
const LEN: usize = 12 * 256;

/// How long the slow kernel takes on a GPU; the simulator is slow as it is.
fn rounds(gpu: &Gpu) -> u32 {
    if gpu.is_simulator() { 4 } else { 2000 }
}
