//! What a check found, in words.

use std::fmt;
use std::panic::Location;

use gpu_std::Dim3;

/// What a check found: a mistake of the kernel that a GPU may not show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", Accesses(.accesses))]
pub struct CheckFault {
    /// Which check found it.
    pub check: Check,
    /// What is wrong.
    pub message: String,
    /// The accesses that it is about; the last of them did not happen.
    pub accesses: Vec<MemoryAccess>,
}

/// A check that can be on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// Two threads access one element, one of them writes, and nothing orders them.
    Race,
    /// An element is read that nothing wrote.
    Init,
    /// Memory is accessed that is outside of an array, or in one that was freed.
    Bounds,
    /// Results depend on the order in which threads and blocks run.
    Schedule,
}

impl fmt::Display for Check {
    /// Its name in `OXWARP_CHECK`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Race => "race",
            Self::Init => "init",
            Self::Bounds => "bounds",
            Self::Schedule => "schedule",
        })
    }
}

/// One access of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// What it did, such as `wrote it`.
    pub what: String,
    /// Source file; empty where it is not known.
    pub file: String,
    /// Line, from 1; 0 where it is not known.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The block's position in the grid.
    pub block: Dim3,
    /// The thread's position in the block.
    pub thread: Dim3,
}

impl MemoryAccess {
    pub(crate) fn new(what: &str, place: &Location<'_>, block: Dim3, thread: Dim3) -> Self {
        Self {
            what: what.to_owned(),
            file: place.file().to_owned(),
            line: place.line(),
            column: place.column(),
            block,
            thread,
        }
    }
}

impl fmt::Display for MemoryAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            file,
            line,
            column,
            block,
            thread,
        } = self;
        write!(f, "block {block}, thread {thread} {what}")?;
        if *line > 0 {
            write!(f, " at {file}:{line}:{column}")?;
        }
        Ok(())
    }
}

struct Accesses<'a>(&'a [MemoryAccess]);

impl fmt::Display for Accesses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|access| write!(f, "\n  {access}"))
    }
}
