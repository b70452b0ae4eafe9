//! What a kernel chooses of its own code: contraction, fast mathematics, no checks.
//!
//! A choice is for the kernel and all that it reaches, which its module has for itself alone.

use std::collections::BTreeMap;

use crate::fast_math;
use crate::llvm::{self, ALLOW_CONTRACT, Context, Module, Value, opcode};
use crate::math;
use crate::records::Choices;
use crate::unchecked;

/// Applies a kernel's choices to its module, where `fma` is the crate's. `replacements` is the runtime's table.
pub fn apply(
    context: Context,
    module: Module,
    choices: Choices,
    fma: bool,
    replacements: &BTreeMap<String, String>,
) {
    if fma && choices.fma {
        contract(module);
    }
    if choices.fast_math {
        fast_math::apply(context, module);
    }
    if choices.unchecked {
        unchecked::mark(context, module, replacements);
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
