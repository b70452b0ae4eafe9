//! Panics and what formats text: functions that are long, rarely run, and the same in every kernel.
//!
//! They are compiled once, as a module of their own, and kernels only declare them. So a kernel is compiled without them,
//! and none of them is specialised for one kernel. They are functions of the standard library or of the device's runtime,
//! and what they reach says nothing of a launch and needs nothing that is missing.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::formatting;
use crate::inert;
use crate::intrinsics;
use crate::launch_facts;
use crate::link;
use crate::llvm::{self, Context, FUNCTION_INDEX, Module, Value};
use crate::names;
use crate::parts;
use crate::request::Request;
use crate::step::{Step, Steps};
use crate::{emit, loop_checks, optimise, requirements, retarget};

/// The mark of these functions.
const SHARED: &str = "oxwarp.shared";
/// `gpu.*` symbols whose meaning does not depend on the kernel.
const GENERAL: [&str; 10] = [
    "gpu.atomic.",
    "gpu.free",
    "gpu.grid.leave",
    "gpu.llvm.nvvm.exit",
    "gpu.llvm.nvvm.read.ptx.sreg.",
    "gpu.malloc",
    "gpu.on_device",
    "gpu.panic.slot",
    "gpu.place",
    "gpu.print.buffer",
];

/// What is so of a kernel that calls a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub symbol: String,
    pub deep_stack: bool,
    pub prints: bool,
    pub allocates: bool,
}

/// The functions' code for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub ptx: String,
    pub functions: Vec<Facts>,
}

/// Finds and marks those functions in a linked module, and gives them names for PTX.
pub fn find(context: Context, module: Module, steps: &Steps) -> Vec<Value> {
    if steps.has(Step::SmallFormatting) {
        formatting::keep_small(context, module);
    }
    let special = reach_something_special(module);
    let functions: Vec<Value> = llvm::functions(module)
        .filter(|&function| !llvm::declared_only(function) && is_rare(function))
        .filter(|&function| !special.contains(&function) && is_library(function))
        .collect();
    for &function in &functions {
        parts::make_public(function);
        let mark = llvm::string_attribute(context, SHARED, "");
        llvm::add_attribute(function, FUNCTION_INDEX, mark);
    }
    functions
}

fn is_library(function: Value) -> bool {
    let path = names::path(&llvm::name(function));
    matches!(names::crate_of(&path), "core" | "alloc" | "gpu_std")
}

/// Whether a function is one of them, defined or declared.
pub fn is_shared(function: Value) -> bool {
    llvm::is_function(function).is_some() && llvm::has_string_attribute(function, SHARED)
}

/// A panic does not return; `formatting` has marked its functions. What asks to be inlined is for the caller to see.
fn is_rare(function: Value) -> bool {
    let has =
        |kind| llvm::enum_attribute(function, FUNCTION_INDEX, llvm::attribute(kind)).is_some();
    !has("alwaysinline") && (has("noreturn") || (has("minsize") && !has("inlinehint")))
}

/// The values that refer to something that is not [`GENERAL`], directly or not.
fn reach_something_special(module: Module) -> BTreeSet<Value> {
    let mut open: Vec<Value> = llvm::functions(module)
        .chain(llvm::globals(module))
        .filter(|&value| llvm::declared_only(value) && !is_general(&llvm::name(value)))
        .collect();
    let mut found = BTreeSet::new();
    while let Some(value) = open.pop() {
        for user in llvm::users(value) {
            let user = match llvm::is_instruction(user) {
                Some(instruction) => llvm::function_of(instruction),
                None => user,
            };
            if found.insert(user) {
                open.push(user);
            }
        }
    }
    found
}

fn is_general(name: &str) -> bool {
    let hosts = ["llvm.x86.", "llvm.aarch64.", "llvm.arm."];
    GENERAL.iter().any(|general| name.starts_with(general))
        || (name.starts_with("llvm.") && !hosts.iter().any(|host| name.starts_with(host)))
}

/// Compiles the functions of a module of them, given as bitcode: an image for each target. `cooperative` is whether one of
/// the kernels waits for its whole grid, which a thread that panics must then leave.
pub fn compile(bitcode: &[u8], cooperative: bool, request: &Request) -> Result<Vec<Image>, Error> {
    let context = llvm::context_create();
    let lowered = link::parse(context, bitcode, "panics and formatting")?;
    retarget::retarget(context, lowered);
    if cooperative {
        intrinsics::add_grid_barrier(context, lowered);
    }
    intrinsics::lower(context, lowered)?;
    inert::make_inert(context, lowered);
    optimise::verify(lowered)?;
    loop_checks::simplify(lowered)?;
    let mut images = Vec::new();
    for &target in &request.targets {
        let module = llvm::clone_module(lowered);
        requirements::fold(module, target);
        let machine = retarget::machine(target, target.isa())?;
        optimise::optimise(context, module, machine, &request.steps)?;
        requirements::take(module);
        let functions = llvm::functions(module)
            .filter(|&function| !llvm::declared_only(function) && !llvm::is_local(function))
            .map(facts);
        images.push(Image {
            functions: functions.collect(),
            ptx: emit::emit(module, machine, &request.steps)?,
        });
    }
    Ok(images)
}

fn facts(function: Value) -> Facts {
    Facts {
        symbol: llvm::name(function),
        deep_stack: launch_facts::deep_stack(function),
        prints: launch_facts::prints(function),
        allocates: launch_facts::allocates(function),
    }
}
