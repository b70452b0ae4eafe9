//! Integers of every width: wrapping, checked and saturating arithmetic, division, shifts, bits, bytes.

/// The same functions for each type, a module each.
macro_rules! widths {
    ($($ty:ident $unsigned:ident)*) => {$(
        mod $ty {
            agree!(wrapping, checked, saturating_and_overflowing, division, shifts, bits, bytes, powers_and_roots, comparisons);

            fn wrapping((a, b, n): ($ty, $ty, u32)) -> [$ty; 6] {
                [
                    a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_neg(), a.wrapping_shl(n), a.wrapping_shr(n),
                ]
            }

            fn checked((a, b): ($ty, $ty)) -> [Option<$ty>; 6] {
                [
                    a.checked_add(b), a.checked_sub(b), a.checked_mul(b), a.checked_div(b), a.checked_rem(b),
                    a.checked_neg(),
                ]
            }

            fn saturating_and_overflowing((a, b): ($ty, $ty)) -> ([$ty; 3], [($ty, bool); 3]) {
                (
                    [a.saturating_add(b), a.saturating_sub(b), a.saturating_mul(b)],
                    [a.overflowing_add(b), a.overflowing_sub(b), a.overflowing_mul(b)],
                )
            }

            fn division((a, b): ($ty, $ty)) -> [$ty; 5] {
                let b = if b == 0 { 3 } else { b };
                [
                    a.wrapping_div(b), a.wrapping_rem(b), a.wrapping_div_euclid(b), a.wrapping_rem_euclid(b),
                    a.wrapping_rem(7) ^ (a / 10),
                ]
            }

            fn shifts((a, n): ($ty, u8)) -> ([$ty; 4], [Option<$ty>; 2]) {
                let n = u32::from(n);
                let within = n % $ty::BITS;
                (
                    [a << within, a >> within, a.rotate_left(n), a.rotate_right(n)],
                    [a.checked_shl(n), a.checked_shr(n)],
                )
            }

            fn bits(a: $ty) -> ([u32; 6], [$ty; 3]) {
                (
                    [
                        a.count_ones(), a.count_zeros(), a.leading_zeros(), a.trailing_zeros(), a.leading_ones(),
                        a.trailing_ones(),
                    ],
                    [a.reverse_bits(), a.swap_bytes(), !a & a.wrapping_sub(1)],
                )
            }

            fn bytes(a: $ty) -> ([u8; size_of::<$ty>()], [u8; size_of::<$ty>()], bool) {
                let back = $ty::from_be_bytes(a.to_le_bytes()) == a.swap_bytes();
                (a.to_le_bytes(), a.to_be_bytes(), back && a.to_le() > 5)
            }

            fn powers_and_roots((a, n): ($ty, u32)) -> ($ty, Option<$ty>, $unsigned, Option<u32>) {
                let unsigned = a as $unsigned;
                (
                    a.wrapping_pow(n % 40), a.checked_pow(n % 6), unsigned.isqrt(),
                    unsigned.checked_ilog2().map(|log| log * 100 + unsigned.ilog10()),
                )
            }

            fn comparisons((a, b, c): ($ty, $ty, $ty)) -> ($ty, $ty, $ty, $unsigned, i8, [bool; 3]) {
                let (low, high) = (b.min(c), b.max(c));
                (a.min(b), a.max(b), a.clamp(low, high), a.abs_diff(b), a.cmp(&b) as i8, [a < b, a <= c, a == b])
            }
        }
    )*};
}

widths!(u8 u8 u16 u16 u32 u32 u64 u64 u128 u128 i8 u8 i16 u16 i32 u32 i64 u64 i128 u128);

agree!(
    of_the_sign,
    only_unsigned,
    wide_products,
    wrapped_types,
    mixed_widths,
    powers_of_two,
    fixed_point_of_128_bits,
    nonzero_types,
    bit_tricks,
    carries_by_hand,
);

fn of_the_sign(x: (i8, i32, i64)) -> ([i8; 3], [i32; 3], [i64; 2], [bool; 2]) {
    let (a, b, c) = x;
    (
        [a.signum(), a.wrapping_abs(), a.saturating_neg()],
        [b.signum(), b.wrapping_abs(), b.saturating_abs()],
        [c.signum(), c.unsigned_abs() as i64],
        [a.is_negative(), b.is_positive()],
    )
}

