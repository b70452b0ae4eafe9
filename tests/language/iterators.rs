//! Iterators: adapters, consumers, and those that a user writes.

use std::collections::VecDeque;
use std::iter::{self, FusedIterator};

use crate::check::digest;

agree!(
    map_filter_zip,
    skip_take_step_chain,
    flat_map_and_flatten,
    scan_and_take_while,
    peekable,
    folds,
    searches,
    minima_and_maxima,
    partitions_and_unzips,
    from_both_ends,
    cycles_and_successors,
    sums_and_products,
    compare_as_sequences,
    own_iterator,
    own_iterator_from_both_ends,
    cloned_halfway,
    by_ref_and_inspect,
    map_while_and_fuse,
    size_hints,
    collected_into_many,
    windows_of_an_iterator,
    arrays_by_value,
    reduce_and_try_reduce,
    once_repeat_empty,
);

fn map_filter_zip((x, y): ([u32; 9], [u32; 7])) -> u64 {
    let pairs = x.iter().zip(&y).enumerate();
    let some = pairs.filter(|(i, (x, y))| x > y || i % 3 == 0);
    digest(some.map(|(i, (&x, &y))| x.wrapping_mul(i as u32) ^ y))
}

fn skip_take_step_chain((x, n): ([u32; 12], u8)) -> u64 {
    let n = usize::from(n) % 6;
    let ends = x.iter().take(n).chain(x.iter().skip(12 - n));
    digest(ends.chain(x.iter().skip(n).step_by(n + 1)).copied())
}

fn flat_map_and_flatten(x: [u8; 5]) -> (u64, usize) {
    let flat = x
        .iter()
        .flat_map(|&x| (0..x % 5).map(move |i| x.wrapping_add(i * 7)));
    let options = x.map(|x| x.checked_sub(100));
    (digest(flat), options.into_iter().flatten().count())
}

fn scan_and_take_while(x: [u32; 10]) -> (u64, usize) {
    let sums = x.iter().scan(0u32, |sum, &x| {
        *sum = sum.checked_add(x)?;
        Some(*sum)
    });
    let even = x
        .iter()
        .skip_while(|x| **x % 2 == 1)
        .take_while(|x| **x % 2 == 0);
    (digest(sums), even.count())
}

/// The lengths of the runs of equal parity.
fn peekable(x: [u32; 16]) -> u64 {
    let mut runs = Vec::new();
    let mut numbers = x.iter().map(|x| x % 2).peekable();
    while let Some(first) = numbers.next() {
        let mut length = 1u32;
        while numbers.next_if_eq(&first).is_some() {
            length += 1;
        }
        runs.push(length);
    }
    digest(runs)
}

fn folds(x: [i32; 8]) -> (i32, Option<i32>, i64) {
    let right = x.iter().rev().fold(1i32, |sum, &x| sum.wrapping_mul(3) ^ x);
    let checked = x.iter().try_fold(0i32, |sum, &x| sum.checked_add(x));
    let longest = x
        .iter()
        .map(|&x| i64::from(x))
        .reduce(|a, b| if a.abs() < b.abs() { b } else { a });
    (right, checked, longest.unwrap_or(0))
}

type Place = Option<usize>;

fn searches((x, wanted): ([u8; 12], u8)) -> (Place, Place, Option<u8>, bool, bool) {
    (
        x.iter().position(|&x| x == wanted),
        x.iter().rposition(|&x| x > wanted),
        x.iter().copied().find(|x| x % 16 == wanted % 16),
        x.iter().any(|&x| x == wanted),
        x.iter().all(|&x| x >= wanted / 16),
    )
}

fn minima_and_maxima(x: [i16; 9]) -> (Option<i16>, Option<i16>, usize, i16) {
    let by = |i: &usize| (x[*i] % 10, *i);
    (
        x.iter().copied().min(),
        x.into_iter().max_by(|a, b| (a % 100).cmp(&(b % 100))),
        (0..9).max_by_key(by).unwrap_or(99),
        x.iter()
            .copied()
            .min_by_key(|x| x.unsigned_abs())
            .unwrap_or(0),
    )
}

fn partitions_and_unzips(x: [u32; 10]) -> (u64, u64, u64) {
    let (odd, even): (Vec<u32>, Vec<u32>) = x.iter().partition(|x| **x % 2 == 1);
    let (high, low): (Vec<u16>, VecDeque<u16>) =
        x.iter().map(|x| ((x >> 16) as u16, *x as u16)).unzip();
    (digest(odd), digest(even), digest(high) ^ digest(low))
}

fn from_both_ends(x: [u32; 11]) -> (u64, u32) {
    let mut ends = x.iter().map(|x| x ^ 1);
    let mut order = Vec::new();
    while let (Some(a), Some(b)) = (ends.next(), ends.next_back()) {
        order.extend([a, b]);
    }
    let third = x.iter().rev().nth(2).copied().unwrap_or(0);
    (
        digest(order),
        third ^ x.iter().nth_back(1).copied().unwrap_or(0),
    )
}

fn cycles_and_successors((x, n): ([u32; 3], u8)) -> (u64, usize) {
    let cycle = x.iter().copied().cycle().skip(n.into()).take(7);
    let collatz = iter::successors(Some(u64::from(n) + 1), |&x| {
        (x != 1).then(|| if x % 2 == 0 { x / 2 } else { 3 * x + 1 })
    });
    (digest(cycle), collatz.count())
}

