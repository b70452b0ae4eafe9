//! What the elements of a fragment can be, and the instruction that multiplies them.

use bytemuck::{AnyBitPattern, Pod, Zeroable};

use crate::half::{Bf16, F16};
use crate::intrinsics as gpu;
use crate::{ptx, target};

mod private {
    pub trait Sealed {}
}

/// An element of A and B: [`F16`], [`Bf16`], [`Tf32`], `f64`, `i8` or `u8`.
///
/// CUDA C++: the element type of a `wmma::fragment`.
///
/// ```
/// use gpu_std::matrix::{Element, FragmentA, FragmentB, FragmentC, mma};
///
/// fn square<T: Element>(a: &FragmentA<T>, b: &FragmentB<T>, c: FragmentC<T::Accumulator>) -> FragmentC<T::Accumulator> {
///     mma(a, b, c)
/// }
/// ```
pub trait Element: Copy + private::Sealed + 'static {
    /// What a matrix in memory holds: the type itself, and `f32` for [`Tf32`].
    type Stored: AnyBitPattern;
    /// The sum's type.
    type Accumulator: Accumulator;
    /// Rows of A.
    const ROWS: usize;
    /// Columns of A and rows of B.
    const DEPTH: usize;

    /// A lane's elements of A.
    #[doc(hidden)]
    type A: Lane<Self>;
    /// A lane's elements of B.
    #[doc(hidden)]
    type B: Lane<Self>;
    /// Elements of one register.
    #[doc(hidden)]
    const IN_REGISTER: usize;

    #[doc(hidden)]
    fn from_stored(value: Self::Stored) -> Self;

    /// Adds the product of `a` and `b` to `c`.
    ///
    /// # Safety
    ///
    /// The pointers are those of the lane's elements, aligned as registers.
    #[doc(hidden)]
    unsafe fn multiply(c: *mut u8, a: *const u8, b: *const u8);
}

/// An element of C: `f32`, `f64` or `i32`.
///
/// CUDA C++: the element type of a `wmma::fragment<accumulator, ...>`.
///
/// ```
/// use gpu_std::matrix::{Accumulator, FragmentC};
///
/// fn copy<T: Accumulator>(c: &FragmentC<T>) -> FragmentC<T> {
///     *c
/// }
/// ```
pub trait Accumulator: Pod + private::Sealed {
    /// Rows of C; there are always 8 columns.
    const ROWS: usize;

    /// A lane's elements of C.
    #[doc(hidden)]
    type C: Lane<Self>;
}

/// A lane's elements of a fragment: an array.
#[doc(hidden)]
pub trait Lane<T>: Copy {
    const LEN: usize;

    fn from_fn(element: impl FnMut(usize) -> T) -> Self;
    fn as_slice(&self) -> &[T];
    fn as_mut_slice(&mut self) -> &mut [T];
}

impl<T: Copy, const N: usize> Lane<T> for [T; N] {
    const LEN: usize = N;

    #[inline]
    fn from_fn(element: impl FnMut(usize) -> T) -> Self {
        core::array::from_fn(element)
    }

    #[inline]
    fn as_slice(&self) -> &[T] {
        self
    }

    #[inline]
    fn as_mut_slice(&mut self) -> &mut [T] {
        self
    }
}

macro_rules! accumulators {
    ($($type:ident $rows:literal $elements:literal;)*) => {$(
        impl private::Sealed for $type {}
        impl Accumulator for $type {
            type C = [$type; $elements];
            const ROWS: usize = $rows;
        }
    )*};
}

accumulators! {
    f32 16 4;
    i32 16 4;
    f64 8 2;
}

macro_rules! elements {
    ($($type:ident in $stored:ident by $from:expr, sum $sum:ident: $rows:literal $depth:literal
        [$a:literal $b:literal $in_register:literal] $multiply:ident;)*) => {$(
        impl Element for $type {
            type Stored = $stored;
            type Accumulator = $sum;
            type A = [$type; $a];
            type B = [$type; $b];
            const ROWS: usize = $rows;
            const DEPTH: usize = $depth;
            const IN_REGISTER: usize = $in_register;

            #[inline]
            fn from_stored(value: $stored) -> Self {
                let from: fn($stored) -> $type = $from;
                from(value)
            }

            #[inline]
            unsafe fn multiply(c: *mut u8, a: *const u8, b: *const u8) {
                // SAFETY: the caller's promise.
                unsafe { gpu::$multiply(c, a, b) }
            }
        }
    )*};
}

elements! {
    F16 in F16 by |x| x, sum f32: 16 16 [8 4 2] mma_f16;
    Bf16 in Bf16 by |x| x, sum f32: 16 16 [8 4 2] mma_bf16;
    Tf32 in f32 by Tf32::from_f32, sum f32: 16 8 [4 2 1] mma_tf32;
    f64 in f64 by |x| x, sum f64: 8 4 [1 1 1] mma_f64;
    i8 in i8 by |x| x, sum i32: 16 32 [16 8 4] mma_s8;
    u8 in u8 by |x| x, sum i32: 16 32 [16 8 4] mma_u8;
}

impl private::Sealed for F16 {}
impl private::Sealed for Bf16 {}
impl private::Sealed for Tf32 {}
impl private::Sealed for i8 {}
impl private::Sealed for u8 {}

/// A number with the range of an `f32` and 11 bits of precision: what the matrix units make of an `f32`.
///
/// CUDA C++: `wmma::precision::tf32`. A fragment of them is loaded from a matrix of `f32`.
///
/// ```
/// use gpu_std::matrix::{FragmentA, Tf32};
/// use gpu_std::view::ArrayView2;
///
/// fn load(x: ArrayView2<f32>) -> FragmentA<Tf32> {
///     FragmentA::load(x, (0, 0))
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Tf32(f32);

// SAFETY: it is an `f32`.
unsafe impl Zeroable for Tf32 {}
// SAFETY: it is an `f32`.
unsafe impl Pod for Tf32 {}

impl Tf32 {
    /// The nearest number, half away from 0. CUDA C: `__float_to_tf32`; PTX: `cvt.rna.tf32.f32`, from sm_80 on.
    ///
    /// ```
    /// use gpu_std::matrix::Tf32;
    ///
    /// fn lost(x: f32) -> f32 {
    ///     x - Tf32::from_f32(x).to_f32()
    /// }
    /// ```
    #[inline]
    pub fn from_f32(value: f32) -> Self {
        target::require_sm(80, "`Tf32`");
        // SAFETY: the instruction reads its input and writes its output.
        let bits = unsafe {
            ptx!(pure, "cvt.rna.tf32.f32 {0}, {1};", out(u32), in value; else rounded(value.to_bits()))
        };
        Self(f32::from_bits(bits))
    }

    /// The same number.
    ///
    /// No instruction. CUDA C: the `float` itself.
    ///
    /// ```
    /// fn value(x: gpu_std::matrix::Tf32) -> f32 {
    ///     x.to_f32()
    /// }
    /// ```
    #[inline]
    pub fn to_f32(self) -> f32 {
        self.0
    }
}

/// 13 bits of the fraction go. A carry into the exponent is right, also to infinity.
#[inline]
fn rounded(bits: u32) -> u32 {
    let (infinity, lost) = (f32::INFINITY.to_bits(), (1 << 13) - 1);
    match bits & !(1 << 31) {
        nan if nan > infinity => 0x7fff_ffff,
        size if size == infinity => bits,
        _ => (bits + (1 << 12)) & !lost,
    }
}
