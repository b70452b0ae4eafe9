//! Indices of 32 bits that do not wrap, in the width of addresses.
//!
//! `a[(row * n + k) as usize]` adds and multiplies in 32 bits and then extends. Where that does not wrap, as in the fast copy
//! of a loop, the extended operands give the same in 64 bits; and of those LLVM sees that the address goes on by the same
//! number of bytes at each trip, so that it is added to instead of computed anew. Only what counts with the loop is
//! widened: other arithmetic of 64 bits is twice the instructions.

use crate::llvm::{self, Block, Builder, Module, Type, Value, opcode};

use super::cfg::{Cfg, Loop};
use super::induction::{self, Step};

/// The width of an address.
const WIDE: u32 = 64;
/// How deep an expression is followed.
const MOST_STEPS: u32 = 8;

/// Widens the indices of a module whose loops are in simple form.
pub fn widen(builder: Builder, module: Module) {
    let does_not_wrap = |instruction| llvm::no_unsigned_wrap(instruction) != 0;
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        let cfg = Cfg::of(function);
        for around in cfg.loops() {
            for extension in around.blocks().flat_map(extensions).collect::<Vec<_>>() {
                let index = Index {
                    around,
                    does_not_wrap: &does_not_wrap,
                };
                let narrow = llvm::operand(extension, 0);
                if index.is_counted(narrow) {
                    llvm::position_before(builder, extension);
                    let wide = index.widened(builder, narrow, llvm::type_of(extension), MOST_STEPS);
                    llvm::replace_instruction(extension, wide);
                }
            }
        }
    }
}

/// The extensions of a block to the width of an address.
fn extensions(block: Block) -> Vec<Value> {
    let is_extension = |&instruction: &Value| {
        llvm::opcode(instruction) == opcode::ZEXT
            && llvm::is_narrow_integer(instruction)
            && llvm::integer_width(llvm::type_of(instruction)) == WIDE
    };
    let instructions = llvm::block_instructions(block).into_iter();
    instructions.filter(is_extension).collect()
}

/// Whether some of the sums and products of a loop become wide if none of them wraps.
pub fn become_wide(around: &Loop, exact: &[Value]) -> bool {
    let index = Index {
        around,
        does_not_wrap: &|instruction| exact.contains(&instruction),
    };
    let is_extended = |instruction: &Value| {
        let mut users = llvm::users(*instruction).into_iter();
        users.any(|user| llvm::opcode(user) == opcode::ZEXT)
    };
    let mut extended = exact.iter().filter(|instruction| is_extended(instruction));
    extended.any(|&instruction| index.is_counted(instruction))
}

/// What is known of the indices of a loop.
struct Index<'a> {
    around: &'a Loop,
    does_not_wrap: &'a dyn Fn(Value) -> bool,
}

impl Index<'_> {
    /// Both operands of a sum or product that is computed in the loop and does not wrap.
    fn parts(&self, value: Value) -> Option<[Value; 2]> {
        let instruction = llvm::is_instruction(value)?;
        let code = llvm::opcode(instruction);
        let is_exact = matches!(code, opcode::ADD | opcode::MUL | opcode::SHL)
            && (self.does_not_wrap)(instruction);
        (is_exact && !self.around.is_invariant(instruction))
            .then(|| [0, 1].map(|index| llvm::operand(instruction, index)))
    }

    /// Whether a sum or product is computed from a counter of the loop, and otherwise from what is there before it.
    fn is_counted(&self, value: Value) -> bool {
        self.parts(value).is_some() && self.counts(value, MOST_STEPS)
    }

    fn counts(&self, value: Value, steps: u32) -> bool {
        if let Some([left, right]) = self.parts(value).filter(|_| steps > 0) {
            let counts = |part| self.counts(part, steps - 1);
            let is_fixed = |part| self.around.is_invariant(part);
            return match (is_fixed(left), is_fixed(right)) {
                (true, true) => false,
                (true, false) => counts(right),
                (false, true) => counts(left),
                (false, false) => counts(left) && counts(right),
            };
        }
        let phi = llvm::is_instruction(value).and_then(llvm::is_phi);
        phi.is_some_and(|phi| {
            llvm::instruction_block(phi) == self.around.header
                && matches!(induction::step(self.around, phi), Some(Step::Up(_)))
        })
    }

    fn widened(&self, builder: Builder, narrow: Value, to: Type, steps: u32) -> Value {
        let Some(parts) = self.parts(narrow).filter(|_| steps > 0) else {
            return llvm::zero_extend(builder, narrow, to);
        };
        let [left, right] = parts.map(|part| self.widened(builder, part, to, steps - 1));
        let wide = llvm::binary(builder, llvm::opcode(narrow), left, right);
        if llvm::is_instruction(wide).is_some() {
            llvm::set_no_unsigned_wrap(wide, 1);
        }
        wide
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    /// The opcodes of the sums and products of 64 bits in a loop, whose index of 32 bits is computed by `index` from `%k`,
    /// which goes on by `step`, and from `%n` and `%c`.
    fn widened(index: &str, step: &str) -> Vec<i32> {
        let (context, module) = parse(&format!(
            "define void @f(ptr %p, i32 %n, i32 %c) {{
            entry:
                br label %loop
            loop:
                %k = phi i32 [ %n, %entry ], [ %next, %loop ]
                {index}
                %wide = zext i32 %index to i64
                store volatile i64 %wide, ptr %p
                %next = {step}
                %done = icmp eq i32 %next, 0
                br i1 %done, label %exit, label %loop
            exit:
                ret void
            }}"
        ));
        widen(llvm::create_builder(context), module);
        crate::optimise::verify(module).unwrap();
        let function = llvm::function(module, "f").unwrap();
        let is_wide = |&instruction: &Value| {
            let code = llvm::opcode(instruction);
            matches!(code, opcode::ADD | opcode::MUL | opcode::SHL)
                && llvm::integer_width(llvm::type_of(instruction)) == WIDE
        };
        let instructions = llvm::instructions(function).into_iter();
        let wide = instructions.filter(is_wide).inspect(|&instruction| {
            assert_ne!(llvm::no_unsigned_wrap(instruction), 0);
        });
        wide.map(llvm::opcode).collect()
    }

    const UP: &str = "add i32 %k, 1";

    #[test]
    fn an_index_that_counts_and_does_not_wrap_becomes_wide() {
        let index = "%far = mul nuw i32 %k, %n
                     %index = add nuw i32 %far, %c";
        assert_eq!(widened(index, UP), [opcode::MUL, opcode::ADD]);
        assert_eq!(widened("%index = shl nuw i32 %k, 3", UP), [opcode::SHL]);
    }

    #[test]
    fn what_may_wrap_stays() {
        let index = "%far = mul i32 %k, %n
                     %index = add nuw i32 %far, %c";
        assert_eq!(widened(index, UP), []);
        assert_eq!(widened("%index = add i32 %k, %c", UP), []);
    }

    #[test]
    fn what_does_not_count_stays() {
        assert_eq!(widened("%index = add nuw i32 %k, %c", "lshr i32 %k, 1"), []);
        let loaded = "%x = load volatile i32, ptr %p
                      %index = add nuw i32 %k, %x";
        assert_eq!(widened(loaded, UP), []);
        assert_eq!(widened("%index = add nuw i32 %n, %c", UP), []);
    }
}
