//! How std's locks wait on a device: by looking again.
//!
//! On Linux they call the kernel's futex through C's `syscall`, to sleep until another thread has woken them. The call may
//! return too early, so they look again when it has returned; and a wake that reaches nobody is none. So `syscall` of a
//! futex is 0, which says that it was woken.

use crate::llvm::{self, Module};

/// `SYS_futex` on x86-64 and on aarch64.
const FUTEX: [u64; 2] = [202, 98];

/// Answers the calls in a module.
pub fn answer(module: Module) {
    let calls = llvm::function(module, "syscall").map(llvm::calls_of);
    for call in calls.unwrap_or_default() {
        let number = llvm::unsigned_constant(llvm::operand(call, 0));
        if number.is_some_and(|number| FUTEX.contains(&number)) {
            let woken = llvm::const_int(llvm::type_of(call), 0, 0);
            llvm::replace_instruction(call, woken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    #[test]
    fn only_a_futex_is_answered() {
        let (_, module) = parse(
            "declare i64 @syscall(i64, ...)
            define i64 @f(ptr %p) {
                %a = call i64 (i64, ...) @syscall(i64 202, ptr %p, i32 128)
                %b = call i64 (i64, ...) @syscall(i64 39)
                %c = add i64 %a, %b
                ret i64 %c
            }",
        );
        answer(module);
        let calls = llvm::function(module, "syscall").map(llvm::calls_of);
        assert_eq!(calls.unwrap().len(), 1);
    }
}
