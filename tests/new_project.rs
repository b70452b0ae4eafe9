//! The program that `cargo oxwarp new` gives: it compiles, and its own test passes.
#![allow(missing_docs)]

#[allow(dead_code)]
#[path = "../cargo-oxwarp/template/main.rs"]
mod template;
