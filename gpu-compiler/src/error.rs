//! What can go wrong with the compiler itself, as opposed to the user's kernels (see [`report`](crate::report)).

use std::path::PathBuf;

/// A failure of the compiler: its tools or its input are not what they should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// rustc's LLVM could not be opened.
    #[error("cannot open rustc's LLVM at {}: {cause}", path.display())]
    OpenLlvm {
        /// The library.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// rustc's LLVM has not what is needed.
    #[error(
        "the LLVM of this rustc ({}) has no `{function}`: it is a version that oxwarp was not made for, or was built \
         without the NVPTX back end; use a rustc whose LLVM is 22 (rustup's 1.95 is)",
        path.display()
    )]
    LlvmLacks {
        /// The library.
        path: PathBuf,
        /// The function.
        function: String,
    },
    /// LLVM would not read a bitcode.
    #[error("LLVM cannot read the bitcode of {what}")]
    Bitcode {
        /// Whose.
        what: String,
    },
    /// LLVM would not link two modules.
    #[error("LLVM cannot link {what} into the device code: {cause}")]
    Link {
        /// The module.
        what: String,
        /// What LLVM said.
        cause: String,
    },
    /// A kernel record is not as `gpu-std` lays it out.
    #[error(
        "a kernel record in the bitcode is malformed ({what}): gpu-macros and gpu-compiler are of different versions"
    )]
    Record {
        /// What was wrong.
        what: &'static str,
    },
    /// LLVM's passes or back end failed.
    #[error("LLVM's {step} failed: {cause}")]
    Llvm {
        /// Which part.
        step: &'static str,
        /// What LLVM said.
        cause: String,
    },
    /// A file could not be read or written.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A library of the toolchain is not what it should be.
    #[error("{}: {cause}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// The command line is not one that `gpu-macros` writes.
    #[error("{0}")]
    Usage(String),
}