fn sums_and_products(x: [u8; 6]) -> (u32, u64, f64, Option<u16>) {
    (
        x.iter().map(|&x| u32::from(x)).sum(),
        x.iter().map(|&x| u64::from(x)).product(),
        x.iter().map(|&x| f64::from(x) / 8.0).sum(),
        x.iter().map(|&x| u16::from(x).checked_sub(3)).sum(),
    )
}

fn compare_as_sequences((x, y): ([u8; 4], [u8; 4])) -> (i8, bool, bool, bool) {
    let low = |x: [u8; 4]| x.into_iter().map(|x| x % 2);
    (
        low(x).cmp(low(y)) as i8,
        low(x).eq(low(y)),
        low(x).lt(low(y).skip(1)),
        low(x).is_sorted(),
    )
}

/// The bits that are set, from the lowest.
struct Bits(u64);

impl Iterator for Bits {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some(bit)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Bits {}

fn own_iterator(x: u64) -> (u32, usize, Option<u32>) {
    (
        Bits(x).sum(),
        Bits(x).len(),
        Bits(x).filter(|bit| bit % 5 == 0).last(),
    )
}

struct Countdown {
    from: u32,
    to: u32,
}

impl Iterator for Countdown {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        (self.from > self.to).then(|| {
            self.from -= 1;
            self.from
        })
    }
}

impl DoubleEndedIterator for Countdown {
    fn next_back(&mut self) -> Option<u32> {
        (self.from > self.to).then(|| {
            self.to += 1;
            self.to - 1
        })
    }
}

impl FusedIterator for Countdown {}

impl IntoIterator for &Holder {
    type Item = u32;
    type IntoIter = Countdown;
    fn into_iter(self) -> Countdown {
        Countdown {
            from: self.0,
            to: self.1,
        }
    }
}

struct Holder(u32, u32);

fn own_iterator_from_both_ends((a, b): (u8, u8)) -> u64 {
    let holder = Holder(a.into(), b.into());
    let mut order: Vec<u32> = holder.into_iter().rev().take(20).collect();
    for x in &holder {
        if order.len() > 40 {
            break;
        }
        order.push(x);
    }
    digest(order)
}

fn cloned_halfway(x: [u32; 8]) -> (u32, u32) {
    let mut numbers = x.iter().copied().filter(|x| x % 3 != 0);
    let first = numbers.next().unwrap_or(0);
    let rest = numbers.clone();
    let consumed = numbers.fold(first, |a, b| a.rotate_left(1) ^ b);
    (consumed, rest.fold(0, |a, b| a.rotate_left(2) ^ b))
}

fn by_ref_and_inspect(x: [u32; 9]) -> (u64, u64, u32) {
    let mut seen = 0;
    let mut numbers = x.iter().copied().inspect(|x| seen ^= x);
    let head: Vec<u32> = numbers.by_ref().take_while(|x| x % 4 != 0).collect();
    let next = numbers.next();
    (digest(head), digest(next), seen)
}

fn map_while_and_fuse(x: [Option<u32>; 6]) -> (u64, usize) {
    let heads = x.iter().map_while(|x| x.map(|x| x ^ 5));
    let mut at = 0;
    let gaps = iter::from_fn(|| {
        at += 1;
        x.get(at - 1).copied().flatten()
    });
    (digest(heads), gaps.fuse().count())
}

fn size_hints((x, n): ([u32; 10], u8)) -> [usize; 4] {
    let n = usize::from(n) % 12;
    let filtered = x.iter().skip(n).filter(|x| **x > 5);
    let chained = x.iter().take(n).chain(&x);
    [
        filtered.size_hint().1.unwrap_or(99),
        chained.size_hint().0,
        x.chunks(n + 1).len(),
        x.iter().step_by(n + 1).len(),
    ]
}

fn collected_into_many(x: [Option<u8>; 4]) -> (Option<u64>, Result<u64, u8>, usize) {
    let all: Option<Vec<u8>> = x.into_iter().collect();
    let checked: Result<Vec<u8>, u8> = x
        .iter()
        .flatten()
        .map(|&x| if x < 200 { Ok(x) } else { Err(x) })
        .collect();
    let text: String = x.iter().flatten().map(|&x| char::from(x)).collect();
    (all.map(digest), checked.map(digest), text.len())
}

fn windows_of_an_iterator(x: [i32; 10]) -> (usize, i32) {
    let rises = x.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let steepest = x
        .array_windows()
        .map(|&[a, b, c]| a.wrapping_sub(b).wrapping_add(c))
        .max();
    (rises, steepest.unwrap_or(0))
}

fn arrays_by_value(x: [u32; 6]) -> (u64, u32) {
    let mut numbers = x.map(|x| x.wrapping_mul(7)).into_iter();
    let last = numbers.next_back().unwrap_or(0);
    let rest = numbers.as_slice().len() as u32;
    (digest(numbers), last ^ rest)
}

fn reduce_and_try_reduce(x: [u16; 7]) -> (Option<u16>, Option<u16>, u32) {
    let gcd = |mut a: u16, mut b: u16| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let mut rest = x.iter().copied();
    let product = rest.try_fold(1u16, |product, x| product.checked_mul(x % 9 + 1));
    (x.into_iter().reduce(gcd), product, rest.count() as u32)
}

fn once_repeat_empty((x, n): (u32, u8)) -> u64 {
    let numbers = iter::once(x)
        .chain(iter::empty())
        .chain(iter::repeat_n(x ^ 1, usize::from(n) % 4))
        .chain(iter::repeat_with(|| x.rotate_left(n.into())).take(2))
        .chain(iter::zip([1u32, 2], [x, 4]).map(|(a, b)| a ^ b));
    digest(numbers)
}
