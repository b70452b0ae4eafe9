//! The bounds checks of a function: `if !(index < length) { panic }`.

use crate::llvm::{self, Block, Builder, Value, opcode, predicate};

use super::cfg::successors;

/// One check, which passes where `low < high`, or `low <= high` if `or_equal`, unsigned.
#[derive(Clone, Copy)]
pub struct Check {
    /// The block that ends in the check.
    pub block: Block,
    /// What must be small: an index, or a range's end.
    pub low: Value,
    /// What it must stay below: a length.
    pub high: Value,
    /// Whether both may be equal.
    pub or_equal: bool,
    branch: Value,
    /// Whether the branch's condition is true where the check fails.
    true_is_panic: bool,
}

impl Check {
    /// The check that `block` ends in.
    pub fn at(block: Block) -> Option<Self> {
        let branch = llvm::conditional_branch(block)?;
        let comparison = llvm::is_comparison(llvm::condition(branch))?;
        let [on_true, on_false] = <[Block; 2]>::try_from(successors(block)).ok()?;
        let true_is_panic = match (never_returns(on_true), never_returns(on_false)) {
            (true, false) => true,
            (false, true) => false,
            _ => return None,
        };
        let passes = llvm::comparison_predicate(comparison);
        let passes = if true_is_panic {
            predicate::inverse(passes)?
        } else {
            passes
        };
        let [left, right] = [0, 1].map(|index| llvm::operand(comparison, index));
        let (low, high, or_equal) = match passes {
            predicate::ULT => (left, right, false),
            predicate::ULE => (left, right, true),
            predicate::UGT => (right, left, false),
            predicate::UGE => (right, left, true),
            _ => return None,
        };
        Some(Check {
            block,
            low,
            high,
            or_equal,
            branch,
            true_is_panic,
        })
    }

    /// Lets the check pass where `holds` is true, which implies it. Gives the part of the new condition that is the
    /// check's own.
    pub fn skip_if(&self, builder: Builder, holds: Value) {
        llvm::position_before(builder, self.branch);
        let condition = llvm::condition(self.branch);
        let condition = if self.true_is_panic {
            llvm::and(builder, llvm::not(builder, holds), condition)
        } else {
            llvm::or(builder, holds, condition)
        };
        llvm::set_condition(self.branch, condition);
    }
}

fn never_returns(block: Block) -> bool {
    llvm::terminator(block)
        .is_some_and(|terminator| llvm::opcode(terminator) == opcode::UNREACHABLE)
}
