//! What each kernel says of its launches, and what follows for its code.
//!
//! A kernel that calls `grid::sync()` must be launched cooperatively; its threads then also say when they end, so that
//! none waits for them (`gpu.grid.leave`). A kernel that calls `thread::index_1d()` is right only in one-dimensional
//! launches (`gpu.launch.dimensions`). The runtime refuses others, so such a kernel reads 0 for `threadIdx.y` and 1 for
//! `blockDim.y` without asking the hardware, in the code that is inlined into it.

use std::collections::{BTreeMap, BTreeSet};

use crate::intrinsics::PRINT_BUFFER;
use crate::llvm::{self, Context, FUNCTION_INDEX, Module, Value, opcode};
use crate::reach::reach;
use crate::records::Kernel;

/// `gpu_std::intrinsics::launch_dimensions`.
const DIMENSIONS: &str = "gpu.launch.dimensions";

/// `gpu_std::intrinsics::grid_barrier`.
const GRID_BARRIER: &str = "gpu.grid.barrier";
/// `gpu_std::intrinsics::grid_leave`.
const GRID_LEAVE: &str = "gpu.grid.leave";

/// The most dimensions that any launch has.
pub const ANY: u32 = 3;

/// How a kernel must be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The most dimensions of a launch.
    pub dimensions: u32,
    /// Whether all blocks must run at once.
    pub cooperative: bool,
}

/// Finds how a kernel must be launched, and applies that to the code.
pub fn apply(context: Context, module: Module, kernel: &Kernel) -> Facts {
    let reached = reach(kernel.function).functions;
    let facts = Facts {
        dimensions: dimensions_of(&reached),
        cooperative: asks_for(&reached, GRID_BARRIER),
    };
    remove_dimension_calls(module);
    if facts.cooperative {
        leave_at_return(context, module, kernel.function);
    }
    facts
}

fn asks_for(reached: &BTreeSet<Value>, name: &str) -> bool {
    calls_in(reached).any(|call| llvm::name(llvm::called_value(call)) == name)
}

/// Lets each thread say that it ends, before the kernel returns.
fn leave_at_return(context: Context, module: Module, kernel: Value) {
    let signature = llvm::signature(llvm::void_type(context), &[]);
    let leave = llvm::declare(module, GRID_LEAVE, signature);
    let builder = llvm::create_builder(context);
    let returns = llvm::instructions(kernel)
        .into_iter()
        .filter(|&instruction| llvm::opcode(instruction) == opcode::RETURN);
    for instruction in returns {
        llvm::position_before(builder, instruction);
        llvm::call(builder, signature, leave, &[]);
    }
}

fn dimensions_of(reached: &BTreeSet<Value>) -> u32 {
    let asked = calls_in(reached)
        .filter(|&call| llvm::name(llvm::called_value(call)) == DIMENSIONS)
        .filter_map(|call| llvm::is_constant_int(llvm::operand(call, 0)))
        .map(|number| llvm::zero_extended(number) as u32);
    asked.min().unwrap_or(ANY)
}

fn calls_in(functions: &BTreeSet<Value>) -> impl Iterator<Item = Value> {
    functions
        .iter()
        .flat_map(|&function| llvm::instructions(function))
        .filter(|&i| llvm::is_call_site(i))
}

/// Whether a kernel, once optimised, can call itself or through a pointer, so that `ptxas` cannot know its stack.
pub fn deep_stack(kernel: Value) -> bool {
    let reached = reach(kernel).functions;
    let through_pointer = |callee: Value| {
        llvm::is_function(callee).is_none() && llvm::is_inline_asm(callee).is_none()
    };
    calls_in(&reached)
        .map(llvm::called_value)
        .any(through_pointer)
        || recursive(&reached)
}

/// Whether a function of the set can come back to itself by direct calls.
fn recursive(reached: &BTreeSet<Value>) -> bool {
    let mut callees: BTreeMap<Value, BTreeSet<Value>> = BTreeMap::new();
    for &function in reached {
        let called = llvm::instructions(function)
            .into_iter()
            .filter(|&i| llvm::is_call_site(i))
            .map(llvm::called_value);
        callees.insert(
            function,
            called.filter(|callee| reached.contains(callee)).collect(),
        );
    }
    // What calls nothing that is left can be taken away; a cycle is what never can.
    loop {
        let before = callees.len();
        let left: BTreeSet<Value> = callees.keys().copied().collect();
        callees.retain(|_, called| called.iter().any(|callee| left.contains(callee)));
        if callees.is_empty() || callees.len() == before {
            return !callees.is_empty();
        }
    }
}

fn remove_dimension_calls(module: Module) {
    if let Some(function) = llvm::function(module, DIMENSIONS) {
        for call in llvm::calls_of(function) {
            llvm::erase(call);
        }
    }
}

/// Puts what the launches' dimensions say into the code, when what a kernel calls is inlined into it. A panic says the
/// whole place: its code is the same in all kernels.
pub fn fold(module: Module, facts: Facts) {
    let noreturn = llvm::attribute("noreturn");
    for (register, value) in [("tid", 0), ("ctaid", 0), ("ntid", 1), ("nctaid", 1)] {
        for (dimension, letter) in [(2, "y"), (3, "z")] {
            let name = format!("llvm.nvvm.read.ptx.sreg.{register}.{letter}");
            let Some(function) =
                llvm::function(module, &name).filter(|_| facts.dimensions < dimension)
            else {
                continue;
            };
            for call in llvm::calls_of(function) {
                let caller = llvm::function_of(call);
                if llvm::enum_attribute(caller, FUNCTION_INDEX, noreturn).is_none() {
                    llvm::replace_instruction(call, llvm::const_int(llvm::type_of(call), value, 0));
                }
            }
        }
    }
}

/// Whether a kernel, once optimised, can print.
pub fn prints(kernel: Value) -> bool {
    reach(kernel)
        .globals
        .iter()
        .any(|&global| llvm::name(global) == PRINT_BUFFER)
}

/// Whether a kernel, once optimised, can allocate from the heap.
pub fn allocates(kernel: Value) -> bool {
    reach(kernel)
        .functions
        .iter()
        .any(|&function| llvm::name(function) == "malloc")
}

/// Bytes of static shared memory that a kernel uses, in any order of its arrays.
pub fn shared_bytes(kernel: Value) -> u32 {
    let globals = reach(kernel).globals;
    let arrays = globals
        .iter()
        .filter(|&&global| llvm::pointer_address_space(llvm::type_of(global)) == llvm::SHARED);
    let bytes = |&array: &Value| {
        let len = llvm::array_length(llvm::value_type(array)) as u32;
        len.next_multiple_of(llvm::alignment(array))
    };
    arrays.map(bytes).sum()
}
