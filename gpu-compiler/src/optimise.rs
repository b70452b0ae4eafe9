//! LLVM's own `-O3` pipeline, with the NVPTX back end's additions, and the marks for read-only loads.
//!
//! A load through a `&[T]` parameter may use the read-only data cache (`ld.global.nc`): nothing writes that memory
//! during the launch, because the host lent it to the launch by `&`. LLVM selects that instruction for loads marked
//! `invariant.load`, and moves them out of loops that write other memory. The marks are set when everything is inlined,
//! on the loads whose address derives from such a parameter and nothing else; and again at the end, on those that the
//! passes made.

use std::collections::BTreeSet;
use std::ptr;

use crate::copies;
use crate::error::Error;
use crate::flat_constants;
use crate::intrinsics::READ_ONLY;
use crate::llvm::{self, Context, Module, TargetMachine, Value};
use crate::merged_checks;
use crate::nested_loads;
use crate::own_atomics;
use crate::rows;
use crate::short_comparisons;
use crate::special_cases;
use crate::step::{Step, Steps};

/// Optimises the module for `machine`.
pub fn optimise(
    context: Context,
    module: Module,
    machine: TargetMachine,
    steps: &Steps,
) -> Result<(), Error> {
    if !steps.has(Step::ReadOnlyLoads) {
        // No load comes from a parameter that is known to be read-only.
        erase_read_only_calls(module);
    }
    mark_read_only_loads(context, module);
    // Accesses of shared memory that are known to be aligned become wide ones.
    let hidden = flat_constants::hide(context, module);
    run_passes(module, "function(infer-address-spaces)", Some(machine))?;
    hidden.show();
    run_passes(module, "default<O3>", Some(machine))?;
    own_atomics::lower(context, module);
    own_atomics::distinguish(context, module)?;
    if steps.has(Step::ShortCopies) {
        copies::write_out(context, module);
    }
    if steps.has(Step::ShortComparisons) {
        short_comparisons::shorten(context, module);
    }
    mark_read_only_loads(context, module);
    erase_read_only_calls(module);
    run_passes(
        module,
        "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg),globaldce",
        Some(machine),
    )?;
    // Last: `instcombine` would move loads behind the merged branch, each to where it is used.
    if steps.has(Step::MergedChecks) {
        merged_checks::merge(context, module);
    }
    run_passes(module, "function(simplifycfg)", Some(machine))?;
    if steps.has(Step::NestedLoads) {
        nested_loads::take_out(context, module);
    }
    if steps.has(Step::SpecialCases) {
        special_cases::ask_once(context, module);
    }
    if steps.has(Step::MatrixRows) {
        rows::simplify(module);
    }
    Ok(())
}

/// Runs a pipeline in LLVM's textual form.
pub fn run_passes(
    module: Module,
    passes: &str,
    machine: Option<TargetMachine>,
) -> Result<(), Error> {
    let options = llvm::create_pass_options();
    // SAFETY: the text lives through the call.
    let error =
        unsafe { llvm::run_passes(module, llvm::c_string(passes).as_ptr(), machine, options) };
    succeeded(error)
}

/// Runs a pipeline of function passes on one function.
pub fn run_function_passes(function: Value, passes: &str) -> Result<(), Error> {
    let options = llvm::create_pass_options();
    let passes = llvm::c_string(passes);
    // SAFETY: the text lives through the call.
    succeeded(unsafe { llvm::run_passes_on_function(function, passes.as_ptr(), None, options) })
}

fn succeeded(error: Option<llvm::PassError>) -> Result<(), Error> {
    let Some(error) = error else { return Ok(()) };
    // SAFETY: the error is not used again.
    let cause = unsafe { llvm::owned_text(llvm::pass_error_message(error)) };
    Err(Error::Llvm {
        step: "passes",
        cause,
    })
}

/// Fails with LLVM's own words if the module is not well-formed.
pub fn verify(module: Module) -> Result<(), Error> {
    let mut message = ptr::null_mut();
    let return_status = 2;
    // SAFETY: LLVM writes the message.
    let broken = unsafe { llvm::verify_module(module, return_status, &mut message) } != 0;
    // SAFETY: LLVM wrote the message.
    let cause = unsafe { llvm::owned_text(message) };
    if broken {
        Err(Error::Llvm {
            step: "verifier",
            cause,
        })
    } else {
        Ok(())
    }
}

fn mark_read_only_loads(context: Context, module: Module) {
    let Some(mark) = llvm::function(module, READ_ONLY) else {
        return;
    };
    let calls = llvm::calls_of(mark).into_iter();
    let read_only: BTreeSet<Value> = calls.map(|call| llvm::operand(call, 0)).collect();
    let node = llvm::empty_metadata(context);
    let invariant = llvm::metadata_kind_named(context, "invariant.load");
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        for load in llvm::instructions(function)
            .into_iter()
            .filter_map(llvm::is_load)
        {
            if derives_from(llvm::operand(load, 0), &read_only, &mut BTreeSet::new()) {
                llvm::set_metadata(load, invariant, node);
            }
        }
    }
}

fn erase_read_only_calls(module: Module) {
    for call in llvm::function(module, READ_ONLY).map_or_else(Vec::new, llvm::calls_of) {
        llvm::erase(call);
    }
}

/// Whether every object that `address` may point into is one of `objects`. A cycle of phis adds no object.
fn derives_from(address: Value, objects: &BTreeSet<Value>, seen: &mut BTreeSet<Value>) -> bool {
    if objects.contains(&address) || !seen.insert(address) {
        return true;
    }
    let mut from = |index| derives_from(llvm::operand(address, index), objects, seen);
    if llvm::is_gep(address).is_some() || llvm::is_address_space_cast(address).is_some() {
        from(0)
    } else if llvm::is_select(address).is_some() {
        from(1) && from(2)
    } else if llvm::is_phi(address).is_some() {
        (0..llvm::operand_count(address) as u32).all(from)
    } else {
        false
    }
}
