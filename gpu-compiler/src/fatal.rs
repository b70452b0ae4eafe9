//! LLVM's internal errors, which end the process, say in which kernel they are.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::process;

use crate::llvm;
use crate::records::Kernel;

thread_local! {
    /// What this thread compiles.
    static KERNEL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// From here on this thread compiles `kernel`.
pub fn working_on(kernel: &Kernel<()>) {
    let Kernel {
        name, file, line, ..
    } = kernel;
    KERNEL.set(format!("in the kernel `{name}` at {file}:{line}: "));
}

/// Lets LLVM report its errors here.
pub fn report() {
    // SAFETY: the handler is a function, there for as long as the process.
    unsafe { llvm::install_fatal_error_handler(end) };
}

extern "C" fn end(reason: *const c_char) {
    // SAFETY: LLVM gives a C string.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    KERNEL.with_borrow(|kernel| eprintln!("{kernel}LLVM ERROR: {reason}"));
    process::abort();
}
