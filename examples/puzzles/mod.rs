//! Sixteen puzzles and their solutions, in the order of `docs/tutorial.md`. `tests/puzzles.rs` runs them all.
#![allow(missing_docs)]

#[path = "13_axis_sum.rs"]
pub mod axis_sum;
#[path = "06_blocks.rs"]
pub mod blocks;
#[path = "07_blocks_2d.rs"]
pub mod blocks_2d;
#[path = "05_broadcast.rs"]
pub mod broadcast;
#[path = "11_convolution.rs"]
pub mod convolution;
#[path = "10_dot.rs"]
pub mod dot;
#[path = "03_guard.rs"]
pub mod guard;
#[path = "16_histogram.rs"]
pub mod histogram;
#[path = "01_map.rs"]
pub mod map;
#[path = "04_map_2d.rs"]
pub mod map_2d;
#[path = "14_matmul.rs"]
pub mod matmul;
#[path = "09_pooling.rs"]
pub mod pooling;
#[path = "12_prefix_sum.rs"]
pub mod prefix_sum;
#[path = "08_shared.rs"]
pub mod shared;
#[path = "15_transpose.rs"]
pub mod transpose;
#[path = "02_zip.rs"]
pub mod zip;
