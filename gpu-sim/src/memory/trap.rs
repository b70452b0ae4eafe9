//! What happens when a thread accesses a closed page: the system sends the signal `SIGSEGV`.
//!
//! A write of what nothing had written, and any access by the host, opens the part and is done again. An access that a
//! kernel must not make ends its launch: the handler makes the thread go on in [`trampoline`], as if the access had been a
//! call of it. From there on it is no signal handler any more, so the fault can be put in words, with the stack of the
//! thread. All other signals go to the handler that was there before.
//!
//! The handler is the program's. Kernels in a library that is loaded later run in that library's own copy of this crate, which
//! alone knows its threads: the handler asks its [`Trap`].

use std::arch::naked_asm;
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::ptr;
use std::sync::{OnceLock, PoisonError, RwLock};

use libc::{c_int, c_void, siginfo_t, ucontext_t};

use super::guarded::{self, Closed, What};
use crate::Fault;
use crate::checks::fault::{Check, CheckFault, MemoryAccess};
use crate::context;
use crate::frame::user_frame;
use crate::signal::Handler;

/// The processor's own error code of a page fault: the access was a write.
const IS_WRITE: i64 = 2;

thread_local! {
    /// The access that sent this OS thread to the trampoline.
    static TRAPPED: Cell<Option<(Closed, bool)>> = const { Cell::new(None) };
}

static PREVIOUS: OnceLock<Handler> = OnceLock::new();

static LIBRARIES: RwLock<Vec<&'static Trap>> = RwLock::new(Vec::new());

/// How a copy of this crate ends a thread of its kernels that accesses a closed page.
#[derive(Debug)]
pub struct Trap {
    /// Whether the OS thread runs a kernel of this copy.
    in_kernel: fn() -> bool,
    /// Notes the access, whether it is a write, and gives where the thread goes on.
    go_on_at: fn(Closed, bool) -> usize,
}

impl Trap {
    /// That of this copy.
    pub const OWN: &'static Self = &Self {
        in_kernel: || context::current().is_some(),
        go_on_at: |closed, is_write| {
            TRAPPED.set(Some((closed, is_write)));
            (trampoline as *const ()).addr()
        },
    };

    /// Tells this copy of another one, that of a library which stays loaded.
    pub fn add(&'static self) {
        let mut libraries = LIBRARIES.write().unwrap_or_else(PoisonError::into_inner);
        libraries.push(self);
    }

    /// That of the kernel that the OS thread runs, if it runs one.
    fn of_this_thread() -> Option<&'static Self> {
        if (Self::OWN.in_kernel)() {
            return Some(Self::OWN);
        }
        let libraries = LIBRARIES.read().unwrap_or_else(PoisonError::into_inner);
        libraries.iter().copied().find(|trap| (trap.in_kernel)())
    }
}

/// Installs the handler, once.
pub(super) fn install() {
    // SAFETY: the handler touches nothing that an access of memory may have left half done.
    PREVIOUS.get_or_init(|| unsafe { Handler::replace(libc::SIGSEGV, handle, 0) });
}

/// The signal's handler.
unsafe extern "C" fn handle(signal: c_int, info: *mut siginfo_t, machine: *mut c_void) {
    // SAFETY: the system passes both.
    let (address, registers) = unsafe {
        let context = &mut *machine.cast::<ucontext_t>();
        ((*info).si_addr().addr(), &mut context.uc_mcontext.gregs)
    };
    let is_write = registers[libc::REG_ERR as usize] & IS_WRITE != 0;
    let Some(closed) = guarded::closed(address) else {
        // SAFETY: as this function was called.
        return unsafe { pass_on(signal, info, machine) };
    };
    let trap = Trap::of_this_thread();
    let may_open = is_write || trap.is_none();
    if closed.what == What::Unwritten && may_open && guarded::open(address) {
        return;
    }
    let Some(trap) = trap else {
        // SAFETY: as this function was called.
        return unsafe { pass_on(signal, info, machine) };
    };
    let stack = &mut registers[libc::REG_RSP as usize];
    *stack -= 8;
    let place_of_return = ptr::with_exposed_provenance_mut::<i64>(*stack as usize);
    let code = registers[libc::REG_RIP as usize];
    // Who walks the stack takes a return address to be behind its call.
    // SAFETY: the thread's stack has room below its top. What a function keeps there is not used again: it never goes on.
    unsafe { place_of_return.write(code + 1) };
    registers[libc::REG_RIP as usize] = (trap.go_on_at)(closed, is_write) as i64;
}

/// Calls the handler that was there before.
///
/// # Safety
///
/// The arguments are those of a signal handler.
unsafe fn pass_on(signal: c_int, info: *mut siginfo_t, machine: *mut c_void) {
    let Some(previous) = PREVIOUS.get() else {
        return;
    };
    // SAFETY: the caller's promise. Without a handler the access is done again, and ends the process.
    unsafe {
        if !previous.call(signal, info, machine) {
            previous.restore(signal);
        }
    }
}

/// Where a thread goes on that made an access that it must not. The stack is as after a call, but for its alignment.
#[unsafe(naked)]
unsafe extern "C" fn trampoline() -> ! {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "and rsp, -16",
        "cld",
        "call {end}",
        "ud2",
        ".cfi_endproc",
        end = sym end_thread,
    )
}

extern "C" fn end_thread() -> ! {
    let trapped = TRAPPED.take();
    match (context::current(), trapped) {
        (Some(context), Some((closed, is_write))) => {
            let frame = user_frame(&Backtrace::force_capture());
            let access = MemoryAccess {
                what: match frame.function {
                    Some(function) => format!("{} it in `{function}`", verb(is_write)),
                    None => format!("{} it", verb(is_write)),
                },
                file: frame.file,
                line: frame.line,
                column: frame.column,
                block: context.block.get(),
                thread: context.thread.get(),
            };
            context.fail(Fault::Check(Box::new(CheckFault {
                check: match closed.what {
                    What::Unwritten => Check::Init,
                    What::Outside | What::Freed => Check::Bounds,
                },
                message: in_words(closed),
                accesses: vec![access],
            })))
        }
        _ => unreachable!("only the handler sends a thread of a kernel here"),
    }
}

fn verb(is_write: bool) -> &'static str {
    if is_write { "writes" } else { "reads" }
}

fn in_words(closed: Closed) -> String {
    let Closed {
        what,
        bytes,
        offset,
    } = closed;
    match what {
        What::Unwritten => {
            format!(
                "byte {offset} of an array of {bytes} bytes is read, but nothing has written it"
            )
        }
        What::Freed => {
            format!("byte {offset} of an array of {bytes} bytes is accessed, which was freed")
        }
        What::Outside if offset < 0 => {
            format!(
                "{} bytes before an array of {bytes} bytes are accessed",
                -offset
            )
        }
        What::Outside => format!(
            "byte {offset} from the start of an array of {bytes} bytes is accessed: beyond its end"
        ),
    }
}
