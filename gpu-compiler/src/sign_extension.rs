//! Works around a fault of LLVM 22 in indices that are sign-extended.
//!
//! The NVPTX back end's straight-line strength reduction makes the second of two addresses `base + sext(a)` and
//! `base + sext(b)` out of the first and `sext(b - a)`, though the difference may wrap in the narrow type. It does so even
//! for one bit, where `!a - a` is "always 1": the merge steps of a stable sort, `p - (a < b)` and `p - !(a < b)`, then read
//! other elements (llvm/llvm-project#204278 mends it for later versions). The pass finds such indices by their `sext`. The
//! same number by two shifts it takes as it is, and instruction selection makes one instruction of them again.

use crate::llvm::{self, Builder, Context, Module, Value, kind, opcode};

/// The width of an index in an address.
const INDEX_BITS: u32 = 64;

/// Writes the sign extensions to the width of an index as shifts, in an optimised module. All of them: the back end
/// rewrites indices before it comes to the strength reduction, so that any may become one.
pub fn by_shifts(context: Context, module: Module) {
    let builder = llvm::create_builder(context);
    for instruction in llvm::functions(module)
        .filter(|&function| !llvm::declared_only(function))
        .flat_map(llvm::instructions)
    {
        if llvm::opcode(instruction) == opcode::SEXT && is_index(instruction) {
            by_shifts_one(builder, instruction);
        }
    }
}

fn is_index(value: Value) -> bool {
    let of = llvm::type_of(value);
    llvm::type_kind(of) == kind::INTEGER && llvm::integer_width(of) == INDEX_BITS
}

fn by_shifts_one(builder: Builder, extension: Value) {
    let narrow = llvm::operand(extension, 0);
    let to = llvm::type_of(extension);
    let unused = INDEX_BITS - llvm::integer_width(llvm::type_of(narrow));
    let unused = llvm::const_int(to, unused.into(), 0);
    llvm::position_before(builder, extension);
    let zero_extended = llvm::zero_extend(builder, narrow, to);
    let at_top = llvm::shift_left(builder, zero_extended, unused);
    let shifted_back = llvm::binary(builder, opcode::ASHR, at_top, unused);
    llvm::replace_instruction(extension, shifted_back);
}
