//! The last accesses of elements of the device's memory that go through views which nothing makes disjoint, by all blocks of a
//! launch.
//!
//! In: accesses, as they are noted, from all workers. Out: the earlier access that a new one races with. In a block the
//! order is that of the [block](super::order). Between blocks it is that of the grid's barriers, and of atomics: which
//! atomic saw which is not kept, so two blocks count as ordered once both have used one since the earlier access. The barrier of
//! a cluster counts as an atomic operation of each of its blocks.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::order::Order;
use super::shadow::{Access, Kind};

/// Bytes of an element's part that is looked at by itself, at most.
const WIDEST: usize = 4;
/// Tables, so that workers seldom wait for each other.
const TABLES: usize = 64;
/// A launch in which any block may have been ordered after any other, by atomics that are not seen.
const ALWAYS: u64 = u64::MAX;

/// The accesses of a launch.
pub(crate) struct GridShadow {
    tables: Vec<Mutex<HashMap<usize, Cell>>>,
    /// When each block used an atomic last, by the numbers of blocks.
    atomics: Mutex<Atomics>,
    unseen_atomics: bool,
}

#[derive(Default)]
struct Atomics {
    now: u64,
    last: HashMap<u64, u64>,
}

/// An access, and whose it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockAccess {
    pub(crate) access: Access,
    pub(crate) block: u64,
    /// Barriers of the grid before it.
    pub(crate) grid_epoch: u32,
    /// The launch's atomic operations before it.
    time: u64,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    write: Option<BlockAccess>,
    reads: [Option<BlockAccess>; 2],
}

impl GridShadow {
    pub(crate) fn new(unseen_atomics: bool) -> Self {
        Self {
            tables: (0..TABLES).map(|_| Mutex::default()).collect(),
            atomics: Mutex::default(),
            unseen_atomics,
        }
    }

    /// A thread of the block has used an atomic or a fence, or the block has met its cluster.
    pub(crate) fn uses_atomic(&self, block: u64) {
        let mut atomics = lock(&self.atomics);
        atomics.now += 1;
        let now = atomics.now;
        atomics.last.insert(block, now);
    }

    /// Notes an access; the race, if it is one.
    pub(crate) fn note(
        &self,
        (address, bytes): (usize, usize),
        (access, block, grid_epoch): (Access, u64, u32),
        order: &Order,
    ) -> Result<(), BlockAccess> {
        let access = BlockAccess {
            access,
            block,
            grid_epoch,
            time: lock(&self.atomics).now,
        };
        let part = lowest_bit(address | bytes | WIDEST);
        for address in (address..address + bytes).step_by(part) {
            let mut table = lock(&self.tables[address / WIDEST % TABLES]);
            self.note_part(table.entry(address).or_default(), &access, order)?;
        }
        Ok(())
    }

    fn note_part(
        &self,
        cell: &mut Cell,
        access: &BlockAccess,
        order: &Order,
    ) -> Result<(), BlockAccess> {
        let is_before = |earlier: &BlockAccess| self.is_before(earlier, access, order);
        let kind = access.access.kind;
        if let Some(write) = &cell.write
            && !is_before(write)
            && kind != Kind::Rewrite
        {
            return Err(*write);
        }
        if kind == Kind::Read {
            let mut reads = cell.reads.iter_mut();
            if let Some(read) = reads.find(|read| read.as_ref().is_none_or(is_before)) {
                *read = Some(*access);
            }
            return Ok(());
        }
        if let Some(read) = cell.reads.iter().flatten().find(|read| !is_before(read)) {
            return Err(*read);
        }
        *cell = Cell {
            write: Some(*access),
            ..Cell::default()
        };
        Ok(())
    }

    fn is_before(&self, earlier: &BlockAccess, access: &BlockAccess, order: &Order) -> bool {
        if earlier.block == access.block {
            let (then, now) = (&earlier.access, &access.access);
            return order.is_before(then.moment, then.thread, now.thread);
        }
        earlier.grid_epoch != access.grid_epoch
            || (self.last_atomic(earlier.block) > earlier.time
                && self.last_atomic(access.block) > earlier.time)
    }

    fn last_atomic(&self, block: u64) -> u64 {
        if self.unseen_atomics {
            return ALWAYS;
        }
        lock(&self.atomics).last.get(&block).copied().unwrap_or(0)
    }
}

fn lowest_bit(bits: usize) -> usize {
    bits & bits.wrapping_neg()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
