//! What can go wrong with Rust source that is compiled when the program runs.

use std::path::PathBuf;

/// Why a Rust source gave no kernel.
///
/// Each names the source as [`RustSource::file_name`](super::RustSource::file_name) does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RustSourceError {
    /// The program does not know how it was compiled.
    #[error("`{source_name}` cannot be compiled: {reason}")]
    Unknown {
        /// The source.
        source_name: String,
        /// Why.
        reason: &'static str,
    },

    /// The compiler does not start.
    #[error(
        "`{source_name}` cannot be compiled: rustc, which compiled this program, does not start: `{}`: {error}; Rust source \
         is compiled only on a machine with that compiler",
        .rustc.display()
    )]
    NoCompiler {
        /// The source.
        source_name: String,
        /// The compiler.
        rustc: PathBuf,
        /// Why it does not start.
        error: std::io::Error,
    },

    /// A library of the program is not the one any more that the program is made of.
    #[error(
        "`{source_name}` cannot be compiled: {} is gone or was built anew since this program was: build the program again",
        .library.display()
    )]
    Rebuilt {
        /// The source.
        source_name: String,
        /// The library's file.
        library: PathBuf,
    },

    /// The source has errors, or another signature than the declaration. The log names them with their lines.
    #[error("{source_name} does not compile:\n{log}")]
    Compilation {
        /// The source.
        source_name: String,
        /// What rustc said.
        log: String,
    },

    /// A file cannot be read or written.
    #[error("`{source_name}`: {}: {error}", .path.display())]
    File {
        /// The source.
        source_name: String,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },

    /// The compiled library does not load.
    #[error("`{source_name}`: {} does not load: {reason}", .path.display())]
    Load {
        /// The source.
        source_name: String,
        /// The library's file.
        path: PathBuf,
        /// What the dynamic linker said.
        reason: String,
    },

    /// A type of the signature is another one in the source than in the declaration, though it has the same name.
    #[error(
        "`{source_name}`: the types in the signature of `{kernel}` are not those of the declaration: name types of std, of \
         oxwarp, or of a library that both see"
    )]
    Types {
        /// The source.
        source_name: String,
        /// The kernel.
        kernel: &'static str,
    },
}
