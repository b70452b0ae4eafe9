//! Unrolling of loops: what the compiler is to do with the loop that a call stands in.
//!
//! CUDA C writes `#pragma unroll` before a loop. Rust has no place for that, so it is a call in the loop's body, right in
//! it and not in a branch. It works in `for`, `while` and `loop`, and in a closure that an iterator calls. It computes
//! nothing; on the simulator it does nothing.

use crate::intrinsics as gpu;

/// Unrolls the loop around the call completely, if the number of its trips is known when it is compiled; else the
/// compiler does as it sees fit. CUDA C: `#pragma unroll`.
///
/// ```
/// use gpu_std::unroll;
///
/// fn polynomial(coefficients: [f32; 40], x: f32) -> f32 {
///     let mut y = 0.0;
///     for c in coefficients {
///         unroll::full();
///         y = y * x + c;
///     }
///     y
/// }
/// ```
#[inline(always)]
pub fn full() {
    gpu::unroll(0);
}

/// Makes `N` trips of the loop around the call one, and one loop more for what is left over. `N` is at least 1; 1 is
/// [`never()`]. CUDA C: `#pragma unroll N`.
///
/// ```
/// use gpu_std::unroll;
///
/// fn sum(x: &[f32]) -> f32 {
///     let mut sum = 0.0;
///     for x in x {
///         unroll::by::<4>();
///         sum += x;
///     }
///     sum
/// }
/// ```
///
/// ```compile_fail
/// for _ in 0..10 {
///     gpu_std::unroll::by::<0>();
/// }
/// ```
#[inline(always)]
pub fn by<const N: u32>() {
    const { assert!(N > 0, "a loop is unrolled by at least 1") }
    gpu::unroll(N);
}

/// Keeps the loop around the call as it is: less code, and fewer registers. CUDA C: `#pragma unroll 1`.
///
/// ```
/// use gpu_std::unroll;
///
/// fn rounds(mut x: u32) -> u32 {
///     for round in 0..16 {
///         unroll::never();
///         x = x.rotate_left(5) ^ round;
///     }
///     x
/// }
/// ```
#[inline(always)]
pub fn never() {
    gpu::unroll(1);
}
