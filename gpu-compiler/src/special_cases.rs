//! The special cases of divisions and square roots, asked for once a block.
//!
//! A correctly rounded division or square root of `f32` is a handful of instructions for most numbers, and a call for the
//! rest: zeros, infinities, the very large and the very small. The driver's compiler branches around that call each time,
//! and moves no instruction over the branch, so that each step of a loop waits for the one before. So where a block of a loop
//! has several of them, it computes all as for most numbers, and asks once whether all were such; if not, what depends on
//! them is computed again, by the operations as they were:
//!
//! ```text
//! q = a / b               q, q_usual = quotient(a, b)
//! s = sqrt(q + c)         s, s_usual = root(q + c)
//!                    =>   if !(q_usual && s_usual) { q = a / b; s = sqrt(q + c) }
//! ```
//!
//! The sequences are those that the driver's compiler makes for all of its architectures, for a part of the numbers that it
//! makes them for; the result is the same to the last bit. They are written last, since nothing would bring the block
//! together again.

use std::collections::{BTreeMap, BTreeSet};

use crate::llvm::{
    self, ALLOW_CONTRACT, Block, Builder, Context, Module, Value, kind, opcode, predicate,
};
use crate::loop_checks::cfg::{Cfg, successors};
use crate::speculation::is_arithmetic;

/// The most operations of a block: each makes it longer.
const MOST_OPERATIONS: usize = 16;
const SQUARE_ROOT: &str = "llvm.sqrt.f32";

/// Brings the special cases of a module's loops together.
pub fn ask_once(context: Context, module: Module) {
    let sequences = Sequences {
        context,
        module,
        builder: llvm::create_builder(context),
    };
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        let cfg = Cfg::of(function);
        let cycles = cfg.cycles();
        let repeats = |block: &Block| cycles.iter().any(|cycle| cycle.contains(block));
        for steps in cfg.blocks().filter(repeats).filter_map(Steps::of) {
            steps.ask_once(&sequences, function);
        }
    }
}

/// A block's divisions and square roots, and what depends on them.
struct Steps {
    block: Block,
    operations: Vec<Value>,
    /// Those and what depends on them.
    dependent: BTreeSet<Value>,
    /// Those and what is computed again with them, in order.
    again: Vec<Value>,
    /// The first instruction that the steps end before.
    end: Value,
}

impl Steps {
    /// The steps of a block with several operations.
    fn of(block: Block) -> Option<Self> {
        let mut end = llvm::terminator(block)?;
        let (mut operations, mut dependent) = (Vec::new(), BTreeSet::new());
        let instructions = llvm::block_instructions(block);
        for &instruction in &instructions {
            let depends = llvm::operands(instruction).any(|operand| dependent.contains(&operand));
            if is_operation(instruction) {
                operations.push(instruction);
            } else if !depends || llvm::is_phi(instruction).is_some() {
                continue;
            } else if !is_arithmetic(instruction) {
                end = instruction;
                break;
            }
            dependent.insert(instruction);
        }
        if !(2..=MOST_OPERATIONS).contains(&operations.len()) {
            return None;
        }
        // A product is rounded with the sum that it is fused with, in both copies.
        let sums = dependent.iter().copied().filter(|&sum| is_sum(sum));
        let products: Vec<Value> = sums
            .flat_map(llvm::operands)
            .filter(|&product| is_product_in(product, block))
            .collect();
        let is_again = |step: &Value| dependent.contains(step) || products.contains(step);
        Some(Steps {
            again: instructions.into_iter().filter(is_again).collect(),
            block,
            operations,
            dependent,
            end,
        })
    }

    fn ask_once(&self, sequences: &Sequences, function: Value) {
        let Sequences {
            context, builder, ..
        } = *sequences;
        let [again, rest] = [(); 2].map(|()| llvm::append(context, function));
        let copies = self.copy_to(builder, again);
        llvm::position_at_end(builder, again);
        llvm::build_branch(builder, rest);
        let behind = llvm::block_instructions(self.block).into_iter();
        let behind: Vec<Value> = behind.skip_while(|&i| i != self.end).collect();
        llvm::position_at_end(builder, rest);
        for instruction in behind {
            llvm::remove_from_block(instruction);
            llvm::insert(builder, instruction);
        }
        let mut usual = Vec::new();
        for &step in &self.again {
            let mut value = step;
            if self.operations.contains(&step) {
                llvm::position_before(builder, step);
                let (sequence, is_usual) = sequences.of(step);
                usual.push(is_usual);
                llvm::replace_instruction(step, sequence);
                value = sequence;
            }
            if self.dependent.contains(&step) {
                self.join(builder, value, copies[&step], [again, rest]);
            }
        }
        llvm::position_at_end(builder, self.block);
        let all = usual
            .into_iter()
            .reduce(|all, one| llvm::and(builder, all, one));
        llvm::conditional(builder, all.expect("there are several"), rest, again);
        for successor in successors(rest) {
            llvm::replace_edges(builder, successor, self.block, rest);
        }
    }

