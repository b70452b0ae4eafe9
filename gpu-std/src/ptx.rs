//! Inline PTX: the way to an instruction that this library has no function for.
//!
//! [`ptx!`](crate::ptx!) holds a template with typed operands, which the device compiler makes LLVM inline assembly of,
//! and a Rust expression that computes the same on the simulator.
//!
//! # How it works
//!
//! The macro expands to a call of [`call`], which passes the template and, for each operand, its register class and
//! the address of a local variable. The device compiler loads and stores those around the assembly, and LLVM keeps
//! them in registers. On the host the branch is not taken.

use core::mem::MaybeUninit;

use crate::half::{Bf16, Bf16x2, F16, F16x2};
use crate::intrinsics as gpu;

/// Inline PTX with typed operands, and what it computes in Rust. CUDA C: `asm volatile("..." : ... : ...)`.
///
/// ```text
/// ptx!("template", out(T, ...), in expression, ...; else expression)
/// ptx!(pure, "template", out(T, ...), in expression, ...; else expression)
/// ```
///
/// - In the template `{0}`, `{1}`... are the operands, outputs first; `{{` and `}}` are PTX's own braces. A template
///   that names an operand which is not there is a compile error.
/// - `out(T)` gives the value of the macro; several outputs give a tuple; without `out` it is `()`. Up to eight.
/// - `in expression`: up to twelve.
/// - Operands are those of the table. What an instruction needs of the GPU or the PTX version, say with
///   [`target::require_sm`](crate::target::require_sm) and [`target::require_ptx`](crate::target::require_ptx).
///
/// | type | register | CUDA C |
/// | --- | --- | --- |
/// | `bool` | `.pred` | |
/// | `u16`, `i16`, `F16`, `Bf16` | `.b16` | `"h"` |
/// | `u32`, `i32`, `F16x2`, `Bf16x2` | `.b32` | `"r"` |
/// | `u64`, `i64`, `usize`, `isize`, raw pointers (generic addresses) | `.b64` | `"l"` |
/// | `u128`, `i128` | `.b128` (PTX 8.3, asked for by itself) | `"q"` |
/// | `f32` | `.f32` | `"f"` |
/// | `f64` | `.f64` | `"d"` |
///
/// - `pure` says that the outputs depend on the inputs alone: LLVM may then move it, merge equal ones and drop unused
///   ones. Without it every execution happens, in order with memory accesses and barriers.
/// - After `; else` stands what the simulator computes instead. On a device it is not compiled.
///
/// # Safety
///
/// It must be written in an `unsafe` block. The template is PTX that the target's `ptxas` takes; it writes its outputs
/// and keeps to Rust's rules for the memory that it touches; the fallback gives the same result. `pure` is true.
///
/// # Examples
///
/// ```
/// use gpu_std::ptx;
///
/// /// The lowest 24 bits of both, multiplied. CUDA C: `__umul24`.
/// fn umul24(a: u32, b: u32) -> u32 {
///     // SAFETY: the instruction reads its inputs and writes its output, nothing else.
///     unsafe {
///         ptx!(pure, "mul24.lo.u32 {0}, {1}, {2};", out(u32), in a, in b;
///             else (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff))
///     }
/// }
/// ```
///
/// Too many operands in the template:
///
/// ```compile_fail
/// let a = 1u32;
/// let b: u32 = unsafe { gpu_std::ptx!("add.u32 {0}, {1}, {2};", out(u32), in a; else a) };
/// ```
#[macro_export]
macro_rules! ptx {
    (pure, $($rest:tt)*) => { $crate::__ptx!(1; $($rest)*) };
    ($($rest:tt)*) => { $crate::__ptx!(0; $($rest)*) };
}

