//! What the code asks of its target (`gpu_std::target`).
//!
//! - `gpu.target.sm()` is a number for each target. It is put in before that target's module is optimised, so that the
//!   branch which is not taken goes away with all that it needs.
//! - `gpu.require.sm(sm, text, length)`, where one is left in a module of a lower target, is an error of the user's code.
//! - `gpu.require.ptx(version)` raises the PTX ISA that the module is written in.
//!
//! Until then the calls stay, [inert](crate::inert).

use crate::llvm::{self, Builder, Module, Value};
use crate::rust_constant;
use crate::target::Target;

const TARGET_SM: &str = "gpu.target.sm";
const REQUIRE_SM: &str = "gpu.require.sm";
const REQUIRE_PTX: &str = "gpu.require.ptx";

/// Asks for a version of PTX where the builder stands, as `gpu_std::target::require_ptx` does.
pub fn require_ptx(module: Module, builder: Builder, version: u32) {
    let context = llvm::module_context(module);
    let number = llvm::i32_type(context);
    let signature = llvm::signature(llvm::void_type(context), &[number]);
    let function = llvm::declare(module, REQUIRE_PTX, signature);
    let version = llvm::const_int(number, version.into(), 0);
    llvm::call(builder, signature, function, &[version]);
}

/// Puts in the number of the target.
pub fn fold(module: Module, target: Target) {
    for call in calls(module, TARGET_SM) {
        let number = llvm::const_int(llvm::type_of(call), target.0.into(), 0);
        llvm::replace_instruction(call, number);
    }
}

/// A call of `gpu.require.sm` that says more than `target` has, as what is wrong and what to do.
pub fn unmet(call: Value, target: Target) -> Option<(String, String)> {
    if llvm::name(llvm::called_value(call)) != REQUIRE_SM {
        return None;
    }
    let constant =
        |index| llvm::is_constant_int(llvm::operand(call, index)).map(llvm::zero_extended);
    let needed = constant(0).zip(constant(2)).and_then(|(sm, length)| {
        let text = rust_constant::bytes(llvm::operand(call, 1))?;
        let item = String::from_utf8_lossy(text.get(..length as usize)?).into_owned();
        Some((sm, item))
    });
    let Some((sm, item)) = needed else {
        return Some((
            "what `require_sm` is given is not a constant".into(),
            "give it a number and a text that are known when the code is compiled".into(),
        ));
    };
    (sm > u64::from(target.0)).then(|| {
        (
            format!("{item} needs sm_{sm} or newer, and this crate is compiled for {target}"),
            format!(
                "compile it for sm_{sm} with `targets = [\"sm_{sm}\"]` under `[package.metadata.oxwarp]` in Cargo.toml, or with \
                 OXWARP_TARGETS=sm_{sm} (the driver compiles the PTX of a target for that GPU and all newer ones; older ones \
                 then refuse it); or keep older GPUs from it with `if target::sm() >= {sm} {{ .. }} else {{ .. }}`"
            ),
        )
    })
}

/// Removes the calls from an optimised module; the PTX ISA that they ask for.
pub fn take(module: Module) -> u32 {
    let versions = calls(module, REQUIRE_PTX);
    let version = versions
        .iter()
        .filter_map(|&call| llvm::is_constant_int(llvm::operand(call, 0)))
        .map(|number| llvm::zero_extended(number) as u32)
        .max();
    for call in versions.into_iter().chain(calls(module, REQUIRE_SM)) {
        llvm::erase(call);
    }
    version.unwrap_or(0)
}

fn calls(module: Module, name: &str) -> Vec<Value> {
    llvm::function(module, name).map_or(Vec::new(), llvm::calls_of)
}
