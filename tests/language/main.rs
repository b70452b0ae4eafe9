//! Any Rust: plain functions, a file a theme, each called on the host and by a kernel, one thread for each of several
//! hundred inputs. The results agree to the bit; where floats may differ, a case says by how many ULP.
//!
//! On the simulator this shows that the code around a kernel is right; on a GPU (`OXWARP_DEVICE=cuda`) that the device
//! code is.
#![allow(missing_docs, clippy::all)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../device_code/mod.rs"]
mod device_code;

#[macro_use]
mod check;
mod arbitrary;

mod arrays;
mod closures;
mod control_flow;
mod conversions;
mod enums;
mod floats;
mod generics;
mod integers;
mod iterators;
mod macros;
mod memory;
mod modules;
mod options;
mod ordering;
mod patterns;
mod ranges;
mod recursion;
mod slices;
mod statics;
mod traits;

#[test]
fn ptxas_takes_it() {
    device_code::assembles_for_its_target();
}
