//! Bounds of a value over all trips of a loop, as values that are computed once, before the loop.
//!
//! Everything is unsigned. An expression's operands are bounded first, and the same operation on their bounds gives the
//! expression's, with a condition wherever that operation could wrap: the bounds hold if all conditions are true. What
//! a guard on the way to the block says (`if t < stride`) counts too.
//!
//! For a loop that holds a barrier the bounds are the same in all threads of the block: a thread's own index stands
//! for every index that the block has. So all threads of a block choose the same copy of the loop.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::llvm::{self, Block, Builder, Module, Type, Value, opcode, predicate};

use super::cfg::{Cfg, Loop};
use super::checks::Check;
use super::guards::{Guard, guards};
use super::induction::{self, Latch, Trips};
use super::multiples;
use super::uniform;

/// How deep an expression is followed.
const MOST_STEPS: u32 = 24;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Lower,
    Upper,
}

/// What one attempt has found, which is dropped when the attempt fails.
#[derive(Clone, Default)]
struct Found {
    /// What must all be true.
    conditions: Vec<Value>,
    known: BTreeMap<(Value, Block, Side), Option<Value>>,
    /// The instructions of the loop that do not wrap if the conditions are true.
    exact: Vec<Value>,
}

/// The bounds over one loop.
pub struct Bounds<'a> {
    module: Module,
    builder: Builder,
    cfg: &'a Cfg,
    a_loop: &'a Loop,
    /// Whether all threads of a block must find the same.
    uniform: bool,
    found: Found,
    open: BTreeSet<(Value, Side)>,
}

impl<'a> Bounds<'a> {
    /// Bounds that `builder` computes, at the end of the loop's preheader.
    pub fn new(module: Module, builder: Builder, cfg: &'a Cfg, a_loop: &'a Loop) -> Self {
        Bounds {
            module,
            builder,
            cfg,
            a_loop,
            uniform: !a_loop.convergent_calls().is_empty(),
            found: Found::default(),
            open: BTreeSet::new(),
        }
    }

    /// A condition that implies the check at every trip; `None` if there is none that can be true.
    pub fn implies(&mut self, check: &Check) -> Option<Value> {
        let before = self.found.clone();
        let condition = self.less(check);
        let noted = &self.found.conditions[before.conditions.len()..];
        if condition.is_none() || noted.iter().chain(&condition).any(|&c| is_never(c)) {
            self.found = before;
            return None;
        }
        condition
    }

    fn less(&mut self, check: &Check) -> Option<Value> {
        let largest = self.upper(check.low, check.block)?;
        let smallest = self.lower(check.high, check.block);
        let less = if check.or_equal {
            predicate::ULE
        } else {
            predicate::ULT
        };
        Some(llvm::compare(self.builder, less, largest, smallest))
    }

    /// The conditions of all bounds that were found.
    pub fn conditions(&self) -> &[Value] {
        &self.found.conditions
    }

    /// The sums and products of the loop that do not wrap if all conditions are true.
    pub fn exact(&self) -> &[Value] {
        &self.found.exact
    }

    /// A value that `value` is never above at `block`.
    fn upper(&mut self, value: Value, block: Block) -> Option<Value> {
        if self.is_fixed(value) {
            return Some(value);
        }
        if !llvm::is_narrow_integer(value) {
            return None;
        }
        self.once(value, block, Side::Upper, |this| {
            let own = this.upper_of_definition(value, block);
            // What a check says is in the condition already, where the value's own bound is compared with the same.
            let guarded = this.upper_of_guards(value, block, own.is_none());
            match (own, guarded) {
                (Some(a), Some(b)) => Some(this.minimum(a, b)),
                (a, b) => a.or(b),
            }
        })
    }

    /// A value that `value` is never below at `block`.
    fn lower(&mut self, value: Value, block: Block) -> Value {
        if self.is_fixed(value) {
            return value;
        }
        if !llvm::is_narrow_integer(value) {
            return constant(llvm::type_of(value), 0);
        }
        let found = self.once(value, block, Side::Lower, |this| {
            this.lower_of_guards(value, block)
                .or_else(|| this.lower_of_definition(value, block))
        });
        found.unwrap_or_else(|| constant(llvm::type_of(value), 0))
    }

