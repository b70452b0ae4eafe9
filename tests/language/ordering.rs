//! `Ordering`, and orders of numbers, text, tuples, slices and own types.

use std::cmp::{self, Ordering, Reverse};

use crate::check::digest;

agree!(
    chained,
    reversed_and_compared,
    of_own_types,
    of_enums,
    of_tuples_and_arrays,
    of_options_and_results,
    of_text,
    partial,
    minima_and_maxima_by,
    total_order_of_floats,
);

fn chained((a, b): ([u8; 3], [u8; 3])) -> (i8, i8) {
    let (a, b) = (a.map(|x| x % 3), b.map(|x| x % 3));
    let order = a[0]
        .cmp(&b[0])
        .then(b[1].cmp(&a[1]))
        .then_with(|| a[2].cmp(&b[2]));
    (order as i8, order.reverse().then(Ordering::Greater) as i8)
}

fn reversed_and_compared((a, b): (i32, i32)) -> ([bool; 6], i8) {
    let order = Reverse(a).cmp(&Reverse(b));
    (
        [
            order.is_lt(),
            order.is_le(),
            order.is_eq(),
            order.is_ne(),
            order.is_ge(),
            order.is_gt(),
        ],
        cmp::max(order, Ordering::Equal) as i8,
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Card {
    suit: u8,
    rank: u8,
}

impl Ord for Card {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.rank, Reverse(self.suit)).cmp(&(other.rank, Reverse(other.suit)))
    }
}

impl PartialOrd for Card {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn of_own_types(x: [u8; 8]) -> (u64, bool, u8) {
    let mut cards = x.map(|x| Card {
        suit: x % 4,
        rank: x / 4 % 5,
    });
    let clamped = cards[0].clamp(cards[1].min(cards[2]), cards[1].max(cards[2]));
    let less = cards[3] < cards[4];
    cards.sort();
    (
        digest(cards.map(|card| card.rank * 4 + card.suit)),
        less,
        clamped.rank,
    )
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Low,
    Number(i16),
    Pair { a: u8, b: bool },
    High,
}

fn of_enums((x, y): ((u8, i16), (u8, i16))) -> (i8, bool, i16) {
    let value = |(kind, x): (u8, i16)| match kind % 4 {
        0 => Value::Low,
        1 => Value::Number(x),
        2 => Value::Pair {
            a: x as u8 % 2,
            b: x > 0,
        },
        _ => Value::High,
    };
    let larger = match value(x).max(value(y)) {
        Value::Number(n) => n,
        Value::Pair { a, .. } => a.into(),
        Value::Low | Value::High => -1,
    };
    (value(x).cmp(&value(y)) as i8, value(x) >= value(y), larger)
}

fn of_tuples_and_arrays((a, b): ([u8; 4], [u8; 4])) -> ([i8; 3], bool) {
    let (a, b) = (a.map(|x| x % 2), b.map(|x| x % 2));
    let pair = |x: [u8; 4]| (x[0], (x[1] == 1, i16::from(x[2]) - 1));
    (
        [
            pair(a).cmp(&pair(b)) as i8,
            a.cmp(&b) as i8,
            a[..3].cmp(&b[1..]) as i8,
        ],
        (a, b) < (b, a),
    )
}

fn of_options_and_results((a, b): (Option<u8>, Option<u8>)) -> ([i8; 2], Option<u8>) {
    let result = |x: Option<u8>| x.filter(|x| x % 2 == 0).ok_or(x);
    ([a.cmp(&b) as i8, result(a).cmp(&result(b)) as i8], a.max(b))
}

fn of_text((i, j): (u8, u8)) -> ([i8; 3], bool) {
    const WORDS: [&str; 8] = ["", "a", "ab", "abc", "b", "B", "é", "\u{10ffff}"];
    let (a, b) = (WORDS[usize::from(i) % 8], WORDS[usize::from(j) % 8]);
    (
        [
            a.cmp(b) as i8,
            a.to_owned().cmp(&b.repeat(2)) as i8,
            a.bytes().rev().cmp(b.bytes().rev()) as i8,
        ],
        a.eq_ignore_ascii_case(b),
    )
}

fn partial((a, b): ([f64; 2], [f64; 2])) -> (Option<i8>, Option<i8>, [bool; 3]) {
    let number = |order: Option<Ordering>| order.map(|order| order as i8);
    (
        number(a.partial_cmp(&b)),
        number((a[0], 1).partial_cmp(&(b[0], 2))),
        [a < b, a[0] >= b[0], Some(a[1]) > Some(b[1])],
    )
}

fn minima_and_maxima_by((a, b): (i32, i32)) -> [i32; 4] {
    [
        cmp::min_by_key(a, b, |x| x % 10),
        cmp::max_by_key(a, b, |x| x % 10),
        cmp::min_by(a, b, |a, b| b.unsigned_abs().cmp(&a.unsigned_abs())),
        cmp::max_by(a, b, |a, b| (a % 4).cmp(&(b % 4))),
    ]
}

fn total_order_of_floats(mut x: [f32; 7]) -> ([u32; 7], Option<f32>) {
    x.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = 1e30);
    x.sort_by(f32::total_cmp);
    let middle = x
        .iter()
        .copied()
        .min_by(|a, b| (a - 5.0).abs().total_cmp(&(b - 5.0).abs()));
    (x.map(f32::to_bits), middle)
}
