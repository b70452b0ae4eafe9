//! As `tests/language`, for what allocates: collections, shared ownership, drops, and algorithms with them. A program of
//! its own, because it is as much code again for a driver to compile.
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

mod cells;
mod collections;
mod drops;

mod searching;
mod sorting;

#[test]
fn ptxas_takes_it() {
    device_code::assembles_for_its_target();
}
