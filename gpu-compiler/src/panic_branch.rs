//! The branch of a check: one way goes on, the other ends in a panic.

use crate::llvm::{self, Block, Value, opcode};

/// `if passes { passed } else { panic }`
#[derive(Clone, Copy)]
pub struct PanicBranch {
    /// The branch itself.
    pub branch: Value,
    /// Whether its condition is true where the check fails.
    pub true_is_panic: bool,
    /// Where a check that passes goes on.
    pub passed: Block,
    /// Where one that fails ends.
    pub panic: Block,
}

impl PanicBranch {
    /// The check that `block` ends in.
    pub fn at(block: Block) -> Option<Self> {
        let branch = llvm::conditional_branch(block)?;
        let [on_true, on_false] = [0, 1].map(|index| llvm::successor(branch, index));
        let (true_is_panic, panic, passed) = match (never_returns(on_true), never_returns(on_false))
        {
            (true, false) => (true, on_true, on_false),
            (false, true) => (false, on_false, on_true),
            _ => return None,
        };
        Some(PanicBranch {
            branch,
            true_is_panic,
            passed,
            panic,
        })
    }
}

fn never_returns(block: Block) -> bool {
    llvm::terminator(block).is_some_and(|end| llvm::opcode(end) == opcode::UNREACHABLE)
}
