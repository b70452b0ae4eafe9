//! Which values are the same in all threads of a block, and the extent of those that are not: a thread's index.

use std::ffi::CStr;

use crate::block_shape;
use crate::llvm::{self, Builder, Module, Value, opcode};

/// LLVM's names of the registers, before the dimension.
const SPECIAL_REGISTERS: &str = "llvm.nvvm.read.ptx.sreg.";

/// How deep an expression is followed.
const MOST_STEPS: u32 = 16;

/// Whether all threads of a block see the same value: a constant, a kernel's parameter, the shape of the launch or the
/// block's own index, and what is computed from these.
pub fn is_uniform(value: Value) -> bool {
    is_uniform_within(value, MOST_STEPS)
}

fn is_uniform_within(value: Value, steps: u32) -> bool {
    if llvm::is_constant(value).is_some() {
        return llvm::is_constant_int(value).is_some();
    }
    let Some(instruction) = llvm::is_instruction(value) else {
        return false;
    };
    if steps == 0 {
        return false;
    }
    if llvm::is_load(instruction).is_some() {
        return is_kernel_parameter(llvm::operand(instruction, 0));
    }
    if let Some(register) = special_register(instruction) {
        let name = register.split('.').next();
        return matches!(name, Some("ntid" | "ctaid" | "nctaid"));
    }
    is_arithmetic(instruction)
        && llvm::operands(instruction).all(|operand| is_uniform_within(operand, steps - 1))
}

fn is_arithmetic(instruction: Value) -> bool {
    use opcode::*;
    matches!(
        llvm::opcode(instruction),
        ADD | SUB | MUL | UDIV | UREM | SHL | LSHR | AND | OR | ZEXT | SEXT | TRUNC | FREEZE
    )
}

/// Whether a pointer is into the parameters of the kernel that it is in.
fn is_kernel_parameter(pointer: Value) -> bool {
    if let Some(gep) = llvm::is_gep(pointer) {
        return llvm::operands(gep)
            .skip(1)
            .all(|index| llvm::is_constant_int(index).is_some())
            && is_kernel_parameter(llvm::operand(gep, 0));
    }
    llvm::is_argument(pointer).is_some_and(|argument| {
        llvm::call_convention(llvm::parameter_parent(argument)) == llvm::PTX_KERNEL
    })
}

/// The register that a call reads: `tid.x`.
fn special_register(instruction: Value) -> Option<String> {
    let callee = llvm::is_function(llvm::called_value(llvm::is_call(instruction)?))?;
    llvm::name(callee)
        .strip_prefix(SPECIAL_REGISTERS)
        .map(String::from)
}

/// If the instruction reads a thread's index in its block, the block's size in that dimension: the kernel's own, or read.
pub fn extent_of_thread_index(
    module: Module,
    builder: Builder,
    instruction: Value,
) -> Option<Value> {
    let register = special_register(instruction)?;
    let dimension = register.strip_prefix("tid.")?;
    let known = block_shape::extent_at(instruction, dimension);
    Some(match known {
        Some(extent) => llvm::const_int(llvm::type_of(instruction), extent.into(), 0),
        None => {
            let name = llvm::c_string(&format!("{SPECIAL_REGISTERS}ntid.{dimension}"));
            read_register(module, builder, &name)
        }
    })
}

/// Reads a special register.
fn read_register(module: Module, builder: Builder, intrinsic: &CStr) -> Value {
    let name = intrinsic.to_bytes();
    let id = llvm::lookup_intrinsic_id(intrinsic.as_ptr(), name.len());
    // SAFETY: the intrinsic has no overloads, so no types are read.
    let function = unsafe { llvm::intrinsic_declaration(module, id, std::ptr::null(), 0) };
    llvm::call(builder, llvm::value_type(function), function, &[])
}
