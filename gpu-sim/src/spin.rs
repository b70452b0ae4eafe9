//! Threads that spin: that ask for an atomic again and again until somebody changes it.
//!
//! In: the operations on atomics, with what they saw. Out: the running thread lets the others of its block run once it has
//! asked often in vain; and where nobody anywhere can change anything any more, the fault that says so. The operations of
//! `core::sync::atomic`'s own types are instructions of the host: who spins on one is [interrupted](crate::preempt).

use std::cell::Cell;
use std::panic::Location;
use std::time::{Duration, Instant};

use crate::context::{self, Context};
use crate::wait::Operation;

/// So often a thread asks in vain before others run.
const PATIENCE: u32 = 1000;
/// So long no thread of a launch may come further.
pub(crate) const LIMIT: Duration = Duration::from_secs(1);
/// So often each thread has its turn at least, before it is said to come no further.
const ROUNDS: u32 = 8;
/// A loop may ask for so many atomics.
const WATCHED: usize = 4;

/// What a worker knows of its spinning threads.
pub(crate) struct Spin {
    /// How often the running thread has asked in vain.
    vain: Cell<u32>,
    /// The last atomics that it asked for, and what they were.
    seen: Cell<[(usize, u64); WATCHED]>,
    /// The source line of the last atomic operation.
    place: Cell<Option<&'static Location<'static>>>,
    /// Whether a thread of the block has come further in this round.
    progress: Cell<bool>,
    /// Since when none has.
    since: Cell<Option<Instant>>,
    /// Rounds since then.
    rounds: Cell<u32>,
}

impl Spin {
    pub(crate) fn new() -> Self {
        Self {
            vain: Cell::new(0),
            seen: Cell::new([(0, 0); WATCHED]),
            place: Cell::new(None),
            progress: Cell::new(false),
            since: Cell::new(None),
            rounds: Cell::new(0),
        }
    }

    /// The running thread's next atomic operation stands at this source line.
    #[inline]
    pub(crate) fn set_place(&self, place: &'static Location<'static>) {
        self.place.set(Some(place));
    }

    /// A thread of the block has come further.
    #[inline]
    pub(crate) fn progress(&self) {
        self.vain.set(0);
        self.progress.set(true);
    }

    fn asks_in_vain(&self, address: usize, value: u64) -> bool {
        let mut seen = self.seen.get();
        if seen.contains(&(address, value)) {
            self.vain.set(self.vain.get() + 1);
        } else {
            self.vain.set(0);
            seen.rotate_right(1);
            seen[0] = (address, value);
            self.seen.set(seen);
        }
        self.vain.get() >= PATIENCE
    }

    /// Ends a round in which all threads that could run did; whether nothing has come of any for too long.
    pub(crate) fn ends_round(&self, context: &Context<'_>) -> bool {
        if self.progress.take() {
            self.ends_standstill(context);
            return false;
        }
        if self.since.get().is_none() {
            context.job.standstill(1);
            self.since.set(Some(Instant::now()));
            self.rounds.set(0);
        }
        self.rounds.set(self.rounds.get().saturating_add(1));
        std::thread::yield_now();
        let is_over = self
            .since
            .get()
            .is_some_and(|since| since.elapsed() > LIMIT);
        // Others may change something, or have only just stopped.
        is_over && self.rounds.get() >= ROUNDS && context.job.all_stand_still(LIMIT)
    }

    /// Some thread has come further, or the block has ended.
    pub(crate) fn ends_standstill(&self, context: &Context<'_>) {
        if self.since.take().is_some() {
            context.job.standstill(-1);
        }
    }
}

/// An operation has found `value` in the atomic at `address`, and left it or `changed` it.
#[inline]
pub(crate) fn touched(address: usize, value: u64, changed: bool) {
    let Some(context) = context::current() else {
        return;
    };
    if changed {
        context.spin.progress();
    } else if context.spin.asks_in_vain(address, value) {
        let_others_run(context);
    }
}

/// The running thread waits for what others do.
pub(crate) fn let_others_run(context: &Context<'_>) {
    context.place.set(context.spin.place.get());
    context.wait(Operation::Spin);
    context.spin.vain.set(0);
}
