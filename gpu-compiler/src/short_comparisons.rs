//! Comparisons of numbers that fit into 32 bits, in 32 bits.
//!
//! A length is a `usize`, and so is what is left of a row when its length comes from a `u32`. A GPU has 32-bit registers: a
//! comparison of 64 bits is two instructions, and so is the difference that it needs. Where both sides can be seen to fit
//! (they were 32 bits wide, and have become smaller since), their lower halves are compared.

use std::collections::BTreeSet;

use crate::llvm::{self, Builder, Context, Module, Type, Value, opcode, predicate};

/// How many steps of an expression are followed.
const MOST_STEPS: u32 = 8;

/// Shortens the comparisons of a module.
pub fn shorten(context: Context, module: Module) {
    let short = llvm::i32_type(context);
    let builder = llvm::create_builder(context);
    let functions = llvm::functions(module).filter(|&function| !llvm::declared_only(function));
    for instruction in functions.flat_map(llvm::instructions).collect::<Vec<_>>() {
        if let Some(comparison) = llvm::is_comparison(instruction) {
            shorten_one(builder, short, comparison);
        }
    }
}

fn shorten_one(builder: Builder, short: Type, comparison: Value) -> Option<()> {
    let sides = [0, 1].map(|index| llvm::operand(comparison, index));
    let of = llvm::type_of(sides[0]);
    if llvm::type_kind(of) != llvm::kind::INTEGER || llvm::integer_width(of) != 64 {
        return None;
    }
    // What is a cast on both sides LLVM shortens itself.
    let is_plain = |side| is_extension(side) || llvm::unsigned_constant(side).is_some();
    if sides.into_iter().all(is_plain) || !sides.into_iter().all(fits) {
        return None;
    }
    let predicate = predicate::unsigned(llvm::comparison_predicate(comparison));
    llvm::position_before(builder, comparison);
    let [left, right] = sides.map(|side| shortened(builder, short, side));
    let compared = llvm::compare(builder, predicate, left, right);
    llvm::replace_instruction(comparison, compared);
    Some(())
}

fn is_extension(value: Value) -> bool {
    llvm::is_instruction(value).is_some_and(|value| llvm::opcode(value) == opcode::ZEXT)
}

/// Whether the upper half of a 64-bit value is zero.
fn fits(value: Value) -> bool {
    fits_within(value, &mut BTreeSet::new(), MOST_STEPS)
}

fn fits_within(value: Value, seen: &mut BTreeSet<Value>, steps: u32) -> bool {
    if let Some(constant) = llvm::unsigned_constant(value) {
        return u32::try_from(constant).is_ok();
    }
    let Some(instruction) = llvm::is_instruction(value).filter(|_| steps > 0) else {
        return false;
    };
    // A phi fits at every trip if it does at the first, and at the next where it did before.
    if !seen.insert(value) {
        return true;
    }
    // Where one part is enough it is a constant: that a value was seen says nothing of one that did not fit.
    let is_mask = |index| {
        let constant = llvm::unsigned_constant(llvm::operand(instruction, index));
        constant.is_some_and(|mask| u32::try_from(mask).is_ok())
    };
    let mut part = |index| fits_within(llvm::operand(instruction, index), seen, steps - 1);
    match llvm::opcode(instruction) {
        opcode::ZEXT => llvm::integer_width(llvm::type_of(llvm::operand(instruction, 0))) <= 32,
        opcode::AND => is_mask(1) || (part(0) && part(1)),
        opcode::LSHR | opcode::UDIV | opcode::UREM => part(0),
        opcode::SUB => llvm::no_unsigned_wrap(instruction) != 0 && part(0),
        opcode::SELECT => part(1) && part(2),
        _ => {
            llvm::is_phi(instruction).is_some()
                && (0..llvm::operand_count(instruction) as u32).all(part)
        }
    }
}

/// The lower half of a value that fits.
fn shortened(builder: Builder, short: Type, value: Value) -> Value {
    if let Some(constant) = llvm::unsigned_constant(value) {
        return llvm::const_int(short, constant, 0);
    }
    let is_difference =
        llvm::is_instruction(value).filter(|&instruction| llvm::opcode(instruction) == opcode::SUB);
    match is_difference {
        Some(difference) => {
            let [left, right] = [0, 1].map(|index| {
                llvm::cast(
                    builder,
                    opcode::TRUNC,
                    llvm::operand(difference, index),
                    short,
                )
            });
            llvm::sub(builder, left, right)
        }
        None => llvm::cast(builder, opcode::TRUNC, value, short),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    /// The widths in which a function that computes `body` compares, in order.
    fn widths(body: &str) -> Vec<u32> {
        let (context, module) = parse(&format!(
            "define i1 @f(i32 %n, i32 %m, i64 %wide, i1 %c) {{
            entry:
                %a = zext i32 %n to i64
                %b = zext i32 %m to i64
                {body}
                ret i1 %r
            }}"
        ));
        shorten(context, module);
        crate::optimise::verify(module).unwrap();
        let function = llvm::function(module, "f").unwrap();
        let comparisons = llvm::instructions(function)
            .into_iter()
            .filter_map(llvm::is_comparison);
        comparisons
            .map(|comparison| llvm::integer_width(llvm::type_of(llvm::operand(comparison, 0))))
            .collect()
    }

    /// A loop of a number that begins with 32 bits, and goes on by what `operation` makes of it and another.
    fn counted(operation: &str) -> String {
        format!(
            "br label %loop
            loop:
                %k = phi i64 [ %a, %entry ], [ %next, %loop ]
                %next = {operation} nuw i64 %k, %b
                %r = icmp ult i64 %next, %b
                br i1 %r, label %loop, label %done
            done:"
        )
    }

    #[test]
    fn what_is_left_of_32_bits_is_compared_in_32() {
        let left = "%left = sub nuw i64 %a, %wide
                    %r = icmp ugt i64 %left, 16";
        assert_eq!(widths(left), [32]);
        assert_eq!(widths(&left.replace("ugt", "sgt")), [32]);
        assert_eq!(widths(&counted("sub")), [32]);
    }

    #[test]
    fn what_may_have_wrapped_is_compared_in_64() {
        assert_eq!(
            widths("%d = sub i64 %a, %b\n%r = icmp ugt i64 %d, 16"),
            [64]
        );
        assert_eq!(
            widths("%d = sub nuw i64 %wide, %b\n%r = icmp ugt i64 %d, 16"),
            [64]
        );
        assert_eq!(widths(&counted("add")), [64]);
        assert_eq!(
            widths("%d = sub nuw i64 %a, %b\n%r = icmp ugt i64 %d, 4294967296"),
            [64]
        );
        let twice = "%s = select i1 %c, i64 %wide, i64 5
            %w = sub nuw i64 %wide, %a
            %t = select i1 %c, i64 %w, i64 7
            %d = and i64 %w, %t
            %r = icmp ugt i64 %d, %b";
        assert_eq!(widths(twice), [64]);
    }
}