    /// Computes a bound once; `None` while it is being computed.
    fn once(
        &mut self,
        value: Value,
        block: Block,
        side: Side,
        compute: impl FnOnce(&mut Self) -> Option<Value>,
    ) -> Option<Value> {
        if let Some(&known) = self.found.known.get(&(value, block, side)) {
            return known;
        }
        if self.open.len() as u32 >= MOST_STEPS || !self.open.insert((value, side)) {
            return None;
        }
        let bound = compute(self);
        self.open.remove(&(value, side));
        self.found.known.insert((value, block, side), bound);
        bound
    }

    /// Whether the value is there before the loop, and for a uniform bound the same in all threads of the block.
    fn is_fixed(&self, value: Value) -> bool {
        self.a_loop.is_invariant(value) && (!self.uniform || uniform::is_uniform(value))
    }

    /// Of the guards, and of checks if they count too.
    fn upper_of_guards(&mut self, value: Value, block: Block, with_checks: bool) -> Option<Value> {
        let guards = guards(self.cfg, block);
        let mut guards = guards
            .into_iter()
            .filter(|guard| guard.low == value && (with_checks || !guard.is_check));
        guards.find_map(|Guard { high, or_equal, .. }| {
            let high = self.upper(high, block)?;
            let high = if or_equal { high } else { self.one_less(high) };
            Some(self.multiple(high, multiples::zero_bits(self.cfg, value)))
        })
    }

    /// The largest value not above `high` whose lowest bits are zero.
    fn multiple(&self, high: Value, zero_bits: u32) -> Value {
        if zero_bits == 0 {
            return high;
        }
        let width = llvm::integer_width(llvm::type_of(high));
        let mask = u64::MAX >> (64 - width) << zero_bits.min(width - 1);
        let mask = constant(llvm::type_of(high), mask & u64::MAX >> (64 - width));
        llvm::and(self.builder, high, mask)
    }

    fn lower_of_guards(&mut self, value: Value, block: Block) -> Option<Value> {
        let guard = guards(self.cfg, block)
            .into_iter()
            .find(|guard| guard.high == value && self.is_fixed(guard.low))?;
        if guard.or_equal {
            return Some(guard.low);
        }
        let one = constant(llvm::type_of(value), 1);
        Some(self.checked("llvm.uadd.with.overflow", guard.low, one))
    }

    fn upper_of_definition(&mut self, value: Value, block: Block) -> Option<Value> {
        let instruction = llvm::is_instruction(value)?;
        let extent = uniform::extent_of_thread_index(self.module, self.builder, instruction);
        if let Some(extent) = extent {
            return Some(self.one_less(extent));
        }
        if let Some(phi) = llvm::is_phi(instruction) {
            return self.upper_of_phi(phi, block);
        }
        if let Some(operation) = minimum_or_maximum(instruction) {
            return self.upper_of_choice(operation, instruction, block);
        }
        let bound = self.upper_of_operation(instruction, block)?;
        // What holds at the check holds for the instruction if nothing is between them.
        if llvm::instruction_block(instruction) == block && can_wrap(instruction) {
            self.found.exact.push(instruction);
        }
        Some(bound)
    }

    fn upper_of_operation(&mut self, instruction: Value, block: Block) -> Option<Value> {
        let of = llvm::type_of(instruction);
        let operand = |index| llvm::operand(instruction, index);
        match llvm::opcode(instruction) {
            opcode::FREEZE => self.upper(operand(0), block),
            opcode::ICMP => Some(constant(of, 1)),
            opcode::ZEXT => {
                let narrow = self.upper(operand(0), block)?;
                Some(llvm::zero_extend(self.builder, narrow, of))
            }
            opcode::SEXT => self.upper_of_sign_extension(operand(0), of, block),
            opcode::TRUNC => {
                let wide = self.upper(operand(0), block)?;
                Some(self.truncated(wide, of))
            }
            opcode::ADD => self.upper_of_sum(operand(0), operand(1), block),
            opcode::OR if llvm::is_disjoint(instruction) != 0 => {
                self.upper_of_sum(operand(0), operand(1), block)
            }
            opcode::SUB => {
                let (from, less) = (
                    self.upper(operand(0), block)?,
                    self.lower(operand(1), block),
                );
                self.does_not_wrap_below(operand(0), operand(1), block)?;
                Some(llvm::sub(self.builder, from, less))
            }
            opcode::MUL => {
                let (left, right) = (
                    self.upper(operand(0), block)?,
                    self.upper(operand(1), block)?,
                );
                Some(self.checked("llvm.umul.with.overflow", left, right))
            }
            opcode::SHL => {
                let (left, bits) = (
                    self.upper(operand(0), block)?,
                    llvm::is_constant_int(operand(1))?,
                );
                Some(self.shifted_up(left, bits))
            }
            opcode::LSHR | opcode::UDIV => {
                let left = self.upper(operand(0), block)?;
                let by = llvm::is_constant_int(operand(1))?;
                Some(llvm::binary(
                    self.builder,
                    llvm::opcode(instruction),
                    left,
                    by,
                ))
            }
            opcode::UREM => {
                let divisor = self.upper(operand(1), block)?;
                Some(self.one_less(divisor))
            }
            opcode::AND => self.upper_of_mask(operand(0), operand(1), block),
            opcode::SELECT => {
                let (left, right) = (
                    self.upper(operand(1), block)?,
                    self.upper(operand(2), block)?,
                );
                Some(self.maximum(left, right))
            }
            _ => None,
        }
    }

