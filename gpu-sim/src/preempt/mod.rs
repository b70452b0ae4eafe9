//! Threads that wait without a word: in a loop of plain instructions of the host, such as the operations of
//! `core::sync::atomic`. Their turn ends in the middle of the loop, so that other threads can do what they wait for.
//!
//! In: the running thread, looked at by a timer's signal ([`ticks`]). Out: it waits ([`Operation::Preempted`]) until the
//! others had their turns, and [`Spin`](crate::spin::Spin) learns whether it came any further. Without the system's help
//! (other systems than Linux on x86-64) there are no ticks, and a thread goes on until it waits by itself.
//!
//! **When.** A turn ends once the same state has been seen three times: program counter, registers and all of the thread's
//! stack ([`turn`]). Such a thread only goes round, until somebody changes memory. A loop that computes is in another state at
//! each look, so its turn ends only after a second on the processor: it may count how often it asked in vain.
//!
//! **Where.** To the thread, the interruption is what one by the system is on a machine with a core for each thread: kernel code
//! is written for that. What is not is all that belongs to the OS thread: this crate's state, std's (locks of the output,
//! panics), the allocator's. So a turn ends only where none of it is on the stack:
//!
//! - the signal's handler takes only code of the program's own file, on a lane's stack, of a thread that does not panic. That
//!   leaves out the C library with its allocator and locks, and it does not call back while it holds them;
//! - then, no longer in the handler, each function between the interrupted instruction and the kernel's entry is looked up
//!   ([`functions`]), without allocating. All of them must be Rust functions of neither std, this crate, nor an allocator. What
//!   is not known is not interrupted: so nothing is in a program without symbols.
//!
//! One case is beyond that: a `#[global_allocator]` in Rust that spins, in a function to which all its callers jumped rather
//! than called it.
//!
//! **How.** The handler does not switch stacks: it lets the thread go on in [`detour`] as if it had called that, and returns, so
//! that the system restores the signal mask. The detour starts below the 128 bytes that the thread may use under its stack
//! pointer, saves all registers with flags and vectors, and waits as any thread waits. A thread that is resumed restores them
//! and goes on at its instruction; one that is not, because the launch has ended, is dropped as one that waits at a barrier. The
//! handler keeps `errno`, and kernel code does not look at it.

mod detour;
mod functions;
mod ticks;
mod turn;

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::context::{self, Context};
use crate::frame::{Frame, user_frame};
use crate::wait::Operation;

pub(crate) use ticks::Ticks;
use ticks::Timer;
use turn::Turn;

/// What a worker knows of the threads that it interrupts.
#[derive(Default)]
pub(crate) struct Watch {
    turn: Turn,
    timer: Timer,
    /// Whether the running thread's functions are being looked up, which is not to be interrupted.
    looks_up: AtomicBool,
    /// Whether the thread whose turn ends came any further in it.
    came_further: Cell<bool>,
    /// Where threads of the block were interrupted, by their numbers.
    interrupted: RefCell<BTreeMap<u32, Interrupted>>,
}

struct Interrupted {
    code: usize,
    stack: Backtrace,
}

impl Watch {
    /// Where a thread was interrupted; `known` are the places that have been asked for.
    pub(crate) fn place(&self, thread: u32, known: &mut BTreeMap<usize, Frame>) -> Frame {
        let interrupted = self.interrupted.borrow();
        let Some(at) = interrupted.get(&thread) else {
            return Frame::default();
        };
        let frame = known.entry(at.code);
        frame.or_insert_with(|| user_frame(&at.stack)).clone()
    }

    /// All threads of the block are done.
    #[inline]
    pub(crate) fn finish_block(&self) {
        self.interrupted.borrow_mut().clear();
    }
}

/// The running thread has been interrupted at this instruction, and goes on behind this call.
extern "C" fn end_turn(code: usize) {
    let Some(context) = context::current() else {
        return;
    };
    let watch = &context.watch;
    let may_wait = functions::are_all_of_the_kernel();
    watch.looks_up.store(false, Ordering::Relaxed);
    if may_wait {
        wait(context, code);
    }
    watch.turn.restart();
}

fn wait(context: &Context<'_>, code: usize) {
    let (watch, thread) = (&context.watch, context.thread_number());
    let stack = Backtrace::force_capture();
    let place = Interrupted { code, stack };
    watch.interrupted.borrow_mut().insert(thread, place);
    if watch.came_further.get() {
        context.spin.progress();
    }
    let next_operation = context.place.get();
    context.wait(Operation::Preempted);
    context.place.set(next_operation);
    watch.interrupted.borrow_mut().remove(&thread);
}
