//! How the values of a loop change from trip to trip, and how often it can go round.

use crate::llvm::{self, Block, Value, opcode, predicate};

use super::cfg::{Loop, successors};

/// What a phi of a loop's header does from one trip to the next.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// It grows by a value that is the same at every trip.
    Up(Value),
    /// It falls by a constant.
    Down(u64),
    /// It never grows: it is shifted down, or divided.
    Shrinks,
}

/// The step of a phi.
pub fn step(around: &Loop, phi: Value) -> Option<Step> {
    let next = llvm::is_instruction(llvm::incoming_from(phi, around.latch)?)?;
    let (code, count) = (llvm::opcode(next), llvm::operand_count(next));
    if count != 2 || llvm::is_phi(next).is_some() {
        return None;
    }
    let [left, right] = [0, 1].map(|index| llvm::operand(next, index));
    match code {
        opcode::ADD if left == phi => match llvm::signed_constant(right) {
            Some(constant) if constant < 0 => Some(Step::Down(constant.unsigned_abs())),
            _ => around.is_invariant(right).then_some(Step::Up(right)),
        },
        opcode::ADD if right == phi => around.is_invariant(left).then_some(Step::Up(left)),
        opcode::LSHR | opcode::UDIV if left == phi => Some(Step::Shrinks),
        _ => None,
    }
}

/// What the next value of a phi passes whenever the loop goes round.
#[derive(Clone, Copy, Debug)]
pub enum Latch {
    /// It is below this.
    Below(Value),
    /// It is not above this.
    NotAbove(Value),
    /// It grows by one, and is not yet this.
    Until(Value),
}

impl Latch {
    /// What it is compared with.
    pub fn bound(self) -> Value {
        match self {
            Latch::Below(bound) | Latch::NotAbove(bound) | Latch::Until(bound) => bound,
        }
    }
}

/// The test of a phi at the end of each trip.
pub fn tested_at_latch(around: &Loop, phi: Value) -> Option<Latch> {
    let next = llvm::incoming_from(phi, around.latch)?;
    let test = Test::of(around, around.latch)?;
    let by_one = || matches!(step(around, phi), Some(Step::Up(by)) if llvm::unsigned_constant(by) == Some(1));
    test.bound_of(around, next, by_one)
        .or_else(|| one_step_later(around, phi, &test))
}

/// LLVM writes `phi + 1 < 32` as `phi < 31`.
fn one_step_later(around: &Loop, phi: Value, test: &Test) -> Option<Latch> {
    let Step::Up(step) = step(around, phi)? else {
        return None;
    };
    let Latch::Below(bound) = test.bound_of(around, phi, || false)? else {
        return None;
    };
    let (step, below) = (
        llvm::unsigned_constant(step)?,
        llvm::unsigned_constant(bound)?,
    );
    let later = below.checked_add(step)?;
    let of = llvm::type_of(bound);
    let fits = later <= u64::MAX >> (64 - llvm::integer_width(of));
    fits.then(|| Latch::Below(llvm::const_int(of, later, 0)))
}

/// Whether the loop ends when the phi's next value, one less, is zero.
pub fn stops_at_zero(around: &Loop, phi: Value) -> bool {
    let Some(next) = llvm::incoming_from(phi, around.latch) else {
        return false;
    };
    matches!(step(around, phi), Some(Step::Down(1)))
        && Test::of(around, around.latch).is_some_and(|test| test.is_not_zero(next))
}

/// How often a loop can go round.
#[derive(Clone, Copy, Debug)]
pub enum Trips {
    /// From `start` in steps of the constant `step`, below `bound`.
    Up {
        start: Value,
        bound: Value,
        step: Value,
        /// Where a test at the head of the loop goes on: elsewhere it has been gone round once more.
        body: Option<Block>,
    },
    /// From `start`, if that is not zero, down to one.
    DownToZero { start: Value },
}

/// What counts the trips of a loop, if something does.
pub fn trips(around: &Loop) -> Option<Trips> {
    let phis = llvm::block_instructions(around.header)
        .into_iter()
        .map_while(llvm::is_phi);
    phis.filter(|&phi| llvm::is_narrow_integer(phi))
        .find_map(|phi| {
            let start = llvm::incoming_from(phi, around.preheader)?;
            if stops_at_zero(around, phi) {
                return Some(Trips::DownToZero { start });
            }
            let Step::Up(step) = step(around, phi)? else {
                return None;
            };
            llvm::unsigned_constant(step).filter(|&step| step > 0)?;
            let (latch, body) = match tested_at_latch(around, phi) {
                Some(latch) => (latch, None),
                None => {
                    let test = Test::of(around, around.header)?;
                    (test.bound_of(around, phi, || false)?, Some(test.to))
                }
            };
            match latch {
                Latch::Below(bound) => Some(Trips::Up {
                    start,
                    bound,
                    step,
                    body,
                }),
                Latch::NotAbove(_) | Latch::Until(_) => None,
            }
        })
}

/// The comparison that decides whether a loop goes on, as it reads when it does.
struct Test {
    left: Value,
    right: Value,
    predicate: i32,
    to: Block,
}

impl Test {
    fn of(around: &Loop, block: Block) -> Option<Self> {
        let branch = llvm::conditional_branch(block)?;
        let comparison = llvm::is_comparison(llvm::condition(branch))?;
        let [on_true, on_false] = <[Block; 2]>::try_from(successors(block)).ok()?;
        let holds = llvm::comparison_predicate(comparison);
        let (predicate, to) = match (around.contains(on_true), around.contains(on_false)) {
            (true, false) => (holds, on_true),
            (false, true) => (predicate::inverse(holds)?, on_false),
            _ => return None,
        };
        Some(Test {
            left: llvm::operand(comparison, 0),
            right: llvm::operand(comparison, 1),
            predicate,
            to,
        })
    }

    /// What `value` is below while the loop goes on.
    fn bound_of(
        &self,
        around: &Loop,
        value: Value,
        grows_by_one: impl FnOnce() -> bool,
    ) -> Option<Latch> {
        let (predicate, bound) = if self.left == value {
            (self.predicate, self.right)
        } else if self.right == value {
            (predicate::swapped(self.predicate)?, self.left)
        } else {
            return None;
        };
        if !around.is_invariant(bound) {
            return None;
        }
        match predicate {
            predicate::ULT => Some(Latch::Below(bound)),
            predicate::ULE => Some(Latch::NotAbove(bound)),
            predicate::NE if grows_by_one() => Some(Latch::Until(bound)),
            // LLVM writes `value < 1` so.
            predicate::EQ if llvm::unsigned_constant(bound) == Some(0) => {
                Some(Latch::Below(llvm::const_int(llvm::type_of(bound), 1, 0)))
            }
            _ => None,
        }
    }

    fn is_not_zero(&self, value: Value) -> bool {
        self.left == value
            && self.predicate == predicate::NE
            && llvm::unsigned_constant(self.right) == Some(0)
    }
}
