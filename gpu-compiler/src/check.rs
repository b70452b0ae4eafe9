//! Reports what is left in a kernel that no device can run, with the lines that lead there.
//!
//! It looks at the optimised module: code that is never reached is gone by then, and each call still carries the places
//! it was inlined from.

use std::collections::BTreeSet;

use crate::host_pointers;
use crate::link::undefined;
use crate::linked::Linked;
use crate::llvm::{self, Context, Metadata, Module, Value};
use crate::missing;
use crate::names;
use crate::reach::reach;
use crate::records::Kernel;
use crate::report::{Diagnostic, Place};
use crate::requirements;
use crate::shared_code::is_shared;
use crate::target::Target;

/// Functions that CUDA's own runtime gives to every module.
const PROVIDED: [&str; 3] = ["malloc", "free", "vprintf"];

/// Marks the inline assembly that the module has now, which is the host's.
pub fn mark_host_assembly(context: Context, module: Module) {
    let mark = llvm::empty_metadata(context);
    for function in llvm::functions(module) {
        for call in llvm::instructions(function)
            .into_iter()
            .filter(|&i| calls_assembly(i))
        {
            llvm::set_metadata(call, host_assembly(context), mark);
        }
    }
}

fn calls_assembly(instruction: Value) -> bool {
    llvm::is_call_site(instruction)
        && llvm::is_inline_asm(llvm::called_value(instruction)).is_some()
}

/// The kind of the mark.
fn host_assembly(context: Context) -> u32 {
    llvm::metadata_kind_named(context, "oxwarp.host_assembly")
}

/// Finds everything in a kernel that cannot run, once for each cause.
pub fn check(
    context: Context,
    module: Module,
    kernel: &Kernel,
    target: Target,
    linked: &Linked,
) -> Vec<Diagnostic> {
    let mut missing: BTreeSet<Value> = undefined(module)
        .into_iter()
        .filter(|&value| !PROVIDED.contains(&llvm::name(value).as_str()))
        .filter(|&value| !is_shared_memory(value) && !is_shared(value))
        .collect();
    missing.extend(llvm::functions(module).filter(|&function| {
        is_host_intrinsic(function) || missing::instead_of(function).is_some()
    }));
    check_kernel(context, kernel, &missing, target, linked)
}

/// Whether it is dynamic shared memory, which a launch provides.
fn is_shared_memory(value: Value) -> bool {
    llvm::pointer_address_space(llvm::type_of(value)) == llvm::SHARED
}

/// LLVM's intrinsics for a host's own instructions.
fn is_host_intrinsic(function: Value) -> bool {
    const HOSTS: [&str; 3] = ["llvm.x86.", "llvm.aarch64.", "llvm.arm."];
    let name = llvm::name(function);
    HOSTS.iter().any(|host| name.starts_with(host))
}

/// What is wrong, and what to do instead.
type Fault = (String, String);

fn check_kernel(
    context: Context,
    kernel: &Kernel,
    missing: &BTreeSet<Value>,
    target: Target,
    linked: &Linked,
) -> Vec<Diagnostic> {
    let reached = reach(kernel.function).functions;
    let instructions = reached.into_iter().flat_map(llvm::instructions);
    let mut found: Vec<(Value, Fault)> = instructions
        .flat_map(|instruction| {
            faults(context, instruction, missing, target, linked)
                .into_iter()
                .map(move |fault| (instruction, fault))
        })
        .collect();
    found.extend(
        host_pointers::loads(kernel)
            .into_iter()
            .map(|load| (load, host_pointer())),
    );
    let mut reported = BTreeSet::new();
    found.retain(|(_, (message, _))| reported.insert(message.clone()));
    found
        .into_iter()
        .map(|(instruction, fault)| describe(kernel, instruction, fault))
        .collect()
}

fn describe(kernel: &Kernel, instruction: Value, (message, help): Fault) -> Diagnostic {
    let mut places = places_of(instruction);
    places.extend(callers(kernel.function, llvm::function_of(instruction)));
    Diagnostic {
        kernel: kernel.name.clone(),
        module: kernel.module_path.clone(),
        file: kernel.file.clone(),
        line: kernel.line,
        message,
        help,
        places,
    }
}

fn host_pointer() -> Fault {
    (
        "a parameter, or what a closure captures, holds a reference or function pointer of the host".into(),
        "pass slices as parameters of their own (`x: &[T]`), and other data by value".into(),
    )
}

fn faults(
    context: Context,
    instruction: Value,
    missing: &BTreeSet<Value>,
    target: Target,
    linked: &Linked,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    if calls_assembly(instruction) && llvm::metadata(instruction, host_assembly(context)).is_some()
    {
        faults.push((
            "host inline assembly cannot run on a GPU".into(),
            "write it in Rust, or keep it out of the kernel".into(),
        ));
    }
    if llvm::is_call_site(instruction) {
        faults.extend(requirements::unmet(instruction, target));
    }
    faults.extend(llvm::operands(instruction).filter_map(thread_local));
    faults.extend(
        llvm::operands(instruction)
            .filter(|operand| missing.contains(operand))
            .filter_map(|operand| {
                let known = linked.fault(&llvm::name(operand), target);
                known.unwrap_or_else(|| Some(no_device_code(operand)))
            }),
    );
    faults
}

