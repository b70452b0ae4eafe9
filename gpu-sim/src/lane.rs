//! A coroutine that runs simulated threads.
//!
//! It runs one thread after the other until one waits for others. From then on it belongs to that thread, until the
//! thread ends; then it can take up others again. A lane outlives launches: between them it is suspended outside of
//! kernel code.

use std::convert::Infallible;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use corosensei::stack::Stack as _;
use gpu_std::Dim3;

use crate::context::{self, Context};
use crate::coroutine::{Coroutine, Yielder};
use crate::panics;
use crate::stack::Stack;
use crate::wait::{self, Wait};

/// Why a lane hands control back to its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Its thread waits for others.
    Wait,
    /// It has no thread, and none to start.
    Idle,
    /// Its thread has ended in the middle of kernel code, and must not be resumed.
    Exit,
}

impl Event {
    /// By their numbers.
    #[cfg(all(unix, target_arch = "x86_64"))]
    pub(crate) const ALL: [Self; 3] = [Self::Wait, Self::Idle, Self::Exit];
}

/// A coroutine that runs simulated threads. It stays on the OS thread that made it.
pub(crate) struct Lane {
    coroutine: Coroutine,
    /// The first used line of its stack.
    stack_base: *const u8,
    last_event: Event,
    /// While its thread waits: who it is, and for what. That is on the thread's own stack.
    thread: Dim3,
    wait: *const Wait,
    /// What the thread goes on with, once it may.
    answer: Option<MaybeUninit<u32>>,
}

impl Lane {
    pub(crate) fn new(stack: Stack) -> Self {
        Self {
            stack_base: ptr::without_provenance(stack.base().get() - 1),
            coroutine: Coroutine::new(stack, lane),
            last_event: Event::Idle,
            thread: Dim3 { x: 0, y: 0, z: 0 },
            wait: wait::NOTHING,
            answer: None,
        }
    }

    /// Runs the lane, inside of [`Context::enter`], until its next event.
    #[inline(always)]
    pub(crate) fn resume(&mut self, context: &Context<'_>) -> Event {
        if let Some(answer) = self.answer.take() {
            context.answer.set(answer);
        }
        self.last_event = self.coroutine.resume();
        if self.last_event == Event::Wait {
            self.wait = context.wait.get();
        }
        self.last_event
    }

    /// From now on the lane belongs to the thread that waits in it.
    pub(crate) fn bind(&mut self, thread: Dim3) {
        self.thread = thread;
    }

    /// The thread that waits.
    pub(crate) fn thread(&self) -> Dim3 {
        self.thread
    }

    /// What its thread waits for.
    #[inline]
    pub(crate) fn wait(&self) -> &Wait {
        // SAFETY: the thread is suspended in the function that has it as a variable, or none has run in the lane.
        unsafe { &*self.wait }
    }

    /// Tells the processor that the lane runs soon: what its thread needs first is where it was suspended, and at the far end
    /// of its stack.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self.wait.cast());
        prefetch(self.stack_base);
    }

    /// Its thread may go on, with this answer.
    #[inline]
    pub(crate) fn release(&mut self, answer: MaybeUninit<u32>) {
        self.answer = Some(answer);
    }

    /// Whether its thread may go on.
    #[inline]
    pub(crate) fn is_released(&self) -> bool {
        self.answer.is_some()
    }

    /// Ends the lane's thread where it is.
    pub(crate) fn exit(&mut self) -> Event {
        self.last_event = Event::Exit;
        self.last_event
    }

    pub(crate) fn last_event(&self) -> Event {
        self.last_event
    }

    /// A lane for other threads, once this one's thread has ended. One that ended by [`Event::Exit`] runs no
    /// destructors.
    pub(crate) fn recycle(self) -> Self {
        match self.last_event {
            // SAFETY: the frames on the stack are those of `lane`, which owns nothing, and of a kernel that ended as by a
            // thread's `exit`, which leaks what the thread owns. Unwinding is no choice: the `gpu.*` functions are declared
            // `extern "C"`.
            Event::Exit => Self::new(unsafe { self.coroutine.into_stack() }),
            Event::Idle | Event::Wait => self,
        }
    }
}

/// Asks for the two cache lines around an address.
#[inline]
fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    for line in [address, address.wrapping_byte_sub(64)] {
        // SAFETY: it only hints, whatever the address.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast())
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The coroutine's function.
fn lane(yielder: &Yielder) -> Infallible {
    loop {
        // Nothing of a thread is left after its panic, and the launch has stopped.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| run(yielder))) {
            panics::caught(payload);
        }
        yielder.suspend(Event::Idle);
    }
}

/// Runs threads, in the order that the launch asks for.
fn run(yielder: &Yielder) {
    let context = context::current().expect("a lane runs inside `Context::enter`");
    match context.turns {
        None => run_threads::<false>(context, yielder),
        Some(_) => run_threads::<true>(context, yielder),
    }
}

/// Runs threads until there is none to start, or one has waited. Who looks at a stack knows a kernel's end by this function.
#[inline(never)]
fn run_threads<const IN_TURNS: bool>(context: &Context<'_>, yielder: &Yielder) {
    let launch = context.job.launch();
    context.set_yielder(yielder);
    while context.start_thread::<IN_TURNS>() {
        // SAFETY: `run`'s caller promises that `entry` may be called with `params` once for each thread.
        unsafe { (launch.entry)(launch.params) };
        if context.bound.get() {
            return;
        }
    }
}