    /// Of `left & right`, below which neither is. A constant that keeps all that an index can have says nothing.
    fn upper_of_mask(&mut self, left: Value, right: Value, block: Block) -> Option<Value> {
        const LARGEST_INDEX: u64 = u32::MAX as u64;
        let says_nothing =
            llvm::unsigned_constant(right).is_some_and(|mask| mask >= LARGEST_INDEX >> 1);
        let [first, second] = if says_nothing {
            [left, right]
        } else {
            [right, left]
        };
        self.upper(first, block)
            .or_else(|| self.upper(second, block))
    }

    fn lower_of_definition(&mut self, value: Value, block: Block) -> Option<Value> {
        let instruction = llvm::is_instruction(value)?;
        if let Some(phi) = llvm::is_phi(instruction) {
            return self.lower_of_phi(phi, block);
        }
        let of = llvm::type_of(value);
        let operand = |index| llvm::operand(instruction, index);
        match llvm::opcode(instruction) {
            opcode::FREEZE => Some(self.lower(operand(0), block)),
            opcode::ZEXT => {
                let narrow = self.lower(operand(0), block);
                Some(llvm::zero_extend(self.builder, narrow, of))
            }
            // If the sum does not wrap, which its upper bound is a condition for.
            opcode::ADD if !is_difference(operand(0), operand(1)) => {
                self.upper(value, block)?;
                let (left, right) = (self.lower(operand(0), block), self.lower(operand(1), block));
                Some(llvm::add(self.builder, left, right))
            }
            _ => None,
        }
    }

    fn upper_of_sum(&mut self, left: Value, right: Value, block: Block) -> Option<Value> {
        if let Some(below) = inverted(left) {
            return self.upper_of_distance(right, below, block);
        }
        if let Some(below) = inverted(right) {
            return self.upper_of_distance(left, below, block);
        }
        let largest = self.upper(left, block)?;
        if let Some(amount) = negated_constant(right) {
            let amount = constant(llvm::type_of(right), amount);
            self.does_not_wrap_below(left, amount, block)?;
            return Some(llvm::sub(self.builder, largest, amount));
        }
        let right = self.upper(right, block)?;
        Some(self.checked("llvm.uadd.with.overflow", largest, right))
    }

    /// Of `high - low - 1`, which LLVM writes as `high + !low`.
    fn upper_of_distance(&mut self, high: Value, low: Value, block: Block) -> Option<Value> {
        let (largest, smallest) = (self.upper(high, block)?, self.lower(low, block));
        let (lowest, highest) = (self.lower(high, block), self.upper(low, block)?);
        let condition = llvm::compare(self.builder, predicate::ULT, highest, lowest);
        self.found.conditions.push(condition);
        let distance = llvm::sub(self.builder, largest, smallest);
        Some(self.one_less(distance))
    }

    /// Notes the condition that `left - right` is never below zero.
    fn does_not_wrap_below(&mut self, left: Value, right: Value, block: Block) -> Option<()> {
        if never_exceeds(right, left, MOST_STEPS) {
            return Some(());
        }
        let (smallest, largest) = (self.lower(left, block), self.upper(right, block)?);
        // Where nothing is known of the one, only zero can be taken away.
        if is_zero(smallest) && llvm::is_constant_int(largest).is_none() {
            return None;
        }
        let condition = llvm::compare(self.builder, predicate::ULE, largest, smallest);
        self.found.conditions.push(condition);
        Some(())
    }

    /// A sign extension of what is not negative is a zero extension.
    fn upper_of_sign_extension(&mut self, narrow: Value, of: Type, block: Block) -> Option<Value> {
        let largest = self.upper(narrow, block)?;
        let narrow = llvm::type_of(narrow);
        let limit = constant(narrow, 1 << (llvm::integer_width(narrow) - 1));
        let condition = llvm::compare(self.builder, predicate::ULT, largest, limit);
        self.found.conditions.push(condition);
        Some(llvm::zero_extend(self.builder, largest, of))
    }

