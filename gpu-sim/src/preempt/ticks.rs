//! The timer of an OS thread that runs kernels, and what its signal's handler sees of the interrupted thread.
//!
//! A tick comes every 10 ms. Only while one thread has had its turn since the last tick, or some wait in the middle of a loop, they
//! come more often. So a launch of many short turns costs a look at a few variables every 10 ms.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use libc::{c_int, c_void, siginfo_t, timer_t, ucontext_t};

use super::turn::{State, Verdict};
use super::{detour, functions};
use crate::context::{self, Context};
use crate::signal::{AlternateStack, Handler, TICK};
use crate::stack::STACK_SIZE;

/// Nanoseconds between ticks.
const SELDOM: i64 = 10_000_000;
const OFTEN: i64 = 200_000;
/// Bytes of the stack that are left for what interrupts a thread.
const ROOM: usize = 64 << 10;

/// Marks the ticks among signals of the same number.
static MARK: u8 = 0;
static PREVIOUS: OnceLock<Handler> = OnceLock::new();

thread_local! {
    static OWN: OwnTimer = const { OwnTimer { id: Cell::new(None), stack: Cell::new(None), users: Cell::new(0) } };
}

/// The timer of an OS thread.
struct OwnTimer {
    id: Cell<Option<timer_t>>,
    stack: Cell<Option<AlternateStack>>,
    /// Launches that it ticks for: one runs inside of another where a kernel launches one.
    users: Cell<u32>,
}

/// A worker's timer, once it ticks.
#[derive(Default)]
pub(super) struct Timer {
    id: Cell<Option<timer_t>>,
    period: Cell<i64>,
}

/// The ticks of a worker, which end with this.
pub(crate) struct Ticks(());

impl Ticks {
    /// The worker of this OS thread begins. There are no ticks where the system lacks something that they need.
    pub(crate) fn begin(context: &Context<'_>) -> Self {
        OWN.with(|own| {
            own.users.set(own.users.get() + 1);
            let entry = context.job.launch().entry as *const () as usize;
            if own.id.get().is_none() && is_possible(entry) {
                install();
                own.stack.set(AlternateStack::if_missing());
                own.id.set(create());
            }
            context.watch.timer.id.set(own.id.get());
            context.watch.timer.set_period(SELDOM);
        });
        Self(())
    }
}

impl Drop for Ticks {
    fn drop(&mut self) {
        OWN.with(|own| {
            own.users.set(own.users.get() - 1);
            if let Some(id) = own.id.get()
                && own.users.get() == 0
            {
                set(id, 0);
            }
        });
    }
}

impl Drop for OwnTimer {
    fn drop(&mut self) {
        if let Some(id) = self.id.get() {
            // SAFETY: the timer is this one's.
            unsafe { libc::timer_delete(id) };
        }
    }
}

impl Timer {
    fn set_period(&self, period: i64) {
        if let Some(id) = self.id.get()
            && self.period.replace(period) != period
        {
            set(id, period);
        }
    }
}

/// Lets the timer tick every so many nanoseconds, or no more.
fn set(id: timer_t, period: i64) {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: period,
    };
    let spec = libc::itimerspec {
        it_interval: time,
        it_value: time,
    };
    // SAFETY: the timer lives as long as its OS thread, which is this one.
    unsafe { libc::timer_settime(id, 0, &spec, ptr::null_mut()) };
}

/// Whether threads of this kernel can be interrupted on this OS thread.
fn is_possible(entry: usize) -> bool {
    functions::program().has_code(entry) && detour::is_possible()
}

fn install() {
    // SAFETY: the handler asks for nothing but time, and touches what belongs to the interrupted thread only.
    PREVIOUS.get_or_init(|| unsafe { Handler::replace(TICK, handle, libc::SA_RESTART) });
}

/// A timer that sends its signal to this OS thread.
fn create() -> Option<timer_t> {
    let mut id = MaybeUninit::uninit();
    // SAFETY: zeros are such a structure, and the timer is written where there is room for it.
    unsafe {
        let mut event: libc::sigevent = MaybeUninit::zeroed().assume_init();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = TICK;
        event.sigev_notify_thread_id = libc::gettid();
        event.sigev_value.sival_ptr = (&raw const MARK).cast_mut().cast();
        let created = libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, id.as_mut_ptr());
        (created == 0).then(|| id.assume_init())
    }
}

