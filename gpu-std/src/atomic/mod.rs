//! Atomics beyond `core::sync::atomic`, whose types work in kernels as they are.
//!
//! A kernel takes atomics as `&[AtomicU32]` or `&[AtomicF32]`; on the host the argument is `&mut DeviceArray<u32>` or
//! `&mut DeviceArray<f32>`. In shared memory they come from [`shared_atomics!`](crate::shared_atomics!).
//!
//! | CUDA C | here |
//! | --- | --- |
//! | `atomicAdd_system(&x, v)` | `x.fetch_add(v, Relaxed)` |
//! | `atomicAdd(&x, v)` | `x.scoped(Device).fetch_add(v, Relaxed)` |
//! | `atomicAdd_block(&x, v)` | `x.scoped(Block).fetch_add(v, Relaxed)` |
//! | `atomicSub`, `atomicMin`, `atomicMax`, `atomicAnd`, `atomicOr`, `atomicXor` | `fetch_sub`, `fetch_min`, ... |
//! | `atomicExch`, `atomicCAS` | `swap`, `compare_exchange` |
//! | `atomicInc`, `atomicDec` | [`Scoped::fetch_inc`], [`Scoped::fetch_dec`] |
//! | `__threadfence_block()`, `__threadfence()`, `__threadfence_system()` | [`fence`]`(Block, SeqCst)`, ... |
//!
//! Beside the types of `core::sync::atomic` there are [`AtomicF32`], [`AtomicF64`], [`AtomicF16`], [`AtomicBf16`], pairs of
//! the latter ([`AtomicF16x2`], [`AtomicBf16x2`]) and [`AtomicU128`].
//!
//! An operation on global memory is done in the L2 cache, some hundred cycles away, and one on shared memory in the
//! multiprocessor. Operations on one address are done one after the other, so many threads do well to add up among
//! themselves first ([`warp::reduce_add`](crate::warp::reduce_add)).
//!
//! All of them return the old value. Where it is not used, the instruction is the cheaper `red`, which returns nothing.

mod float;
mod half;
mod order;
mod scoped;
mod wide;

pub use float::{AtomicF32, AtomicF64};
pub use half::{AtomicBf16, AtomicBf16x2, AtomicF16, AtomicF16x2};
pub use scoped::{AtomicScope, Block, Device, Scope, Scoped, System, fence};
pub use wide::AtomicU128;
