//! What kernel code calls: indices, barriers, shared memory, atomics and disjoint writes.
//!
//! One source, two back ends. Every operation that only a GPU has is an `extern "C"` symbol whose name starts with
//! `gpu.` ([`intrinsics`]). In a host program `gpu-sim` defines these symbols, so that the program links and its
//! kernels run on the CPU. In the device pass `gpu-compiler` lowers them to LLVM's NVPTX intrinsics. This crate
//! therefore has no `cfg` and is compiled once.
//!
//! All functions are `#[inline]`: a function of another crate has device code only if rustc can instantiate it in the
//! crate that is compiled.
//!
//! Names follow CUDA C and `cuda_std` of rust-cuda where these have one.
#![no_std]

extern crate alloc;

pub mod async_copy;
pub mod atomic;
pub mod block;
pub mod cluster;
pub mod constant;
mod dim;
pub mod disjoint;
#[doc(hidden)]
pub mod element;
pub mod fast;
pub mod fp8;
pub mod grid;
mod grid_stride;
pub mod group;
pub mod half;
pub mod integer;
#[doc(hidden)]
pub mod intrinsics;
#[doc(hidden)]
pub mod kernel;
#[doc(hidden)]
pub mod link;
mod live;
pub mod math;
pub mod matrix;
pub mod memory;
mod not_indexed;
mod note;
mod number;
#[doc(hidden)]
pub mod print;
pub mod ptx;
pub mod random;
#[doc(hidden)]
pub mod runtime;
pub mod shared;
pub mod shared_atomics;
pub mod sync;
pub mod target;
pub mod thread;
pub mod time;
#[doc(hidden)]
pub mod twins;
pub mod unroll;
pub mod vector;
pub mod view;
pub mod warp;

pub use dim::Dim3;
pub use disjoint::DisjointSlice;
pub use element::DeviceCopy;
pub use sync::sync_threads;
