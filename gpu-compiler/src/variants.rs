//! What a kernel chooses of its own code: contraction, fast mathematics, no checks.
//!
//! Kernels share helpers, whose code a choice of one kernel must not change for another. So kernels that choose
//! differently are compiled as modules of their own: for each set of choices the module is cloned, the clone keeps that
//! set's kernels and what these reach, the choices are applied to all of it, and the clones are linked together again,
//! each with its own copy of the helpers. What can be written (a `static` of an atomic) stays one.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::fast_math;
use crate::llvm::{self, ALLOW_CONTRACT, Context, Module, Value, linkage, opcode};
use crate::math;
use crate::optimise::run_passes;
use crate::records::{Choices, Kernel, Records};
use crate::unchecked;

/// Applies the kernels' choices, where `fma` is the crate's. The kernels' functions are others afterwards.
pub fn apply(
    context: Context,
    module: Module,
    records: &mut Records,
    fma: bool,
) -> Result<(), Error> {
    let mut sets: BTreeMap<Choices, Vec<String>> = BTreeMap::new();
    for kernel in &records.kernels {
        let symbols = sets.entry(kernel.choices).or_default();
        symbols.push(kernel.symbol.clone());
    }
    let mut sets = sets.into_iter();
    let Some((first, first_symbols)) = sets.next() else {
        return Ok(());
    };
    let others: Vec<_> = sets.collect();
    let shared = if others.is_empty() {
        Vec::new()
    } else {
        share_variables(module)
    };
    let mut clones = Vec::new();
    for (index, (choices, symbols)) in others.iter().enumerate() {
        let clone = llvm::clone_module(module);
        forget_variables(clone, &shared);
        keep_only(clone, &records.kernels, symbols)?;
        choose(context, clone, *choices, fma, records);
        rename_functions(clone, &format!(".{index}"), records);
        clones.push(clone);
    }
    if !others.is_empty() {
        keep_only(module, &records.kernels, &first_symbols)?;
    }
    choose(context, module, first, fma, records);
    for clone in clones {
        // SAFETY: the clone is not used again.
        if unsafe { llvm::link_modules(module, clone) } != 0 {
            return Err(Error::Link {
                what: "kernels with other options".into(),
                cause: "see the messages above".into(),
            });
        }
    }
    for (name, of) in shared {
        if let Some(variable) = llvm::global(module, &name) {
            llvm::set_linkage(variable, of);
        }
    }
    for kernel in &mut records.kernels {
        if let Some(function) = llvm::function(module, &kernel.symbol) {
            kernel.function = function;
        }
    }
    Ok(())
}

/// Makes the variables that a kernel can write visible to other modules; their names, and the linkage that they had.
fn share_variables(module: Module) -> Vec<(String, i32)> {
    let variables = llvm::globals(module).filter(|&global| {
        !llvm::declared_only(global)
            && (llvm::is_global_constant(global) == 0
                || llvm::is_externally_initialized(global) != 0)
    });
    let variables = variables.enumerate().map(|(index, variable)| {
        let of = llvm::linkage(variable);
        if llvm::name(variable).is_empty() {
            llvm::rename(variable, &format!("oxwarp_variable_{index}"));
        }
        llvm::set_linkage(variable, linkage::EXTERNAL);
        (llvm::name(variable), of)
    });
    variables.collect()
}

/// Leaves declarations of the shared variables.
fn forget_variables(clone: Module, shared: &[(String, i32)]) {
    for (name, _) in shared {
        if let Some(variable) = llvm::global(clone, name) {
            llvm::set_initializer(variable, None);
        }
    }
}

/// Gives the clone's functions names of their own, with a suffix that demangling takes off again.
fn rename_functions(clone: Module, suffix: &str, records: &mut Records) {
    let internal = |&function: &Value| {
        !llvm::declared_only(function) && llvm::linkage(function) == linkage::INTERNAL
    };
    for function in llvm::functions(clone).filter(internal).collect::<Vec<_>>() {
        let name = llvm::name(function);
        let new = format!("{name}{suffix}");
        let mut kernels = records.kernels.iter_mut();
        if let Some(kernel) = kernels.find(|kernel| kernel.entry == name) {
            kernel.entry.clone_from(&new);
        }
        llvm::rename(function, &new);
    }
}

fn keep_only(module: Module, kernels: &[Kernel], symbols: &[String]) -> Result<(), Error> {
    for kernel in kernels
        .iter()
        .filter(|kernel| !symbols.contains(&kernel.symbol))
    {
        if let Some(function) = llvm::function(module, &kernel.symbol) {
            // SAFETY: nothing calls a kernel, and its handle in the records is replaced.
            unsafe { llvm::delete_function(function) };
        }
    }
    run_passes(module, "globaldce", None)
}

fn choose(context: Context, module: Module, choices: Choices, fma: bool, records: &Records) {
    if fma && choices.fma {
        contract(module);
    }
    if choices.fast_math {
        fast_math::apply(context, module);
    }
    if choices.unchecked {
        unchecked::mark(context, module, &records.replacements);
    }
}

/// In the mathematical functions a product that is used twice stays rounded everywhere, as nvcc leaves it: there the
/// second use computes what rounding lost.
fn contract(module: Module) {
    for function in llvm::functions(module) {
        let in_library = math::is_in_library(function);
        for instruction in llvm::instructions(function) {
            let contracts = match llvm::opcode(instruction) {
                opcode::FADD | opcode::FSUB => true,
                opcode::FMUL => !in_library || llvm::users(instruction).len() == 1,
                _ => false,
            };
            if contracts {
                add_flags(instruction, ALLOW_CONTRACT);
            }
        }
    }
}

/// Adds fast-math flags to those that an instruction has.
pub fn add_flags(instruction: Value, flags: u32) {
    llvm::set_fast_math_flags(instruction, llvm::fast_math_flags(instruction) | flags);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    #[test]
    fn what_a_mathematical_function_uses_twice_is_not_contracted() {
        let parameters = "(float %a, float %b)";
        let body = "{
            %twice = fmul float %a, %b
            %once = fmul float %twice, %b
            %lost = fsub float %a, %twice
            %sum = fadd float %lost, %once
            ret float %sum
        }";
        let (_, module) = parse(&format!(
            "define float @library{parameters} \"oxwarp.math\" {body}
             define float @own{parameters} {body}"
        ));
        contract(module);
        let contracted = |name| {
            let instructions = llvm::instructions(llvm::function(module, name).unwrap());
            let arithmetic = instructions.into_iter().take(4);
            arithmetic
                .map(|instruction| llvm::fast_math_flags(instruction) == ALLOW_CONTRACT)
                .collect::<Vec<_>>()
        };
        assert_eq!(contracted("library"), [false, true, true, true]);
        assert_eq!(contracted("own"), [true; 4]);
    }
}