    fn upper_of_choice(
        &mut self,
        choice: Choice,
        instruction: Value,
        block: Block,
    ) -> Option<Value> {
        let [left, right] =
            [0, 1].map(|index| self.upper(llvm::operand(instruction, index), block));
        match (choice, left, right) {
            (Choice::Minimum, Some(left), Some(right)) => Some(self.minimum(left, right)),
            (Choice::Minimum, left, right) => left.or(right),
            (Choice::Maximum, left, right) => Some(self.maximum(left?, right?)),
        }
    }

    fn upper_of_phi(&mut self, phi: Value, block: Block) -> Option<Value> {
        let Some(around) = self.cfg.loop_of_header(llvm::instruction_block(phi)) else {
            return self.upper_of_merge(phi);
        };
        let start = llvm::incoming_from(phi, around.preheader)?;
        let first = self.upper(start, around.preheader)?;
        let next = llvm::incoming_from(phi, around.latch)?;
        if self.is_fixed(next) {
            return Some(self.maximum(first, next));
        }
        if let Some(test) = induction::tested_at_latch(around, phi) {
            return self.upper_of_tested(test, first, around);
        }
        match induction::step(around, phi)? {
            induction::Step::Shrinks => Some(first),
            induction::Step::Down(amount) => {
                if induction::stops_at_zero(around, phi) {
                    self.is_not_zero(start, around.preheader);
                } else {
                    let trips = self.most_trips(around, block)?;
                    let amount = constant(llvm::type_of(phi), amount);
                    let trips = self.resized(trips, llvm::type_of(phi));
                    let fallen = self.checked("llvm.umul.with.overflow", trips, amount);
                    let start = self.lower(start, around.preheader);
                    let condition = llvm::compare(self.builder, predicate::ULE, fallen, start);
                    self.found.conditions.push(condition);
                }
                Some(first)
            }
            induction::Step::Up(step) => {
                let step = self.upper(step, around.preheader)?;
                let trips = self.most_trips(around, block)?;
                let trips = self.resized(trips, llvm::type_of(phi));
                let grown = self.checked("llvm.umul.with.overflow", trips, step);
                Some(self.checked("llvm.uadd.with.overflow", first, grown))
            }
        }
    }

    /// Of a phi that begins at `first` and goes on while its next value passes a test.
    fn upper_of_tested(&mut self, test: Latch, first: Value, around: &Loop) -> Option<Value> {
        let largest = self.upper(test.bound(), around.preheader)?;
        match test {
            Latch::NotAbove(_) => Some(self.maximum(first, largest)),
            Latch::Below(_) => {
                let last = self.one_less(largest);
                Some(self.maximum(first, last))
            }
            // It would run past a bound that is not above its start.
            Latch::Until(bound) => {
                let smallest = self.lower(bound, around.preheader);
                let condition = llvm::compare(self.builder, predicate::ULT, first, smallest);
                self.found.conditions.push(condition);
                Some(self.one_less(largest))
            }
        }
    }

    /// The start of a phi that only grows.
    fn lower_of_phi(&mut self, phi: Value, block: Block) -> Option<Value> {
        let around = self.cfg.loop_of_header(llvm::instruction_block(phi))?;
        let induction::Step::Up(step) = induction::step(around, phi)? else {
            return None;
        };
        let last = self.upper_of_phi(phi, block)?;
        let step = self.upper(step, around.preheader)?;
        self.checked("llvm.uadd.with.overflow", last, step);
        let start = llvm::incoming_from(phi, around.preheader)?;
        Some(self.lower(start, around.preheader))
    }

    fn upper_of_merge(&mut self, phi: Value) -> Option<Value> {
        const MOST_EDGES: u32 = 4;
        let edges = llvm::incoming_count(phi);
        if edges > MOST_EDGES {
            return None;
        }
        let mut largest = None;
        for edge in 0..edges {
            let (value, from) = (
                llvm::incoming_value(phi, edge),
                llvm::incoming_block(phi, edge),
            );
            let value = self.upper(value, from)?;
            largest = Some(match largest {
                Some(largest) => self.maximum(largest, value),
                None => value,
            });
        }
        largest
    }