    /// Copies the steps as they are to `again`.
    fn copy_to(&self, builder: Builder, again: Block) -> BTreeMap<Value, Value> {
        let mut copies: BTreeMap<Value, Value> = BTreeMap::new();
        llvm::position_at_end(builder, again);
        for &instruction in &self.again {
            let copy = llvm::clone_instruction(instruction);
            llvm::insert(builder, copy);
            for index in 0..llvm::operand_count(copy) as u32 {
                if let Some(&operand) = copies.get(&llvm::operand(copy, index)) {
                    llvm::set_operand(copy, index, operand);
                }
            }
            copies.insert(instruction, copy);
        }
        copies
    }

    /// Lets what comes after the block take a value from where it was computed.
    fn join(&self, builder: Builder, value: Value, copy: Value, [again, rest]: [Block; 2]) {
        let is_after = |&user: &Value| {
            llvm::is_phi(user).is_some() || llvm::instruction_block(user) != self.block
        };
        let users: Vec<Value> = llvm::users(value).into_iter().filter(is_after).collect();
        if users.is_empty() {
            return;
        }
        llvm::position_before(
            builder,
            llvm::first_instruction(rest).expect("a block ends"),
        );
        let joined = llvm::phi(builder, llvm::type_of(value));
        for user in users {
            for index in 0..llvm::operand_count(user) as u32 {
                if llvm::operand(user, index) == value {
                    llvm::set_operand(user, index, joined);
                }
            }
        }
        llvm::add_incoming_edge(joined, value, self.block);
        llvm::add_incoming_edge(joined, copy, again);
    }
}

fn is_operation(instruction: Value) -> bool {
    let is_float = llvm::type_kind(llvm::type_of(instruction)) == kind::FLOAT;
    // Approximate ones have no special cases. `1 / x` is an instruction of its own.
    is_float
        && (is_square_root(instruction)
            || llvm::opcode(instruction) == opcode::FDIV
                && llvm::is_constant(llvm::operand(instruction, 0)).is_none())
        && llvm::fast_math_flags(instruction) & !ALLOW_CONTRACT == 0
}

fn is_square_root(instruction: Value) -> bool {
    let callee = llvm::is_call(instruction).map(llvm::called_value);
    callee.is_some_and(|callee| llvm::name(callee) == SQUARE_ROOT)
}

fn is_sum(instruction: Value) -> bool {
    [opcode::FADD, opcode::FSUB].contains(&llvm::opcode(instruction))
}

fn is_product_in(value: Value, block: Block) -> bool {
    llvm::is_instruction(value).is_some_and(|product| {
        llvm::opcode(product) == opcode::FMUL && llvm::instruction_block(product) == block
    })
}

/// What most numbers take.
struct Sequences {
    context: Context,
    module: Module,
    builder: Builder,
}

impl Sequences {
    /// The value of an operation, and whether its numbers are usual.
    fn of(&self, operation: Value) -> (Value, Value) {
        let [a, b] = [0, 1].map(|index| llvm::operand(operation, index));
        if is_square_root(operation) {
            (self.square_root(a), self.is_usual_root(a))
        } else {
            let usual = [a, b].map(|number| self.is_usual_quotient(number));
            let [of_a, of_b] = usual;
            (self.quotient(a, b), llvm::and(self.builder, of_a, of_b))
        }
    }

    fn square_root(&self, x: Value) -> Value {
        let inverse = self.call("llvm.nvvm.rsqrt.approx.ftz.f", &[x]);
        let root = self.product(x, inverse);
        let half = self.product(inverse, self.number(0.5));
        let error = self.fused(llvm::negated(self.builder, root), root, x);
        self.fused(error, half, root)
    }

    fn quotient(&self, a: Value, b: Value) -> Value {
        let minus_b = llvm::negated(self.builder, b);
        let inverse = self.call("llvm.nvvm.rcp.approx.ftz.f", &[b]);
        let error = self.fused(inverse, minus_b, self.number(1.0));
        let inverse = self.fused(inverse, error, inverse);
        let quotient = self.product(a, inverse);
        let rest = self.fused(quotient, minus_b, a);
        self.fused(inverse, rest, quotient)
    }

    /// From 2^-101 to the largest: what the driver's compiler asks for.
    fn is_usual_root(&self, x: Value) -> Value {
        let bits = llvm::i32_type(self.context);
        let x = llvm::cast(self.builder, opcode::BIT_CAST, x, bits);
        let smallest = llvm::const_int(bits, 0x0d00_0000, 0);
        let extent = llvm::const_int(bits, 0x727f_ffff, 0);
        let above = llvm::sub(self.builder, x, smallest);
        llvm::compare(self.builder, predicate::ULE, above, extent)
    }