/// What [`ptx!`](crate::ptx!) expands to.
#[doc(hidden)]
#[macro_export]
macro_rules! __ptx {
    ($pure:literal; $template:expr $(, out($($out:ty),+ $(,)?))? $(, in $input:expr)* $(,)?; else $fallback:expr) => {{
        struct Template;
        impl $crate::ptx::Template for Template {
            const TEXT: &'static str = ::core::concat!($template, "\0");
            const PURE: u32 = $pure;
        }
        if $crate::ptx::on_device() {
            $crate::ptx::call::<Template, ($($($out,)+)?), _>(($($input,)*))
        } else {
            $fallback
        }
    }};
}

/// Whether this code runs on a GPU. A constant in device code, so a branch on it costs nothing there.
///
/// Both back ends should give the same results; this is for what only one of them can do. CUDA C:
/// `#ifdef __CUDA_ARCH__`.
///
/// ```
/// fn steps() -> u32 {
///     if gpu_std::ptx::on_device() { 1000 } else { 10 }
/// }
/// ```
#[inline]
pub fn on_device() -> bool {
    gpu::on_device()
}

/// The text of a [`ptx!`](crate::ptx!).
#[doc(hidden)]
pub trait Template {
    /// With a zero byte at its end.
    const TEXT: &'static str;
    /// 1 if it is pure.
    const PURE: u32;
}

/// A type that fits a PTX register.
///
/// CUDA C: the constraint letters of `asm`, such as `"r"`.
///
/// ```
/// use gpu_std::ptx;
///
/// /// The lowest 24 bits of both, multiplied.
/// fn mul24(a: u32, b: u32) -> u32 {
///     // SAFETY: the instruction reads its inputs and writes its output.
///     unsafe { ptx!(pure, "mul24.lo.u32 {0}, {1}, {2};", out(u32), in a, in b; else (a & 0xff_ffff) * (b & 0xff_ffff)) }
/// }
/// ```
///
/// # Safety
///
/// `LETTER` names a register class (LLVM's constraint letter) that has the type's size, and any bits are valid.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit a PTX register",
    note = "numbers of 16, 32 and 64 bits and raw pointers do"
)]
pub unsafe trait Operand: Copy {
    /// `b`, `h`, `r`, `l`, `q`, `f` or `d`.
    const LETTER: u32;
}

macro_rules! operands {
    ($($type:ty: $letter:literal),*) => {$(
        // SAFETY: the class has the size of the type, all of whose bits are valid.
        unsafe impl Operand for $type {
            const LETTER: u32 = $letter as u32;
        }
    )*};
}

operands!(
    u16: 'h', i16: 'h', u32: 'r', i32: 'r', u64: 'l', i64: 'l', usize: 'l', isize: 'l', f32: 'f', f64: 'd',
    F16: 'h', Bf16: 'h', F16x2: 'r', Bf16x2: 'r', u128: 'q', i128: 'q'
);

// SAFETY: a predicate, which the compiler extends to the byte 0 or 1.
unsafe impl Operand for bool {
    const LETTER: u32 = 'b' as u32;
}

// SAFETY: a generic address has 64 bits.
unsafe impl<T> Operand for *const T {
    const LETTER: u32 = 'l' as u32;
}
// SAFETY: a generic address has 64 bits.
unsafe impl<T> Operand for *mut T {
    const LETTER: u32 = 'l' as u32;
}

/// A tuple of operands that the assembly reads.
#[doc(hidden)]
pub trait Inputs {
    /// How many there are.
    const COUNT: usize;
}

/// A tuple of operands that the assembly writes.
#[doc(hidden)]
pub trait Outputs<I: Inputs> {
    /// The one output itself, or the tuple.
    type Value;

    /// # Safety
    ///
    /// As for [`ptx!`](crate::ptx!).
    unsafe fn run<T: Template>(inputs: I) -> Self::Value;
}

/// Runs the assembly.
///
/// # Safety
///
/// As for [`ptx!`](crate::ptx!).
#[doc(hidden)]
#[inline(always)]
pub unsafe fn call<T: Template, O: Outputs<I>, I: Inputs>(inputs: I) -> O::Value {
    // SAFETY: the caller's promise.
    unsafe { O::run::<T>(inputs) }
}

