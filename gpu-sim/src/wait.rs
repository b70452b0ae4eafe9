//! What a suspended thread waits for: a barrier of its block, or an operation of its warp.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::Location;

use crate::matrix::Matrix;

/// A suspended thread's request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) operation: Operation,
    /// The kernel's source line, where `gpu_std` gave it.
    pub(crate) place: Option<&'static Location<'static>>,
}

/// What the thread asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// All threads of the block that have not ended; the answer is the number of those with a true predicate.
    Block { barrier: Barrier, predicate: bool },
    /// All threads of the grid.
    Grid,
    /// All threads of the cluster that have not ended.
    Cluster,
    /// The barrier `id`, as it was in its `phase`.
    Named { id: u32, phase: u32 },
    /// The lanes of `mask` that have not ended.
    Warp { mask: u32, request: Request },
    /// The lanes of the warp that come to the same place.
    ActiveMask,
    /// Another thread's change of an atomic: others run, then this one asks again.
    Spin,
    /// Likewise, in a loop of instructions of the host: it was interrupted.
    Preempted,
    /// Nothing: another thread's turn has come by chance.
    Turn,
}

/// The threads that wait at barriers of the block.
///
/// None of them goes on before all do, so they need not be looked at one by one.
#[derive(Default)]
pub(crate) struct Arrivals {
    threads: Cell<usize>,
    true_predicates: Cell<u32>,
    /// Which it is, and where.
    first: Cell<(Barrier, Place)>,
    /// Whether another one waits at another.
    apart: Cell<bool>,
}

/// A source line, where it is known.
type Place = Option<&'static Location<'static>>;

impl Arrivals {
    /// A thread waits, maybe at a barrier of the block.
    #[inline]
    pub(crate) fn note(&self, wait: &Wait) {
        let Operation::Block { barrier, predicate } = wait.operation else {
            return;
        };
        let before = self.threads.get();
        self.threads.set(before + 1);
        self.true_predicates
            .set(self.true_predicates.get() + u32::from(predicate));
        if before == 0 {
            self.first.set((barrier, wait.place));
        } else {
            let (first, place) = self.first.get();
            if first != barrier || !same_place(place, wait.place) {
                self.apart.set(true);
            }
        }
    }

    /// How many wait.
    #[inline]
    pub(crate) fn threads(&self) -> usize {
        self.threads.get()
    }

    /// They all go on, of whom so many gave true; `None` if they wait at different barriers.
    #[inline]
    pub(crate) fn go_on(&self) -> Option<u32> {
        let true_predicates = self.true_predicates.get();
        let apart = self.apart.get();
        self.clear();
        (!apart).then_some(true_predicates)
    }

    /// Nobody waits.
    #[inline]
    pub(crate) fn clear(&self) {
        self.threads.set(0);
        self.true_predicates.set(0);
        self.apart.set(false);
    }
}

/// Whether both are one source line. Rust may keep a line's [`Location`] more than once.
#[inline]
fn same_place(one: Place, two: Place) -> bool {
    one.map(std::ptr::from_ref) == two.map(std::ptr::from_ref) || one == two
}

/// A barrier of the whole block, and what it makes of the predicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Barrier {
    #[default]
    Sync,
    Count,
    And,
    Or,
}

impl Barrier {
    /// The function's name in `gpu_std`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Barrier::Sync => "sync_threads",
            Barrier::Count => "sync_threads_count",
            Barrier::And => "sync_threads_and",
            Barrier::Or => "sync_threads_or",
        }
    }
}

/// An operation of the lanes of a mask, with what one lane puts in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    Sync,
    Shuffle {
        mode: Shuffle,
        value: MaybeUninit<u32>,
        /// Lane, distance or lane mask, by mode.
        operand: u32,
        /// PTX's operand `c`: clamp and segment mask.
        clamp: u32,
    },
    Vote {
        vote: Vote,
        predicate: bool,
    },
    Match {
        value: u64,
        is_wide: bool,
        all: bool,
    },
    Reduce {
        reduction: Reduction,
        value: u32,
    },
    /// It takes all lanes of the warp.
    Matrix(Matrix),
}

/// Which lane a lane reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Index,
    Up,
    Down,
    Xor,
}

/// What the predicates of the lanes are combined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// What the values of the lanes are combined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Add,
    Min,
    Max,
    MinSigned,
    MaxSigned,
    And,
    Or,
    Xor,
}

/// No request: what a lane holds before its first.
pub(crate) const NOTHING: &Wait = &Wait {
    operation: Operation::ActiveMask,
    place: None,
};

impl Wait {
    /// The operation's name in `gpu_std`, for messages.
    pub(crate) fn name(&self) -> &'static str {
        match self.operation {
            Operation::Block { barrier, .. } => barrier.name(),
            Operation::Grid => "grid::sync",
            Operation::Cluster => "cluster::sync",
            Operation::Named { .. } => "named_barrier",
            Operation::Warp { request, .. } => request.name(),
            Operation::ActiveMask => "active_mask",
            Operation::Spin => "an atomic operation, again and again",
            Operation::Preempted => "a loop",
            Operation::Turn => "a random order",
        }
    }

    /// Whether both wait for the grid, at one place.
    pub(crate) fn meets_for_grid(&self, other: &Wait) -> bool {
        matches!(other.operation, Operation::Grid) && self.same_place(other)
    }

    /// Whether both wait for the cluster, at one place.
    pub(crate) fn meets_for_cluster(&self, other: &Wait) -> bool {
        matches!(other.operation, Operation::Cluster) && self.same_place(other)
    }

    /// Whether both are the same operation of a warp, at the same place where that matters: lanes of a warp may synchronise from
    /// different places.
    pub(crate) fn meets(&self, other: &Wait) -> bool {
        let (Operation::Warp { request: one, .. }, Operation::Warp { request: two, .. }) =
            (self.operation, other.operation)
        else {
            return false;
        };
        let anywhere = matches!(one, Request::Sync);
        one.name() == two.name() && (anywhere || self.same_place(other))
    }

    /// Whether both stand at one source line.
    pub(crate) fn same_place(&self, other: &Wait) -> bool {
        same_place(self.place, other.place)
    }
}

impl Request {
    /// The operation's name in `gpu_std`, which is different for all operations that cannot meet.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Request::Sync => "sync_warp",
            Request::Shuffle { mode, .. } => match mode {
                Shuffle::Index => "shuffle_idx",
                Shuffle::Up => "shuffle_up",
                Shuffle::Down => "shuffle_down",
                Shuffle::Xor => "shuffle_xor",
            },
            Request::Vote { vote, .. } => match vote {
                Vote::All => "vote_all",
                Vote::Any => "vote_any",
                Vote::Uniform => "vote_uni",
                Vote::Ballot => "ballot",
            },
            Request::Match { is_wide, all, .. } => match (all, is_wide) {
                (false, false) => "match_any of 32 bits",
                (false, true) => "match_any of 64 bits",
                (true, false) => "match_all of 32 bits",
                (true, true) => "match_all of 64 bits",
            },
            Request::Reduce { reduction, .. } => match reduction {
                Reduction::Add => "reduce_add",
                Reduction::Min | Reduction::MinSigned => "reduce_min",
                Reduction::Max | Reduction::MaxSigned => "reduce_max",
                Reduction::And => "reduce_and",
                Reduction::Or => "reduce_or",
                Reduction::Xor => "reduce_xor",
            },
            Request::Matrix(operation) => operation.name(),
        }
    }
}
