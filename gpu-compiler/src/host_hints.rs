//! What code says to the host's processor and to the optimiser beside what it computes.
//!
//! `hint::spin_loop` is an intrinsic of the host's, which goes: the threads of a warp make progress without it.
//! `hint::black_box` is assembly without instructions and becomes the same in PTX: the value is in a register and memory
//! may have changed, for all that LLVM knows. `atomic::compiler_fence` is a fence of one thread, of which the NVPTX back end
//! knows only some: it becomes such assembly too.

use crate::llvm::{self, Builder, Context, Module, Type, Value};

/// `spin_loop` on x86-64 and on aarch64.
const PAUSES: [&str; 2] = ["llvm.x86.sse2.pause", "llvm.aarch64.isb"];
/// The constraints of `black_box`, on the host and on a device: of a value in memory, and of one without bytes.
const BLACK_BOXES: [(&str, &str); 2] = [("r,~{memory}", "l,~{memory}"), ("~{memory}", "~{memory}")];
/// `LLVMSyncScope` of one thread.
const SINGLE_THREAD: u32 = 0;

/// Makes the hints in a linked module a device's.
pub fn lower(context: Context, module: Module) {
    for pause in PAUSES.map(|name| llvm::function(module, name)) {
        for call in pause.map(llvm::calls_of).unwrap_or_default() {
            llvm::erase(call);
        }
    }
    let builder = llvm::create_builder(context);
    for instruction in llvm::functions(module).flat_map(llvm::instructions) {
        if let Some(constraints) = of_black_box(instruction) {
            let operands: Vec<Value> = (0..llvm::argument_count(instruction))
                .map(|index| llvm::operand(instruction, index))
                .collect();
            let signature = llvm::called_type(instruction);
            replace(builder, instruction, signature, &operands, constraints);
        } else if is_compiler_fence(instruction) {
            let signature = llvm::signature(llvm::void_type(context), &[]);
            replace(builder, instruction, signature, &[], "~{memory}");
        }
    }
}

/// Puts assembly without instructions in an instruction's place.
fn replace(builder: Builder, old: Value, signature: Type, operands: &[Value], constraints: &str) {
    let assembly = llvm::inline_assembly(signature, "", constraints, true);
    llvm::position_before(builder, old);
    llvm::call(builder, signature, assembly, operands);
    llvm::erase(old);
}

fn is_compiler_fence(instruction: Value) -> bool {
    llvm::is_fence(instruction).is_some() && llvm::atomic_sync_scope(instruction) == SINGLE_THREAD
}

/// The device's constraints, if the instruction is a `black_box`.
fn of_black_box(instruction: Value) -> Option<&'static str> {
    if !llvm::is_call_site(instruction) {
        return None;
    }
    let assembly = llvm::is_inline_asm(llvm::called_value(instruction))?;
    let constraints = llvm::assembly_constraints(assembly);
    let (_, device) = BLACK_BOXES
        .into_iter()
        .find(|(host, _)| llvm::assembly_text(assembly).is_empty() && *host == constraints)?;
    Some(device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    #[test]
    fn hints_are_a_devices_and_other_assembly_stays() {
        let (context, module) = parse(
            "declare void @llvm.x86.sse2.pause()
            define void @f(ptr %p) {
                call void @llvm.x86.sse2.pause()
                call void asm sideeffect \"\", \"r,~{memory}\"(ptr %p)
                call void asm sideeffect \"\", \"~{memory}\"()
                call void asm sideeffect \"nop\", \"r,~{memory}\"(ptr %p)
                fence syncscope(\"singlethread\") acq_rel
                fence acq_rel
                ret void
            }",
        );
        lower(context, module);
        crate::optimise::verify(module).unwrap();
        let function = llvm::function(module, "f").unwrap();
        let instructions = llvm::instructions(function);
        let constraints: Vec<String> = instructions
            .iter()
            .filter(|&&i| llvm::is_call_site(i))
            .map(|&call| llvm::assembly_constraints(llvm::called_value(call)))
            .collect();
        assert_eq!(
            constraints,
            ["l,~{memory}", "~{memory}", "r,~{memory}", "~{memory}"]
        );
        let fences = instructions.into_iter().filter_map(llvm::is_fence).count();
        assert_eq!(fences, 1);
    }
}
