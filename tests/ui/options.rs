//! Options that `#[kernel]` does not have, and options that are not written as they should be.
use oxwarp::prelude::*;

#[kernel(fast_maths)]
fn unknown(x: &[f32]) {
    let _ = x;
}

#[kernel(fma = 1)]
fn not_a_bool(x: &[f32]) {
    let _ = x;
}

#[kernel(fast_math, launch_bounds = 256)]
fn no_parentheses(x: &[f32]) {
    let _ = x;
}

#[kernel(launch_bounds(256, 2, 3))]
fn three_bounds(x: &[f32]) {
    let _ = x;
}

#[kernel(max_registers(64))]
fn parentheses(x: &[f32]) {
    let _ = x;
}

#[kernel(unchecked)]
fn not_unsafe(x: &[f32]) {
    let _ = x;
}

#[kernel(unsafe(fast))]
fn unknown_unsafe(x: &[f32]) {
    let _ = x;
}

#[kernel(fma = false, fma = true)]
fn twice(x: &[f32]) {
    let _ = x;
}

#[kernel(launch_bounds(2048))]
fn too_many_threads(x: &[f32]) {
    let _ = x;
}

#[kernel(max_registers = 256)]
fn too_many_registers(x: &[f32]) {
    let _ = x;
}

#[kernel(block = 256)]
fn block_without_parentheses(x: &[f32]) {
    let _ = x;
}

#[kernel(block(8, 8, 1, 1))]
fn four_extents(x: &[f32]) {
    let _ = x;
}

#[kernel(cluster(2, 16))]
fn long_cluster(x: &[f32]) {
    let _ = x;
}

#[kernel(cluster(4, 2 + 1))]
fn large_cluster(x: &[f32]) {
    let _ = x;
}

#[kernel(cluster)]
fn cluster_without_numbers(x: &[f32]) {
    let _ = x;
}

#[kernel(block(8, 0))]
fn empty_block(x: &[f32]) {
    let _ = x;
}

const BLOCKS: usize = 0;

#[kernel(launch_bounds(256, BLOCKS))]
fn no_block(x: &[f32]) {
    let _ = x;
}

#[kernel(block(64, 32))]
fn too_large_block(x: &[f32]) {
    let _ = x;
}

fn main() {}
