//! The bounds checks of a function: `if !(index < length) { panic }`.

use crate::llvm::{self, Block, Builder, Value, predicate};
use crate::panic_branch::PanicBranch;
use crate::unchecked;

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
    panic: PanicBranch,
}

impl Check {
    /// The check that `block` ends in.
    pub fn at(block: Block) -> Option<Self> {
        let panic = PanicBranch::at(block)?;
        let comparison = llvm::is_comparison(llvm::condition(panic.branch))?;
        let passes = llvm::comparison_predicate(comparison);
        let passes = if panic.true_is_panic {
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
            panic,
        })
    }

    /// Whether the kernel promises that it never fails.
    pub fn is_promised(&self) -> bool {
        unchecked::is_never_reached(self.panic.panic)
    }

    /// Lets the check pass where `holds` is true, which implies it.
    pub fn skip_if(&self, builder: Builder, holds: Value) {
        llvm::position_before(builder, self.panic.branch);
        let condition = llvm::condition(self.panic.branch);
        let condition = if self.panic.true_is_panic {
            llvm::and(builder, llvm::not(builder, holds), condition)
        } else {
            llvm::or(builder, holds, condition)
        };
        llvm::set_condition(self.panic.branch, condition);
    }
}
