//! The matrix units (tensor cores): products of small matrices whose elements are spread over the lanes of a warp.
//!
//! A [`FragmentA`], a [`FragmentB`] and a [`FragmentC`] hold one matrix each, a few elements in every lane, and
//! [`mma`] computes `A * B + C`. What one instruction multiplies depends on the type of the elements:
//!
//! | elements of A and B | A | B | C | sum | PTX |
//! | --- | --- | --- | --- | --- | --- |
//! | [`F16`](crate::half::F16) | 16 x 16 | 16 x 8 | 16 x 8 | `f32` | `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` |
//! | [`Bf16`](crate::half::Bf16) | 16 x 16 | 16 x 8 | 16 x 8 | `f32` | `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32` |
//! | [`Tf32`] | 16 x 8 | 8 x 8 | 16 x 8 | `f32` | `mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32` |
//! | `f64` | 8 x 4 | 4 x 8 | 8 x 8 | `f64` | `mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64` |
//! | `i8`, `u8` | 16 x 32 | 32 x 8 | 16 x 8 | `i32` | `mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32`, `.u8.u8` |
//!
//! All of them need sm_80. CUDA C++: `wmma::fragment`, `load_matrix_sync`, `mma_sync`, `store_matrix_sync`.
//!
//! ```
//! use gpu_std::block;
//! use gpu_std::half::F16;
//! use gpu_std::matrix::{DisjointFragments, FragmentA, FragmentB, FragmentC, mma};
//! use gpu_std::view::ArrayView2;
//!
//! /// `c = a * b`: each block computes 32 rows and 64 columns, its warps a fragment each in turn.
//! fn product(a: ArrayView2<F16>, b: ArrayView2<F16>, mut c: DisjointFragments<f32, 32, 64>) {
//!     let Some(mut tile) = c.get_mut(block::index_2d()) else { return };
//!     for mut place in tile.fragments() {
//!         let (row, col) = place.at();
//!         let mut sum = FragmentC::fill(0.0);
//!         for k in (0..a.ncols()).step_by(16) {
//!             let a = FragmentA::<F16>::load(a, (row, k));
//!             sum = mma(&a, &FragmentB::load(b, (k, col)), sum);
//!         }
//!         place.store(&sum);
//!     }
//! }
//! ```
//!
//! Where a matrix does not divide into fragments, [`FragmentA::from_fn`] takes what there is:
//! `FragmentA::from_fn(|i, j| a.get((row + i, k + j)).copied().unwrap_or(F16::ZERO))`.
//!
//! # How exact
//!
//! Products are exact. On a GPU the order in which they are added, and how many bits the partial sums keep, is the
//! hardware's; the simulator adds them in the order of `k`, starting with the element of C, each addition rounded to the
//! type of the sum (`f64`: a fused multiplication and addition). Integers are exact and wrap.
//!
//! # Soundness
//!
//! All 32 lanes of the warp come to [`mma`] and to a load together. Where some do not, the simulator ends the launch with
//! an error that says where each lane stands. A GPU gives unspecified values, of types of which any bits are a value, or
//! ends the launch with an error of the device. Loads check that the whole matrix is inside of what it is loaded from.

mod element;
mod fragment;
mod place;
mod source;
mod tiles;

pub use element::{Accumulator, Element, Tf32};
pub use fragment::{FragmentA, FragmentB, FragmentC, mma};
pub use source::{Matrix, Transposed, WritableMatrix};
pub use tiles::{DisjointFragments, FragmentPlace, FragmentPlaces, FragmentTile};
