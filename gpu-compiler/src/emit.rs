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
use crate::sign_extension;
use crate::wide_products;

/// The module as PTX.
pub fn emit(module: Module, machine: TargetMachine) -> Result<String, Error> {
    atomics::mark(module);
    let context = llvm::module_context(module);
    sign_extension::by_shifts(context, module);
    flat_constants::hide_numbers(context, module);
    indices::keep(context, module);
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
    let ptx = atomics::modify(&String::from_utf8_lossy(bytes));
    let ptx = atomics::reduce(&ptx);
    let ptx = formatting::keep_rolled(&ptx);
    let ptx = wide_products::combine(&ptx);
    let ptx = lengths::compare_apart(&ptx);
    let ptx = negation::by_complement(&ptx);
    Ok(fall_through::turn_around(&ptx))
}
