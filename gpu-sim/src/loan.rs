//! How many stacks a process has at once.
//!
//! A stack with its guard page is two mappings, and Linux gives a process 65,530 of them: fewer than a block of 1024
//! threads on each core of a large machine takes. So each worker keeps only its share of stacks for itself. What a
//! block or a cluster needs beyond is lent to the worker for one launch, when others have given enough back.

use std::sync::{Condvar, Mutex, PoisonError};

/// Stacks that all workers keep between launches.
const KEPT: usize = 16 << 10;
/// Stacks that are lent at once, at most.
const LENT: usize = 8 << 10;

static POT: Pot = Pot::new(LENT);

/// How many stacks a worker may keep.
pub(crate) fn share() -> usize {
    KEPT / rayon::current_num_threads()
}

/// Lets those that wait for stacks ask again whether they need to.
pub(crate) fn wake() {
    drop(POT.lent.lock().unwrap_or_else(PoisonError::into_inner));
    POT.returned.notify_all();
}

/// Stacks that a worker may have beyond its share, until it drops this.
pub(crate) struct Loan {
    stacks: usize,
    pot: &'static Pot,
}

impl Loan {
    /// For the blocks of a cluster, which have so many threads. Waits until others have given enough back, or the launch
    /// `need_not_wait`.
    ///
    /// A worker waits only before it takes a loan, and needs no other worker to give it back, so somebody can always go
    /// on.
    pub(crate) fn for_cluster(threads: u64, need_not_wait: impl Fn() -> bool) -> Self {
        let threads = usize::try_from(threads).unwrap_or(usize::MAX);
        // One more runs threads while all others wait.
        let wanted = threads.saturating_add(1).saturating_sub(share());
        POT.take(wanted, need_not_wait)
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.pot.give_back(self.stacks);
    }
}

struct Pot {
    most: usize,
    lent: Mutex<usize>,
    returned: Condvar,
}

impl Pot {
    const fn new(most: usize) -> Self {
        Self {
            most,
            lent: Mutex::new(0),
            returned: Condvar::new(),
        }
    }

    /// Waits until so many are there; more than there ever are, until all are there.
    fn take(&'static self, stacks: usize, need_not_wait: impl Fn() -> bool) -> Loan {
        if stacks > 0 {
            let too_many = |lent: &mut usize| {
                *lent > 0 && stacks > self.most.saturating_sub(*lent) && !need_not_wait()
            };
            let lent = self.lent.lock().unwrap_or_else(PoisonError::into_inner);
            let lent = self.returned.wait_while(lent, too_many);
            *lent.unwrap_or_else(PoisonError::into_inner) += stacks;
        }
        Loan { stacks, pot: self }
    }

    fn give_back(&self, stacks: usize) {
        if stacks > 0 {
            *self.lent.lock().unwrap_or_else(PoisonError::into_inner) -= stacks;
            self.returned.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_are_lent_than_there_are() {
        static SMALL: Pot = Pot::new(10);
        static HELD: AtomicUsize = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for wanted in [3, 4, 5, 10, 7] {
                scope.spawn(move || {
                    for _ in 0..1000 {
                        let loan = SMALL.take(wanted, || false);
                        let held = HELD.fetch_add(wanted, Ordering::Relaxed) + wanted;
                        assert!(held <= 10, "{held}");
                        HELD.fetch_sub(wanted, Ordering::Relaxed);
                        drop(loan);
                    }
                });
            }
        });
        assert_eq!(*SMALL.lent.lock().unwrap(), 0);
    }

    #[test]
    fn one_may_have_more_than_there_are_when_nobody_else_has_any() {
        static SMALL: Pot = Pot::new(10);
        drop(SMALL.take(100, || false));
        assert_eq!(*SMALL.lent.lock().unwrap(), 0);
    }
}
