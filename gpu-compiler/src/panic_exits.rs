//! Gives each kernel one exit for each kind of panic, without a call.
//!
//! A call costs a kernel registers, also where it is never made: the callee's convention takes some, and what lives
//! across it must be kept. A kernel with ten bounds checks has ten calls of one small function that never returns. They
//! become jumps to one block, whose arguments are phis, and the function is inlined there.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::llvm::{self, Block, Context, FUNCTION_INDEX, Module, Value};
use crate::optimise::run_passes;
use crate::records::Kernel;

/// Merges the panics of all kernels.
pub fn merge(context: Context, module: Module, kernels: &[Kernel]) -> Result<(), Error> {
    let mut inlined = false;
    for kernel in kernels {
        for (panic, calls) in panics_in(kernel.function) {
            merge_calls(context, kernel.function, panic, &calls);
            inline_always(context, panic);
            inlined = true;
        }
    }
    if inlined {
        run_passes(module, "always-inline,globaldce", None)
    } else {
        Ok(())
    }
}

/// The functions that end the thread and call nothing, with their calls in `kernel`.
fn panics_in(kernel: Value) -> BTreeMap<Value, Vec<Value>> {
    let mut panics: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
    for call in llvm::instructions(kernel)
        .into_iter()
        .filter_map(llvm::is_call)
    {
        if let Some(callee) =
            llvm::is_function(llvm::called_value(call)).filter(|&callee| is_plain_panic(callee))
        {
            panics.entry(callee).or_default().push(call);
        }
    }
    panics
}

fn is_plain_panic(function: Value) -> bool {
    let never_returns =
        llvm::enum_attribute(function, FUNCTION_INDEX, llvm::attribute("noreturn")).is_some();
    let calls = || {
        llvm::instructions(function)
            .into_iter()
            .filter(|&i| llvm::is_call_site(i))
            .map(llvm::called_value)
    };
    let is_intrinsic =
        |callee| llvm::is_function(callee).is_some_and(|callee| llvm::intrinsic_id(callee) != 0);
    never_returns && !llvm::declared_only(function) && calls().all(is_intrinsic)
}

/// Lets every block that ends in one of `calls` jump to a block with the only call.
fn merge_calls(context: Context, kernel: Value, panic: Value, calls: &[Value]) {
    let builder = llvm::create_builder(context);
    let exit = llvm::append(context, kernel);
    llvm::position_at_end(builder, exit);
    let arguments = llvm::parameter_types(panic)
        .into_iter()
        .map(|of| llvm::phi(builder, of))
        .collect::<Vec<_>>();
    let call = llvm::call(builder, llvm::value_type(panic), panic, &arguments);
    llvm::build_unreachable(builder);
    if let Some(location) = llvm::debug_location(calls[0]) {
        llvm::set_debug_location(call, location);
    }
    for &call in calls {
        let block = llvm::instruction_block(call);
        for (index, &phi) in arguments.iter().enumerate() {
            llvm::add_incoming_edge(phi, llvm::operand(call, index as u32), block);
        }
        llvm::position_before(builder, call);
        llvm::build_branch(builder, exit);
        erase_from(call, block);
    }
}

/// Erases an instruction and those after it in its block, which never ran.
fn erase_from(first: Value, block: Block) {
    let instructions = llvm::block_instructions(block);
    let dead = instructions
        .iter()
        .skip_while(|&&instruction| instruction != first);
    for &instruction in dead.collect::<Vec<_>>().into_iter().rev() {
        llvm::erase(instruction);
    }
}

fn inline_always(context: Context, function: Value) {
    llvm::remove_enum_attribute(function, FUNCTION_INDEX, llvm::attribute("noinline"));
    let always = llvm::create_enum_attribute(context, llvm::attribute("alwaysinline"), 0);
    llvm::add_attribute(function, FUNCTION_INDEX, always);
}
