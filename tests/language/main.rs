//! Any Rust: plain functions, a file a theme, each called on the host and by a kernel, one thread for each of several
//! hundred inputs. The results agree to the bit; where floats may differ, a case says by how many ULP.
//!
//! On the simulator this shows that the code around a kernel is right; on a GPU (`OXWARP_DEVICE=cuda`) that the device
//! code is.
#![allow(missing_docs, clippy::all)]

use std::collections::BTreeSet;

#[path = "../common/mod.rs"]
mod common;
#[path = "../device_code/mod.rs"]
mod device_code;

#[macro_use]
mod check;
mod arbitrary;

mod arrays;
mod atomics;
mod calls;
mod closures;
mod control_flow;
mod conversions;
mod enums;
mod floats;
mod futures;
mod generics;
mod integers;
mod iterators;
mod macros;
mod memory;
mod modules;
mod newer;
mod objects;
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

/// A pointer that may be to a constant or to the stack is one to any memory.
#[test]
fn no_constant_is_read_as_the_stack() {
    let ptx = device_code::all();
    let mut constants = BTreeSet::new();
    for line in ptx.lines() {
        let words = line.split([' ', '\t', ',', ';']);
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        match words[..] {
            _ if words.contains(&".entry") || words.contains(&".func") => constants.clear(),
            ["cvta.global.u64", to, _] => {
                constants.insert(to);
            }
            ["add.s64", to, from, _] | ["mov.b64", to, from] if constants.contains(from) => {
                constants.insert(to);
            }
            ["cvta.to.local.u64" | "cvta.to.shared.u64", _, from] => {
                assert!(!constants.contains(from), "{line}");
            }
            _ => {}
        }
    }
}
