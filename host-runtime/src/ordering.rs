//! The order between streams: an allocation that is used on two of them is used one after the other.
//!
//! In: each use of an allocation, with its stream and whether it writes. Out: the stream waits for the uses on other
//! streams that it must not overtake: a read for the last write, a write for all uses. A program with one stream pays two
//! comparisons a use and never an event.
//!
//! A stream counts what is queued on it. A use leaves its *ticket*, the count just after it was queued, so that an
//! event recorded later covers every ticket up to the count of that moment. A stream remembers up to which ticket it is
//! behind each other stream, and waits for the same work only once.
//!
//! Plans and graphs keep allocations and use them again without a borrow, at the same moment as another thread, perhaps.
//! So a replay has its [turn](Turn) alone, and what borrows a kept allocation has one that other borrowers may share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::error::Result;
use crate::stream::Queue;

/// What a use does with an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// How far a stream is.
pub(crate) struct Progress {
    /// The stream's number in this process.
    id: u64,
    /// Uses that were queued.
    issued: AtomicU64,
    /// Held while a use's tickets are noted, so that later ones are noted later.
    noting: Mutex<()>,
    /// Uses that the host knows to be done.
    done: AtomicU64,
    /// By the number of another stream, the ticket up to which this one comes after it.
    behind: Mutex<HashMap<u64, u64>>,
}

impl Progress {
    /// A stream on which nothing was queued.
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            issued: AtomicU64::new(0),
            noting: Mutex::default(),
            done: AtomicU64::new(0),
            behind: Mutex::default(),
        }
    }

    /// The ticket of the last use. An event that is recorded after this call covers it.
    pub fn issued(&self) -> u64 {
        self.issued.load(Ordering::Acquire)
    }

    /// Notes that everything up to `ticket` is done.
    pub fn is_done(&self, ticket: u64) {
        self.done.fetch_max(ticket, Ordering::AcqRel);
    }

    /// Notes that what is queued from now on comes after the other stream's tickets up to `ticket`.
    pub fn is_behind(&self, other: &Progress, ticket: u64) {
        let mut behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        let known = behind.entry(other.id).or_default();
        *known = ticket.max(*known);
    }

    /// Whether what is queued from now on comes after that ticket of the other stream.
    fn comes_after(&self, other: &Progress, ticket: u64) -> bool {
        if self.id == other.id || other.done.load(Ordering::Acquire) >= ticket {
            return true;
        }
        let behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        behind.get(&other.id).is_some_and(|&known| known >= ticket)
    }

    #[inline]
    fn next(&self) -> Ticket<'_> {
        let noting = self.noting.lock().unwrap_or_else(PoisonError::into_inner);
        let number = self.issued.load(Ordering::Relaxed) + 1;
        self.issued.store(number, Ordering::Release);
        Ticket { number, noting }
    }
}

/// The number of a use that was queued, while it is noted.
pub(crate) struct Ticket<'a> {
    number: u64,
    #[expect(dead_code, reason = "held, not read")]
    noting: MutexGuard<'a, ()>,
}

/// The last tickets of one stream's uses of an allocation; 0 for none.
#[derive(Debug, Default)]
struct Tickets {
    read: AtomicU64,
    write: AtomicU64,
}

impl Tickets {
    /// The ticket that an access must come after.
    fn before(&self, access: Access) -> u64 {
        let write = self.write.load(Ordering::Relaxed);
        match access {
            Access::Read => write,
            Access::Write => write.max(self.read.load(Ordering::Relaxed)),
        }
    }

    fn set(&self, access: Access, ticket: u64) {
        let place = match access {
            Access::Read => &self.read,
            Access::Write => &self.write,
        };
        place.store(ticket, Ordering::Relaxed);
    }

    fn clear(&self) {
        self.read.store(0, Ordering::Relaxed);
        self.write.store(0, Ordering::Relaxed);
    }
}

/// The uses of one allocation. Conflicting uses are never noted at once: the array behind it is borrowed for them, or they
/// have their turn alone.
#[derive(Default)]
pub(crate) struct Usage {
    /// On the stream that the allocation belongs to.
    home: Tickets,
    /// Whether there are uses on other streams that a use at home may have to wait for.
    has_others: AtomicBool,
    others: Mutex<Vec<(Arc<Queue>, Tickets)>>,
    /// Whether a plan or a graph was given the allocation.
    is_kept: AtomicBool,
}

