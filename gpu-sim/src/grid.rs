//! The grid's barrier: where the workers of a launch meet, once every block of the grid waits at it.
//!
//! In: from each worker, how many threads of its blocks wait. Out: whether all threads of the grid do. A worker comes only
//! when no block is left to start and all of its own wait or have ended, so when all workers are here nobody else will
//! come. Workers that start later find no block, and go.
//!
//! Each thread that waits keeps a stack, so a grid of this kind is limited, and one launch of a process after the other
//! has its turn. A launch that waits for its turn holds nothing that the one whose turn it is needs: that one waits for
//! no stacks ([`GridBarrier::has_turn`]), and for no other worker than those that run already.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::loan;

/// The most threads of a grid that waits for itself: a stack takes two of the 65,530 mappings that Linux gives a process.
pub const COOPERATIVE_THREADS: u64 = 4096;

/// The meeting point of a launch's workers.
#[derive(Default)]
pub(crate) struct GridBarrier {
    state: Mutex<State>,
    changed: Condvar,
    has_turn: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Workers that run blocks or wait here.
    present: usize,
    /// Those that ever did.
    entered: usize,
    /// Those that wait here.
    arrived: usize,
    /// Threads of their blocks that wait.
    threads: u64,
    /// How often all were here.
    meetings: u64,
    /// The threads of the last meeting.
    met: u64,
}

/// How a meeting ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// All workers came, and so many threads wait.
    Complete(u64),
    /// The launch was stopped meanwhile.
    Stopped,
}

impl GridBarrier {
    /// A worker starts to run blocks, until it drops this.
    pub(crate) fn enter(&self) -> Present<'_> {
        let mut state = self.lock();
        state.present += 1;
        state.entered += 1;
        Present(self)
    }

    /// Workers that run blocks or wait here.
    pub(crate) fn present(&self) -> usize {
        self.lock().present
    }

    /// Workers that have come so far.
    pub(crate) fn entered(&self) -> usize {
        self.lock().entered
    }

    /// Waits until no other launch has blocks that wait for their grid.
    pub(crate) fn take_turn(&self) {
        let _state = self.lock();
        if !self.has_turn() {
            TURN.take();
            self.has_turn.store(true, Ordering::Relaxed);
            loan::wake();
        }
    }

    /// Whether this launch is the one whose blocks may wait for their grid.
    pub(crate) fn has_turn(&self) -> bool {
        self.has_turn.load(Ordering::Relaxed)
    }

    /// Waits for all other workers that are present.
    pub(crate) fn meet(&self, threads: u64, stopped: impl Fn() -> bool) -> Meeting {
        let mut state = self.lock();
        let meeting = state.meetings;
        state.arrived += 1;
        state.threads += threads;
        self.complete_if_all_are_here(&mut state);
        while state.meetings == meeting {
            if stopped() {
                return Meeting::Stopped;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Meeting::Complete(state.met)
    }

    /// Wakes those that wait, after the launch was stopped.
    pub(crate) fn wake(&self) {
        // A worker that has seen that the launch goes on waits by the time the lock is free.
        drop(self.lock());
        self.changed.notify_all();
    }

    fn complete_if_all_are_here(&self, state: &mut State) {
        if state.arrived > 0 && state.arrived == state.present {
            state.met = std::mem::take(&mut state.threads);
            state.arrived = 0;
            state.meetings += 1;
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker that others wait for.
pub(crate) struct Present<'a>(&'a GridBarrier);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.present -= 1;
        self.0.complete_if_all_are_here(&mut state);
        // The launch is over but for workers that find nothing to do. It may be long until they start.
        if state.present == 0 && self.0.has_turn.swap(false, Ordering::Relaxed) {
            TURN.give_back();
        }
    }
}

/// Whether a launch has the turn.
static TURN: Turn = Turn {
    taken: Mutex::new(false),
    free: Condvar::new(),
};

struct Turn {
    taken: Mutex<bool>,
    free: Condvar,
}

impl Turn {
    fn take(&self) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self.free.wait_while(taken, |taken| *taken);
        *taken.unwrap_or_else(PoisonError::into_inner) = true;
    }

    fn give_back(&self) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_are_present_meet_again_and_again() {
        let barrier = GridBarrier::default();
        let present: Vec<_> = (0..4).map(|_| barrier.enter()).collect();
        std::thread::scope(|scope| {
            for (worker, present) in present.into_iter().enumerate() {
                let barrier = &barrier;
                scope.spawn(move || {
                    // The last worker has blocks for two meetings only, and goes.
                    let meetings = if worker == 3 { 2 } else { 4 };
                    for meeting in 0..meetings {
                        let threads = if meeting < 2 { 15 } else { 7 };
                        assert_eq!(
                            barrier.meet(1 << worker, || false),
                            Meeting::Complete(threads)
                        );
                    }
                    drop(present);
                });
            }
        });
        let late = barrier.enter();
        assert_eq!(barrier.meet(5, || false), Meeting::Complete(5));
        drop(late);
    }

    #[test]
    fn one_launch_after_the_other_has_its_turn() {
        let inside = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let launch = GridBarrier::default();
                        let present = [launch.enter(), launch.enter()];
                        launch.take_turn();
                        launch.take_turn();
                        assert!(!inside.swap(true, Ordering::Relaxed));
                        inside.store(false, Ordering::Relaxed);
                        drop(present);
                        assert!(!launch.has_turn());
                    }
                });
            }
        });
    }

    #[test]
    fn a_stopped_launch_wakes_those_that_wait() {
        let (barrier, stopped) = (GridBarrier::default(), AtomicBool::new(false));
        let _running = barrier.enter();
        let present = barrier.enter();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let stopped = || stopped.load(Ordering::Relaxed);
                assert_eq!(barrier.meet(1, stopped), Meeting::Stopped);
                drop(present);
            });
            stopped.store(true, Ordering::Relaxed);
            barrier.wake();
        });
    }
}
