//! PTX text.

use std::ptr;

use crate::atomics;
use crate::error::Error;
use crate::fall_through;
use crate::flat_constants;
use crate::formatting;
use crate::indices;
use crate::lengths;
use crate::llvm::{self, Module, TargetMachine};
use crate::negation;
use crate::rejoin;
use crate::sign_extension;
use crate::step::{Step, Steps};
use crate::wide_products;

/// The module as PTX.
pub fn emit(module: Module, machine: TargetMachine, steps: &Steps) -> Result<String, Error> {
    atomics::mark(module);
    let context = llvm::module_context(module);
    sign_extension::by_shifts(context, module);
    flat_constants::hide_numbers(context, module);
    if steps.has(Step::PlainIndices) {
        indices::keep(context, module);
    }
    let assembly = 0;
    let (mut message, mut buffer) = (ptr::null_mut(), None);
    // SAFETY: LLVM writes the buffer, or a message.
    let failed =
        unsafe { llvm::emit_to_buffer(machine, module, assembly, &mut message, &mut buffer) } != 0;
    let Some(buffer) = buffer.filter(|_| !failed) else {
        // SAFETY: LLVM wrote the message.
        let cause = unsafe { llvm::owned_text(message) };
        return Err(Error::Llvm {
            step: "NVPTX back end",
            cause,
        });
    };
    // SAFETY: start and size are of one buffer, which lives to the end of the process.
    let bytes = unsafe {
        std::slice::from_raw_parts(llvm::buffer_start(buffer), llvm::buffer_size(buffer))
    };
    let mut ptx = atomics::modify(&String::from_utf8_lossy(bytes));
    let mut apply = |step, change: fn(&str) -> String| {
        if steps.has(step) {
            ptx = change(&ptx);
        }
    };
    apply(Step::AtomicReductions, atomics::reduce);
    apply(Step::RolledFormatting, formatting::keep_rolled);
    apply(Step::WideProducts, wide_products::combine);
    apply(Step::SplitLengths, lengths::compare_apart);
    apply(Step::FallThrough, fall_through::turn_around);
    apply(Step::PanicRejoins, rejoin::drop_branches);
    Ok(negation::by_complement(&ptx))
}
