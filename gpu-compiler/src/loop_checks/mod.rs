//! Takes bounds checks out of loops without giving them up.
//!
//! In `for k in 0..n { acc += a[row * n + k] * b[k * n + col]; }` both indices grow with `k`. If they are in bounds at
//! the last trip, and their arithmetic does not wrap there, they are in bounds at every trip. So:
//!
//! 1. [`cfg`] finds the loops, [`induction`] what counts them, [`precondition`] the checks that this holds for;
//! 2. before the loop, once, a condition is computed that implies every such check of the loop;
//! 3. it is or-ed into each check, which stays exact;
//! 4. LLVM's loop unswitching splits the loop on it: the fast copy has no checks, the other is the loop as it was, so a
//!    panic has the same place and values as before.
//!
//! This runs before the back end is known to the passes: LLVM does not unswitch a condition that depends on the thread
//! where it knows of threads. Here it may: both copies are free of barriers, which unswitching refuses to copy.

pub mod cfg;
mod induction;
mod precondition;

use crate::error::Error;
use crate::llvm::{self, Context, Module, Value};
use crate::optimise::run_passes;

use cfg::{Cfg, Loop};
use precondition::Precondition;

/// Brings the module into the form in which loops and checks are plain to see. LLVM's own pipelines would go too far:
/// `indvars` turns the comparison of a check into one with the loop's trip count.
const SIMPLIFY: &str = "always-inline,globalopt,\
    cgscc(devirt<4>(inline,function-attrs,function(sroa<modify-cfg>,early-cse<memssa>,jump-threading,\
        correlated-propagation,simplifycfg,instcombine<no-verify-fixpoint>))),\
    function(loop-mssa(loop-instsimplify,loop-simplifycfg,loop-rotate,licm),simplifycfg,\
        instcombine<no-verify-fixpoint>,loop-simplify,lcssa)";
/// Splits the loops and cleans up.
const UNSWITCH: &str = "function(loop-simplify,lcssa,loop-mssa(simple-loop-unswitch<nontrivial>),\
    simplifycfg,instcombine<no-verify-fixpoint>)";

/// Brings the module into the form that [`version`] wants.
pub fn simplify(module: Module) -> Result<(), Error> {
    run_passes(module, SIMPLIFY, None)
}

/// Versions the checks of all loops.
pub fn version(context: Context, module: Module) -> Result<(), Error> {
    let mut versioned = false;
    for function in llvm::functions(module)
        .filter(|&function| !llvm::declared_only(function))
        .collect::<Vec<_>>()
    {
        versioned |= version_function(context, module, function);
    }
    if versioned {
        run_passes(module, UNSWITCH, None)
    } else {
        Ok(())
    }
}

fn version_function(context: Context, module: Module, function: Value) -> bool {
    let cfg = Cfg::of(function);
    let mut versioned = false;
    for a_loop in cfg.loops() {
        versioned |= version_loop(context, module, &cfg, &a_loop);
    }
    versioned
}

fn version_loop(context: Context, module: Module, cfg: &Cfg, a_loop: &Loop) -> bool {
    if a_loop.has_convergent_call() {
        return false;
    }
    let Some(counter) = induction::counter(cfg, a_loop) else {
        return false;
    };
    let checks = precondition::checks(cfg, a_loop, &counter);
    if checks.is_empty() {
        return false;
    }
    let holds = Precondition::new(context, module, a_loop, &counter).of(&checks);
    for check in checks {
        check.skip_if(context, holds);
    }
    true
}
