//! Instructions that may be executed where the program would not come to them, or sooner.

use crate::llvm::{self, Value, opcode};

/// Whether an instruction may be computed where it was not meant to be.
pub fn is_arithmetic(instruction: Value) -> bool {
    use opcode::*;
    let code = llvm::opcode(instruction);
    let integers = [
        ADD, SUB, MUL, SHL, LSHR, ASHR, AND, OR, XOR, ZEXT, SEXT, TRUNC, ICMP, SELECT,
    ];
    let floats = [
        FADD, FSUB, FMUL, FDIV, FNEG, FP_TRUNC, FP_EXT, UI_TO_FP, SI_TO_FP, FCMP,
    ];
    let rest = [
        FREEZE,
        GEP,
        BIT_CAST,
        EXTRACT_VALUE,
        EXTRACT_ELEMENT,
        INSERT_ELEMENT,
    ];
    integers.contains(&code)
        || floats.contains(&code)
        || rest.contains(&code)
        || llvm::is_speculatable_call(instruction)
}

/// Whether an instruction is a load that no other thread can tell from one made sooner or later.
pub fn is_plain_load(instruction: Value) -> bool {
    llvm::is_load(instruction).is_some() && is_plain(instruction)
}

/// Whether an instruction is a store to the block's shared memory, neither volatile nor atomic.
pub fn is_shared_store(instruction: Value) -> bool {
    llvm::is_store(instruction).is_some()
        && is_plain(instruction)
        && llvm::pointer_address_space(llvm::type_of(llvm::operand(instruction, 1))) == llvm::SHARED
}

fn is_plain(access: Value) -> bool {
    llvm::is_volatile(access) == 0 && llvm::ordering(access) == llvm::NOT_ATOMIC
}
