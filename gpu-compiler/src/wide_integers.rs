//! Conversions between floats and 128-bit integers.
//!
//! NVPTX has none, and LLVM has no library to call there. They become calls of compiler_builtins' functions, which the
//! toolchain's bitcode defines.

use crate::llvm::{self, Module, Type, Value, kind, opcode};

/// Names all conversions of the module.
pub fn name_conversions(module: Module) {
    for intrinsic in llvm::functions(module).collect::<Vec<_>>() {
        if let Some(name) = saturating(&llvm::name(intrinsic)) {
            let function = llvm::declare(module, name, llvm::value_type(intrinsic));
            llvm::replace_all_uses(intrinsic, function);
        }
    }
    for function in llvm::functions(module).collect::<Vec<_>>() {
        for instruction in llvm::instructions(function) {
            if let Some(name) = conversion(instruction) {
                call(module, instruction, name);
            }
        }
    }
}

/// Rust's `as`: compiler_builtins' conversions saturate, as these intrinsics do.
fn saturating(intrinsic: &str) -> Option<&'static str> {
    match intrinsic {
        "llvm.fptoui.sat.i128.f32" => Some("__fixunssfti"),
        "llvm.fptoui.sat.i128.f64" => Some("__fixunsdfti"),
        "llvm.fptosi.sat.i128.f32" => Some("__fixsfti"),
        "llvm.fptosi.sat.i128.f64" => Some("__fixdfti"),
        _ => None,
    }
}

fn conversion(instruction: Value) -> Option<&'static str> {
    let opcode = llvm::opcode(instruction);
    if !(opcode::FP_TO_UI..=opcode::SI_TO_FP).contains(&opcode) {
        return None;
    }
    let (from, to) = (
        llvm::type_of(llvm::operand(instruction, 0)),
        llvm::type_of(instruction),
    );
    let name = |float: Type, on_float, on_double| match llvm::type_kind(float) {
        kind::FLOAT => Some(on_float),
        kind::DOUBLE => Some(on_double),
        _ => None,
    };
    match opcode {
        opcode::FP_TO_UI if is_wide(to) => name(from, "__fixunssfti", "__fixunsdfti"),
        opcode::FP_TO_SI if is_wide(to) => name(from, "__fixsfti", "__fixdfti"),
        opcode::UI_TO_FP if is_wide(from) => name(to, "__floatuntisf", "__floatuntidf"),
        opcode::SI_TO_FP if is_wide(from) => name(to, "__floattisf", "__floattidf"),
        _ => None,
    }
}

fn is_wide(integer: Type) -> bool {
    llvm::type_kind(integer) == kind::INTEGER && llvm::integer_width(integer) == 128
}

fn call(module: Module, conversion: Value, name: &str) {
    let operand = llvm::operand(conversion, 0);
    let signature = llvm::signature(llvm::type_of(conversion), &[llvm::type_of(operand)]);
    let function = llvm::declare(module, name, signature);
    let builder = llvm::create_builder(llvm::module_context(module));
    llvm::position_before(builder, conversion);
    let call = llvm::call(builder, signature, function, &[operand]);
    llvm::replace_instruction(conversion, call);
}
