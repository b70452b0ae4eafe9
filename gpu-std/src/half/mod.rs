//! 16-bit floats with the hardware's arithmetic: [`F16`] (IEEE binary16), [`Bf16`] (bfloat16), and pairs of them that are
//! computed at once ([`F16x2`], [`Bf16x2`]).
//!
//! The operators of the `half` crate's own types convert to `f32` in software, in a kernel too. These types have the same
//! bits (with the feature `half` they convert from and to them), and a kernel computes on them with `add.f16`, `fma.rn.f16`,
//! `fma.rn.bf16x2`. Every operation is rounded once, to nearest even, so both back ends give the same bits; as with `f32`,
//! a product and a sum may be contracted to one [`mul_add`](F16::mul_add) unless the kernel says `fma = false`.
//!
//! `Bf16` has instructions from sm_80 on (`fma`) and sm_90 on (the rest). For an older target LLVM computes it in `f32`,
//! with the same results but for `mul_add` below sm_80, which is then rounded twice.

mod pair;
mod scalar;

pub use pair::{Bf16x2, F16x2};
pub use scalar::{Bf16, F16};
