//! Random orders of the blocks of a grid and of the threads of a block, each decided by a seed.
//!
//! A permutation of `0..len` that needs no memory: a Feistel network over the next power of four, applied again until the
//! number is below `len`.

use std::cell::Cell;

/// How often a thread's turn ends at an access: one in so many times.
const ONE_IN: u64 = 8;

/// The random turns of the threads of the blocks that a worker runs.
pub(crate) struct Turns {
    threads: u64,
    seed: u64,
    order: Cell<Permutation>,
    /// Threads of the block that have started.
    started: Cell<u64>,
    /// Decisions so far.
    decisions: Cell<u64>,
}

impl Turns {
    pub(crate) fn new(threads: u64, seed: u64) -> Self {
        Self {
            threads,
            seed,
            order: Cell::new(Permutation::new(threads, seed)),
            started: Cell::new(threads),
            decisions: Cell::new(0),
        }
    }

    pub(crate) fn start_block(&self, block: u64) {
        self.order
            .set(Permutation::new(self.threads, hash(block, self.seed)));
        self.started.set(0);
    }

    pub(crate) fn finish_block(&self) {
        self.started.set(self.threads);
    }

    /// The thread that starts next.
    pub(crate) fn next_thread(&self) -> Option<u64> {
        let started = self.started.get();
        (started < self.threads).then(|| {
            self.started.set(started + 1);
            self.order.get().of(started)
        })
    }

    /// The order in which so many threads go on.
    pub(crate) fn order(&self, threads: usize) -> impl Iterator<Item = usize> + use<> {
        let order = Permutation::new(threads as u64, self.decide());
        (0..threads as u64).map(move |number| order.of(number) as usize)
    }

    /// Whether the running thread's turn ends here.
    pub(crate) fn ends_here(&self) -> bool {
        self.decide().is_multiple_of(ONE_IN)
    }

    fn decide(&self) -> u64 {
        let decision = self.decisions.get();
        self.decisions.set(decision + 1);
        hash(decision, !self.seed)
    }
}

/// A permutation of the numbers below a length.
#[derive(Clone, Copy)]
pub(crate) struct Permutation {
    len: u64,
    half_bits: u32,
    seed: u64,
}

impl Permutation {
    pub(crate) fn new(len: u64, seed: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Self {
            len,
            half_bits: bits.div_ceil(2).max(1),
            seed,
        }
    }

    /// Where the number goes.
    pub(crate) fn of(self, number: u64) -> u64 {
        let mut image = self.scrambled(number);
        while image >= self.len {
            image = self.scrambled(image);
        }
        image
    }

    fn scrambled(self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut high, mut low) = (number >> self.half_bits, number & mask);
        for round in 0..4 {
            (high, low) = (low, high ^ (hash(low, self.seed ^ round) & mask));
        }
        high << self.half_bits | low
    }
}

/// A number that looks random, of two that do not.
pub(crate) fn hash(number: u64, seed: u64) -> u64 {
    let mut mixed =
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed = (mixed ^ mixed >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for len in [1, 2, 3, 5, 31, 32, 33, 1000] {
            for seed in 0..5 {
                let permutation = Permutation::new(len, seed);
                let mut images: Vec<u64> = (0..len).map(|number| permutation.of(number)).collect();
                images.sort_unstable();
                assert_eq!(images, (0..len).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn seeds_give_different_orders() {
        let order = |seed| -> Vec<u64> {
            let permutation = Permutation::new(64, seed);
            (0..64).map(|number| permutation.of(number)).collect()
        };
        assert_ne!(order(1), order(2));
        assert_ne!(order(1), (0..64).collect::<Vec<_>>());
    }
}
