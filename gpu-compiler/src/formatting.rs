//! Keeps the code that formats text small.
//!
//! Text is for messages and panics, which are rare, while the back end inlines and unrolls as if all code ran in every
//! thread: `core::fmt` then grows to ten times its size in every kernel, and the driver needs minutes for it.

use crate::llvm::{self, Context, FUNCTION_INDEX, Module, Value};
use crate::names;

/// Parts of core that only formatting needs.
const PARTS: [&str; 6] = [
    "core::fmt::",
    "core::num::flt2dec::",
    "core::num::bignum::",
    "core::num::fmt::",
    "core::str::slice_error_fail",
    "core::unicode::printable::",
];
/// Each symbol of those has one of these words, so that most others need not be demangled.
const WORDS: [&str; 5] = ["fmt", "flt2dec", "bignum", "slice_error_fail", "printable"];

/// Asks LLVM to optimise all functions that format for size.
pub fn keep_small(context: Context, module: Module) {
    let attributes = ["cold", "minsize", "optsize"]
        .map(|kind| llvm::create_enum_attribute(context, llvm::attribute(kind), 0));
    for function in llvm::functions(module).filter(|&function| formats(function)) {
        for attribute in attributes {
            llvm::add_attribute(function, FUNCTION_INDEX, attribute);
        }
    }
}

/// Whether a function is one of [`PARTS`], or implements one of their traits.
fn formats(function: Value) -> bool {
    let symbol = llvm::name(function);
    if llvm::declared_only(function) || !WORDS.iter().any(|word| symbol.contains(word)) {
        return false;
    }
    let path = names::path(&symbol);
    PARTS.iter().any(|part| path.contains(part))
}
