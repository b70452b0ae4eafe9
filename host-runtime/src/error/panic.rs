//! A panic in a kernel, as both back ends report it: the message, the place in the source, the block and the thread.

use std::fmt;

use gpu_std::Dim3;

/// A panic of a kernel's thread: the first of its launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelPanic {
    /// The kernel. `None` on a GPU where the panic is in a function that several kernels call and that is not inlined.
    pub kernel: Option<&'static str>,
    /// The panic's message.
    pub message: String,
    /// The source file, as rustc names it; empty where it is not known.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The block's index in the grid.
    pub block: Dim3,
    /// The thread's index in its block.
    pub thread: Dim3,
}

impl fmt::Display for KernelPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kernel,
            message,
            file,
            line,
            column,
            block,
            thread,
        } = self;
        f.write_str("kernel ")?;
        if let Some(kernel) = kernel {
            write!(f, "`{kernel}` ")?;
        }
        f.write_str("panicked")?;
        if *line > 0 {
            write!(f, " at {file}:{line}:{column}")?;
        }
        write!(f, " in block {block}, thread {thread}:\n{message}")
    }
}
