//! As `tests/language`, for text: characters, UTF-8, formatting and parsing. A program of its own, because formatting is
//! much code for a driver to compile; `tests/print_formats.rs` lets ptxas assemble most of it.
#![allow(missing_docs, clippy::all)]

#[path = "../common/mod.rs"]
mod common;

#[macro_use]
#[path = "../language/check.rs"]
mod check;
#[path = "../language/arbitrary.rs"]
mod arbitrary;

mod errors;
mod parsing;
mod strings;
