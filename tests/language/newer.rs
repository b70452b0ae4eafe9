//! What Rust has had for a short time: carrying arithmetic, strict and unbounded operations, slices as arrays, `let`
//! chains, hints.

use std::hint::{black_box, select_unpredictable};
use std::num::NonZero;

agree!(
    carrying,
    borrowing,
    carrying_products,
    unbounded_shifts,
    multiples,
    of_both_signs,
    nonzero,
    slices_as_arrays,
    chunked_by,
    array_references,
    repeated,
    vectors,
    black_boxes,
    unpredictable,
    wide_tables,
    flat_matrices,
);

fn carrying((a, b, carry): ([u32; 4], [u32; 4], bool)) -> ([u32; 4], bool) {
    let mut sum = [0; 4];
    let mut carry = carry;
    for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
        (*sum, carry) = a.carrying_add(b, carry);
    }
    (sum, carry)
}

fn borrowing((a, b): ([u64; 3], [u64; 3])) -> ([u64; 3], bool) {
    let mut borrow = false;
    let difference = std::array::from_fn(|i| {
        let (x, next) = a[i].borrowing_sub(b[i], borrow);
        borrow = next;
        x
    });
    (difference, borrow)
}

fn carrying_products((a, b): ([u64; 3], u64)) -> ([u64; 4], u64) {
    let mut product = [0; 4];
    for (i, a) in a.into_iter().enumerate() {
        (product[i], product[i + 1]) = a.carrying_mul(b, product[i]);
    }
    let (low, high) = product[0].carrying_mul_add(b, product[1], product[2]);
    (product, low ^ high)
}

fn unbounded_shifts((a, b, n): (u32, i64, u8)) -> (u32, u32, i64) {
    let n = u32::from(n);
    (a.unbounded_shl(n), a.unbounded_shr(n), b.unbounded_shr(n))
}

fn multiples((a, b): (u32, u8)) -> (bool, Option<u32>, u32) {
    let b = u32::from(b);
    (
        a.is_multiple_of(b),
        a.checked_next_multiple_of(b),
        a.checked_ilog(b.max(2)).unwrap_or(99),
    )
}

fn of_both_signs((a, b): (u32, i32)) -> ([i32; 2], Option<i32>, (u32, bool), i32) {
    (
        [a.cast_signed(), b.midpoint(-7)],
        a.checked_signed_diff(b.cast_unsigned()),
        a.overflowing_add_signed(b),
        b.checked_isqrt().unwrap_or(-1),
    )
}

fn nonzero((a, b): (u32, i16)) -> (Option<u32>, i16, u32) {
    let a = NonZero::new(a).unwrap_or(NonZero::<u32>::MAX);
    let b = NonZero::new(b).unwrap_or(NonZero::<i16>::MIN);
    (
        a.checked_next_power_of_two().map(NonZero::get),
        (b | 1).saturating_abs().get(),
        a.count_ones().get() + a.ilog2() + (a.get() % NonZero::new(10).unwrap_or(a)),
    )
}

fn slices_as_arrays(x: [u16; 11]) -> ([u16; 2], u32, Option<[u16; 3]>) {
    let (pairs, rest) = x.as_chunks::<2>();
    let sums = pairs
        .iter()
        .map(|&[a, b]| u32::from(a) * u32::from(b / 2))
        .fold(0, u32::wrapping_add);
    let first = x.first_chunk().copied().unwrap_or_default();
    (
        first,
        sums ^ u32::from(rest[0]),
        x[2..].last_chunk().copied(),
    )
}

fn chunked_by(x: [u8; 12]) -> [usize; 3] {
    let x = x.map(|x| x % 16);
    let rising = x.chunk_by(|a, b| a <= b);
    [
        rising.clone().count(),
        rising.map(<[u8]>::len).max().unwrap_or(0),
        x.is_sorted() as usize,
    ]
}

fn array_references(mut x: [u32; 4]) -> ([u32; 4], u32) {
    let largest = x.each_ref().into_iter().max().map_or(0, |x| *x);
    for x in x.each_mut() {
        *x ^= largest;
    }
    (
        x,
        x.as_slice()
            .iter()
            .rev()
            .copied()
            .reduce(|a, b| a.rotate_left(3) ^ b)
            .unwrap_or(0),
    )
}

fn repeated((x, n): (u8, u8)) -> u32 {
    let n = usize::from(n % 9);
    std::iter::repeat_n(x, n)
        .chain(std::iter::once(1))
        .zip(std::iter::repeat_with(|| 3u32).take(n + 1))
        .fold(0, |sum, (x, y)| sum.wrapping_mul(y).wrapping_add(x.into()))
}

/// Loops over lanes, as code for vector units has them.
fn vectors(x: [f32; 24]) -> [f32; 8] {
    let mut sums = [0f32; 8];
    for eight in x.as_chunks::<8>().0 {
        for (sum, x) in sums.iter_mut().zip(eight) {
            *sum = x.abs().min(1e6).mul_add(0.5, *sum).max(*x);
        }
    }
    sums.map(|sum| if sum.is_nan() { 1.0 } else { sum })
}

fn black_boxes((x, y): (u32, [u8; 3])) -> (u32, u8) {
    let mut total = black_box(x);
    for i in 0..black_box(4) {
        total = black_box(total.rotate_left(i)) ^ i;
    }
    black_box(());
    (
        total,
        black_box(&y).iter().fold(0, |a, b| a ^ b) ^ black_box(Some(y)).map_or(0, |y| y[2]),
    )
}

fn unpredictable((x, y): ([u32; 5], u32)) -> u32 {
    x.into_iter().fold(0, |low, x| {
        select_unpredictable(x < y, x ^ low, low.rotate_left(1))
    })
}

/// 128 KiB that are computed by the compiler.
static WIDE: [u32; 1 << 15] = {
    let mut table = [0; 1 << 15];
    let mut i = 0;
    while i < table.len() {
        table[i] = (i as u32).wrapping_mul(0x9e37_79b9);
        i += 1;
    }
    table
};

fn wide_tables(x: [u16; 3]) -> u32 {
    x.into_iter()
        .fold(0, |sum, x| sum ^ WIDE[usize::from(x) % WIDE.len()])
}

fn flat_matrices(x: [[i16; 3]; 4]) -> (i32, [i16; 3]) {
    let sum = x.as_flattened().iter().map(|&x| i32::from(x)).sum();
    let columns = x.iter().fold([0i16; 3], |sum, row| {
        std::array::from_fn(|i| sum[i] ^ row[i])
    });
    (sum, columns)
}
