//! Removes what kernels tell the simulator about their accesses (`gpu.note.*`): device code has no use for it.
//!
//! As soon as all code is linked, so that no pass sees the calls, and the PTX is as if they had never been.

use crate::llvm::{self, Module};

/// Removes the calls.
pub fn remove(module: Module) {
    for function in llvm::functions(module).collect::<Vec<_>>() {
        if llvm::name(function).starts_with("gpu.note.") {
            for call in llvm::calls_of(function) {
                llvm::erase(call);
            }
        }
    }
}
