//! Counters that only shrink, in the width that they start from.
//!
//! The stride of a reduction is `block::len() / 2`, a `usize` that is halved at each trip. A GPU has 32-bit registers: each
//! operation on 64 bits is two instructions. The stride comes from a 32-bit register and never grows, so all its values fit.
//! (A counter that grows is left as it is: LLVM makes it as wide as the addresses that it counts.)

use crate::llvm::{self, Builder, Context, Module, Value, opcode};
use crate::loop_checks::cfg::{Cfg, Loop};
use crate::loop_checks::induction::{self, Step};

/// Narrows the counters of a module whose loops are in simple form.
pub fn narrow(context: Context, module: Module) {
    let builder = llvm::create_builder(context);
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        let cfg = Cfg::of(function);
        for around in cfg.loops() {
            let phis = llvm::block_instructions(around.header)
                .into_iter()
                .map_while(llvm::is_phi);
            for phi in phis.collect::<Vec<_>>() {
                narrow_one(builder, around, phi);
            }
        }
    }
}

fn narrow_one(builder: Builder, around: &Loop, phi: Value) -> Option<()> {
    let Step::Shrinks = induction::step(around, phi)? else {
        return None;
    };
    let start = llvm::is_instruction(llvm::incoming_from(phi, around.preheader)?)?;
    let next = llvm::incoming_from(phi, around.latch)?;
    let by = llvm::unsigned_constant(llvm::operand(next, 1))?;
    if llvm::opcode(start) != opcode::ZEXT {
        return None;
    }
    let (start, wide) = (llvm::operand(start, 0), llvm::type_of(phi));
    let of = llvm::type_of(start);
    let largest = match llvm::opcode(next) {
        opcode::LSHR => u64::from(llvm::integer_width(of)) - 1,
        _ => u64::MAX >> (64 - llvm::integer_width(of)),
    };
    if by > largest {
        return None;
    }
    llvm::position_before(builder, phi);
    let narrow = llvm::phi(builder, of);
    let first = llvm::block_instructions(around.header)
        .into_iter()
        .find(|&instruction| llvm::is_phi(instruction).is_none())?;
    llvm::position_before(builder, first);
    let widened = llvm::zero_extend(builder, narrow, wide);
    llvm::position_before(builder, next);
    let by = llvm::const_int(of, by, 0);
    let narrow_next = llvm::binary(builder, llvm::opcode(next), narrow, by);
    let widened_next = llvm::zero_extend(builder, narrow_next, wide);
    llvm::add_incoming_edge(narrow, start, around.preheader);
    llvm::add_incoming_edge(narrow, narrow_next, around.latch);
    llvm::replace_instruction(phi, widened);
    llvm::replace_instruction(next, widened_next);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    /// The widths of the phis of a loop whose counter begins at `start` and goes on by `step`.
    fn widths(start: &str, step: &str) -> Vec<u32> {
        let (context, module) = parse(&format!(
            "define void @f(ptr %p, i32 %n, i64 %wide) {{
            entry:
                %start = {start}
                br label %loop
            loop:
                %k = phi i64 [ %start, %entry ], [ %next, %loop ]
                store volatile i64 %k, ptr %p
                %next = {step}
                %done = icmp eq i64 %next, 0
                br i1 %done, label %exit, label %loop
            exit:
                ret void
            }}"
        ));
        narrow(context, module);
        crate::optimise::verify(module).unwrap();
        let function = llvm::function(module, "f").unwrap();
        let phis = llvm::instructions(function)
            .into_iter()
            .filter_map(llvm::is_phi);
        phis.map(|phi| llvm::integer_width(llvm::type_of(phi)))
            .collect()
    }

    #[test]
    fn a_counter_that_shrinks_from_32_bits_has_32_bits() {
        let start = "zext i32 %n to i64";
        assert_eq!(widths(start, "lshr i64 %k, 1"), [32]);
        assert_eq!(widths(start, "udiv i64 %k, 10"), [32]);
    }

    #[test]
    fn other_counters_keep_their_width() {
        assert_eq!(widths("add i64 %wide, 0", "lshr i64 %k, 1"), [64]);
        assert_eq!(widths("zext i32 %n to i64", "add i64 %k, -1"), [64]);
        assert_eq!(widths("zext i32 %n to i64", "lshr i64 %k, 40"), [64]);
        assert_eq!(
            widths("zext i32 %n to i64", "udiv i64 %k, 4294967296"),
            [64]
        );
    }
}
