//! Switches of stacks on x86-64, by the System V calling convention.
//!
//! Who is suspended has on its stack, from the stack pointer on: where it goes on, and two registers that the compiler does not
//! let a piece of assembly change. All others are saved by the compiler as far as they are in use.

use std::arch::{asm, naked_asm};
use std::cell::Cell;
use std::convert::Infallible;
use std::ptr;

use corosensei::stack::Stack as _;

use crate::lane::Event;
use crate::stack::Stack;

/// A suspended function. It stays on the OS thread that made it.
pub(crate) struct Coroutine {
    stack: Stack,
    suspended: StackPointer,
}

type StackPointer = *mut usize;

/// A coroutine's own handle to suspend itself.
pub(crate) struct Yielder {
    /// Who has resumed the coroutine.
    parent: Cell<StackPointer>,
}

impl Coroutine {
    pub(crate) fn new(stack: Stack, main: fn(&Yielder) -> Infallible) -> Self {
        let top = ptr::with_exposed_provenance_mut::<usize>(stack.base().get() & !15);
        // SAFETY: the stack is larger than two words, and nothing else uses it.
        let suspended = unsafe {
            top.sub(1).write(main as *const () as usize);
            top.sub(2).write(start as *const () as usize);
            top.sub(2)
        };
        Self { stack, suspended }
    }

    /// Lets the function go on until it suspends itself.
    #[inline(always)]
    pub(crate) fn resume(&mut self) -> Event {
        // SAFETY: the stack is this coroutine's, which is suspended.
        let (suspended, event) = unsafe { switch(self.suspended, Event::Idle as usize) };
        self.suspended = suspended;
        Event::ALL[event]
    }

    /// Forgets the function, without unwinding.
    ///
    /// # Safety
    ///
    /// What is on the stack must not have to be dropped.
    pub(crate) unsafe fn into_stack(self) -> Stack {
        self.stack
    }
}

impl Yielder {
    /// Suspends the coroutine until it is resumed.
    #[inline(always)]
    pub(crate) fn suspend(&self, event: Event) {
        // SAFETY: who has resumed the coroutine waits for that.
        let (parent, _) = unsafe { switch(self.parent.get(), event as usize) };
        self.parent.set(parent);
    }
}

/// Suspends the running function, and lets the one go on that is suspended there. Returns once this one may go on: who lets it,
/// and what that has to say.
///
/// # Safety
///
/// A function of this OS thread is suspended there.
#[inline(always)]
unsafe fn switch(to: StackPointer, value: usize) -> (StackPointer, usize) {
    let (from, answer);
    // SAFETY: all registers that this changes are outputs, clobbered, or restored.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov rsi, rsp",
            "mov rsp, rdx",
            "pop rax",
            "jmp rax",
            "2:",
            "pop rbx",
            "pop rbp",
            inout("rdx") to => _,
            inout("rdi") value => answer,
            out("rsi") from,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("sysv64"),
        );
    }
    (from, answer)
}

/// Where a new coroutine goes on: as [`switch`] does, with its main function on the stack. It is the end of the stack for
/// whoever walks it.
#[unsafe(naked)]
unsafe extern "C" fn start() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "mov rdi, rsi",
        "pop rsi",
        "xor ebp, ebp",
        "call {run}",
        "ud2",
        ".cfi_endproc",
        run = sym run,
    )
}

#[expect(
    improper_ctypes_definitions,
    reason = "`start` calls it, with a function of Rust's"
)]
extern "C" fn run(parent: StackPointer, main: fn(&Yielder) -> Infallible) -> ! {
    let yielder = Yielder {
        parent: Cell::new(parent),
    };
    match main(&yielder) {}
}
