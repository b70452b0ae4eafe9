//! Whether the running thread only goes round: what it looked like since its turn began.
//!
//! In: at each tick, the program counter and a digest of all that the thread has for itself. Out: whether its turn is over, and
//! whether it came any further. A thread whose whole state comes again does the same again, unless memory has changed. It may
//! be that it changes memory itself, such as a count, almost without a trace in its registers: then looks at the same instruction
//! find something new, or at least other flags, and it counts as one that comes further.
//!
//! The signal's handler runs on the thread that it looks at, so nothing here is shared.

use std::cell::Cell;

use gpu_std::Dim3;

/// So often the same state must come again.
const REPEATS: u32 = 3;
/// So long a thread's turn lasts at most, in nanoseconds on the processor.
const LONGEST: u64 = 1_000_000_000;
/// So many states of a turn are kept.
const KEPT: usize = 256;
/// After so many looks in vain there are fewer.
const CLOSE_LOOKS: u32 = 512;

/// The running thread's turn.
pub(crate) struct Turn {
    /// Whose it is: block and thread. None before the first look.
    owner: Cell<Option<(Dim3, Dim3)>>,
    began: Cell<u64>,
    last: Cell<u64>,
    looks: Cell<u32>,
    seen: [Cell<State>; KEPT],
    kept: Cell<usize>,
    repeats: Cell<u32>,
    /// New states at instructions that were seen before.
    changes: Cell<u32>,
    /// Whether flags differed, and nothing else.
    flags_changed: Cell<bool>,
}

/// A thread at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) code: usize,
    /// Of registers and stack.
    pub(super) digest: u64,
    pub(super) flags: u64,
}

/// What is to be done with the running thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    GoesOn,
    /// Its turn is over.
    Ends {
        came_further: bool,
    },
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            owner: Cell::new(None),
            began: Cell::new(0),
            last: Cell::new(0),
            looks: Cell::new(0),
            seen: [const {
                Cell::new(State {
                    code: 0,
                    digest: 0,
                    flags: 0,
                })
            }; KEPT],
            kept: Cell::new(0),
            repeats: Cell::new(0),
            changes: Cell::new(0),
            flags_changed: Cell::new(false),
        }
    }
}

impl Turn {
    /// The next look is the first.
    pub(super) fn restart(&self) {
        self.owner.set(None);
    }

    /// Whether the turn is this thread's; else one of it begins. The time is that of the OS thread on the processor.
    pub(super) fn is_of(&self, block: Dim3, thread: Dim3, now: u64) -> bool {
        if self.owner.replace(Some((block, thread))) == Some((block, thread)) {
            return true;
        }
        self.began.set(now);
        self.last.set(now);
        for count in [&self.looks, &self.repeats, &self.changes] {
            count.set(0);
        }
        self.kept.set(0);
        self.flags_changed.set(false);
        false
    }

    /// Whether it is time for a look, which should be so far apart.
    pub(super) fn is_due(&self, now: u64, apart: u64) -> bool {
        now - self.last.get() >= apart
    }

    /// Whether it is worth to look often.
    pub(super) fn is_open(&self) -> bool {
        self.looks.get() < CLOSE_LOOKS
    }

    /// The thread looks so.
    pub(super) fn look(&self, state: State, now: u64) -> Verdict {
        self.last.set(now);
        self.looks.set(self.looks.get().saturating_add(1));
        let seen = &self.seen[..self.kept.get()];
        if seen.iter().any(|at| at.get() == state) {
            self.repeats.set(self.repeats.get() + 1);
        } else {
            let same_code = |at: &&Cell<State>| at.get().code == state.code;
            let mut there = seen.iter().filter(same_code).peekable();
            if there.peek().is_some() {
                self.changes.set(self.changes.get() + 1);
            }
            if there.any(|at| at.get().digest == state.digest) {
                self.flags_changed.set(true);
            }
            if let Some(next) = self.seen.get(self.kept.get()) {
                next.set(state);
                self.kept.set(self.kept.get() + 1);
            }
        }
        if self.repeats.get() >= REPEATS {
            let came_further = self.flags_changed.get() || self.changes.get() > self.repeats.get();
            Verdict::Ends { came_further }
        } else if now - self.began.get() >= LONGEST {
            Verdict::Ends { came_further: true }
        } else {
            Verdict::GoesOn
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Dim3 = Dim3 { x: 0, y: 0, z: 0 };

    fn at(code: usize, digest: u64, flags: u64) -> State {
        State {
            code,
            digest,
            flags,
        }
    }

    fn first_verdict(states: impl Iterator<Item = State>) -> (usize, Verdict) {
        let turn = Turn::default();
        assert!(!turn.is_of(AT, AT, 0));
        for (look, state) in states.enumerate() {
            assert!(turn.is_of(AT, AT, 0));
            let verdict = turn.look(state, look as u64 * 1_000_000);
            if verdict != Verdict::GoesOn {
                return (look, verdict);
            }
        }
        panic!("no verdict");
    }

    #[test]
    fn who_goes_round_comes_no_further() {
        let round = (0..).map(|look| at(look % 5, look as u64 % 5, 0));
        let verdict = Verdict::Ends {
            came_further: false,
        };
        assert_eq!(first_verdict(round), (7, verdict));
    }

    #[test]
    fn who_changes_has_a_second() {
        let counts = (0..).map(|look| at(look % 5, look as u64, 0));
        assert_eq!(
            first_verdict(counts),
            (1000, Verdict::Ends { came_further: true })
        );
    }

    #[test]
    fn who_changes_between_rounds_comes_further() {
        let states = (0..).map(|look| at(7, if look % 4 == 3 { 0 } else { look as u64 }, 0));
        let (_, verdict) = first_verdict(states);
        assert_eq!(verdict, Verdict::Ends { came_further: true });
    }

    #[test]
    fn whose_flags_alone_change_comes_further() {
        let states = (0..).map(|look| at(7, 1, look % 2));
        let (_, verdict) = first_verdict(states);
        assert_eq!(verdict, Verdict::Ends { came_further: true });
    }

    #[test]
    fn each_thread_has_its_own_turn() {
        let turn = Turn::default();
        let other = Dim3 { x: 1, y: 0, z: 0 };
        let state = at(1, 1, 0);
        for thread in [AT, other].repeat(10) {
            assert!(!turn.is_of(AT, thread, 0));
            assert_eq!(turn.look(state, 0), Verdict::GoesOn);
        }
    }
}
