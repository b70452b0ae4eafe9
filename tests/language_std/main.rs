//! As `tests/language`, for what std has beyond core and alloc and needs no operating system: hash maps, locks and cells
//! that are set once, readers and writers of memory, paths.
#![allow(missing_docs, clippy::all)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../device_code/mod.rs"]
mod device_code;

#[macro_use]
#[path = "../language/check.rs"]
mod check;
#[path = "../language/arbitrary.rs"]
mod arbitrary;

mod hashing;
mod input_output;
mod paths;
mod sync;

#[test]
fn ptxas_takes_it() {
    device_code::assembles_for_its_target();
}