    /// The most times that a loop's back edge is taken before `block` is reached.
    fn most_trips(&mut self, around: &Loop, block: Block) -> Option<Value> {
        match induction::trips(around)? {
            Trips::Up {
                start,
                bound,
                step,
                body,
            } => {
                let last = self.upper(bound, around.preheader)?;
                let last = self.one_less(last);
                // A counter that wraps would be below its bound again.
                let first = self.upper(start, around.preheader)?;
                let largest = self.maximum(first, last);
                self.checked("llvm.uadd.with.overflow", largest, step);
                let start = self.lower(start, around.preheader);
                let span = self.difference(last, start);
                let trips = llvm::binary(self.builder, opcode::UDIV, span, step);
                let is_in_body = body.is_none_or(|body| self.cfg.dominates(body, block));
                Some(if is_in_body {
                    trips
                } else {
                    let one = constant(llvm::type_of(trips), 1);
                    self.checked("llvm.uadd.with.overflow", trips, one)
                })
            }
            Trips::DownToZero { start } => {
                self.is_not_zero(start, around.preheader);
                let start = self.upper(start, around.preheader)?;
                Some(self.one_less(start))
            }
        }
    }

    /// Notes the condition that `value`, which is counted down to zero, does not begin there.
    fn is_not_zero(&mut self, value: Value, block: Block) {
        let smallest = self.lower(value, block);
        let zero = constant(llvm::type_of(value), 0);
        let condition = llvm::compare(self.builder, predicate::ULT, zero, smallest);
        self.found.conditions.push(condition);
    }

    fn resized(&mut self, value: Value, of: Type) -> Value {
        let [from, to] = [llvm::type_of(value), of].map(llvm::integer_width);
        match from.cmp(&to) {
            Ordering::Less => llvm::zero_extend(self.builder, value, of),
            Ordering::Equal => value,
            Ordering::Greater => self.truncated(value, of),
        }
    }

    fn truncated(&mut self, value: Value, of: Type) -> Value {
        let limit = constant(
            llvm::type_of(value),
            u64::MAX >> (64 - llvm::integer_width(of)),
        );
        let condition = llvm::compare(self.builder, predicate::ULE, value, limit);
        self.found.conditions.push(condition);
        llvm::cast(self.builder, opcode::TRUNC, value, of)
    }

    fn shifted_up(&mut self, left: Value, bits: Value) -> Value {
        let of = llvm::type_of(left);
        let factor = llvm::shift_left(self.builder, constant(of, 1), bits);
        self.checked("llvm.umul.with.overflow", left, factor)
    }

    /// An operation that must not wrap.
    fn checked(&mut self, operation: &str, left: Value, right: Value) -> Value {
        let of = llvm::type_of(left);
        if let Some(result) = folded(operation, left, right) {
            return constant(of, result);
        }
        let (result, wraps) =
            llvm::with_overflow(self.module, self.builder, operation, of, left, right);
        self.found.conditions.push(llvm::not(self.builder, wraps));
        result
    }

    fn minimum(&mut self, left: Value, right: Value) -> Value {
        self.narrow("llvm.umin", left, right)
    }

    fn maximum(&mut self, left: Value, right: Value) -> Value {
        self.narrow("llvm.umax", left, right)
    }

    /// `left - right`, or zero.
    fn difference(&mut self, left: Value, right: Value) -> Value {
        self.narrow("llvm.usub.sat", left, right)
    }

    /// An operation whose result is not above its operands, in the width that they were extended from: on a GPU 64-bit
    /// arithmetic takes twice the instructions.
    fn narrow(&mut self, operation: &str, left: Value, right: Value) -> Value {
        let of = llvm::type_of(left);
        if let Some(result) = folded(operation, left, right) {
            return constant(of, result);
        }
        match narrowed(left, right).or_else(|| narrowed(right, left).map(|(a, b)| (b, a))) {
            Some((left, right)) => {
                let result = llvm::intrinsic(self.module, self.builder, operation, left, right);
                llvm::zero_extend(self.builder, result, of)
            }
            None => llvm::intrinsic(self.module, self.builder, operation, left, right),
        }
    }

    /// `value - 1`, or zero.
    fn one_less(&mut self, value: Value) -> Value {
        self.difference(value, constant(llvm::type_of(value), 1))
    }
}

