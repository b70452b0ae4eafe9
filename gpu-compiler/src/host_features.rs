//! A device has no feature of the host's processor: `is_x86_feature_detected!` is false there.
//!
//! So a crate that asks before it uses the host's own vector instructions, as `half` does, takes its other way, and the code
//! for the host goes with the branch to it. What the macro comes to, once inlined, is a load from the place where std
//! keeps what it has detected.

use crate::llvm::{self, Module, Value};
use crate::names;

/// Where std keeps the features that it has detected: words with a bit for each, of which the highest says that it has.
const CACHE: &str = "std_detect::detect::cache::CACHE";
/// A word of it, detected and without features.
const NONE: u64 = 1 << 63;

/// Lets every question in the module be answered with no.
pub fn deny(module: Module) {
    let cache = llvm::globals(module).find(|&global| {
        let symbol = llvm::name(global);
        symbol.contains("std_detect") && names::path(&symbol) == CACHE
    });
    let Some(cache) = cache else { return };
    for function in llvm::functions(module) {
        let loads = llvm::instructions(function).into_iter();
        for load in loads.filter(|&load| llvm::is_load(load).is_some() && reads(load, cache)) {
            let word = llvm::const_int(llvm::type_of(load), NONE, 0);
            llvm::replace_all_uses(load, word);
        }
    }
}

/// Whether a load is of a global, or of a part of it.
fn reads(load: Value, global: Value) -> bool {
    llvm::operands(load).any(|pointer| {
        pointer == global
            || llvm::is_constant(pointer).is_some()
                && llvm::operands(pointer).any(|base| base == global)
    })
}
