//! Why a launch ended early. The same cases that the device's runtime reports, with the same numbers.

use std::fmt;
use std::panic::Location;

use gpu_std::Dim3;

use crate::checks::fault::CheckFault;
use crate::frame::Frame;
use crate::grid::COOPERATIVE_THREADS;

/// Why a launch ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A thread panicked.
    #[error(transparent)]
    Panic(#[from] KernelPanic),
    /// Threads that work together cannot go on.
    #[error(transparent)]
    Synchronisation(Box<SyncFault>),
    /// A check found a mistake.
    #[error(transparent)]
    Check(Box<CheckFault>),
    /// The shared arrays of a block exceed the limit.
    #[error(
        "the kernel's shared arrays need at least {wanted} bytes a block, but the limit is {limit}: make the arrays \
         smaller"
    )]
    SharedMemory {
        /// Bytes of the arrays so far, with the one that was too much.
        wanted: usize,
        /// [`Launch::shared_limit`](crate::Launch::shared_limit).
        limit: usize,
    },
    /// More threads wait for their whole grid than there is room for.
    #[error(
        "all threads of a grid that waits for itself must run at once, which is at most {COOPERATIVE_THREADS}: make \
         the grid smaller"
    )]
    CooperativeGrid,
    /// The kernel's thread index is unique only in launches of fewer dimensions.
    #[error(
        "the kernel indexes its threads in {kernel} dimension(s), but the launch has more (grid {grid}, block \
         {block}): launch it with 1 in the other dimensions"
    )]
    Dimensions {
        /// Dimensions that the kernel uses.
        kernel: u32,
        /// Grid of the launch.
        grid: Dim3,
        /// Block of the launch.
        block: Dim3,
    },
}

/// The first panic of a launch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({file}:{line}:{column}, block {block}, thread {thread})")]
pub struct KernelPanic {
    /// What the panic says.
    pub message: String,
    /// Source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The block's position in the grid.
    pub block: Dim3,
    /// The thread's position in the block.
    pub thread: Dim3,
}

/// Threads of a block wait for each other and none can go on, or use an operation of several threads wrongly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (block {block}); {}", Waiting(.waiting))]
pub struct SyncFault {
    /// What is wrong.
    pub message: String,
    /// The block's position in the grid.
    pub block: Dim3,
    /// Where the block's threads stand, without those that have ended.
    pub waiting: Vec<Standing>,
}

/// Threads that wait at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What they wait in, such as `sync_threads`.
    pub operation: &'static str,
    /// Source file; empty where it is not known.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The function, of threads in a loop whose line is not known; else empty.
    pub function: String,
    /// The position in the block of the first of them.
    pub first: Dim3,
    /// How many they are.
    pub threads: usize,
}

impl Standing {
    /// One thread.
    pub(crate) fn new(
        operation: &'static str,
        place: Option<&'static Location<'static>>,
        first: Dim3,
    ) -> Self {
        Self {
            operation,
            file: place.map_or("", Location::file).to_owned(),
            line: place.map_or(0, Location::line),
            column: place.map_or(0, Location::column),
            function: String::new(),
            first,
            threads: 1,
        }
    }

    /// One thread, which was interrupted.
    pub(crate) fn interrupted(operation: &'static str, frame: Frame, first: Dim3) -> Self {
        Self {
            file: frame.file,
            line: frame.line,
            column: frame.column,
            function: match frame.line {
                0 => frame.function.unwrap_or_default(),
                _ => String::new(),
            },
            ..Self::new(operation, None, first)
        }
    }

    /// Whether the other waits at the same place, in the same operation.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let of = |standing: &Self| (standing.operation, standing.line, standing.column);
        of(self) == of(other) && self.file == other.file && self.function == other.function
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.threads {
            1 => "waits".into(),
            threads => format!("and {} more wait", threads - 1),
        };
        write!(f, "thread {} {verb} in {}", self.first, self.operation)?;
        if self.line > 0 {
            write!(f, " at {}:{}:{}", self.file, self.line, self.column)?;
        } else if !self.function.is_empty() {
            write!(f, " of `{}`", self.function)?;
        }
        Ok(())
    }
}

struct Waiting<'a>(&'a [Standing]);

impl fmt::Display for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(Standing::to_string).collect();
        f.write_str(&texts.join(", "))
    }
}