/// The result of an operation on constants, if it does not wrap: LLVM's builder folds no intrinsics, and a bound that can
/// be seen to be too large is no reason to copy a loop.
fn folded(operation: &str, left: Value, right: Value) -> Option<u64> {
    let width = llvm::integer_width(llvm::type_of(left));
    let (left, right) = (
        llvm::unsigned_constant(left)?,
        llvm::unsigned_constant(right)?,
    );
    let result = match operation {
        "llvm.uadd.with.overflow" => left.checked_add(right)?,
        "llvm.umul.with.overflow" => left.checked_mul(right)?,
        "llvm.usub.sat" => left.saturating_sub(right),
        "llvm.umin" => left.min(right),
        "llvm.umax" => left.max(right),
        _ => return None,
    };
    (result <= u64::MAX >> (64 - width)).then_some(result)
}

#[derive(Clone, Copy)]
enum Choice {
    Minimum,
    Maximum,
}

fn minimum_or_maximum(instruction: Value) -> Option<Choice> {
    let callee = llvm::is_function(llvm::called_value(llvm::is_call(instruction)?))?;
    let name = llvm::name(callee);
    if name.starts_with("llvm.umin.") {
        Some(Choice::Minimum)
    } else if name.starts_with("llvm.umax.") {
        Some(Choice::Maximum)
    } else {
        None
    }
}

/// Both before their extension from the width that `extended` was extended from.
fn narrowed(extended: Value, other: Value) -> Option<(Value, Value)> {
    let narrow = before_extension(extended)?;
    let of = llvm::type_of(narrow);
    if let Some(other) = before_extension(other).filter(|&other| llvm::type_of(other) == of) {
        return Some((narrow, other));
    }
    let other = llvm::unsigned_constant(other)?;
    let fits = other <= u64::MAX >> (64 - llvm::integer_width(of));
    fits.then(|| (narrow, constant(of, other)))
}

fn before_extension(value: Value) -> Option<Value> {
    let extension = llvm::is_instruction(value)?;
    (llvm::opcode(extension) == opcode::ZEXT).then(|| llvm::operand(extension, 0))
}

fn constant(of: Type, value: u64) -> Value {
    llvm::const_int(of, value, 0)
}

/// `c` if the value is the constant `-c`.
fn negated_constant(value: Value) -> Option<u64> {
    let signed = llvm::signed_constant(value)?;
    (signed < 0).then_some(signed.unsigned_abs())
}

/// Whether `small <= large` follows from how they are computed from one value, if `large` does not wrap.
fn never_exceeds(small: Value, large: Value, steps: u32) -> bool {
    if small == large {
        return true;
    }
    if steps == 0 {
        return false;
    }
    // No operand of an `and` is below it, and no dividend below its quotient or remainder.
    let parts_of_small = match code(small) {
        Some(opcode::AND) => 2,
        Some(opcode::LSHR | opcode::UDIV | opcode::UREM) => 1,
        _ => 0,
    };
    // A sum is not below its terms.
    let parts_of_large = match code(large) {
        Some(opcode::SHL) => 1,
        Some(opcode::OR) => 2,
        Some(opcode::ADD) if !is_difference(llvm::operand(large, 0), llvm::operand(large, 1)) => 2,
        _ => 0,
    };
    (0..parts_of_small).any(|part| never_exceeds(llvm::operand(small, part), large, steps - 1))
        || (0..parts_of_large)
            .any(|part| never_exceeds(small, llvm::operand(large, part), steps - 1))
}

fn code(value: Value) -> Option<i32> {
    llvm::is_instruction(value).map(llvm::opcode)
}

fn is_zero(value: Value) -> bool {
    llvm::unsigned_constant(value) == Some(0)
}

/// Whether an instruction is one whose bound has the condition that it does not wrap.
fn can_wrap(instruction: Value) -> bool {
    match llvm::opcode(instruction) {
        opcode::ADD => {
            let [left, right] = [0, 1].map(|index| llvm::operand(instruction, index));
            !is_difference(left, right)
        }
        opcode::MUL | opcode::SHL => true,
        _ => false,
    }
}

/// Whether `left + right` stands for a difference, and so wraps.
fn is_difference(left: Value, right: Value) -> bool {
    negated_constant(right).is_some() || inverted(left).is_some() || inverted(right).is_some()
}

/// `x` if the value is `!x`.
fn inverted(value: Value) -> Option<Value> {
    let instruction = llvm::is_instruction(value)?;
    if llvm::opcode(instruction) != opcode::XOR {
        return None;
    }
    let ones = llvm::signed_constant(llvm::operand(instruction, 1))?;
    (ones == -1).then(|| llvm::operand(instruction, 0))
}

/// Whether a condition is the constant `false`.
fn is_never(condition: Value) -> bool {
    is_zero(condition)
}