/// The signal's handler.
unsafe extern "C" fn handle(signal: c_int, info: *mut siginfo_t, machine: *mut c_void) {
    // SAFETY: the system passes the signal's description, which has a value if a timer sent it.
    let is_tick = unsafe {
        (*info).si_code == libc::SI_TIMER
            && (*info).si_value().sival_ptr == (&raw const MARK).cast_mut().cast()
    };
    // SAFETY: `errno` is this OS thread's.
    let errno = unsafe { *libc::__errno_location() };
    match (is_tick, context::current(), PREVIOUS.get()) {
        (true, Some(context), _) => {
            // SAFETY: the system passes the state of this OS thread.
            tick(context, unsafe { &mut *machine.cast() });
        }
        (false, _, Some(previous)) => {
            // SAFETY: as this function was called.
            unsafe { previous.call(signal, info, machine) };
        }
        _ => {}
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Looks at the running thread, and ends its turn if it is over.
fn tick(context: &Context<'_>, machine: &mut ucontext_t) {
    let watch = &context.watch;
    let registers = &machine.uc_mcontext.gregs;
    let (code, stack) = (
        registers[libc::REG_RIP as usize] as usize,
        registers[libc::REG_RSP as usize] as usize,
    );
    let used = context.stack_base().wrapping_sub(stack);
    let is_kernels = used < STACK_SIZE - ROOM
        && functions::program().has_code(code)
        && !watch.looks_up.load(Ordering::Relaxed)
        && !context.panicked.get()
        && !std::thread::panicking();
    if !is_kernels {
        return;
    }
    let now = time_on_processor();
    if !watch
        .turn
        .is_of(context.block.get(), context.thread.get(), now)
    {
        let others_spin = watch
            .interrupted
            .try_borrow()
            .is_ok_and(|threads| !threads.is_empty());
        watch
            .timer
            .set_period(if others_spin { OFTEN } else { SELDOM });
        return;
    }
    watch
        .timer
        .set_period(if watch.turn.is_open() { OFTEN } else { SELDOM });
    // An OS thread that had to wait for a core has done nothing since.
    if !watch.turn.is_due(now, OFTEN as u64 / 2) {
        return;
    }
    // SAFETY: the stack is the lane's from its base to here, and a thread may use the bytes below.
    let digest = unsafe { digest(machine, stack - detour::RED_ZONE, context.stack_base()) };
    let flags = registers[libc::REG_EFL as usize] as u64;
    let verdict = watch.turn.look(
        State {
            code,
            digest,
            flags,
        },
        now,
    );
    if let Verdict::Ends { came_further } = verdict {
        watch.came_further.set(came_further);
        watch.looks_up.store(true, Ordering::Relaxed);
        let registers = &mut machine.uc_mcontext.gregs;
        let place_of_return = stack - detour::RED_ZONE - size_of::<usize>();
        // SAFETY: nobody uses what is below the red zone.
        unsafe { ptr::with_exposed_provenance_mut::<usize>(place_of_return).write(code) };
        registers[libc::REG_RSP as usize] = place_of_return as i64;
        registers[libc::REG_RIP as usize] = detour::trampoline as *const () as i64;
    }
}

fn time_on_processor() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure is valid.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A number for all that a thread has for itself: its registers and its stack.
///
/// # Safety
///
/// The memory from `stack` to `base` is live, and aligned words.
unsafe fn digest(machine: &ucontext_t, stack: usize, base: usize) -> u64 {
    let mut digest = 0;
    let mut add = |word: u64| {
        digest = (digest ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    };
    let registers = &machine.uc_mcontext.gregs;
    // The first are the general registers, and the stack pointer the last of them.
    for register in 0..=libc::REG_RSP {
        add(registers[register as usize] as u64);
    }
    // SAFETY: the system saves the vectors too.
    for vector in unsafe { &(*machine.uc_mcontext.fpregs)._xmm } {
        add(u64::from(vector.element[0]) << 32 | u64::from(vector.element[1]));
        add(u64::from(vector.element[2]) << 32 | u64::from(vector.element[3]));
    }
    let aligned = stack.next_multiple_of(size_of::<u64>());
    for address in (aligned..base).step_by(size_of::<u64>()) {
        // SAFETY: the caller's promise. What another function left there is as good as anything.
        add(unsafe { ptr::with_exposed_provenance::<u64>(address).read_volatile() });
    }
    digest
}
