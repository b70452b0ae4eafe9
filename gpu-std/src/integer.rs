//! Integer instructions that std has no method for.
//!
//! What std has compiles to the instruction: `count_ones` is `popc` (CUDA C `__popc`), `leading_zeros` is `clz`
//! (`__clz`), `reverse_bits` is `brev` (`__brev`), `swap_bytes` is `prmt`, and `rotate_left` is `shf.l.wrap`.

use crate::ptx;

use crate::intrinsics as gpu;

/// An integer that [`mul_hi`] and [`ffs`] take.
///
/// CUDA C has a function for each type: `__umulhi`, `__mul64hi`, `__ffsll`.
///
/// ```
/// use gpu_std::integer::{Integer, ffs};
///
/// fn has_bits<T: Integer>(x: T) -> bool {
///     ffs(x) > 0
/// }
/// ```
pub trait Integer: Copy + private::Sealed {
    #[doc(hidden)]
    fn mul_hi(self, other: Self) -> Self;
    #[doc(hidden)]
    fn ffs(self) -> u32;
}

mod private {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($int:ident: |$a:ident, $b:ident| $product:expr;)*) => {$(
        impl private::Sealed for $int {}
        impl Integer for $int {
            #[inline]
            fn mul_hi(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $product
            }

            #[inline]
            fn ffs(self) -> u32 {
                if self == 0 { 0 } else { self.trailing_zeros() + 1 }
            }
        }
    )*};
}

integers! {
    // By its own instruction: from a 64-bit product LLVM would go on in 64 bits.
    u32: |a, b| gpu::mulhi_u32(a, b);
    i32: |a, b| ((a as i64 * b as i64) >> 32) as i32;
    u64: |a, b| ((a as u128 * b as u128) >> 64) as u64;
    i64: |a, b| ((a as i128 * b as i128) >> 64) as i64;
}

/// The upper half of the product of two integers of 32 or 64 bits. CUDA C: `__umulhi`, `__mulhi`, `__umul64hi`,
/// `__mul64hi`; PTX: `mul.hi`.
///
/// ```
/// use gpu_std::integer::mul_hi;
///
/// fn in_a_kernel() {
///     assert_eq!(mul_hi(1u32 << 31, 6), 3);
///     assert_eq!(mul_hi(-1i64, 1), -1);
/// }
/// ```
#[inline]
pub fn mul_hi<T: Integer>(a: T, b: T) -> T {
    a.mul_hi(b)
}

/// One more than the place of the lowest bit that is set; 0 if none is. CUDA C: `__ffs`, `__ffsll`.
///
/// ```
/// assert_eq!(gpu_std::integer::ffs(0x100000u32), 21);
/// assert_eq!(gpu_std::integer::ffs(0u64), 0);
/// ```
#[inline]
pub fn ffs<T: Integer>(x: T) -> u32 {
    x.ffs()
}

/// `c` and the products of four pairs of signed bytes, summed up, wrapping around. CUDA C: `__dp4a`; PTX:
/// `dp4a.s32.s32` (sm_61).
///
/// ```
/// fn dot(a: [i8; 4], b: [i8; 4]) -> i32 {
///     gpu_std::integer::dp4a(a, b, 0)
/// }
/// ```
#[inline]
pub fn dp4a(a: [i8; 4], b: [i8; 4], c: i32) -> i32 {
    let [a32, b32] = [a, b].map(|bytes| i32::from_ne_bytes(bytes.map(|byte| byte as u8)));
    let sum = |sum: i32, (a, b): (i8, i8)| sum.wrapping_add(i32::from(a) * i32::from(b));
    // SAFETY: the instruction reads its inputs and writes its output.
    unsafe {
        ptx!(pure, "dp4a.s32.s32 {0}, {1}, {2}, {3};", out(i32), in a32, in b32, in c;
            else a.into_iter().zip(b).fold(c, sum))
    }
}

/// As [`dp4a`], of unsigned bytes. CUDA C: `__dp4a` of `unsigned`; PTX: `dp4a.u32.u32` (sm_61).
///
/// ```
/// fn dot(a: [u8; 4], b: [u8; 4]) -> u32 {
///     gpu_std::integer::dp4a_unsigned(a, b, 0)
/// }
/// ```
#[inline]
pub fn dp4a_unsigned(a: [u8; 4], b: [u8; 4], c: u32) -> u32 {
    let [a32, b32] = [a, b].map(u32::from_ne_bytes);
    let sum = |sum: u32, (a, b): (u8, u8)| sum.wrapping_add(u32::from(a) * u32::from(b));
    // SAFETY: the instruction reads its inputs and writes its output.
    unsafe {
        ptx!(pure, "dp4a.u32.u32 {0}, {1}, {2}, {3};", out(u32), in a32, in b32, in c;
            else a.into_iter().zip(b).fold(c, sum))
    }
}

macro_rules! funnel {
    ($($(#[$doc:meta])* $name:ident = $template:literal, $hi:ident $lo:ident $shift:ident: $rust:expr;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name($lo: u32, $hi: u32, $shift: u32) -> u32 {
            // SAFETY: the instruction reads its inputs and writes its output.
            unsafe { ptx!(pure, $template, out(u32), in $lo, in $hi, in $shift; else $rust) }
        }
    )*};
}

#[inline]
fn pair(hi: u32, lo: u32) -> u64 {
    u64::from(hi) << 32 | u64::from(lo)
}