fn only_unsigned((a, b, c): (u32, u64, u8)) -> ([Option<u32>; 3], [u64; 3], u8) {
    (
        [
            a.checked_next_power_of_two(),
            a.checked_add_signed(-5),
            a.checked_next_multiple_of(u32::from(c)),
        ],
        [
            b.div_ceil(u64::from(c) + 1),
            b.midpoint(7),
            b.wrapping_add_signed(-(1 << 40)),
        ],
        c.midpoint(200),
    )
}

fn wide_products((a, b, c): (u64, u64, i64)) -> (u128, i128, u64) {
    let product = u128::from(a) * u128::from(b);
    (
        product,
        i128::from(c) * i128::from(a as i64),
        (product >> 64) as u64 ^ a.wrapping_mul(b),
    )
}

fn wrapped_types((a, b): (u8, i32)) -> (u8, i32, u8) {
    use std::num::{Saturating, Wrapping};
    let mut byte = Wrapping(a);
    byte += 200;
    byte *= byte;
    let number = (Wrapping(b) - Wrapping(i32::MAX)) << 3;
    let mut level = Saturating(a);
    level += 100;
    level -= 50;
    (byte.0, number.0, level.0)
}

fn mixed_widths((a, b, c, d): (u8, i16, u32, i64)) -> (i64, u32, i32) {
    let sum = i64::from(a) - i64::from(b) + i64::from(c);
    (
        sum ^ d,
        c >> (a % 32) | u32::from(a) << 24,
        i32::from(b) * i32::from(a),
    )
}

fn powers_of_two(x: u64) -> (bool, Option<u64>, u32, u64) {
    let lowest = x & x.wrapping_neg();
    (
        x.is_power_of_two(),
        x.checked_next_power_of_two(),
        lowest.trailing_zeros(),
        x & x.wrapping_sub(1),
    )
}

/// Products and quotients of numbers with 64 bits behind the point.
fn fixed_point_of_128_bits((a, b): (i128, i64)) -> (i128, i128, u128) {
    let b = i128::from(b) | 1;
    let product = (a >> 32).wrapping_mul(b) >> 32;
    (
        product,
        (a / 3).wrapping_div(b),
        (a.unsigned_abs() % b.unsigned_abs()) << 3,
    )
}

fn nonzero_types((a, b): (u32, u32)) -> (u32, Option<u32>, u32) {
    use std::num::NonZero;
    let Some(b) = NonZero::new(b) else {
        return (a, None, 0);
    };
    let a = NonZero::new(a | 1).unwrap_or(b);
    (
        a.get() / b,
        a.checked_mul(b).map(NonZero::get),
        a.leading_zeros() + (a.get() % b),
    )
}

fn bit_tricks(x: u64) -> [u64; 4] {
    let spread = (0..32).fold(0, |sum, bit| sum | (x >> bit & 1) << (2 * bit));
    let gray = x ^ x >> 1;
    let mut decoded = gray;
    for shift in [1, 2, 4, 8, 16, 32] {
        decoded ^= decoded >> shift;
    }
    let next = {
        let low = x & x.wrapping_neg();
        let ripple = x.wrapping_add(low);
        ripple | ((x ^ ripple) >> 2).checked_div(low).unwrap_or(0)
    };
    [spread, gray, decoded ^ x, next]
}

/// Numbers of 256 bits: a sum, and a product's low half.
fn carries_by_hand((a, b): ([u64; 4], [u64; 4])) -> ([u64; 4], [u64; 4]) {
    let mut sum = [0; 4];
    let mut carry = false;
    for i in 0..4 {
        let (low, first) = a[i].overflowing_add(b[i]);
        let (low, second) = low.overflowing_add(carry.into());
        (sum[i], carry) = (low, first | second);
    }
    let mut product = [0u64; 4];
    for i in 0..4 {
        let mut carry = 0u128;
        for j in 0..4 - i {
            carry += u128::from(a[i]) * u128::from(b[j]) + u128::from(product[i + j]);
            product[i + j] = carry as u64;
            carry >>= 64;
        }
    }
    (sum, product)
}
