//! Variables of a module that the host sets when it loads it: where the device's runtime finds what it shares with the
//! host.

use crate::error::Error;
use crate::llvm::{self, Value};

use super::Lowering;

/// The address of the context's panic slot. Every module has it.
pub const PANIC_SLOT: &str = "oxwarp_panic_slot";
/// The address of the context's print buffer. A module has it if a kernel prints.
pub const PRINT_BUFFER: &str = "oxwarp_print_buffer";

impl Lowering {
    /// The module's variable of that name, which holds a pointer.
    pub(super) fn host_variable(&self, name: &str) -> Value {
        let pointer = llvm::pointer_type(self.context, 0);
        llvm::global(self.module, name).unwrap_or_else(|| {
            let variable = self.global(name, pointer, llvm::GLOBAL);
            llvm::set_initializer(variable, Some(llvm::const_null(pointer)));
            llvm::set_externally_initialized(variable, 1);
            variable
        })
    }

    pub(super) fn panic_slot(&self, call: Value) -> Result<(), Error> {
        self.read_host_variable(call, PANIC_SLOT);
        Ok(())
    }

    pub(super) fn print_buffer(&self, call: Value) -> Result<(), Error> {
        self.read_host_variable(call, PRINT_BUFFER);
        Ok(())
    }

    fn read_host_variable(&self, call: Value, name: &str) {
        let pointer = llvm::pointer_type(self.context, 0);
        let variable = self.host_variable(name);
        // SAFETY: the name is a C string.
        let value = unsafe { llvm::build_load(self.builder, pointer, variable, c"".as_ptr()) };
        llvm::replace_instruction(call, value);
    }
}
