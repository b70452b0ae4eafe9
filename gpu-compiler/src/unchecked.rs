//! `#[kernel(unsafe(unchecked))]`: panics become code that is never reached, and with them go the checks before them.
//!
//! A panic of core's is, by now, a call of a function that the runtime has for it. Each such call, but for those inside
//! the runtime itself (the heap that is full), becomes a call of a function without a body ([`mark`]). When the paths that
//! lead there are plain to see, it becomes `unreachable` ([`remove`]): sooner, LLVM would forget what a path to a panic
//! says of values that were computed on it. Checks of loops are there until then, so that a loop can be copied for indices
//! that do not wrap, which no check promises.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::llvm::{self, Block, Context, FUNCTION_INDEX, Module, Value};
use crate::optimise::run_passes;

/// The start of the names of the functions without a body.
const NEVER: &str = "gpu.unreachable.";

/// Marks the panics of all functions of the module. `replacements` is the runtime's table.
pub fn mark(context: Context, module: Module, replacements: &BTreeMap<String, String>) {
    let runtime: BTreeSet<Value> = replacements
        .values()
        .filter_map(|symbol| llvm::function(module, symbol))
        .collect();
    let panics = replacements
        .iter()
        .filter(|(path, _)| path.starts_with("core::"))
        .filter_map(|(_, symbol)| llvm::function(module, symbol));
    for panic in panics.collect::<BTreeSet<_>>() {
        let never = never_reached(context, module, panic);
        for call in llvm::calls_of(panic) {
            if !runtime.contains(&llvm::function_of(call)) {
                llvm::remove_call_attribute(call, FUNCTION_INDEX, llvm::attribute("noinline"));
                let callee = llvm::operand_count(call) as u32 - 1;
                llvm::set_operand(call, callee, never);
            }
        }
    }
}

/// A function of the panic's type.
fn never_reached(context: Context, module: Module, panic: Value) -> Value {
    let name = format!("{NEVER}{}", llvm::name(panic));
    let never = llvm::declare(module, &name, llvm::value_type(panic));
    llvm::add_attributes(context, never, &["noreturn", "nounwind", "cold"]);
    never
}

/// Whether a panic is one that never happens, by the kernel's word.
pub fn is_never_reached(panic: Block) -> bool {
    let instructions = llvm::block_instructions(panic).into_iter();
    instructions
        .filter(|&instruction| llvm::is_call_site(instruction))
        .any(|call| llvm::name(llvm::called_value(call)).starts_with(NEVER))
}

/// Removes what is marked, and what leads there.
pub fn remove(context: Context, module: Module) -> Result<(), Error> {
    let marked: Vec<Value> = llvm::functions(module)
        .filter(|&function| llvm::name(function).starts_with(NEVER))
        .collect();
    if marked.is_empty() {
        return Ok(());
    }
    run_passes(module, "function(lower-expect,jump-threading)", None)?;
    let builder = llvm::create_builder(context);
    for never in marked {
        llvm::add_attributes(context, never, &["alwaysinline"]);
        llvm::set_linkage(never, llvm::linkage::INTERNAL);
        llvm::position_at_end(builder, llvm::append(context, never));
        llvm::build_unreachable(builder);
    }
    run_passes(
        module,
        "always-inline,globaldce,function(simplifycfg,instcombine<no-verify-fixpoint>,loop-simplify,lcssa)",
        None,
    )
}
