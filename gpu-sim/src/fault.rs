//! Why a launch ended early. The same cases that the device's runtime reports, with the same numbers.

use gpu_std::Dim3;

/// Why a launch ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A thread panicked.
    #[error(transparent)]
    Panic(#[from] KernelPanic),
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
