//! From rustc's own LLVM bitcode of a crate to PTX for its kernels.
//!
//! In goes the unoptimised bitcode that the user's rustc wrote for the host triple, in which each kernel instance has
//! left a record. Out come one PTX text for each target, a table of the kernels in it, and errors about code that no
//! device can run, with the source lines. The steps, a file each, in `compile`; for the whole crate:
//!
//! 1. `records` - find the kernel records, make each entry a `ptx_kernel`; `twins` - code for instances of alloc's functions
//!    that other crates have.
//! 2. `link` - drop what no kernel reaches; link in what kernels reach of the device runtime, core, alloc
//!    (`std_bitcode`), other crates (`dependencies`; both read an `archive`), the mathematical functions (`math`), the
//!    conversions of 128-bit integers (`wide_integers`) and the user's own PTX and bitcode (`linked`, `ptx_text`);
//!    `notes` - drop what is for the simulator.
//! 3. `parts` - a module for each kernel, and one for what kernels share (`shared_code`, `formatting`).
//! 4. `cache` - a kernel that did not change is taken from an earlier build (`entry`); `workers` - the others are
//!    compiled, several at a time.
//!
//! For each kernel, in `one_kernel`:
//!
//! 5. `retarget` - the NVPTX triple and data layout; host attributes off, `convergent` on.
//! 6. `launch_facts`, `block_shape` - what the kernel says of its launches, and what follows for its code; `choices` - what
//!    it chooses for its code (`fast_math`, `unchecked`).
//! 7. `intrinsics` - lower the `gpu.*` calls.
//! 8. `host_features` - none of the host's processor is there; `inlining` - a GPU's limits; `loop_checks` - bounds checks
//!    out of loops; `optimise` - LLVM's own pipeline, short copies written out (`copies`), checks that follow each other
//!    merged (`merged_checks`), loads out of nested branches (`nested_loads`), special cases asked for once
//!    (`special_cases`), elements of matrices in fewer additions (`rows`), comparisons in 32 bits
//!    (`short_comparisons`), the marks for read-only loads; `narrow` - counters in the width that they start from;
//!    `strides` - addresses that are added to.
//! 9. `check` - report what is left without device code, and host pointers among the parameters (`host_pointers`).
//! 10. `requirements` - what the code asks of each target: its number folded in, items that it lacks reported.
//! 11. `exits` - frequent panics in few registers; `panic_names` - which kernel another panic is of; `rejoin` - panics in
//!     loops move no code; `emit` - PTX; `atomics` - orderings and scopes that LLVM leaves out; `indices` - loops that add
//!     to their index alone; `sign_extension`, `flat_constants`, `negation` - faults of LLVM and of the driver avoided;
//!     `wide_products` - strides in one instruction; `lengths` - indices and lengths compared one by one;
//!     `fall_through` - checks that go on with the next block.
//!
//! And for the whole crate again:
//!
//! 12. `constants` - constant memory that does not fit; `assemble` - the kernels' PTX as one module.
//!
//! Which of the optimisations among these are taken, `step` says. Checks with their
//! panics are seen by `panic_branch`, and told apart by `panic_copies`. Constants of Rust's are read by `rust_constant`.
//!
//! LLVM aborts the process on an internal error, so [`command`] is run in a process of its own by `gpu-macros`.

mod archive;
mod assemble;
mod atomics;
mod block_shape;
mod cache;
mod check;
mod choices;
pub mod command;
mod compile;
mod constants;
mod copies;
mod dependencies;
mod emit;
mod entry;
mod error;
mod exits;
mod fall_through;
mod fast_math;
mod fatal;
mod flat_constants;
mod formatting;
mod futex;
mod host_features;
mod host_hints;
mod host_pointers;
mod indices;
mod inert;
mod inlining;
mod intrinsics;
mod launch_facts;
mod lengths;
mod link;
mod linked;
mod llvm;
mod loop_checks;
mod math;
mod merged_checks;
mod missing;
mod names;
mod narrow;
mod negation;
mod nested_loads;
#[cfg(test)]
mod notation;
mod notes;
mod one_kernel;
mod optimise;
mod own_atomics;
mod panic_branch;
mod panic_copies;
mod panic_names;
mod parts;
pub mod ptx_text;
mod reach;
mod records;
mod registers;
mod rejoin;
pub mod report;
pub mod request;
mod requirements;
mod retarget;
mod rows;
mod rust_constant;
mod shared_code;
mod short_comparisons;
mod sign_extension;
mod special_cases;
mod speculation;
mod std_bitcode;
pub mod step;
mod strides;
mod target;
mod twins;
mod unchecked;
mod unroll;
mod wide_integers;
mod wide_products;
mod workers;

pub use compile::compile;
pub use error::Error;
pub use target::{Target, UnknownTarget};
