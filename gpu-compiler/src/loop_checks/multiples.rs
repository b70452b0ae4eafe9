//! The powers of two that values are multiples of: what counts in steps of 8 from 0 and is below `n` is not above `n - 8`
//! if `n` is a multiple of 8, where `n - 1` is all that the comparison says.

use crate::llvm::{self, Value, opcode};

use super::cfg::Cfg;
use super::induction::{self, Step};

/// How deep an expression is followed.
const MOST_STEPS: u32 = 8;

/// How many of the lowest bits of a value are zero, at least.
pub fn zero_bits(cfg: &Cfg, value: Value) -> u32 {
    zero_bits_within(cfg, value, MOST_STEPS)
}

fn zero_bits_within(cfg: &Cfg, value: Value, steps: u32) -> u32 {
    let width = llvm::integer_width(llvm::type_of(value));
    if let Some(constant) = llvm::unsigned_constant(value) {
        return constant.trailing_zeros().min(width);
    }
    let Some(instruction) = llvm::is_instruction(value).filter(|_| steps > 0) else {
        return 0;
    };
    if let Some(phi) = llvm::is_phi(instruction) {
        return of_counter(cfg, phi, steps - 1);
    }
    let of = |index| zero_bits_within(cfg, llvm::operand(instruction, index), steps - 1);
    let bits = match llvm::opcode(instruction) {
        opcode::ZEXT | opcode::TRUNC | opcode::FREEZE => of(0),
        opcode::ADD | opcode::SUB | opcode::OR => of(0).min(of(1)),
        opcode::AND => of(0).max(of(1)),
        opcode::MUL => of(0) + of(1),
        opcode::SHL => {
            of(0)
                + llvm::unsigned_constant(llvm::operand(instruction, 1))
                    .map_or(0, |bits| bits as u32)
        }
        _ => 0,
    };
    bits.min(width)
}

/// Of a loop's counter.
fn of_counter(cfg: &Cfg, phi: Value, steps: u32) -> u32 {
    let of = |value| zero_bits_within(cfg, value, steps);
    let counter = || {
        let around = cfg.loop_of_header(llvm::instruction_block(phi))?;
        let start = of(llvm::incoming_from(phi, around.preheader)?);
        match induction::step(around, phi)? {
            Step::Up(step) => Some(start.min(of(step))),
            Step::Down(amount) => Some(start.min(amount.trailing_zeros())),
            Step::Shrinks => None,
        }
    };
    counter().unwrap_or(0)
}
