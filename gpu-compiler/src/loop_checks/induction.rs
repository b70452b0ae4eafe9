//! What counts a loop: a value that grows by a constant and stays below a bound.

use crate::llvm::{self, Block, Value, opcode, predicate};

use super::cfg::{Cfg, Loop, successors};

/// In the blocks that `from` dominates, `start <= value < bound`, unsigned, if `start < bound`.
#[derive(Debug)]
pub struct Counter {
    /// The phi in the header.
    pub value: Value,
    /// Its value at the first trip.
    pub start: Value,
    /// Where it ends.
    pub bound: Value,
    /// The first block in which the bound holds.
    pub from: Block,
}

/// The counter of a loop, if it has one.
pub fn counter(cfg: &Cfg, a_loop: &Loop) -> Option<Counter> {
    let phis = llvm::block_instructions(a_loop.header)
        .into_iter()
        .map_while(llvm::is_phi);
    phis.into_iter().find_map(|phi| {
        counted_at_latch(a_loop, phi).or_else(|| counted_at_header(cfg, a_loop, phi))
    })
}

/// `do { ... } while (next < bound)`, with `next = value + step`: the form that loop rotation leaves.
fn counted_at_latch(a_loop: &Loop, phi: Value) -> Option<Counter> {
    let (start, next, step) = stepped(a_loop, phi)?;
    let continues = Continues::of(a_loop, a_loop.latch)?;
    let bound = continues.bound_of(a_loop, next, step)?;
    Some(Counter {
        value: phi,
        start,
        bound,
        from: a_loop.header,
    })
}

/// `while (value < bound) { ... }`.
fn counted_at_header(cfg: &Cfg, a_loop: &Loop, phi: Value) -> Option<Counter> {
    let (start, _, step) = stepped(a_loop, phi)?;
    let continues = Continues::of(a_loop, a_loop.header)?;
    let bound = continues.bound_of(a_loop, phi, step)?;
    let from = continues.to;
    cfg.dominates(from, a_loop.latch).then_some(Counter {
        value: phi,
        start,
        bound,
        from,
    })
}

/// `phi(start, next)` with `next = phi + step` and a constant `step`.
fn stepped(a_loop: &Loop, phi: Value) -> Option<(Value, Value, u64)> {
    let start = llvm::incoming_from(phi, a_loop.preheader)?;
    let next = llvm::incoming_from(phi, a_loop.latch)?;
    if llvm::is_instruction(next).is_none()
        || llvm::opcode(next) != opcode::ADD
        || llvm::operand(next, 0) != phi
    {
        return None;
    }
    let step = llvm::zero_extended(llvm::is_constant_int(llvm::operand(next, 1))?);
    Some((start, next, step))
}

/// The comparison that decides whether the loop goes on, as it reads when it does.
struct Continues {
    left: Value,
    right: Value,
    predicate: i32,
    to: Block,
}

impl Continues {
    fn of(a_loop: &Loop, block: Block) -> Option<Self> {
        let branch = llvm::conditional_branch(block)?;
        let comparison = llvm::is_comparison(llvm::condition(branch))?;
        let [on_true, on_false] = <[Block; 2]>::try_from(successors(block)).ok()?;
        let (to, predicate) = match (a_loop.contains(on_true), a_loop.contains(on_false)) {
            (true, false) => (on_true, llvm::comparison_predicate(comparison)),
            (false, true) => (
                on_false,
                predicate::inverse(llvm::comparison_predicate(comparison))?,
            ),
            _ => return None,
        };
        Some(Continues {
            left: llvm::operand(comparison, 0),
            right: llvm::operand(comparison, 1),
            predicate,
            to,
        })
    }

    /// The invariant that `value`, which grows by `step`, stays below while the loop goes on.
    fn bound_of(&self, a_loop: &Loop, value: Value, step: u64) -> Option<Value> {
        let (predicate, bound) = if self.left == value {
            (self.predicate, self.right)
        } else if self.right == value {
            (predicate::swapped(self.predicate)?, self.left)
        } else {
            return None;
        };
        // From a start below the bound, steps of one meet the bound; longer ones could jump over it.
        let stays_below = predicate == predicate::ULT || (predicate == predicate::NE && step == 1);
        (stays_below && step > 0 && a_loop.is_invariant(bound)).then_some(bound)
    }
}
