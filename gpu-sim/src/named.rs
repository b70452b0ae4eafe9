//! The named barriers of a block: 16 counters.
//!
//! A barrier opens when as many threads have come as the first of them said. Threads that ended do not count, as on a
//! GPU, where the count is part of the instruction.

const BARRIERS: usize = 16;

/// The counters of the block that a worker runs.
#[derive(Default)]
pub(crate) struct NamedBarriers {
    barriers: [Barrier; BARRIERS],
    used: bool,
}

#[derive(Clone, Copy, Default)]
struct Barrier {
    arrived: u32,
    threads: u32,
    phase: u32,
}

/// What an arrival does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The barrier is open: everybody goes on.
    Opened,
    /// Others are missing in this phase.
    Incomplete { phase: u32 },
    /// Those before said another number of threads.
    Mismatch { threads: u32 },
}

impl NamedBarriers {
    /// Nobody has come to any barrier of the new block.
    #[inline]
    pub(crate) fn start_block(&mut self) {
        if self.used {
            *self = Self::default();
        }
    }

    /// One thread comes to barrier `id`, which is for so many `threads`.
    pub(crate) fn arrive(&mut self, id: u32, threads: u32) -> Arrival {
        self.used = true;
        let barrier = &mut self.barriers[id as usize % BARRIERS];
        if barrier.arrived > 0 && barrier.threads != threads {
            return Arrival::Mismatch {
                threads: barrier.threads,
            };
        }
        barrier.threads = threads;
        barrier.arrived += 1;
        if barrier.arrived < threads {
            return Arrival::Incomplete {
                phase: barrier.phase,
            };
        }
        barrier.arrived = 0;
        barrier.phase = barrier.phase.wrapping_add(1);
        Arrival::Opened
    }

    /// How often barrier `id` has opened.
    pub(crate) fn phase(&self, id: u32) -> u32 {
        self.barriers[id as usize % BARRIERS].phase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_at_the_number_and_starts_again() {
        let mut barriers = NamedBarriers::default();
        for phase in 0..3 {
            assert_eq!(barriers.arrive(1, 2), Arrival::Incomplete { phase });
            assert_eq!(barriers.arrive(2, 1), Arrival::Opened);
            assert_eq!(barriers.arrive(1, 2), Arrival::Opened);
        }
        assert_eq!(barriers.phase(1), 3);
        barriers.start_block();
        assert_eq!(barriers.phase(1), 0);
    }

    #[test]
    fn all_must_say_the_same_number() {
        let mut barriers = NamedBarriers::default();
        barriers.arrive(1, 64);
        assert_eq!(barriers.arrive(1, 32), Arrival::Mismatch { threads: 64 });
    }
}
