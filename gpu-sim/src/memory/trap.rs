//! What happens when a thread accesses a closed page: the system sends the signal `SIGSEGV`.
//!
//! A write of what nothing had written, and any access by the host, opens the part and is done again. An access that a
//! kernel must not make ends its launch: the handler makes the thread go on in [`trampoline`], as if the access had been a
//! call of it. From there on it is no signal handler any more, so the fault can be put in words, with the stack of the
//! thread. A thread whose stack is full ends in the same way, on a stack that the OS thread has for that. All other signals go to the
//! handler that was there before.
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
use crate::checks::fault::{Check, CheckFault, MemoryAccess};
use crate::context::{self, Context};
use crate::frame::{Frame, user_frame};
use crate::signal::Handler;
use crate::stack::STACK_SIZE;
use crate::{Fault, KernelPanic};

/// The processor's own error code of a page fault: the access was a write.
const IS_WRITE: i64 = 2;
const PAGE: usize = 4096;

/// What a thread did that it must not.
#[derive(Clone, Copy)]
enum Trapped {
    Access { closed: Closed, is_write: bool },
    StackOverflow,
}

thread_local! {
    /// What sent this OS thread to the trampoline.
    static TRAPPED: Cell<Option<Trapped>> = const { Cell::new(None) };
    /// The top of the stack on which threads go on whose own is full; null before the first. None of them ever comes back.
    static SPARE: Cell<*mut u8> = const { Cell::new(ptr::null_mut()) };
}

static PREVIOUS: OnceLock<Handler> = OnceLock::new();

static LIBRARIES: RwLock<Vec<&'static Trap>> = RwLock::new(Vec::new());

/// How a copy of this crate ends a thread of its kernels that accesses a closed page.
#[derive(Debug)]
pub struct Trap {
    /// The top of the stack of the running thread, if the OS thread runs a kernel of this copy.
    stack_base: fn() -> Option<usize>,
    /// Notes what the thread did, and gives where it goes on.
    go_on_at: fn(Trapped) -> usize,
}

impl Trap {
    /// That of this copy.
    pub const OWN: &'static Self = &Self {
        stack_base: || context::current().map(Context::stack_base),
        go_on_at: |trapped| {
            TRAPPED.set(Some(trapped));
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
        if (Self::OWN.stack_base)().is_some() {
            return Some(Self::OWN);
        }
        let libraries = LIBRARIES.read().unwrap_or_else(PoisonError::into_inner);
        let mut libraries = libraries.iter().copied();
        libraries.find(|trap| (trap.stack_base)().is_some())
    }

    /// Whether the address says that the running thread's stack is full. The guard page lies so far below the first function's
    /// frame, give or take what is unused above of that.
    fn is_overflow(&self, address: usize) -> bool {
        (self.stack_base)().is_some_and(|base| {
            let guard = base - STACK_SIZE - PAGE..base - STACK_SIZE + 2 * PAGE;
            guard.contains(&address)
        })
    }
}

/// The top of this OS thread's spare stack; null if the system has no memory.
fn spare_stack() -> *mut u8 {
    SPARE.with(|spare| {
        if spare.get().is_null() {
            let (protection, flags) = (
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            );
            // SAFETY: new memory, which stays as long as the process.
            let memory =
                unsafe { libc::mmap(ptr::null_mut(), STACK_SIZE, protection, flags, -1, 0) };
            if memory != libc::MAP_FAILED {
                spare.set(memory.cast::<u8>().wrapping_add(STACK_SIZE));
            }
        }
        spare.get()
    })
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
    let (closed, trap) = (guarded::closed(address), Trap::of_this_thread());
    if let Some(closed) = closed {
        let may_open = is_write || trap.is_none();
        if closed.what == What::Unwritten && may_open && guarded::open(address) {
            return;
        }
    }
    let stack = registers[libc::REG_RSP as usize];
    let own = ptr::with_exposed_provenance_mut::<u8>(stack as usize);
    let (trap, trapped, top) = match (trap, closed) {
        (Some(trap), Some(closed)) => (trap, Trapped::Access { closed, is_write }, own),
        (Some(trap), None) if trap.is_overflow(address) && !spare_stack().is_null() => {
            (trap, Trapped::StackOverflow, spare_stack())
        }
        // SAFETY: as this function was called.
        _ => return unsafe { pass_on(signal, info, machine) },
    };
    let code = registers[libc::REG_RIP as usize];
    let entered = top.cast::<i64>().wrapping_sub(2);
    // Who walks the stack takes a return address to be behind its call.
    // SAFETY: the stack has room there. What a function keeps below its stack's pointer is not used again: it never goes on.
    unsafe { entered.cast::<[i64; 2]>().write([code + 1, stack]) };
    registers[libc::REG_RSP as usize] = entered.addr() as i64;
    registers[libc::REG_RIP as usize] = (trap.go_on_at)(trapped) as i64;
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

/// Where a thread goes on that did what it must not: as after a call, but that the stack may be another and is not aligned. The
/// pointer of the thread's own is above the return address; it is the frame's address to who walks the stack.
#[unsafe(naked)]
unsafe extern "C" fn trampoline() -> ! {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        "mov rbp, rsp",
        // The frame's address is what `[rbp + 16]` holds; the return address is at `rbp + 8`, and the caller's `rbp` at `rbp`.
        ".cfi_escape 0x0f, 3, 0x76, 16, 0x06",
        ".cfi_escape 0x10, 16, 2, 0x76, 8",
        ".cfi_escape 0x10, 6, 2, 0x76, 0",
        // Functions with a large frame, or one that they align, find their own by these.
        "push r11",
        ".cfi_escape 0x10, 11, 2, 0x76, 0x78",
        "push r10",
        ".cfi_escape 0x10, 10, 2, 0x76, 0x70",
        "and rsp, -16",
        "cld",
        "call {end}",
        "ud2",
        ".cfi_endproc",
        end = sym end_thread,
    )
}

extern "C" fn end_thread() -> ! {
    let (Some(context), Some(trapped)) = (context::current(), TRAPPED.take()) else {
        unreachable!("only the handler sends a thread of a kernel here");
    };
    let frame = user_frame(&Backtrace::force_capture());
    context.fail(match trapped {
        Trapped::Access { closed, is_write } => wrong_access(context, closed, is_write, frame),
        Trapped::StackOverflow => stack_overflow(context, frame),
    })
}

fn wrong_access(context: &Context<'_>, closed: Closed, is_write: bool, frame: Frame) -> Fault {
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
    Fault::Check(Box::new(CheckFault {
        check: match closed.what {
            What::Unwritten => Check::Init,
            What::Outside | What::Freed => Check::Bounds,
        },
        message: in_words(closed),
        accesses: vec![access],
    }))
}

fn stack_overflow(context: &Context<'_>, frame: Frame) -> Fault {
    let function = match frame.function {
        Some(function) => format!(" in `{function}`"),
        None => String::new(),
    };
    Fault::Panic(KernelPanic {
        message: format!(
            "stack overflow{function}: a simulated thread has {} KiB; does its recursion end, or are its arrays large?",
            STACK_SIZE >> 10
        ),
        file: frame.file,
        line: frame.line,
        column: frame.column,
        block: context.block.get(),
        thread: context.thread.get(),
    })
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
