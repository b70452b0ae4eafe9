//! The bounds checks of a loop whose index grows with the counter, and a condition before the loop that implies them.
//!
//! An index is followed through additions, multiplications and shifts by what does not change in the loop, and zero
//! extensions. Unsigned and without wrapping, each of these grows when its operand grows. So the same arithmetic on the
//! counter's last value, with every step checked for wrapping, gives the largest index; a subtraction is checked at
//! the first value too.

use crate::llvm::{self, Block, Builder, Context, Module, Type, Value, opcode, predicate};

use super::cfg::{Cfg, Loop, successors};
use super::induction::Counter;

/// `if !(index < length) { panic }`
pub struct Check {
    branch: Value,
    index: Value,
    length: Value,
    /// Whether the branch's condition is true where the check fails.
    true_is_panic: bool,
}

/// The checks of a loop that a precondition can imply.
pub fn checks(cfg: &Cfg, a_loop: &Loop, counter: &Counter) -> Vec<Check> {
    let blocks = a_loop
        .blocks()
        .filter(|&block| cfg.dominates(counter.from, block));
    let checks = blocks.filter_map(check_in);
    checks
        .filter(|check| a_loop.is_invariant(check.length) && grows(a_loop, counter, check.index))
        .collect()
}

fn check_in(block: Block) -> Option<Check> {
    let branch = llvm::conditional_branch(block)?;
    let comparison = llvm::is_comparison(llvm::condition(branch))?;
    let [on_true, on_false] = <[Block; 2]>::try_from(successors(block)).ok()?;
    let true_is_panic = match (never_returns(on_true), never_returns(on_false)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let passes = llvm::comparison_predicate(comparison);
    let passes = if true_is_panic {
        predicate::inverse(passes)?
    } else {
        passes
    };
    let [left, right] = [0, 1].map(|index| llvm::operand(comparison, index));
    let (index, length) = match passes {
        predicate::ULT => (left, right),
        predicate::UGT => (right, left),
        _ => return None,
    };
    Some(Check {
        branch,
        index,
        length,
        true_is_panic,
    })
}

fn never_returns(block: Block) -> bool {
    llvm::terminator(block)
        .is_some_and(|terminator| llvm::opcode(terminator) == opcode::UNREACHABLE)
}

/// Whether `value` depends on the counter, and only in ways that grow with it.
fn grows(a_loop: &Loop, counter: &Counter, value: Value) -> bool {
    if value == counter.value {
        return true;
    }
    if a_loop.is_invariant(value) {
        return false;
    }
    let [left, right] = match llvm::opcode(value) {
        opcode::ZEXT => return grows(a_loop, counter, llvm::operand(value, 0)),
        opcode::ADD | opcode::MUL | opcode::SHL | opcode::SUB => {
            [0, 1].map(|index| llvm::operand(value, index))
        }
        opcode::OR if llvm::is_disjoint(value) != 0 => {
            [0, 1].map(|index| llvm::operand(value, index))
        }
        _ => return false,
    };
    let (left_grows, right_grows) = (grows(a_loop, counter, left), grows(a_loop, counter, right));
    let fixed = |value| a_loop.is_invariant(value);
    match llvm::opcode(value) {
        opcode::ADD | opcode::OR => (left_grows || fixed(left)) && (right_grows || fixed(right)),
        opcode::MUL => (left_grows && fixed(right)) || (fixed(left) && right_grows),
        opcode::SHL => left_grows && llvm::is_constant_int(right).is_some(),
        _ => left_grows && fixed(right),
    }
}

impl Check {
    /// Lets the check pass where `holds` is true, which implies it.
    pub fn skip_if(&self, context: Context, holds: Value) {
        let builder = llvm::create_builder(context);
        llvm::position_before(builder, self.branch);
        let condition = llvm::condition(self.branch);
        let condition = if self.true_is_panic {
            llvm::and(builder, llvm::not(builder, holds), condition)
        } else {
            llvm::or(builder, holds, condition)
        };
        llvm::set_condition(self.branch, condition);
    }
}

/// Builds the condition at the end of the preheader.
pub struct Precondition<'a> {
    module: Module,
    builder: Builder,
    a_loop: &'a Loop,
    counter: &'a Counter,
    /// What must all be true.
    conditions: Vec<Value>,
}

