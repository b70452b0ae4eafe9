//! From the host's triple to NVPTX.
//!
//! x86-64 and nvptx64 agree on endianness, pointer size and the layout of every Rust type, so what changes is the
//! triple, the data layout, and attributes that mean something to the host only. `convergent` is put on every function
//! and call before the first pass, as clang does for CUDA: without it LLVM may duplicate a barrier or move it into a
//! branch. LLVM takes it off again where it proves that nothing convergent is reached.

use std::sync::OnceLock;

use crate::error::Error;
use crate::llvm::{self, Context, FUNCTION_INDEX, Module, TargetMachine, Value};
use crate::target::Target;

const TRIPLE: &std::ffi::CStr = c"nvptx64-nvidia-cuda";

static DATA_LAYOUT: OnceLock<std::ffi::CString> = OnceLock::new();

/// Function attributes that are the host's.
const HOST_STRINGS: [&std::ffi::CStr; 8] = [
    c"target-cpu",
    c"target-features",
    c"tune-cpu",
    c"probe-stack",
    c"stack-probe-size",
    c"frame-pointer",
    c"stack-protector-buffer-size",
    c"patchable-function",
];
const HOST_ENUMS: [&str; 6] = [
    "uwtable",
    "nonlazybind",
    "sspstrong",
    "sspreq",
    "ssp",
    "noredzone",
];

/// The back end for one target, which writes PTX of version `isa` (`major * 10 + minor`).
pub fn machine(target: Target, isa: u32) -> Result<TargetMachine, Error> {
    let failed = |cause: String| Error::Llvm {
        step: "NVPTX back end",
        cause,
    };
    let mut back_end = None;
    let mut message = std::ptr::null_mut();
    // SAFETY: LLVM writes the target, or a message.
    if unsafe { llvm::target_from_triple(TRIPLE.as_ptr(), &mut back_end, &mut message) } != 0 {
        // SAFETY: LLVM wrote the message.
        return Err(failed(unsafe { llvm::owned_text(message) }));
    }
    let back_end = back_end.ok_or_else(|| failed("no such target".into()))?;
    let (cpu, features) = (
        llvm::c_string(&target.cpu()),
        llvm::c_string(&format!("+ptx{isa}")),
    );
    let (aggressive, default) = (3, 0);
    // SAFETY: the strings live through the call.
    unsafe {
        llvm::create_target_machine(
            back_end,
            TRIPLE.as_ptr(),
            cpu.as_ptr(),
            features.as_ptr(),
            aggressive,
            default,
            default,
        )
    }
    .ok_or_else(|| failed(format!("no {target} with PTX {isa}")))
}

/// Remembers the back end's data layout, which is the same for all targets.
pub fn learn_data_layout(machine: TargetMachine) {
    // SAFETY: LLVM gives away the text.
    let text =
        unsafe { llvm::owned_text(llvm::data_layout_text(llvm::create_data_layout(machine))) };
    let _ = DATA_LAYOUT.set(llvm::c_string(&text));
}

/// Sets the triple and the data layout, and leaves out assembly of the module, which is the host's (`naked` functions and
/// `global_asm!`).
pub fn set_target(module: Module) {
    let layout = DATA_LAYOUT.get().expect("`learn_data_layout` comes first");
    // SAFETY: both are C strings, and the assembly has no bytes.
    unsafe {
        llvm::set_triple(module, TRIPLE.as_ptr());
        llvm::set_data_layout(module, layout.as_ptr());
        llvm::set_module_inline_asm(module, c"".as_ptr(), 0);
    }
}

/// Makes every function of the linked module a device function.
pub fn retarget(context: Context, module: Module) {
    let device: Vec<_> = ["convergent", "nounwind"]
        .map(|kind| llvm::create_enum_attribute(context, llvm::attribute(kind), 0))
        .into();
    for function in llvm::functions(module) {
        strip_host_attributes(function);
        if llvm::intrinsic_id(function) != 0 {
            continue;
        }
        for &attribute in &device {
            llvm::add_attribute(function, FUNCTION_INDEX, attribute);
        }
        keep_out_of_the_way(context, function);
        for call in llvm::instructions(function)
            .into_iter()
            .filter(|&i| llvm::is_call_site(i))
        {
            make_device_call(call, device[0]);
        }
    }
}

/// A panic stays a call, in a place of its own: inlined, it would take registers and branches on the way of code that
/// does not panic.
fn keep_out_of_the_way(context: Context, function: Value) {
    let has =
        |kind| llvm::enum_attribute(function, FUNCTION_INDEX, llvm::attribute(kind)).is_some();
    if has("noreturn") && !has("alwaysinline") {
        llvm::add_attributes(context, function, &["noinline", "cold"]);
    }
}

fn make_device_call(call: Value, convergent: llvm::Attribute) {
    let callee = llvm::called_value(call);
    let intrinsic = llvm::is_function(callee).is_some_and(|callee| llvm::intrinsic_id(callee) != 0);
    if !intrinsic {
        llvm::add_call_attribute(call, FUNCTION_INDEX, convergent);
    }
}

fn strip_host_attributes(function: Value) {
    for name in HOST_STRINGS {
        // SAFETY: pointer and length are of one string.
        unsafe {
            llvm::remove_string_attribute(
                function,
                FUNCTION_INDEX,
                name.as_ptr(),
                name.to_bytes().len() as u32,
            )
        };
    }
    for kind in HOST_ENUMS {
        llvm::remove_enum_attribute(function, FUNCTION_INDEX, llvm::attribute(kind));
    }
}
