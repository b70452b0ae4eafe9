//! A panic of its own for each of several checks.
//!
//! The checks of one place in the source share the block of their panic, with phis of what it says, once LLVM has unrolled the
//! loop that the place is in. Steps that look at a check with its panic want them apart.

use std::collections::{BTreeMap, BTreeSet};

use crate::llvm::{self, Block, Context, Value};
use crate::loop_checks::cfg::Cfg;
use crate::panic_branch::PanicBranch;

/// A check, and the block that ends in it.
pub type CheckAt = (Block, PanicBranch);

/// Gives the checks of each panic that `wanted` takes, which are at least two, panics of their own.
pub fn separate(context: Context, function: Value, wanted: impl Fn(&[CheckAt]) -> bool) {
    let cfg = Cfg::of(function);
    // In the order of the blocks, so that the same code comes out each time.
    let mut seen = BTreeSet::new();
    let checks = cfg.blocks().filter_map(PanicBranch::at);
    let panics: Vec<Block> = checks
        .map(|check| check.panic)
        .filter(|&panic| seen.insert(panic))
        .collect();
    for panic in panics {
        let checks: Option<Vec<CheckAt>> = cfg
            .predecessors_of(panic)
            .map(|block| Some((block, PanicBranch::at(block)?)))
            .collect();
        // Blocks that are never reached may lead there too.
        let entries = llvm::users(llvm::block_value(panic)).len();
        let are_all = |checks: &Vec<CheckAt>| checks.len() == entries && entries > 1;
        let Some(checks) = checks.filter(|checks| are_all(checks) && wanted(checks)) else {
            continue;
        };
        for (block, check) in checks {
            let own = copy(context, function, block, panic);
            llvm::set_successor(check.branch, u32::from(!check.true_is_panic), own);
        }
        // SAFETY: every branch to it goes to a copy now, and what it computes is used in it alone: it has no successors.
        unsafe { llvm::delete_block(panic) };
    }
}

/// A copy of a panic as it is when `from` leads to it.
fn copy(context: Context, function: Value, from: Block, panic: Block) -> Block {
    let own = llvm::append(context, function);
    let builder = llvm::create_builder(context);
    llvm::position_at_end(builder, own);
    let mut copies = BTreeMap::new();
    for instruction in llvm::block_instructions(panic) {
        if let Some(phi) = llvm::is_phi(instruction) {
            copies.extend(llvm::incoming_from(phi, from).map(|value| (phi, value)));
            continue;
        }
        let copy = llvm::clone_instruction(instruction);
        for index in 0..llvm::operand_count(copy) as u32 {
            if let Some(&own) = copies.get(&llvm::operand(copy, index)) {
                llvm::set_operand(copy, index, own);
            }
        }
        llvm::insert(builder, copy);
        copies.insert(instruction, copy);
    }
    own
}