funnel! {
    /// The upper word of `hi:lo` shifted left by `shift % 32`. CUDA C: `__funnelshift_l`; PTX: `shf.l.wrap`.
    ///
    /// ```
    /// fn next_bits(lo: u32, hi: u32, at: u32) -> u32 {
    ///     gpu_std::integer::funnel_shift_l(lo, hi, at)
    /// }
    /// ```
    funnel_shift_l = "shf.l.wrap.b32 {0}, {1}, {2}, {3};",
        hi lo shift: ((pair(hi, lo) << (shift % 32)) >> 32) as u32;
    /// The upper word of `hi:lo` shifted left by `min(shift, 32)`. CUDA C: `__funnelshift_lc`; PTX: `shf.l.clamp`.
    ///
    /// ```
    /// fn window(lo: u32, hi: u32, at: u32) -> u32 {
    ///     gpu_std::integer::funnel_shift_lc(lo, hi, at)
    /// }
    /// ```
    funnel_shift_lc = "shf.l.clamp.b32 {0}, {1}, {2}, {3};",
        hi lo shift: ((pair(hi, lo) << shift.min(32)) >> 32) as u32;
    /// The lower word of `hi:lo` shifted right by `shift % 32`. CUDA C: `__funnelshift_r`; PTX: `shf.r.wrap`.
    ///
    /// ```
    /// fn window(lo: u32, hi: u32, at: u32) -> u32 {
    ///     gpu_std::integer::funnel_shift_r(lo, hi, at)
    /// }
    /// ```
    funnel_shift_r = "shf.r.wrap.b32 {0}, {1}, {2}, {3};",
        hi lo shift: (pair(hi, lo) >> (shift % 32)) as u32;
    /// The lower word of `hi:lo` shifted right by `min(shift, 32)`. CUDA C: `__funnelshift_rc`; PTX: `shf.r.clamp`.
    ///
    /// ```
    /// fn window(lo: u32, hi: u32, at: u32) -> u32 {
    ///     gpu_std::integer::funnel_shift_rc(lo, hi, at)
    /// }
    /// ```
    funnel_shift_rc = "shf.r.clamp.b32 {0}, {1}, {2}, {3};",
        hi lo shift: (pair(hi, lo) >> shift.min(32)) as u32;
}

/// Four bytes chosen from the eight of `b:a`: each of the lower four hexadecimal digits of `selector` names one by its
/// lower three bits (0 to 3 in `a`, 4 to 7 in `b`, lowest first). CUDA C: `__byte_perm`; PTX: `prmt` in its default mode
/// with the digits' fourth bit taken as 0.
///
/// ```
/// fn swap_halves(x: u32) -> u32 {
///     gpu_std::integer::byte_perm(x, 0, 0x1032)
/// }
/// ```
#[inline]
pub fn byte_perm(a: u32, b: u32, selector: u32) -> u32 {
    let selector = selector & 0x7777;
    let byte = |place: u32| (pair(b, a) >> ((selector >> (4 * place) & 7) * 8)) as u8;
    // SAFETY: the instruction reads its inputs and writes its output.
    unsafe {
        ptx!(pure, "prmt.b32 {0}, {1}, {2}, {3};", out(u32), in a, in b, in selector;
            else u32::from_le_bytes([0, 1, 2, 3].map(byte)))
    }
}

/// `len` bits of `x` from bit `start` on, as an unsigned number. Bits above the 32nd are 0; the lower eight bits of
/// `start` and `len` count. PTX: `bfe.u32`.
///
/// ```
/// fn exponent(x: f32) -> u32 {
///     gpu_std::integer::bit_field_extract(x.to_bits(), 23, 8)
/// }
/// ```
#[inline]
pub fn bit_field_extract(x: u32, start: u32, len: u32) -> u32 {
    let field = || (u64::from(x) >> (start & 0xff).min(32)) as u32 & ones(len & 0xff);
    // SAFETY: the instruction reads its inputs and writes its output.
    unsafe {
        ptx!(pure, "bfe.u32 {0}, {1}, {2}, {3};", out(u32), in x, in start, in len; else field())
    }
}

/// `into` with `len` of its bits from bit `start` on replaced by the lowest of `field`. The lower eight bits of `start`
/// and `len` count. PTX: `bfi.b32`.
///
/// ```
/// fn with_exponent(x: u32, exponent: u32) -> u32 {
///     gpu_std::integer::bit_field_insert(exponent, x, 23, 8)
/// }
/// ```
#[inline]
pub fn bit_field_insert(field: u32, into: u32, start: u32, len: u32) -> u32 {
    let inserted = || {
        let start = (start & 0xff).min(32);
        let mask = (u64::from(ones(len & 0xff)) << start) as u32;
        into & !mask | (u64::from(field) << start) as u32 & mask
    };
    // SAFETY: the instruction reads its inputs and writes its output.
    unsafe {
        ptx!(pure, "bfi.b32 {0}, {1}, {2}, {3}, {4};", out(u32), in field, in into, in start, in len;
            else inserted())
    }
}

/// The lowest `count` bits set.
#[inline]
fn ones(count: u32) -> u32 {
    ((1u64 << count.min(32)) - 1) as u32
}

/// `|a - b| + c`, wrapping around. CUDA C: `__usad`; PTX: `sad.u32`.
///
/// ```
/// fn distance(a: u32, b: u32) -> u32 {
///     gpu_std::integer::sad(a, b, 0)
/// }
/// ```
#[inline]
pub fn sad(a: u32, b: u32, c: u32) -> u32 {
    // SAFETY: the instruction reads its inputs and writes its output.
    unsafe {
        ptx!(pure, "sad.u32 {0}, {1}, {2}, {3};", out(u32), in a, in b, in c;
            else a.abs_diff(b).wrapping_add(c))
    }
}
