//! Keeps the code that formats text small.
//!
//! Text is for messages and panics, which are rare, while the back end inlines and unrolls as if all code ran in every
//! thread: `core::fmt` then grows to ten times its size in every kernel, and the driver needs minutes for it.

use std::collections::{BTreeMap, BTreeSet};

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

/// The PTX with a word in each loop of the functions that format, so that the driver's compiler does not unroll it. That
/// one never optimises for size, and takes half as long then.
pub fn keep_rolled(ptx: &str) -> String {
    let headers = loop_headers(ptx);
    let mut text = String::with_capacity(ptx.len());
    let mut formats = false;
    for line in ptx.lines() {
        if let Some(symbol) = function_begins(line) {
            formats = is_part(symbol);
        }
        text.push_str(line);
        text.push('\n');
        if formats && headers.contains(line) {
            text.push_str("\t.pragma \"nounroll\";\n");
        }
    }
    text
}

/// The lines with a label that a later line jumps back to.
fn loop_headers(ptx: &str) -> BTreeSet<&str> {
    let (mut labels, mut headers) = (BTreeMap::new(), BTreeSet::new());
    for line in ptx.lines() {
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, line);
        } else if line.contains("bra") {
            let target = line.split_whitespace().last().unwrap_or_default();
            headers.extend(labels.get(target.trim_end_matches(';')));
        }
    }
    headers
}

/// The symbol of the function whose first line this is.
fn function_begins(line: &str) -> Option<&str> {
    let line = line.strip_prefix(".visible ").unwrap_or(line);
    let begins = line.starts_with(".func ") || line.starts_with(".entry ");
    let symbol = line.split_whitespace().last().filter(|_| begins)?;
    Some(symbol.trim_end_matches('('))
}

/// Whether a function is one of [`PARTS`], or implements one of their traits.
fn formats(function: Value) -> bool {
    !llvm::declared_only(function) && is_part(&llvm::name(function))
}

fn is_part(symbol: &str) -> bool {
    if !WORDS.iter().any(|word| symbol.contains(word)) {
        return false;
    }
    let path = names::path(symbol);
    PARTS.iter().any(|part| path.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_of_functions_that_format_are_kept_as_they_are() {
        let function = |symbol: &str, word: &str| {
            format!(
                ".func  (.param .b32 func_retval0) {symbol}(\n\t.param .b64 p\n)\n{{\n$L__BB1_1:\n{word}\tadd.s32 %r1, \
                 %r1, 1;\n\t@%p1 bra \t$L__BB1_1;\n\tbra.uni \t$L__BB1_2;\n$L__BB1_2:\n\tret;\n}}\n"
            )
        };
        let fmt = "_RNvNtCsgEmfK2I1SDS_4core3fmt5write";
        let word = "\t.pragma \"nounroll\";\n";
        assert_eq!(keep_rolled(&function(fmt, "")), function(fmt, word));
        assert_eq!(
            keep_rolled(&function("_RNv4test3fmt", "")),
            function("_RNv4test3fmt", "")
        );
    }
}
