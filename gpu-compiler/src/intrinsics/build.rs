//! Small constructors on top of LLVM's C API, for the instructions that intrinsics become.

use crate::llvm::{self, Builder, Context, Type, Value};

/// Builds a cast of `opcode`.
pub(super) fn cast(builder: Builder, opcode: i32, value: Value, to: Type) -> Value {
    // SAFETY: the name is a C string.
    unsafe { llvm::build_cast(builder, opcode, value, to, c"".as_ptr()) }
}

/// Builds an operation of two operands.
pub(super) fn binary(builder: Builder, opcode: i32, left: Value, right: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { llvm::build_binary(builder, opcode, left, right, c"".as_ptr()) }
}

/// Builds the reading of a member of a structure.
pub(super) fn extract(builder: Builder, aggregate: Value, index: u32) -> Value {
    // SAFETY: the name is a C string.
    unsafe { llvm::build_extract(builder, aggregate, index, c"".as_ptr()) }
}

/// A structure's type.
pub(super) fn structure(context: Context, elements: &[Type]) -> Type {
    // SAFETY: pointer and length are of one slice.
    unsafe { llvm::struct_type(context, elements.as_ptr(), elements.len() as u32, 0) }
}

/// Inline assembly in LLVM's own notation.
pub(super) fn inline_assembly(
    signature: Type,
    text: &str,
    constraints: &str,
    side_effects: bool,
) -> Value {
    let (att, no) = (0, 0);
    // SAFETY: pointers and lengths are of one string each.
    unsafe {
        llvm::inline_asm(
            signature,
            text.as_ptr().cast(),
            text.len(),
            constraints.as_ptr().cast(),
            constraints.len(),
            llvm::Bool::from(side_effects),
            no,
            att,
            no,
        )
    }
}
