//! Lets a panic say which kernel it is of.
//!
//! Panics that are not [exits](crate::exits) are functions that all kernels share, so each kernel leaves its id in the panic
//! slot before it calls one: at the place for it if no panic is recorded, else, for a later kernel, beside it. The kernels of
//! a slot run one after the other, so all threads that write there write the same. What formats text is shared too, and leaves
//! nothing.

use crate::intrinsics::PANIC_SLOT;
use crate::llvm::{self, Context, FUNCTION_INDEX, Module, Value, predicate};
use crate::reach::reach;
use crate::records::Kernel;

/// Where in `gpu_std::runtime::PanicSlot` the ids are; the slot begins with the record's address, null once it is claimed.
const KERNELS: u64 = 8;

/// Marks the calls of an optimised module.
pub fn mark(context: Context, module: Module, kernel: &Kernel) {
    let Some(slot) = llvm::global(module, PANIC_SLOT) else {
        return;
    };
    for function in reach(kernel.function).functions {
        for call in llvm::instructions(function)
            .into_iter()
            .filter(ends_the_thread)
        {
            leave_id(context, slot, call, kernel.id);
        }
    }
}

/// Whether an instruction calls a function that does not return.
fn ends_the_thread(instruction: &Value) -> bool {
    llvm::is_call(*instruction)
        .and_then(|call| llvm::is_function(llvm::called_value(call)))
        .is_some_and(|callee| {
            let noreturn = llvm::attribute("noreturn");
            llvm::intrinsic_id(callee) == 0
                && llvm::enum_attribute(callee, FUNCTION_INDEX, noreturn).is_some()
        })
}

fn leave_id(context: Context, slot: Value, call: Value, kernel: u128) {
    let builder = llvm::create_builder(context);
    llvm::position_before(builder, call);
    let byte = llvm::i8_type(context);
    let (pointer, word) = (llvm::pointer_type(context, 0), llvm::i64_type(context));
    // SAFETY: the names are C strings.
    let (slot, record) = unsafe {
        let slot = llvm::build_load(builder, pointer, slot, c"".as_ptr());
        (slot, llvm::build_load(builder, word, slot, c"".as_ptr()))
    };
    let null = llvm::const_int(word, 0, 0);
    let claimed = llvm::compare(builder, predicate::EQ, record, null);
    let index = llvm::zero_extend(builder, claimed, word);
    let first = llvm::element_pointer(builder, byte, slot, llvm::const_int(word, KERNELS, 0));
    let place = llvm::element_pointer(builder, word, first, index);
    llvm::build_store(builder, llvm::const_int(word, kernel as u64, 0), place);
}
