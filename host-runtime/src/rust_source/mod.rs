//! Kernels in Rust whose source is compiled when the program runs.
//!
//! - `declaration`: [`RustKernel`], what `rust_kernel!` makes of a signature, with the command line of this program's rustc.
//! - `source`: [`RustSource`], a text with a function of such a signature.
//! - `build`: from the text to a shared library, kept in the target folder.
//! - `library`: the library's entry, by which its kernel becomes one of this program.
//! - `kernel`: the launch.
//!
//! The same rustc compiles the source against the very libraries that this program is linked with, so a kernel's record, its
//! parameters and its device code have the same types and layout, and it runs on the same paths as the program's own kernels:
//! on a GPU its PTX, on the simulator its host function.

mod build;
mod declaration;
mod error;
mod kernel;
mod library;
mod source;

pub use declaration::{Compilation, RustKernel};
pub use error::RustSourceError;
pub use kernel::RunTimeKernel;
pub use library::RunTimeEntry;
pub use source::RustSource;
