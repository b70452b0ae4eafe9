//! The GPU generation that the code is compiled for, and what needs a newer one.
//!
//! A crate is compiled for the targets in its `[package.metadata.oxwarp]` (default: `sm_75`), once for each. [`sm`] is a
//! constant in each of them, so a branch on it costs nothing, and the branch that is not taken need not be code that
//! the target has. [`require_sm`] makes what is taken all the same a compile error at the caller's line.

use crate::intrinsics as gpu;

/// The compute capability that this code is compiled for: 75 for `sm_75`. The simulator says 90, and has everything.
/// CUDA C: `__CUDA_ARCH__ / 10`.
///
/// A branch on it is decided when the code is compiled, for each target of its own:
///
/// ```
/// use gpu_std::group::{LaneGroup, warp};
/// use gpu_std::{ptx, target};
///
/// /// The largest of the lanes' numbers, in a converged warp.
/// fn warp_max(x: u32) -> u32 {
///     if target::sm() >= 80 {
///         // SAFETY: all lanes of the warp come here, and the instruction writes its output.
///         unsafe {
///             ptx!("redux.sync.max.u32 {0}, {1}, 0xffffffff;", out(u32), in x;
///                 else warp().reduce_max(x))
///         }
///     } else {
///         warp().reduce_max(x)
///     }
/// }
/// ```
#[inline(always)]
pub fn sm() -> u32 {
    gpu::sm()
}

/// Says that the code here needs `sm`, because of `item`: in code for a lower target it is a compile error that names
/// both, unless [`sm`] keeps it from being reached. It costs nothing. Both arguments must be constants.
///
/// ```
/// use gpu_std::{ptx, target};
///
/// /// `tanh` of a bf16, as its bits: to about 2^-8.
/// fn tanh_bf16(x: u16) -> u16 {
///     target::require_sm(90, "`tanh.approx.bf16`");
///     let by_hand = || ((f32::from_bits(u32::from(x) << 16).tanh()).to_bits() >> 16) as u16;
///     // SAFETY: the instruction reads its input and writes its output.
///     unsafe { ptx!(pure, "tanh.approx.bf16 {0}, {1};", out(u16), in x; else by_hand()) }
/// }
/// ```
///
/// CUDA C: `#if __CUDA_ARCH__ < 800`, `#error`.
#[inline(always)]
pub fn require_sm(sm: u32, item: &'static str) {
    gpu::require_sm(sm, item.as_ptr(), item.len());
}

/// Says that the code here needs version `isa` of PTX, as `10 * major + minor`, where that is above the first version
/// that has the target: the `.version` of the PTX is then at least this one, and older drivers refuse it. It costs
/// nothing. The argument must be a constant.
///
/// ```
/// use gpu_std::target;
///
/// fn conversion_of_fp8() {
///     target::require_sm(89, "`cvt.rn.satfinite.e4m3x2.f32`");
///     target::require_ptx(81);
/// }
/// ```
#[inline(always)]
pub fn require_ptx(isa: u32) {
    gpu::require_ptx(isa);
}
