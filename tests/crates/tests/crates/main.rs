//! As in `tests/language`, for crates from the registry in kernels: numbers, vectors, containers, generators.
//!
//! Not all of what they do is generic or `#[inline]`. The rest has device code because this package is compiled with
//! `-Cembed-bitcode=yes`.
#![allow(missing_docs, clippy::all)]

#[path = "../../../common/mod.rs"]
mod common;
#[path = "../../../device_code/mod.rs"]
mod device_code;

#[macro_use]
#[path = "../../../language/check.rs"]
mod check;
#[path = "../../../language/arbitrary.rs"]
mod arbitrary;

mod containers;
mod functions;
mod generators;
mod numbers;
mod vectors;

#[test]
fn ptxas_takes_it() {
    device_code::assembles_for_its_target();
}
