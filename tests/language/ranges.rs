//! Ranges of every kind: as iterators, as indices, as sets.

use std::ops::{Bound, RangeBounds, RangeInclusive};

use crate::check::digest;

agree!(
    whole_types,
    steps_and_reversals,
    empty_and_one,
    contains,
    as_bounds,
    as_indices,
    of_characters,
    of_wide_integers,
    nested_loops,
    consumed_by_halves,
    stored_and_compared,
);

fn whole_types((a, b): (u8, i8)) -> (u32, i32, usize) {
    let bytes = (0..=u8::MAX)
        .map(|x| u32::from(x ^ a))
        .filter(|x| x % 3 == 0)
        .sum();
    let signed = (i8::MIN..=i8::MAX)
        .rev()
        .filter(|x| x % 7 == b % 7)
        .map(i32::from)
        .sum();
    (bytes, signed, (a..=u8::MAX).len())
}

fn steps_and_reversals((a, b, n): (i16, i16, u8)) -> u64 {
    let (low, high) = (i32::from(a % 100), i32::from(b % 100));
    let step = usize::from(n) % 9 + 1;
    let up = (low..high).step_by(step);
    let down = (low..=high).rev().step_by(step).skip(1);
    digest(up.chain(down).map(|x| (x + 1000) as u32))
}

fn empty_and_one(a: u8) -> (usize, usize, Option<u8>, bool) {
    let b = a % 200;
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = (b + 1..b).count() + (b + 1..=b).count();
    (
        (b..b).count() + backwards,
        (b..=b).count(),
        (b..=b).last(),
        (b..b).is_empty() && b > 3,
    )
}

fn contains((x, a, b): (i32, i32, i32)) -> [bool; 6] {
    [
        (a..b).contains(&x),
        (a..=b).contains(&x),
        (..b).contains(&x),
        (a..).contains(&x),
        (..=b).contains(&x),
        (0.5..f64::from(b)).contains(&f64::from(x)),
    ]
}

fn as_bounds((a, b, x): (u8, u8, u8)) -> (u32, bool) {
    fn size(range: impl RangeBounds<u8>) -> u32 {
        let start = match range.start_bound() {
            Bound::Included(&x) => u32::from(x),
            Bound::Excluded(&x) => u32::from(x) + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&x) => u32::from(x) + 1,
            Bound::Excluded(&x) => u32::from(x),
            Bound::Unbounded => 256,
        };
        end.saturating_sub(start)
    }
    let open = (Bound::Excluded(a), Bound::Included(b));
    let all = size(a..b) ^ size(a..=b) << 4 ^ size(..b) << 8 ^ size(a..) << 12 ^ size(..) << 16;
    (all ^ size(open) << 20, open.contains(&x))
}

fn as_indices((x, a, b): ([u32; 9], u8, u8)) -> [u64; 5] {
    let (a, b) = (usize::from(a) % 9, usize::from(b) % 9);
    let (a, b) = (a.min(b), a.max(b));
    let part = |part: &[u32]| digest(part.iter().copied());
    [
        part(&x[a..b]),
        part(&x[a..=b]),
        part(&x[..a]),
        part(&x[b..]),
        part(&x[..=a][..]),
    ]
}

fn of_characters((a, n): (char, u8)) -> (u32, Option<char>, usize) {
    let end = char::from_u32(u32::from(a) % 0xd000 + u32::from(n)).unwrap_or('z');
    let start = char::from_u32(u32::from(a) % 0xd000).unwrap_or('a');
    let surrogates = ('\u{d7f0}'..='\u{e010}').count();
    (
        (start..end).map(u32::from).fold(0, |a, b| a ^ b),
        (start..=end).nth(3),
        surrogates,
    )
}

fn of_wide_integers((a, b): (u128, i64)) -> (u64, usize) {
    let start = a & !0xff;
    let wide = (start..start | 9).map(|x| (x >> 3) as u64);
    let signed = (b.saturating_sub(5)..b.saturating_add(3)).step_by(2);
    (
        digest(wide) ^ digest(signed.clone().map(|x| x as u64)),
        signed.count(),
    )
}

fn nested_loops((n, x): (u8, u32)) -> u32 {
    let n = u32::from(n) % 7;
    let mut sum = x;
    for i in 0..n {
        for j in (i..n).rev() {
            for k in (i..=j).step_by(2) {
                sum = sum.rotate_left(1) ^ (i * 100 + j * 10 + k);
            }
        }
    }
    sum
}

fn consumed_by_halves((a, b): (u8, u8)) -> (u64, u8, bool) {
    let mut range = a.min(b)..a.max(b);
    let mut order = Vec::new();
    while let (Some(low), Some(high)) = (range.next(), range.next_back()) {
        order.push(u16::from(low) << 8 | u16::from(high));
        range.nth(2);
    }
    (digest(order), range.start, range.is_empty())
}

fn stored_and_compared((a, b, c): (u8, u8, u8)) -> (bool, u8, u32) {
    let ranges: [RangeInclusive<u8>; 3] = [a..=b, b..=c, a % 2..=b % 2];
    let widest = ranges
        .iter()
        .max_by_key(|range| range.end().saturating_sub(*range.start()));
    let start = widest.map_or(0, |range| *range.start());
    let sum = ranges.clone().into_iter().flatten().map(u32::from).sum();
    (ranges[0] == ranges[1] || ranges[2].is_empty(), start, sum)
}
