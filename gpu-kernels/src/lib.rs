//! Ready-made generic kernels, written with oxwarp.
//!
//! | kernel | what it does |
//! | --- | --- |
//! | [`fill`](fn@fill) | writes one value everywhere |
//! | [`map`](fn@map) | applies a closure to each element |
//! | [`zip_map`](fn@zip_map) | applies a closure to each pair of elements of two arrays |
//! | [`sum`](fn@sum) | adds up, to one partial sum a block; [`sum_of`] gives the whole sum to the host |
//!
//! The facade crate has them as `oxwarp::kernels`. They are generic, closures included: each combination of types is a
//! kernel instance that the launching crate compiles. A crate that launches them and has no `#[kernel]` of its own says
//! `oxwarp::device_code!();` once.
//!
//! Each works through its elements in a grid-stride loop, so any one-dimensional grid and block gives the whole result.
//!
//! ```
//! use oxwarp::{Gpu, Kernel};
//! # use gpu_kernels as kernels;
//!
//! let gpu = Gpu::cpu();
//! let a = 2.5;
//! let x = gpu.to_device(&[1.0f32, 2.0, 3.0])?;
//! let mut y = gpu.zeros::<f32>(3)?;
//! kernels::map.for_each(x.len()).launch(move |x| a * x + 1.0, &x, &mut y)?;
//! assert_eq!(y.to_vec()?, [3.5, 6.0, 8.5]);
//! assert_eq!(kernels::sum_of(&y)?, 18.0);
//! # Ok::<(), oxwarp::Error>(())
//! ```

// A kernel is a function and a type, so a module cannot have its name.
mod fill_kernel;
mod map_kernel;
mod sum_kernel;
mod zip_map_kernel;

pub use fill_kernel::fill;
pub use map_kernel::map;
pub use sum_kernel::{Number, sum, sum_of};
pub use zip_map_kernel::zip_map;
