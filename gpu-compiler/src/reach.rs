//! What a kernel can reach.

use std::collections::BTreeSet;

use crate::llvm::{self, Value};

/// Functions and global variables.
#[derive(Debug, Default)]
pub struct Reached {
    /// Functions, the kernel and declarations too.
    pub functions: BTreeSet<Value>,
    /// Global variables.
    pub globals: BTreeSet<Value>,
}

/// Follows calls, and pointers in constants (a vtable reaches its methods).
pub fn reach(kernel: Value) -> Reached {
    let mut reached = Reached::default();
    let mut constants = BTreeSet::new();
    let mut open = vec![kernel];
    while let Some(value) = open.pop() {
        if llvm::is_function(value).is_some() {
            if reached.functions.insert(value) {
                let operands = llvm::instructions(value)
                    .into_iter()
                    .flat_map(llvm::operands);
                open.extend(operands.filter(|&operand| llvm::is_constant(operand).is_some()));
            }
        } else if llvm::is_global_variable(value).is_some() {
            if reached.globals.insert(value) {
                open.extend(llvm::initializer(value));
            }
        } else if constants.insert(value) {
            open.extend(llvm::operands(value));
        }
    }
    reached
}
