//! Index arithmetic in the copy of a loop in which it cannot wrap.
//!
//! The condition before a loop implies that the sums and products of its indices do not wrap. In the fast copy LLVM is told
//! so: then it can add to an address at each trip, where it would have to compute the index anew and extend it.

use std::collections::BTreeSet;

use crate::llvm::{self, Builder, Value};

/// Applies that `exact` do not wrap where `holds` is true. Until the loop is split, both are there, and a `select` between
/// them.
pub fn apply(builder: Builder, holds: Value, exact: &[Value]) {
    for instruction in exact.iter().copied().collect::<BTreeSet<_>>() {
        let Some(next) = llvm::next_instruction(instruction) else {
            continue;
        };
        let users = llvm::users(instruction);
        let unwrapped = llvm::clone_instruction(instruction);
        llvm::position_before(builder, next);
        llvm::insert(builder, unwrapped);
        llvm::set_no_unsigned_wrap(unwrapped, 1);
        let value = llvm::select(builder, holds, unwrapped, instruction);
        for user in users {
            for index in 0..llvm::operand_count(user) as u32 {
                if llvm::operand(user, index) == instruction {
                    llvm::set_operand(user, index, value);
                }
            }
        }
    }
}
