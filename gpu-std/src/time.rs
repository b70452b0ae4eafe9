//! Clocks of the device, and waiting.

use crate::intrinsics as gpu;

/// The multiprocessor's cycle counter, which wraps around. Differences in one thread count cycles, with what else ran on the
/// multiprocessor meanwhile; the simulator counts nanoseconds. CUDA C: `clock()`; PTX: `%clock`.
///
/// ```
/// fn cycles(work: impl Fn()) -> u32 {
///     let start = gpu_std::time::clock();
///     work();
///     gpu_std::time::clock().wrapping_sub(start)
/// }
/// ```
#[inline]
pub fn clock() -> u32 {
    gpu::clock()
}

/// As [`clock`], in 64 bits. CUDA C: `clock64()`; PTX: `%clock64`.
///
/// ```
/// fn cycles(work: impl Fn()) -> u64 {
///     let start = gpu_std::time::clock64();
///     work();
///     gpu_std::time::clock64() - start
/// }
/// ```
#[inline]
pub fn clock64() -> u64 {
    gpu::clock64()
}

/// Nanoseconds of a clock that all multiprocessors share; it may advance in steps of a microsecond. PTX: `%globaltimer`.
///
/// ```
/// fn nanoseconds(work: impl Fn()) -> u64 {
///     let start = gpu_std::time::global_timer();
///     work();
///     gpu_std::time::global_timer() - start
/// }
/// ```
#[inline]
pub fn global_timer() -> u64 {
    gpu::globaltimer()
}

/// Lets the thread wait for about `nanoseconds`: at least 0, at most twice as many, and at most a millisecond. The
/// simulator does not wait. CUDA C: `__nanosleep`; PTX: `nanosleep` (sm_70).
///
/// ```
/// fn back_off(tries: u32) {
///     gpu_std::time::nanosleep(8 << tries.min(10));
/// }
/// ```
#[inline]
pub fn nanosleep(nanoseconds: u32) {
    gpu::nanosleep(nanoseconds);
}
