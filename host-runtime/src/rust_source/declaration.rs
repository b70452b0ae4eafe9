//! What `rust_kernel!` writes down of a kernel and of the compilation of its crate.

use super::kernel::RunTimeKernel;

/// A kernel whose source is compiled when the program runs: what `rust_kernel!` declares.
///
/// # Safety
///
/// `TAIL`, after a source, makes a kernel with the parameters of [`Signature`](Self::Signature), and the type launches its
/// function with those.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the signature of a kernel that is compiled at run time",
    label = "only a name that `rust_kernel!` declares can be compiled"
)]
pub unsafe trait RustKernel: Sized {
    /// A function pointer with the parameters, which tells signatures apart.
    #[doc(hidden)]
    type Signature: 'static;
    /// Its name.
    const NAME: &'static str;
    /// What follows the source.
    #[doc(hidden)]
    const TAIL: &'static str;
    /// How the crate of the declaration was compiled.
    #[doc(hidden)]
    const COMPILATION: &'static Compilation;

    /// The kernel of a function with this signature.
    #[doc(hidden)]
    fn of(function: RunTimeKernel) -> Self;
}

/// How a crate was compiled, and where.
#[derive(Debug)]
pub struct Compilation {
    /// The compiler.
    pub rustc: &'static str,
    /// The arguments that another source needs.
    pub arguments: &'static [&'static str],
    /// The crate's libraries: path, bytes, and nanoseconds of the last change since 1970.
    pub libraries: &'static [(&'static str, u64, u64)],
    /// Where compiled sources are kept.
    pub folder: &'static str,
    /// The folder of `Cargo.toml`, with the settings of device code.
    pub package: &'static str,
    /// The settings of device code, which decide the result too.
    pub settings: &'static str,
    /// The mathematical library of device code: a file, or `off`.
    pub libdevice: &'static str,
    /// The optimisations of device code that are skipped, with commas between.
    pub skip: &'static str,
    /// Compute capabilities that there is device code for, in order: 75 for 7.5.
    pub targets: &'static [u32],
    /// Why it is not known, if it is not.
    pub skipped: Option<&'static str>,
}
