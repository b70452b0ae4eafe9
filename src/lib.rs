//! GPU kernels in plain Rust.
//!
//! `#[kernel]` on an ordinary function makes it launchable on an NVIDIA GPU from the host code beside it: one
//! `cargo run`, on stock Rust, without a CUDA toolkit. Without a GPU the same program runs on a CPU simulator.
//!
//! ```
//! use oxwarp::prelude::*;
//!
//! #[kernel]
//! fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
//!     let i = thread::index_1d();
//!     if let Some(c) = c.get_mut(i) {
//!         *c = a[i] + b[i];
//!     }
//! }
//!
//! fn main() -> oxwarp::Result<()> {
//!     let gpu = Gpu::cpu(); // or `Gpu::new()?`: the first GPU, or else the simulator
//!     let a = gpu.to_device(&vec![1.0f32; 1000])?;
//!     let b = gpu.to_device(&vec![2.0f32; 1000])?;
//!     let mut c = gpu.zeros::<f32>(1000)?;
//!     launch!(add[4, 256](&a, &b, &mut c))?;
//!     assert_eq!(c.to_vec()?, vec![3.0; 1000]);
//!     Ok(())
//! }
//! ```
//!
//! This crate only gathers the parts: [`kernel`] and [`device_code!`] from `gpu-macros`, the device side from
//! `gpu-std`, the host side from `host-runtime`, ready-made kernels from `gpu-kernels` ([`kernels`]).

pub use gpu_kernels as kernels;
pub use gpu_macros::{DeviceCopy, device_code, device_link, kernel, rust_kernel, test};
pub use gpu_std::{
    Dim3, DisjointSlice, async_copy, atomic, block, cluster, constant, disjoint, grid, group, ptx,
    shared, shared_array, shared_atomics, sync, sync_threads, thread, warp,
};
pub use gpu_std::{
    fast, fp8, half, integer, math, matrix, memory, random, target, time, unroll, vector, view,
};
#[doc(hidden)]
pub use host_runtime::__private;
pub use host_runtime::*;

/// What a program with kernels needs in scope.
pub mod prelude {
    pub use gpu_macros::{DeviceCopy, kernel};
    pub use gpu_std::async_copy::AsyncCopy;
    pub use gpu_std::atomic::{AtomicF32, AtomicF64};
    pub use gpu_std::disjoint::{
        BlockIndex, BlockIndex2d, DisjointChunks, DisjointColumns, DisjointRows, DisjointTiles,
        ThreadIndex, ThreadIndex2d, ThreadIndex3d, WarpIndex,
    };
    pub use gpu_std::group::{self, LaneGroup};
    pub use gpu_std::view::{
        ArrayView, ArrayView1, ArrayView2, ArrayView3, ArrayView4, ArrayView5, ArrayView6, Strided,
    };
    pub use gpu_std::{
        DisjointSlice, block, cluster, grid, shared, shared_array, shared_atomics, sync_threads,
        thread, warp,
    };
    pub use host_runtime::{DeviceArray, DeviceCopy, Gpu, Kernel, constant, launch};
}
