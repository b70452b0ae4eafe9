//! Takes bounds checks out of loops without giving them up.
//!
//! In `for k in 0..n { acc += a[row * n + k] * b[k * n + col]; }` both indices grow with `k`. If they are in bounds at
//! the last trip, and their arithmetic does not wrap there, they are in bounds at every trip. So:
//!
//! 1. [`cfg`] finds the loops, [`checks`] the checks; [`bounds`] computes the largest value that an index can have in a
//!    loop or a nest of loops, from what [`induction`] says of the loop's counters and [`guards`] of the branches;
//! 2. before the loop, once, a condition is computed that implies every such check of the loop;
//! 3. it is or-ed into each check, which stays exact;
//! 4. LLVM's loop unswitching splits the loop on it: the fast copy has no checks, the other is the loop as it was, so a
//!    panic has the same place and values as before.
//!
//! When the module is optimised, [`ends`] gives the fast copy its own end.
//!
//! A loop that holds a barrier is copied too, if the condition is the same in all threads of the block ([`uniform`],
//! [`hidden`]).
//!
//! This runs before the back end is known to the passes: LLVM does not unswitch a condition that depends on the thread
//! where it knows of threads. Where there is no barrier in the loop, it may.

mod bounds;
pub mod cfg;
mod checks;
mod ends;
mod exact;
mod guards;
mod hidden;
pub mod induction;
mod multiples;
#[cfg(test)]
mod tests;
mod uniform;
mod wide;

use crate::error::Error;
use crate::llvm::{self, Context, Module, Value};
use crate::optimise::run_passes;

use bounds::Bounds;
use cfg::{Cfg, Loop};
use checks::Check;
pub use ends::divide as divide_ends;
use hidden::Hidden;

/// Brings the module into the form in which loops and checks are plain to see. LLVM's own pipelines would go too far:
/// `indvars` turns the comparison of a check into one with the loop's trip count.
const SIMPLIFY: &str = "always-inline,globalopt,\
    cgscc(devirt<4>(inline,function-attrs,function(sroa<modify-cfg>,early-cse<memssa>,jump-threading,\
        correlated-propagation,simplifycfg,instcombine<no-verify-fixpoint>))),\
    function(loop-mssa(loop-instsimplify,loop-simplifycfg,loop-rotate,licm),simplifycfg,\
        instcombine<no-verify-fixpoint>,loop-simplify,lcssa)";
/// Splits the loops.
const UNSWITCH: &str = "function(loop-simplify,lcssa,loop-mssa(simple-loop-unswitch<nontrivial>))";
/// Takes away what cannot be reached in either copy.
const CLEAN_UP: &str =
    "function(simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa)";

/// Puts what has become known since into the code, and its loops into simple form again.
pub fn tidy(module: Module) -> Result<(), Error> {
    run_passes(
        module,
        "function(instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa)",
        None,
    )
}

/// Brings the module into the form that [`version`] wants.
pub fn simplify(module: Module) -> Result<(), Error> {
    run_passes(module, SIMPLIFY, None)
}

/// Versions the checks of all loops. `widens` is whether indices become as wide as addresses where they do not wrap.
pub fn version(context: Context, module: Module, widens: bool) -> Result<(), Error> {
    let mut hidden = Hidden::new(context, module);
    let mut versioned = false;
    for function in llvm::functions(module).collect::<Vec<_>>() {
        if !llvm::declared_only(function) {
            versioned |= version_function(context, module, function, widens, &mut hidden);
        }
    }
    if versioned {
        run_passes(module, UNSWITCH, None)?;
        hidden.restore();
        run_passes(module, CLEAN_UP, None)?;
        if widens {
            wide::widen(llvm::create_builder(context), module);
        }
    }
    Ok(())
}

/// A loop, a condition before it, and what the condition implies.
struct Version<'a> {
    a_loop: &'a Loop,
    holds: Value,
    /// These pass.
    checks: Vec<Check>,
    /// These do not wrap.
    exact: Vec<Value>,
}

fn version_function(
    context: Context,
    module: Module,
    function: Value,
    widens: bool,
    hidden: &mut Hidden,
) -> bool {
    let cfg = Cfg::of(function);
    // A check belongs to the outermost loop that has a condition for it.
    let mut left: Vec<Check> = cfg.blocks().filter_map(Check::at).collect();
    let mut versions = Vec::new();
    for a_loop in cfg.loops() {
        versions.extend(version_loop(
            context, module, &cfg, a_loop, widens, &mut left,
        ));
    }
    let builder = llvm::create_builder(context);
    for version in &versions {
        hidden.hide(&cfg, version.a_loop);
    }
    for version in &versions {
        for check in &version.checks {
            check.skip_if(builder, version.holds);
        }
        exact::apply(builder, version.holds, &version.exact);
    }
    !versions.is_empty()
}

/// Builds the condition of the checks among `left` that have one in this loop, and takes them out.
fn version_loop<'a>(
    context: Context,
    module: Module,
    cfg: &Cfg,
    a_loop: &'a Loop,
    widens: bool,
    left: &mut Vec<Check>,
) -> Option<Version<'a>> {
    if !left.iter().any(|check| a_loop.contains(check.block)) || !Hidden::can_hide(a_loop) {
        return None;
    }
    let builder = llvm::create_builder(context);
    llvm::position_before(builder, llvm::terminator(a_loop.preheader)?);
    let mut bounds = Bounds::new(module, builder, cfg, a_loop);
    let mut conditions = Vec::new();
    let checks: Vec<Check> = left
        .extract_if(.., |check| {
            let implied = a_loop.contains(check.block).then(|| bounds.implies(check));
            conditions.extend(implied.flatten());
            implied.flatten().is_some()
        })
        .collect();
    conditions.extend(bounds.conditions());
    let all = conditions
        .into_iter()
        .reduce(|all, condition| llvm::and(builder, all, condition))?;
    // An undefined length must not make a check pass in one place and fail in another.
    let holds = llvm::freeze(builder, all);
    let exact = bounds.exact().to_vec();
    // Where no check can fail, the loop is copied only for what else the condition says.
    let gains = |check: &Check| !check.is_promised() || widens && wide::become_wide(a_loop, &exact);
    checks.iter().any(gains).then_some(Version {
        a_loop,
        holds,
        checks,
        exact,
    })
}
