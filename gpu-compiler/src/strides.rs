//! Addresses that go on by the same number of bytes at each trip of a loop, as pointers that are added to.
//!
//! LLVM's strength reduction makes such pointers, but in the back end, after loops are unrolled: of the four addresses of a
//! loop that is unrolled by four it then keeps four strides in registers, and what the trips that are left over start
//! from. Registers are loads that can be under way at once. Made before, each address is the one before it and one
//! stride.
//!
//! Not in functions with nests of loops: there the pointers of an outer loop would take the inner loop's registers.

use crate::error::Error;
use crate::llvm::{self, Module, Value};
use crate::loop_checks::cfg::{Cfg, Loop};
use crate::optimise::run_function_passes;

const REDUCE: &str = "early-cse,loop-mssa(licm),loop-simplify,lcssa,loop(loop-reduce)";

/// Reduces the addresses of a module's functions.
pub fn reduce(module: Module) -> Result<(), Error> {
    let functions = llvm::functions(module).filter(|&function| !llvm::declared_only(function));
    for function in functions.filter(|&function| has_flat_loops(function)) {
        run_function_passes(function, REDUCE)?;
    }
    Ok(())
}

/// Whether there are loops, and none in another.
fn has_flat_loops(function: Value) -> bool {
    let cfg = Cfg::of(function);
    let loops = cfg.loops();
    let around = |header| loops.iter().filter(move |around| around.contains(header));
    let is_flat = |a_loop: &&Loop| around(a_loop.header).count() == 1;
    !loops.is_empty() && loops.iter().all(is_flat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::opcode;
    use crate::notation::parse;

    /// How many products the loops of a function compute at each trip.
    fn products(body: &str) -> usize {
        let (_, module) = parse(&format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            define void @f(ptr %p, i64 %n) {{
            entry:
                br label %outer
            {body}
            exit:
                ret void
            }}"
        ));
        reduce(module).unwrap();
        crate::optimise::verify(module).unwrap();
        let function = llvm::function(module, "f").unwrap();
        let cfg = Cfg::of(function);
        let loops = cfg.loops();
        let products = llvm::instructions(function)
            .into_iter()
            .filter(|&instruction| llvm::opcode(instruction) == opcode::MUL);
        let in_loop = |&product: &Value| {
            let block = llvm::instruction_block(product);
            loops.iter().any(|around| around.contains(block))
        };
        products.filter(in_loop).count()
    }

    const STORE: &str = "%far = mul nuw i64 %k, %n
        %at = getelementptr inbounds float, ptr %p, i64 %far
        store float 0.0, ptr %at";

    #[test]
    fn an_address_with_a_stride_of_run_time_is_added_to() {
        let body = format!(
            "outer:
                %k = phi i64 [ 0, %entry ], [ %next, %outer ]
                {STORE}
                %next = add nuw nsw i64 %k, 1
                %more = icmp ult i64 %next, 1000
                br i1 %more, label %outer, label %exit"
        );
        assert_eq!(products(&body), 0);
    }

    #[test]
    fn a_nest_of_loops_is_left_as_it_is() {
        let body = format!(
            "outer:
                %j = phi i64 [ 0, %entry ], [ %then, %latch ]
                br label %inner
            inner:
                %k = phi i64 [ 0, %outer ], [ %next, %inner ]
                {STORE}
                %next = add nuw nsw i64 %k, 1
                %more = icmp ult i64 %next, 1000
                br i1 %more, label %inner, label %latch
            latch:
                %then = add nuw nsw i64 %j, 1
                %again = icmp ult i64 %then, 1000
                br i1 %again, label %outer, label %exit"
        );
        assert_eq!(products(&body), 1);
    }
}