/// Fails to compile if the template names an operand that is not there, or has a brace on its own.
const fn check(template: &str, operands: usize) {
    let bytes = template.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let next = if at + 1 < bytes.len() {
            bytes[at + 1]
        } else {
            0
        };
        if (bytes[at] == b'{' || bytes[at] == b'}') && next == bytes[at] {
            at += 2;
            continue;
        }
        assert!(
            bytes[at] != b'}',
            "a PTX template has a closing brace on its own: write it twice"
        );
        if bytes[at] == b'{' {
            let (number, end) = number_at(bytes, at + 1);
            assert!(
                number < operands,
                "a PTX template names an operand that is not there"
            );
            at = end;
        }
        at += 1;
    }
}

/// The number of `{12}` and where its brace is.
const fn number_at(bytes: &[u8], start: usize) -> (usize, usize) {
    let (mut at, mut number) = (start, 0);
    while at < bytes.len() && bytes[at].is_ascii_digit() && number < 100 {
        number = number * 10 + (bytes[at] - b'0') as usize;
        at += 1;
    }
    assert!(
        at > start && at < bytes.len() && bytes[at] == b'}',
        "a PTX template has an opening brace on its own: write it twice, or the number of an operand after it"
    );
    (number, at)
}

macro_rules! inputs {
    ($(($($name:ident)*))*) => {$(
        impl<$($name: Operand),*> Inputs for ($($name,)*) {
            const COUNT: usize = 0 $(+ { let _ = $name::LETTER; 1 })*;
        }
        outputs!{ ($($name)*) () u0 0 ; (()) }
        outputs!{ ($($name)*) (P) u1 1 ; (P) }
        outputs!{ ($($name)*) (P Q) u2 2 ; ((P, Q)) }
        outputs!{ ($($name)*) (P Q R) u3 3 ; ((P, Q, R)) }
        outputs!{ ($($name)*) (P Q R S) u4 4 ; ((P, Q, R, S)) }
        outputs!{ ($($name)*) (P Q R S T) u5 5 ; ((P, Q, R, S, T)) }
        outputs!{ ($($name)*) (P Q R S T U) u6 6 ; ((P, Q, R, S, T, U)) }
        outputs!{ ($($name)*) (P Q R S T U V) u7 7 ; ((P, Q, R, S, T, U, V)) }
        outputs!{ ($($name)*) (P Q R S T U V W) u8 8 ; ((P, Q, R, S, T, U, V, W)) }
    )*};
}

macro_rules! outputs {
    (($($in:ident)*) ($($out:ident)*) $unused:ident $count:literal ; ($value:ty)) => {
        #[allow(non_snake_case, clippy::unused_unit)]
        impl<$($in: Operand,)* $($out: Operand),*> Outputs<($($in,)*)> for ($($out,)*) {
            type Value = $value;

            #[inline(always)]
            unsafe fn run<TEXT: Template>(inputs: ($($in,)*)) -> $value {
                const {
                    check(TEXT::TEXT, $count + <($($in,)*) as Inputs>::COUNT);
                }
                let ($($in,)*) = inputs;
                $(let mut $out = MaybeUninit::<$out>::uninit();)*
                // SAFETY: the addresses are those of live variables of the operands' types, and the caller's promise
                // is that the assembly writes all outputs.
                unsafe {
                    gpu::ptx(
                        const { TEXT::TEXT.as_ptr() },
                        const { TEXT::PURE },
                        const { $count as u32 },
                        $(const { $out::LETTER }, $out.as_mut_ptr(),)*
                        $(const { $in::LETTER }, &raw const $in,)*
                    );
                    ($($out.assume_init()),*)
                }
            }
        }
    };
}

inputs! {
    ()
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
    (A B C D E F G H I)
    (A B C D E F G H I J)
    (A B C D E F G H I J K)
    (A B C D E F G H I J K L)
}
