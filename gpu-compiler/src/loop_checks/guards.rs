//! What is known of a value at a block: the comparisons that every path to the block has passed.

use crate::llvm::{self, Block, Value, opcode, predicate};
use crate::panic_branch::PanicBranch;

use super::cfg::{Cfg, successors};

/// `low < high`, or `low <= high` if `or_equal`, unsigned.
#[derive(Clone, Copy)]
pub struct Guard {
    pub low: Value,
    pub high: Value,
    pub or_equal: bool,
    /// Whether it is a check: where it fails there is a panic.
    pub is_check: bool,
}

/// The guards of `block`, the nearest first.
pub fn guards(cfg: &Cfg, block: Block) -> Vec<Guard> {
    let mut found = Vec::new();
    let mut at = block;
    while let Some(above) = cfg.immediate_dominator(at) {
        if let Some(branch) = llvm::conditional_branch(above) {
            let edges = successors(above);
            let through = |edge: usize| {
                edges[0] != edges[1]
                    && cfg.predecessor_count(edges[edge]) == 1
                    && cfg.dominates(edges[edge], block)
            };
            let known = found.len();
            if through(0) {
                learn(llvm::condition(branch), true, &mut found);
            } else if through(1) {
                learn(llvm::condition(branch), false, &mut found);
            }
            let is_check = PanicBranch::at(above).is_some();
            for guard in &mut found[known..] {
                guard.is_check = is_check;
            }
        }
        at = above;
    }
    found
}

/// What follows from `condition` being `holds`.
fn learn(condition: Value, holds: bool, found: &mut Vec<Guard>) {
    if let Some(comparison) = llvm::is_comparison(condition) {
        found.extend(compared(comparison, holds));
    } else if let Some([left, right]) = both(condition, holds) {
        learn(left, holds, found);
        learn(right, holds, found);
    }
}

/// The parts of a condition of which each is `holds`: those of `left && right` that is true, of `left || right` that
/// is false.
fn both(condition: Value, holds: bool) -> Option<[Value; 2]> {
    let instruction = llvm::is_instruction(condition)?;
    let operands = |indices: [u32; 2]| indices.map(|index| llvm::operand(instruction, index));
    match llvm::opcode(instruction) {
        opcode::AND if holds => Some(operands([0, 1])),
        opcode::OR if !holds => Some(operands([0, 1])),
        opcode::SELECT if holds && is_bool(llvm::operand(instruction, 2), false) => {
            Some(operands([0, 1]))
        }
        opcode::SELECT if !holds && is_bool(llvm::operand(instruction, 1), true) => {
            Some(operands([0, 2]))
        }
        _ => None,
    }
}

fn is_bool(value: Value, wanted: bool) -> bool {
    llvm::unsigned_constant(value).is_some_and(|constant| (constant != 0) == wanted)
}

fn compared(comparison: Value, holds: bool) -> Option<Guard> {
    let passes = llvm::comparison_predicate(comparison);
    let passes = if holds {
        passes
    } else {
        predicate::inverse(passes)?
    };
    let [left, right] = [0, 1].map(|index| llvm::operand(comparison, index));
    let (low, high, or_equal) = match passes {
        predicate::ULT => (left, right, false),
        predicate::ULE => (left, right, true),
        predicate::UGT => (right, left, false),
        predicate::UGE => (right, left, true),
        // Not zero: above zero.
        predicate::NE if llvm::unsigned_constant(right) == Some(0) => (right, left, false),
        _ => return None,
    };
    Some(Guard {
        low,
        high,
        or_equal,
        is_check: false,
    })
}
