//! Index arithmetic in the copy of a loop in which it cannot wrap.
//!
//! The condition before a loop implies that the sums and products of its indices do not wrap. In the fast copy LLVM is told
//! so, and a 32-bit index of which only the loop's counter changes is computed in the width of an address. Then LLVM adds to
//! an address at each trip, where it would have to multiply.

use std::collections::BTreeSet;

use crate::llvm::{self, Builder, Type, Value, opcode};

use super::cfg::Loop;

/// Applies that `exact` do not wrap where `holds` is true. Until the loop is split, both are there, and a `select` between
/// them.
pub fn apply(builder: Builder, a_loop: &Loop, holds: Value, exact: &[Value]) {
    let exact: BTreeSet<Value> = exact.iter().copied().collect();
    let arithmetic = Arithmetic {
        builder,
        a_loop,
        exact: &exact,
    };
    for &instruction in &exact {
        let extensions = llvm::users(instruction).into_iter().filter(|&user| {
            llvm::is_instruction(user).is_some() && llvm::opcode(user) == opcode::ZEXT
        });
        for extension in extensions.collect::<Vec<_>>() {
            llvm::position_before(builder, extension);
            if let Some(wide) = arithmetic.widened(instruction, llvm::type_of(extension)) {
                choose(builder, holds, wide, extension);
            }
        }
    }
    for &instruction in &exact {
        let Some(next) = llvm::next_instruction(instruction) else {
            continue;
        };
        let unwrapped = llvm::clone_instruction(instruction);
        llvm::position_before(builder, next);
        llvm::insert(builder, unwrapped);
        llvm::set_no_unsigned_wrap(unwrapped, 1);
        choose(builder, holds, unwrapped, instruction);
    }
}

/// Puts `if holds { fast } else { instruction }` in the place of `instruction`.
fn choose(builder: Builder, holds: Value, fast: Value, instruction: Value) {
    let users = llvm::users(instruction);
    if let Some(next) = llvm::next_instruction(instruction) {
        llvm::position_before(builder, next);
    }
    let value = llvm::select(builder, holds, fast, instruction);
    for user in users {
        for index in 0..llvm::operand_count(user) as u32 {
            if llvm::operand(user, index) == instruction {
                llvm::set_operand(user, index, value);
            }
        }
    }
}

struct Arithmetic<'a> {
    builder: Builder,
    a_loop: &'a Loop,
    exact: &'a BTreeSet<Value>,
}

impl Arithmetic<'_> {
    /// A value of which only counters change in the loop, in a wider type.
    fn widened(&self, value: Value, of: Type) -> Option<Value> {
        if self.a_loop.is_invariant(value) || llvm::is_phi(value).is_some() {
            return Some(llvm::zero_extend(self.builder, value, of));
        }
        if !self.exact.contains(&value) {
            return None;
        }
        let [left, right] = [0, 1].map(|index| self.widened(llvm::operand(value, index), of));
        let wide = llvm::binary(self.builder, llvm::opcode(value), left?, right?);
        // A constant has no flags.
        if llvm::is_instruction(wide).is_some() {
            llvm::set_no_unsigned_wrap(wide, 1);
        }
        Some(wide)
    }
}