impl<'a> Precondition<'a> {
    /// An empty condition for a loop.
    pub fn new(context: Context, module: Module, a_loop: &'a Loop, counter: &'a Counter) -> Self {
        let builder = llvm::create_builder(context);
        if let Some(terminator) = llvm::terminator(a_loop.preheader) {
            llvm::position_before(builder, terminator);
        }
        Precondition {
            module,
            builder,
            a_loop,
            counter,
            conditions: Vec::new(),
        }
    }

    /// A value that is true only if all `checks` pass at every trip.
    pub fn of(mut self, checks: &[Check]) -> Value {
        let Counter { start, bound, .. } = *self.counter;
        self.conditions
            .push(llvm::compare(self.builder, predicate::ULT, start, bound));
        let one = llvm::const_int(llvm::type_of(bound), 1, 0);
        let last = llvm::sub(self.builder, bound, one);
        for check in checks {
            let largest = self.at(check.index, last);
            self.conditions.push(llvm::compare(
                self.builder,
                predicate::ULT,
                largest,
                check.length,
            ));
            if subtracts(self.a_loop, check.index) {
                self.at(check.index, start);
            }
        }
        let builder = self.builder;
        let all = self
            .conditions
            .into_iter()
            .reduce(|all, condition| llvm::and(builder, all, condition));
        // A length that is undefined must not make both copies of the loop run.
        llvm::freeze(builder, all.unwrap_or(start))
    }

    /// `value` where the counter is `counter`, with each step that must not wrap noted as a condition.
    fn at(&mut self, value: Value, counter: Value) -> Value {
        if value == self.counter.value {
            return counter;
        }
        if self.a_loop.is_invariant(value) {
            return value;
        }
        let of = llvm::type_of(value);
        let left = self.at(llvm::operand(value, 0), counter);
        if llvm::opcode(value) == opcode::ZEXT {
            return llvm::zero_extend(self.builder, left, of);
        }
        let right = self.at(llvm::operand(value, 1), counter);
        match llvm::opcode(value) {
            opcode::ADD | opcode::OR => self.add(of, left, right),
            opcode::SUB => self.checked("llvm.usub.with.overflow", of, left, right),
            opcode::SHL => {
                let factor = llvm::shift_left(self.builder, llvm::const_int(of, 1, 0), right);
                self.checked("llvm.umul.with.overflow", of, left, factor)
            }
            _ => self.checked("llvm.umul.with.overflow", of, left, right),
        }
    }

    /// An addition of a negative constant is a subtraction.
    fn add(&mut self, of: Type, left: Value, right: Value) -> Value {
        match negated_constant(right) {
            Some(amount) => self.checked(
                "llvm.usub.with.overflow",
                of,
                left,
                llvm::const_int(of, amount, 0),
            ),
            None => self.checked("llvm.uadd.with.overflow", of, left, right),
        }
    }

    fn checked(&mut self, operation: &str, of: Type, left: Value, right: Value) -> Value {
        let (result, overflows) =
            llvm::with_overflow(self.module, self.builder, operation, of, left, right);
        self.conditions.push(llvm::not(self.builder, overflows));
        result
    }
}

/// `c` if the value is the constant `-c`.
fn negated_constant(value: Value) -> Option<u64> {
    let signed = llvm::sign_extended(llvm::is_constant_int(value)?);
    (signed < 0).then_some(signed.unsigned_abs())
}

/// Whether the value's arithmetic can fall below zero.
fn subtracts(a_loop: &Loop, value: Value) -> bool {
    if a_loop.is_invariant(value) || llvm::is_phi(value).is_some() {
        return false;
    }
    let negative = || {
        llvm::opcode(value) == opcode::ADD && negated_constant(llvm::operand(value, 1)).is_some()
    };
    llvm::opcode(value) == opcode::SUB
        || negative()
        || llvm::operands(value).any(|operand| subtracts(a_loop, operand))
}