    /// Between 2^-60 and 2^60 in magnitude: no step leaves the normal numbers, and no rest loses a bit.
    fn is_usual_quotient(&self, number: Value) -> Value {
        let magnitude = self.call("llvm.fabs.f32", &[number]);
        let [smallest, largest] = [-60, 60].map(|exponent| self.number(2f64.powi(exponent)));
        let is_large = llvm::compare_floats(self.builder, predicate::OGT, magnitude, smallest);
        let is_small = llvm::compare_floats(self.builder, predicate::OLT, magnitude, largest);
        llvm::and(self.builder, is_large, is_small)
    }

    fn number(&self, value: f64) -> Value {
        llvm::const_real(llvm::float_type(self.context), value)
    }

    fn product(&self, a: Value, b: Value) -> Value {
        llvm::binary(self.builder, opcode::FMUL, a, b)
    }

    fn fused(&self, a: Value, b: Value, c: Value) -> Value {
        self.call("llvm.fma.f32", &[a, b, c])
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Value {
        let float = llvm::float_type(self.context);
        let of = llvm::signature(float, &vec![float; arguments.len()]);
        let function = llvm::declare(self.module, name, of);
        llvm::call(self.builder, of, function, arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    /// How many divisions and square roots each block of a loop has that begins with `body`, those without left out.
    fn operations(body: &str) -> Vec<usize> {
        let (context, module) = parse(&format!(
            "declare float @llvm.sqrt.f32(float)
            declare void @see(float)
            define float @f(float %a, float %b, i64 %n, ptr %p) {{
            entry:
                br label %loop
            loop:
                %k = phi i64 [ 0, %entry ], [ %next, %loop ]
                %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
                {body}
                %more = fadd contract float %sum, %y
                %next = add i64 %k, 1
                %again = icmp ult i64 %next, %n
                br i1 %again, label %loop, label %exit
            exit:
                ret float %more
            }}"
        ));
        ask_once(context, module);
        crate::optimise::verify(module).unwrap();
        let blocks = llvm::blocks(llvm::function(module, "f").unwrap()).into_iter();
        let count = |block| {
            let instructions = llvm::block_instructions(block).into_iter();
            instructions.filter(|&i| is_operation(i)).count()
        };
        blocks.map(count).filter(|&count| count > 0).collect()
    }

    #[test]
    fn several_in_a_loop_are_computed_again_together() {
        let both = "%x = call float @llvm.sqrt.f32(float %sum)
            %y = fdiv float %a, %x";
        assert_eq!(operations(both), [2]);
    }

    /// After a call the program may have seen what would be computed again.
    #[test]
    fn what_was_seen_is_not_computed_again() {
        let seen = "%x = fdiv float %sum, %a
            %z = fdiv float %x, %b
            call void @see(float %z)
            %y = fdiv float %z, %b";
        assert_eq!(operations(seen), [2, 1]);
    }

    #[test]
    fn one_alone_and_approximate_ones_are_left() {
        assert_eq!(operations("%y = fdiv float %sum, %b"), [1]);
        let approximate = "%x = fdiv afn float %sum, %a
            %y = fdiv afn float %x, %b";
        assert_eq!(operations(approximate), Vec::<usize>::new());
    }

    /// Numbers whose magnitudes are between 2^-60 and 2^60.
    fn usual(seed: &mut u64) -> f32 {
        *seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let random = (*seed >> 32) as u32;
        f32::from_bits(random & 0x807f_ffff | (67 + (random >> 23) % 120) << 23)
    }

    fn off_by(number: f32, units: i32) -> f32 {
        f32::from_bits(number.to_bits().wrapping_add_signed(units))
    }

    /// The device's inverse is off by one unit in the last place at most (PTX ISA, `rcp.approx.ftz.f32`).
    #[test]
    fn the_sequence_of_a_quotient_rounds_right() {
        let mut seed = 1;
        for _ in 0..300_000 {
            let (a, b) = (usual(&mut seed), usual(&mut seed));
            for units in [-1, 0, 1] {
                let inverse = off_by(1.0 / b, units);
                let inverse = inverse.mul_add(inverse.mul_add(-b, 1.0), inverse);
                let quotient = a * inverse;
                let rounded = inverse.mul_add(quotient.mul_add(-b, a), quotient);
                assert_eq!(rounded, a / b, "{a} / {b}");
            }
        }
    }

    #[test]
    fn the_sequence_of_a_root_rounds_right() {
        let mut seed = 2;
        for _ in 0..300_000 {
            let x = usual(&mut seed).abs();
            for units in [-1, 0, 1] {
                let inverse = off_by((1.0 / f64::from(x).sqrt()) as f32, units);
                let root = x * inverse;
                let rounded = (-root).mul_add(root, x).mul_add(inverse * 0.5, root);
                assert_eq!(rounded, x.sqrt(), "{x}");
            }
        }
    }
}
