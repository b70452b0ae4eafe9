//! The last accesses of each element of some memory, and whether a new one is a mistake.
//!
//! In: accesses, as they are noted, and the order of the block. Out: the earlier access that a new one races with, or that
//! nothing wrote what is read. Of the reads since the last write two are kept, of different threads: some race of three
//! readers and a writer may be missed, but then the kernel has others.

use std::panic::Location;

use super::Checks;
use super::order::{Moment, Order};

/// The widest part of memory that has one cell.
const WIDEST: usize = 16;

/// The shadow of one array.
#[derive(Default)]
pub(crate) struct Shadow {
    /// Bytes of a cell, a power of two: the widest that no access was narrower than.
    cell_bytes: usize,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy)]
struct Cell {
    write: Access,
    reads: [Access; 2],
}

/// An access that happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) place: Option<&'static Location<'static>>,
    pub(crate) thread: u32,
    pub(crate) kind: Kind,
    pub(super) moment: Moment,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// It writes the value that is there.
    Rewrite,
    AtomicLoad,
    AtomicStore,
    AtomicUpdate,
    /// An asynchronous copy has started, and writes until somebody waits for it.
    Copy,
}

/// What is wrong with an access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mistake {
    /// It races with this one.
    Race(Access),
    /// It reads what nothing wrote.
    Unwritten,
}

impl Kind {
    fn reads(self) -> bool {
        matches!(self, Self::Read | Self::AtomicLoad | Self::AtomicUpdate)
    }

    fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::AtomicLoad)
    }

    fn is_plain_write(self) -> bool {
        matches!(self, Self::Write | Self::Rewrite)
    }

    fn is_atomic(self) -> bool {
        matches!(
            self,
            Self::AtomicLoad | Self::AtomicStore | Self::AtomicUpdate
        )
    }
}

const NONE: Access = Access {
    place: None,
    thread: 0,
    kind: Kind::Read,
    moment: Moment::NEVER,
};

const UNTOUCHED: Cell = Cell {
    write: NONE,
    reads: [NONE; 2],
};

impl Access {
    pub(crate) fn now(
        order: &Order,
        thread: u32,
        kind: Kind,
        place: &'static Location<'static>,
    ) -> Self {
        Self {
            place: Some(place),
            thread,
            kind,
            moment: order.now(thread),
        }
    }
}

impl Shadow {
    /// Notes an access of `bytes` from `offset` on, inside of an array of `len` bytes.
    pub(crate) fn note(
        &mut self,
        (offset, bytes, len): (usize, usize, usize),
        access: &Access,
        order: &Order,
        checks: Checks,
    ) -> Result<(), Mistake> {
        self.make_cells(offset | bytes, len);
        let cells = offset / self.cell_bytes..(offset + bytes) / self.cell_bytes;
        let mut is_written = true;
        for cell in &mut self.cells[cells] {
            is_written &= cell.note(access, order, checks)?;
        }
        if is_written {
            Ok(())
        } else {
            Err(Mistake::Unwritten)
        }
    }

    /// An asynchronous copy has arrived: as if its thread wrote it now.
    pub(crate) fn arrive(&mut self, offset: usize, bytes: usize, access: &Access) {
        // Cells may have become narrower since the copy started, never wider.
        for cell in &mut self.cells[offset / self.cell_bytes..(offset + bytes) / self.cell_bytes] {
            cell.write = *access;
        }
    }

    /// Makes cells for accesses of which these are the bits of offset and length.
    #[inline]
    fn make_cells(&mut self, bits: usize, len: usize) {
        let bytes = (WIDEST | bits) & (WIDEST | bits).wrapping_neg();
        if self.cells.is_empty() {
            self.cell_bytes = bytes;
            self.cells = vec![UNTOUCHED; len.div_ceil(bytes)];
        } else if bytes < self.cell_bytes {
            let parts = self.cell_bytes / bytes;
            let split = |cell: &Cell| std::iter::repeat_n(*cell, parts);
            self.cells = self.cells.iter().flat_map(split).collect();
            self.cell_bytes = bytes;
        }
    }
}

impl Cell {
    /// Whether it reads nothing unwritten; or the race.
    #[inline]
    fn note(&mut self, access: &Access, order: &Order, checks: Checks) -> Result<bool, Mistake> {
        let kind = access.kind;
        let is_written = !checks.init || !kind.reads() || order.is_of_block(self.write.moment);
        if checks.race {
            races(&self.write, access, order)?;
        }
        if !kind.writes() {
            self.note_read(access, order);
            return Ok(is_written);
        }
        if checks.race {
            races(&self.reads[0], access, order)?;
            races(&self.reads[1], access, order)?;
        }
        *self = Self {
            write: *access,
            ..UNTOUCHED
        };
        Ok(is_written)
    }

    /// Keeps the read in the place of one that is ordered before it.
    #[inline]
    fn note_read(&mut self, access: &Access, order: &Order) {
        let is_older =
            |read: &&mut Access| order.is_before(read.moment, read.thread, access.thread);
        if let Some(read) = self.reads.iter_mut().find(is_older) {
            *read = *access;
        }
    }
}

/// An error if the two accesses of one cell race.
#[inline]
fn races(earlier: &Access, access: &Access, order: &Order) -> Result<(), Mistake> {
    let is_underway = earlier.kind == Kind::Copy && order.is_of_block(earlier.moment);
    if !is_underway && order.is_before(earlier.moment, earlier.thread, access.thread) {
        return Ok(());
    }
    let both_copy = is_underway && access.kind == Kind::Copy && earlier.thread == access.thread;
    // Threads that write one value, such as a flag, leave that value.
    let same_value = access.kind == Kind::Rewrite && earlier.kind.is_plain_write();
    let both_atomic = earlier.kind.is_atomic() && access.kind.is_atomic();
    let harmless = both_atomic || both_copy || same_value;
    if harmless {
        Ok(())
    } else {
        Err(Mistake::Race(*earlier))
    }
}
