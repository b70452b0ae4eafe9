//! Calls that compute nothing but say something to a later step (`gpu.require.sm`, `gpu.unroll`).
//!
//! Until that step they must hinder no pass, and no pass may remove one while it can be reached. So they are what LLVM
//! thinks of a call that only touches memory which no program sees.

use crate::llvm::{self, Context, FUNCTION_INDEX, Module, Value};

const NO_MEMORY: u64 = 0;
const INACCESSIBLE_MEMORY_READ_WRITE: u64 = 0b1100;

/// The calls, and what they touch. One that touches nothing has a result, and goes when that is not used.
const CALLS: [(&str, u64); 4] = [
    ("gpu.target.sm", NO_MEMORY),
    ("gpu.require.sm", INACCESSIBLE_MEMORY_READ_WRITE),
    ("gpu.require.ptx", INACCESSIBLE_MEMORY_READ_WRITE),
    ("gpu.unroll", INACCESSIBLE_MEMORY_READ_WRITE),
];

/// Makes the calls of a module inert, which are like any call of an unknown function before.
pub fn make_inert(context: Context, module: Module) {
    for (name, memory) in CALLS {
        let Some(function) = llvm::function(module, name) else {
            continue;
        };
        let convergent = llvm::attribute("convergent");
        llvm::remove_enum_attribute(function, FUNCTION_INDEX, convergent);
        for call in llvm::calls_of(function) {
            llvm::remove_call_attribute(call, FUNCTION_INDEX, convergent);
        }
        describe(context, function, memory);
    }
}

/// Makes a new function inert that takes no pointer but to look at its value.
pub fn make_mark(context: Context, function: Value) {
    describe(context, function, INACCESSIBLE_MEMORY_READ_WRITE);
    for (kind, value) in [("readnone", 0), ("captures", 0)] {
        let attribute = llvm::create_enum_attribute(context, llvm::attribute(kind), value);
        llvm::add_attribute(function, 1, attribute);
    }
}

fn describe(context: Context, function: Value, memory: u64) {
    let kinds = [
        ("memory", memory),
        ("nounwind", 0),
        ("willreturn", 0),
        ("nocallback", 0),
    ];
    for (kind, value) in kinds {
        let attribute = llvm::create_enum_attribute(context, llvm::attribute(kind), value);
        llvm::add_attribute(function, FUNCTION_INDEX, attribute);
    }
}