/// Held from before a use begins until it is noted.
pub(crate) enum Turn {
    /// Nothing that keeps the memory replays meanwhile.
    Borrowed(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'static, ()>),
    /// Nothing else uses kept memory meanwhile.
    Replay(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'static, ()>),
}

static TURNS: RwLock<()> = RwLock::new(());

impl Turn {
    /// For a use of borrowed memory that something keeps. A thread that holds one takes no other.
    pub fn borrowed() -> Self {
        Self::Borrowed(TURNS.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// For a replay.
    pub fn replay() -> Self {
        Self::Replay(TURNS.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Usage {
    /// Notes that a plan or a graph has the allocation. Its array is borrowed meanwhile, so that no conflicting use is
    /// under way that would have to know.
    pub fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    /// Whether a use at home has nothing to wait for, and needs no turn.
    #[inline]
    pub fn is_simple(&self) -> bool {
        !self.has_others.load(Ordering::Relaxed) && !self.is_kept()
    }

    /// Whether a plan or a graph was ever given the allocation.
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    /// Makes `queue` wait for what an access on it must come after. `home` is the allocation's own stream.
    #[inline]
    pub fn begin(&self, home: &Arc<Queue>, queue: &Arc<Queue>, access: Access) -> Result<()> {
        if Arc::ptr_eq(home, queue) && !self.has_others.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.wait_for_others(home, queue, access)
    }

    /// Waits on the host for what an access by the host must come after.
    pub fn wait_on_host(&self, home: &Arc<Queue>, access: Access) -> Result<()> {
        let wait = |queue: &Queue, tickets: &Tickets| {
            let ticket = tickets.before(access);
            match queue.progress.done.load(Ordering::Acquire) >= ticket {
                true => Ok(()),
                false => queue.synchronize(),
            }
        };
        wait(home, &self.home)?;
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others
            .iter()
            .try_for_each(|(other, tickets)| wait(other, tickets))
    }

    #[cold]
    fn wait_for_others(&self, home: &Arc<Queue>, queue: &Arc<Queue>, access: Access) -> Result<()> {
        wait(queue, home, self.home.before(access))?;
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        for (other, tickets) in &*others {
            wait(queue, other, tickets.before(access))?;
        }
        Ok(())
    }

    /// Notes the use that was just queued.
    #[inline]
    pub fn end(&self, home: &Arc<Queue>, queue: &Arc<Queue>, access: Access, ticket: &Ticket<'_>) {
        let ticket = ticket.number;
        let at_home = Arc::ptr_eq(home, queue);
        if at_home {
            self.home.set(access, ticket);
        }
        if !at_home || self.has_others.load(Ordering::Relaxed) {
            self.note_others(queue, access, ticket, at_home);
        }
    }

    /// Notes a use on another stream than home. What a write came after is forgotten: to come after the write is enough.
    #[cold]
    fn note_others(&self, queue: &Arc<Queue>, access: Access, ticket: u64, at_home: bool) {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if access == Access::Write {
            others.clear();
            if !at_home {
                self.home.clear();
            }
        }
        if !at_home {
            match others.iter().find(|(other, _)| Arc::ptr_eq(other, queue)) {
                Some((_, tickets)) => tickets.set(access, ticket),
                None => {
                    let tickets = Tickets::default();
                    tickets.set(access, ticket);
                    others.push((queue.clone(), tickets));
                }
            }
        }
        self.has_others.store(!others.is_empty(), Ordering::Relaxed);
    }
}

/// The ticket of a use that was just queued.
#[inline]
pub(crate) fn ticket(queue: &Queue) -> Ticket<'_> {
    queue.progress.next()
}

/// Makes what is queued on `queue` from now on come after a ticket of `other`.
pub(crate) fn wait(queue: &Queue, other: &Queue, ticket: u64) -> Result<()> {
    if queue.progress.comes_after(&other.progress, ticket) {
        return Ok(());
    }
    let covered = other.progress.issued();
    queue.backend.wait_for(&other.backend)?;
    queue.progress.is_behind(&other.progress, covered);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gpu;

    /// Two streams of the simulator, and the tickets that the second is behind the first.
    struct Pair {
        a: Arc<Queue>,
        b: Arc<Queue>,
    }

    impl Pair {
        fn new() -> Self {
            let gpu = Gpu::cpu();
            let b = gpu.new_stream().unwrap();
            Self {
                a: gpu.stream().queue().clone(),
                b: b.queue().clone(),
            }
        }

        fn is_behind(&self) -> u64 {
            let behind = self.b.progress.behind.lock().unwrap();
            behind.get(&self.a.progress.id).copied().unwrap_or_default()
        }

        fn uses(&self, usage: &Usage, queue: &Arc<Queue>, access: Access) -> u64 {
            usage.begin(&self.a, queue, access).unwrap();
            let ticket = ticket(queue);
            usage.end(&self.a, queue, access, &ticket);
            ticket.number
        }
    }

    #[test]
    fn reads_wait_for_writes_and_writes_for_all() {
        let pair = Pair::new();
        let (x, y) = (Usage::default(), Usage::default());
        pair.uses(&x, &pair.a, Access::Read);
        pair.uses(&x, &pair.b, Access::Read);
        assert_eq!(pair.is_behind(), 0, "two reads");
        let written = pair.uses(&y, &pair.a, Access::Write);
        pair.uses(&y, &pair.b, Access::Read);
        assert_eq!(pair.is_behind(), written, "a read after a write");
        let read = pair.uses(&x, &pair.a, Access::Read);
        pair.uses(&x, &pair.b, Access::Write);
        assert_eq!(pair.is_behind(), read, "a write after a read");
    }

    #[test]
    fn one_wait_covers_what_was_queued_before_it() {
        let pair = Pair::new();
        let (x, y) = (Usage::default(), Usage::default());
        pair.uses(&x, &pair.a, Access::Write);
        let last = pair.uses(&y, &pair.a, Access::Write);
        pair.uses(&x, &pair.b, Access::Read);
        assert_eq!(pair.is_behind(), last);
    }

    #[test]
    fn work_that_is_done_is_not_waited_for() {
        let pair = Pair::new();
        let x = Usage::default();
        let written = pair.uses(&x, &pair.a, Access::Write);
        pair.a.progress.is_done(written);
        pair.uses(&x, &pair.b, Access::Write);
        assert_eq!(pair.is_behind(), 0);
    }

    #[test]
    fn a_write_at_home_forgets_the_other_streams() {
        let pair = Pair::new();
        let x = Usage::default();
        pair.uses(&x, &pair.b, Access::Read);
        assert!(x.has_others.load(Ordering::Relaxed));
        pair.uses(&x, &pair.a, Access::Write);
        assert!(!x.has_others.load(Ordering::Relaxed));
        pair.uses(&x, &pair.b, Access::Write);
        assert_eq!(pair.is_behind(), pair.a.progress.issued());
    }
}
