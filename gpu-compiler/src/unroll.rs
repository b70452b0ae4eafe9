//! `gpu.unroll(count)`: a hint for the loop that the call stands in becomes the loop's metadata, which LLVM's unroller
//! and the back end read.
//!
//! Rotating a loop may copy its first block to a place before it, and the call in it. Of the copies of a call, which have
//! its place in the source, those in the most loops count.

use std::collections::BTreeMap;

use crate::llvm::{self, Block, Context, Metadata, Module, Value};
use crate::loop_checks::cfg::{Cfg, Loop};

const UNROLL: &str = "gpu.unroll";

/// Applies all hints of a module whose loops are in simple form.
pub fn apply(context: Context, module: Module) {
    let calls = llvm::function(module, UNROLL).map_or(Vec::new(), llvm::calls_of);
    let mut of_functions: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
    for call in calls {
        let calls = of_functions.entry(llvm::function_of(call)).or_default();
        calls.push(call);
    }
    for (function, calls) in of_functions {
        apply_to(context, function, &calls);
        for call in calls {
            llvm::erase(call);
        }
    }
}

fn apply_to(context: Context, function: Value, calls: &[Value]) {
    let cfg = Cfg::of(function);
    let loops = cfg.loops();
    let mut deepest: BTreeMap<Option<Metadata>, usize> = BTreeMap::new();
    let depth = |call| around(&loops, llvm::instruction_block(call)).count();
    for &call in calls {
        let known = deepest.entry(llvm::debug_location(call)).or_default();
        *known = depth(call).max(*known);
    }
    for &call in calls {
        let innermost = around(&loops, llvm::instruction_block(call))
            .min_by_key(|a_loop| a_loop.blocks().count());
        let count = llvm::is_constant_int(llvm::operand(call, 0)).map(llvm::zero_extended);
        if let (Some(a_loop), Some(count)) = (innermost, count)
            && deepest[&llvm::debug_location(call)] == depth(call)
        {
            hint(context, a_loop, count as u32);
        }
    }
}

fn around<'a>(loops: &[&'a Loop], block: Block) -> impl Iterator<Item = &'a Loop> {
    loops
        .iter()
        .copied()
        .filter(move |a_loop| a_loop.contains(block))
}

/// Sets `llvm.loop` on the branch back: a node that refers to itself, which makes it the loop's own, and to the hint.
fn hint(context: Context, a_loop: &Loop, count: u32) {
    let Some(branch) = llvm::terminator(a_loop.latch) else {
        return;
    };
    let property = match count {
        0 => llvm::node(context, &[llvm::text(context, "llvm.loop.unroll.full")]),
        1 => llvm::node(context, &[llvm::text(context, "llvm.loop.unroll.disable")]),
        _ => {
            let count = llvm::const_int(llvm::i32_type(context), count.into(), 0);
            let name = llvm::text(context, "llvm.loop.unroll.count");
            llvm::node(context, &[name, llvm::value_as_metadata(count)])
        }
    };
    let itself = llvm::temporary_node(context);
    let node = llvm::node(context, &[itself, property]);
    llvm::replace_metadata(itself, node);
    let kind = llvm::metadata_kind_named(context, "llvm.loop");
    llvm::set_metadata(branch, kind, llvm::metadata_as_value(context, node));
}
