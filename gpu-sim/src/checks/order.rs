//! Which accesses of a block's threads happen before which.
//!
//! In: the barriers, operations of warps and atomic operations of the block, as they happen. Out: whether an earlier access
//! of one thread is ordered before what another does next.
//!
//! A barrier of the whole block orders everything, so it only counts an epoch. What joins fewer threads is kept as vector
//! clocks: how far a thread has seen each other thread. An atomic operation, of whatever ordering, publishes all that its
//! thread did before to those that come to the same atomic later: a relaxed one may stand beside a fence.

use std::collections::HashMap;
use std::rc::Rc;

/// How far each thread of the block has been seen.
type Clocks = Rc<[u32]>;

/// The order of the block that a worker runs.
pub(crate) struct Order {
    threads: usize,
    epoch: u64,
    first_epoch: u64,
    /// Empty until threads meet in smaller groups than the block.
    clocks: Vec<Clock>,
    atomics: HashMap<usize, Clocks>,
    named: HashMap<u32, Clocks>,
}

#[derive(Clone)]
struct Clock {
    own: u32,
    seen: Option<Clocks>,
}

/// When an access happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    epoch: u64,
    clock: u32,
}

impl Moment {
    /// Before any block.
    pub(crate) const NEVER: Self = Self { epoch: 0, clock: 0 };
}

impl Order {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads,
            epoch: 1,
            first_epoch: 1,
            clocks: Vec::new(),
            atomics: HashMap::new(),
            named: HashMap::new(),
        }
    }

    /// Nothing has happened in the new block.
    #[inline]
    pub(crate) fn start_block(&mut self) {
        self.meet_all();
        self.first_epoch = self.epoch;
    }

    /// All threads of the block have come to a barrier.
    #[inline]
    pub(crate) fn meet_all(&mut self) {
        self.epoch += 1;
        if !self.clocks.is_empty() {
            self.clocks.clear();
            self.atomics.clear();
            self.named.clear();
        }
    }

    /// The present, for `thread`.
    #[inline]
    pub(crate) fn now(&self, thread: u32) -> Moment {
        let clock = self.clocks.get(thread as usize);
        Moment {
            epoch: self.epoch,
            clock: clock.map_or(1, |clock| clock.own),
        }
    }

    /// Whether it happened in this block.
    #[inline]
    pub(crate) fn is_of_block(&self, moment: Moment) -> bool {
        moment.epoch >= self.first_epoch
    }

    /// Whether what `other` did then is ordered before what `thread` does next.
    #[inline]
    pub(crate) fn is_before(&self, moment: Moment, other: u32, thread: u32) -> bool {
        moment.epoch < self.epoch || other == thread || self.has_seen(moment, other, thread)
    }

    fn has_seen(&self, moment: Moment, other: u32, thread: u32) -> bool {
        let clock = self.clocks.get(thread as usize);
        clock
            .and_then(|clock| clock.seen.as_ref())
            .is_some_and(|seen| seen[other as usize] >= moment.clock)
    }

    /// These threads have met.
    pub(crate) fn meet(&mut self, threads: impl Iterator<Item = u32> + Clone) {
        let met = self.joined(threads.clone(), None);
        for thread in threads {
            self.see(thread, &met);
        }
    }

    /// The thread has come to the named barrier `id`.
    pub(crate) fn arrive(&mut self, id: u32, thread: u32) {
        let met = self.joined([thread].into_iter(), self.named.get(&id).cloned());
        self.named.insert(id, met);
        self.tick(thread);
    }

    /// The thread goes on after the named barrier `id`.
    pub(crate) fn pass(&mut self, id: u32, thread: u32) {
        if let Some(met) = self.named.get(&id).cloned() {
            let met = self.joined([thread].into_iter(), Some(met));
            self.see(thread, &met);
        }
    }

    /// The thread reads the atomic at `address`, or writes it, or both.
    pub(crate) fn touch_atomic(&mut self, address: usize, thread: u32, reads: bool, writes: bool) {
        let published = self.atomics.get(&address).cloned();
        if published.is_none() && !writes {
            return;
        }
        let met = self.joined([thread].into_iter(), published);
        if reads {
            self.see(thread, &met);
        }
        if writes {
            self.atomics.insert(address, met);
            self.tick(thread);
        }
    }

    /// What any of these threads has seen or done, and what was published.
    fn joined(&mut self, threads: impl Iterator<Item = u32>, published: Option<Clocks>) -> Clocks {
        if self.clocks.is_empty() {
            self.clocks
                .resize(self.threads, Clock { own: 1, seen: None });
        }
        let mut joined = match &published {
            Some(clocks) => clocks.to_vec(),
            None => vec![0; self.threads],
        };
        let mut last: Option<&Clocks> = published.as_ref();
        for thread in threads {
            let clock = &self.clocks[thread as usize];
            joined[thread as usize] = joined[thread as usize].max(clock.own);
            let Some(seen) = &clock.seen else { continue };
            if last.is_none_or(|last| !Rc::ptr_eq(last, seen)) {
                for (joined, seen) in joined.iter_mut().zip(&**seen) {
                    *joined = (*joined).max(*seen);
                }
            }
            last = Some(seen);
        }
        joined.into()
    }

    fn see(&mut self, thread: u32, met: &Clocks) {
        let clock = &mut self.clocks[thread as usize];
        clock.seen = Some(met.clone());
        clock.own += 1;
    }

    fn tick(&mut self, thread: u32) {
        self.clocks[thread as usize].own += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_of_the_block_orders_all() {
        let mut order = Order::new(4);
        order.start_block();
        let then = order.now(0);
        assert!(!order.is_before(then, 0, 1));
        assert!(order.is_before(then, 0, 0));
        order.meet_all();
        assert!(order.is_before(then, 0, 1));
        assert!(order.is_of_block(then));
        order.start_block();
        assert!(!order.is_of_block(then));
        assert!(!order.is_of_block(Moment::NEVER));
    }

    #[test]
    fn those_that_meet_see_each_other_and_what_they_have_seen() {
        let mut order = Order::new(4);
        order.start_block();
        let then = order.now(0);
        order.meet([0, 1].into_iter());
        assert!(order.is_before(then, 0, 1));
        assert!(!order.is_before(then, 0, 2));
        let later = order.now(0);
        assert!(!order.is_before(later, 0, 1));
        order.meet([1, 2].into_iter());
        assert!(order.is_before(then, 0, 2));
        assert!(!order.is_before(later, 0, 2));
        assert!(!order.is_before(then, 0, 3));
    }

    #[test]
    fn an_atomic_publishes_to_those_that_read_it_later() {
        let mut order = Order::new(3);
        order.start_block();
        let then = order.now(0);
        order.touch_atomic(64, 0, false, true);
        let later = order.now(0);
        order.touch_atomic(128, 1, true, false);
        assert!(!order.is_before(then, 0, 1));
        order.touch_atomic(64, 1, true, false);
        assert!(order.is_before(then, 0, 1));
        assert!(!order.is_before(later, 0, 1));
        assert!(!order.is_before(then, 0, 2));
    }

    #[test]
    fn a_named_barrier_joins_who_arrives_with_who_waits() {
        let mut order = Order::new(3);
        order.start_block();
        let then = order.now(0);
        order.arrive(1, 0);
        order.arrive(1, 1);
        order.pass(1, 1);
        assert!(order.is_before(then, 0, 1));
        assert!(!order.is_before(then, 0, 2));
    }
}
