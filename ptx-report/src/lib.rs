//! Looks into a kernel without a GPU: what its PTX does, and what CUDA's tools make of it.
//!
//! In: PTX as text. Out, as values that also print:
//!
//! - [`Module`]: the functions and constants of a PTX text, and a text with one kernel alone.
//! - [`Parts`]: the kernels of a PTX text that can be loaded apart, and the text of each.
//! - [`PanicSite`]: where a kernel can panic, as a module lists it.
//! - [`Code`]: a kernel's instructions by kind, and each [`Check`] that is left, with its line in the source and whether
//!   it is in a loop.
//! - [`Assembled`]: registers, stack and spills, by `ptxas`, and the machine code by `nvdisasm`, where these are found.
//! - [`KernelReport`]: both of them of one kernel.
//! - [`Multiprocessor`] and [`Occupancy`]: how many blocks run at once, by arithmetic.
//!
//! It depends on nothing of oxwarp: `host-runtime` gives kernels the methods `explain` and `inspect` with it, `cargo-oxwarp`
//! is a command, and the benchmark against CUDA C has its table from here.

mod access;
mod assembled;
mod checks;
mod code;
mod flow;
mod loops;
mod module;
mod multiprocessor;
mod occupancy;
mod panics;
mod parts;
mod references;
mod report;
mod sites;
mod statement;
mod table;
mod tools;

pub use access::{Access, Direction, Space};
pub use assembled::{Assembled, assemble, parse_log};
pub use checks::{Check, Place, Position};
pub use code::Code;
pub use module::Module;
pub use multiprocessor::Multiprocessor;
pub use occupancy::{Limiter, Occupancy};
pub use parts::Parts;
pub use report::{KernelReport, kernel_name};
pub use sites::PanicSite;
pub use tools::{ToolError, sass};