/// An address of a thread-local variable, where it is used: the call that gives it may stand anywhere. std's own come with
/// functions of the operating system, which are reported.
fn thread_local(address: Value) -> Option<Fault> {
    let call = llvm::is_call(address)?;
    let variable = llvm::is_global_variable(llvm::operand(call, 0))?;
    let path = names::path(&llvm::name(variable));
    let is_own = llvm::is_thread_local(variable) != 0 && names::crate_of(&path) != "std";
    is_own.then(|| {
        (
            format!("`{path}` is a thread-local variable, which threads of a GPU do not have"),
            "use a local variable, passed on by reference, or atomics in a `static` that all threads share".into(),
        )
    })
}

fn no_device_code(value: Value) -> Fault {
    let symbol = missing::instead_of(value).unwrap_or_else(|| llvm::name(value));
    let path = names::path(&symbol);
    if let Some(intrinsic) = symbol.strip_prefix("llvm.") {
        let message = format!("the host's instruction `{intrinsic}` cannot run on a GPU");
        return (message, "use portable Rust instead of `core::arch`".into());
    }
    if !names::is_rust(&symbol) {
        let message = format!("the external C function `{symbol}` has no device code");
        return (
            message,
            "a kernel can call Rust functions; write this one in Rust".into(),
        );
    }
    let message = format!("`{path}` has no device code");
    let help = match host_crate(&symbol, &path).as_str() {
        "std" if path.starts_with("std::io::stdio::") => {
            "a kernel prints with `print!`, `println!`, `eprint!` and `eprintln!`".into()
        }
        "std" => "it needs the operating system, which a kernel cannot reach: call it on the host, before or after the launch".into(),
        "core" | "alloc" => {
            "a crate that this one depends on compiled it, for the host only: put `rustflags = [\"-Cembed-bitcode=yes\"]` under \
             `[build]` in .cargo/config.toml"
                .into()
        }
        krate => format!(
            "the crate `{krate}` compiled it for the host only: put `rustflags = [\"-Cembed-bitcode=yes\"]` under `[build]` in \
             .cargo/config.toml, mark it `#[inline]` there, or make it generic"
        ),
    };
    (message, help)
}

/// The crate that has compiled a function: of core's and alloc's generic ones, and of methods of other crates' traits, that
/// is not always the path's first name.
fn host_crate(symbol: &str, path: &str) -> String {
    let own = names::crate_of(path);
    let mut crates = names::crates(symbol);
    crates.retain(|krate| !["core", "alloc", "std"].contains(&krate.as_str()));
    match crates.pop() {
        Some(other) if own != "std" && !crates.iter().any(|krate| krate == own) => other,
        _ => own.into(),
    }
}

/// Where an instruction comes from: innermost first.
fn places_of(instruction: Value) -> Vec<Place> {
    std::iter::successors(llvm::debug_location(instruction), |&location| {
        llvm::location_inlined_at(location)
    })
    .filter_map(place)
    .collect()
}

fn place(location: Metadata) -> Option<Place> {
    let file = llvm::scope_file(llvm::location_scope(location))?;
    let text = |read: unsafe fn(Metadata, *mut u32) -> *const u8| {
        let mut length = 0;
        // SAFETY: LLVM writes the length of the text that it returns, which lives as long as the context.
        let bytes = unsafe {
            let start = read(file, &mut length);
            if start.is_null() {
                &[]
            } else {
                std::slice::from_raw_parts(start, length as usize)
            }
        };
        String::from_utf8_lossy(bytes).into_owned()
    };
    let (name, directory) = (text(llvm::file_name), text(llvm::file_directory));
    let file = if name.starts_with('/') || directory.is_empty() {
        name
    } else {
        format!("{directory}/{name}")
    };
    Some(Place {
        file,
        line: llvm::location_line(location),
        column: llvm::location_column(location),
    })
}

/// The places of the calls that lead from `kernel` to `function`, innermost first.
fn callers(kernel: Value, function: Value) -> Vec<Place> {
    fn search(from: Value, to: Value, seen: &mut BTreeSet<Value>) -> Option<Vec<Place>> {
        if from == to {
            return Some(Vec::new());
        }
        if !seen.insert(from) {
            return None;
        }
        llvm::instructions(from)
            .into_iter()
            .filter(|&i| llvm::is_call_site(i))
            .find_map(|call| {
                let callee = llvm::is_function(llvm::called_value(call))?;
                let mut places = search(callee, to, seen)?;
                places.extend(places_of(call));
                Some(places)
            })
    }
    search(kernel, function, &mut BTreeSet::new()).unwrap_or_default()
}
