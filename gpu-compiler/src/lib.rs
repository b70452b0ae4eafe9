//! From rustc's own LLVM bitcode of a crate to PTX for its kernels.
//!
//! In goes the unoptimised bitcode that the user's rustc wrote for the host triple, in which each kernel instance has
//! left a record. Out come one PTX text for each target, a table of the kernels in it, and errors about code that no
//! device can run, with the source lines. The steps, a file each:
//!
//! 1. `records` - find the kernel records, make each entry a `ptx_kernel`.
//! 2. `link` - drop what no kernel reaches; link in what kernels reach of the device runtime, core, alloc
//!    (`std_bitcode`), the mathematical functions (`math`), the conversions of 128-bit integers (`wide_integers`) and the
//!    user's own PTX and bitcode (`linked`, `ptx_text`); `formatting` - keep what makes text small.
//! 3. `retarget` - the NVPTX triple and data layout; host attributes off, `convergent` on.
//! 4. `launch_facts`, `block_shape` - what each kernel says of its launches, and what follows for its code; `variants` - what it chooses
//!    for its code (`fast_math`, `unchecked`), in copies where kernels choose differently.
//! 5. `intrinsics` - lower the `gpu.*` calls.
//! 6. `loop_checks` - bounds checks out of loops; `optimise` - LLVM's own pipeline, short copies written out
//!    (`copies`), checks that follow each other merged (`merged_checks`), the marks for read-only loads; `narrow` -
//!    counters in the width that they start from; `strides` - addresses that are added to.
//! 7. `check` - report what is left without device code, host pointers among the parameters (`host_pointers`), and
//!    constant memory that does not fit (`constants`).
//! 8. `requirements` - what the code asks of each target: its number folded in, items that it lacks reported.
//! 9. `panic_names` - which kernel a panic is of; `emit` - PTX; `atomics` - orderings and scopes that LLVM leaves out;
//!    `sign_extension`, `negation` - faults of LLVM and of the driver avoided; `wide_products` - strides in one instruction.
//!
//! LLVM aborts the process on an internal error, so [`command`] is run in a process of its own by `gpu-macros`.

mod atomics;
mod block_shape;
mod check;
pub mod command;
mod compile;
mod constants;
mod copies;
mod emit;
mod error;
mod fast_math;
mod formatting;
mod host_pointers;
mod inert;
mod intrinsics;
mod launch_facts;
mod link;
mod linked;
mod llvm;
mod loop_checks;
mod math;
mod merged_checks;
mod names;
mod narrow;
mod negation;
#[cfg(test)]
mod notation;
mod notes;
mod optimise;
mod panic_branch;
mod panic_names;
pub mod ptx_text;
mod reach;
mod records;
pub mod report;
pub mod request;
mod requirements;
mod retarget;
mod sign_extension;
mod std_bitcode;
mod strides;
mod target;
mod unchecked;
mod unroll;
mod variants;
mod wide_integers;
mod wide_products;

pub use compile::compile;
pub use error::Error;
pub use target::{Target, UnknownTarget};
