//! Pattern matching of every kind.

use crate::check::digest;

agree!(
    slice_patterns,
    bindings_and_ranges,
    guards_and_alternatives,
    nested_destructuring,
    references_in_patterns,
    let_else,
    let_chains,
    wide_integers_and_chars,
    text_and_bytes,
    constants_in_patterns,
    floats_in_patterns,
    fields_in_any_order,
    tuples_of_options,
    while_let_takes_from_both_ends,
);

fn slice_patterns((x, n): ([u32; 6], u8)) -> u64 {
    match &x[..usize::from(n) % 7] {
        [] => 1,
        [one] => u64::from(*one) + 2,
        [first, second] => u64::from(first ^ second) + 3,
        [first, .., last] if first == last => 4,
        [0, rest @ ..] => digest(rest.iter().copied()),
        [.., a, b, _] if a < b => u64::from(*b) + 5,
        [first, middle @ .., last] => digest(middle.iter().map(|x| x ^ first ^ last)),
    }
}

fn bindings_and_ranges(x: i32) -> (u8, i32) {
    match x {
        i32::MIN..=-1000 => (0, 0),
        negative @ -999..0 => (1, negative),
        0 => (2, 0),
        small @ (1 | 2 | 4 | 8) => (3, small),
        3..10 => (4, 0),
        ten @ 10..=19 => (5, ten - 10),
        big @ 20.. => (6, big / 2),
    }
}

fn guards_and_alternatives((a, b): (Option<u8>, Result7)) -> u32 {
    match (a, b.result()) {
        (Some(x), Ok(y)) if u32::from(x) == y => 1,
        (Some(x), Ok(y)) | (Some(x), Err(y)) if x > 100 && y % 2 == 0 => u32::from(x) + y % 1000,
        (Some(1 | 2 | 3), _) => 2,
        (None, Ok(y) | Err(y)) => y / 2,
        (Some(x), Ok(_)) => u32::from(x) * 3,
        (Some(_), Err(_)) => 4,
    }
}

/// A `Result` of both sides.
type Result7 = (bool, u32);

trait Both {
    fn result(self) -> Result<u32, u32>;
}

impl Both for Result7 {
    fn result(self) -> Result<u32, u32> {
        if self.0 { Ok(self.1) } else { Err(self.1) }
    }
}

#[derive(Clone, Copy)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Clone, Copy)]
struct Line {
    from: Point,
    to: Point,
    style: (u8, Option<[u8; 2]>),
}

fn nested_destructuring((a, b, c): ([i32; 2], [i32; 2], Option<[u8; 2]>)) -> i64 {
    let line = Line {
        from: Point { x: a[0], y: a[1] },
        to: Point { x: b[0], y: b[1] },
        style: (a[0] as u8 % 3, c),
    };
    match line {
        Line {
            from: Point { x: 0, .. },
            ..
        } => 1,
        Line {
            from: Point { x, y: 0..=9 },
            to: Point { x: other, .. },
            ..
        } => i64::from(x) - i64::from(other),
        Line {
            style: (0, Some([first, second])),
            from,
            ..
        } => i64::from(first) * 1000 + i64::from(second) + i64::from(from.y),
        Line {
            style: (_, None),
            to: Point { y, .. },
            ..
        } => i64::from(y),
        Line {
            style: (n @ 1.., Some([.., last])),
            ..
        } => i64::from(n) << 8 | i64::from(last),
    }
}

fn references_in_patterns((a, b, c): (u32, Option<u32>, [u32; 3])) -> [u32; 3] {
    let (mut pair, mut option, mut array) = ((a, 1u32), b, c);
    let (first, second) = &mut pair;
    std::mem::swap(first, second);
    if let Some(value) = &mut option {
        *value ^= *first;
    }
    let [_, middle, _] = &mut array;
    *middle = middle.wrapping_add(1);
    for (i, &mut ref mut x) in array.iter_mut().enumerate() {
        *x ^= i as u32;
    }
    let &(x, ref y) = &pair;
    [
        x ^ *y,
        option.unwrap_or(5),
        array.iter().fold(0, |a, &b| a ^ b),
    ]
}

fn let_else(x: [Option<u32>; 4]) -> Option<u32> {
    let mut sum = 0u32;
    for x in x {
        let Some(x) = x else { continue };
        let Some(half) = x.checked_sub(2) else {
            return Some(sum);
        };
        sum = sum.wrapping_add(half);
    }
    let [Some(first), .., Some(last)] = x else {
        return None;
    };
    Some(sum ^ first ^ last)
}

fn let_chains((a, b, c): (Option<u32>, Option<u32>, u32)) -> u32 {
    if let Some(a) = a
        && a > 3
        && let Some(b) = b
        && let Some(difference) = a.checked_sub(b)
    {
        difference
    } else if let Some(b) = b
        && b.is_multiple_of(2)
    {
        b / 2
    } else {
        c % 7
    }
}

fn wide_integers_and_chars((x, letter): (u128, char)) -> (u8, u8) {
    let by_number = match x {
        0 => 0,
        1..=0xffff => 1,
        0x1_0000..=0xffff_ffff_ffff_ffff => 2,
        0x1_0000_0000_0000_0000 => 3,
        u128::MAX => 4,
        _ => 5,
    };
    let by_letter = match letter {
        'a'..='z' => 0,
        'A'..='Z' => 1,
        '0'..='9' => 2,
        'ß' | 'é' => 3,
        '\u{80}'.. => 4,
        _ => 5,
    };
    (by_number, by_letter)
}

fn text_and_bytes((a, b): (u8, u8)) -> (u32, u32) {
    const WORDS: [&str; 6] = ["", "add", "adder", "sub", "Add", "größe"];
    let by_text = match WORDS[usize::from(a) % 6] {
        "" => 1,
        "add" | "sub" => 2,
        word if word.starts_with("add") => 3,
        "größe" => 4,
        _ => 5,
    };
    let by_bytes = match WORDS[usize::from(b) % 6].as_bytes() {
        b"add" => 1,
        [b'a', ..] => 2,
        [.., b'b'] => 3,
        [first, .., 0xc3..=0xff, _] => u32::from(*first),
        other => 10 + other.len() as u32,
    };
    (by_text, by_bytes)
}

const ORIGIN: (u8, u8) = (0, 0);
const LIMIT: u8 = 100;

fn constants_in_patterns(x: (u8, u8)) -> u32 {
    const CORNER: (u8, u8) = (u8::MAX, LIMIT / 2);
    match x {
        ORIGIN => 0,
        CORNER => 1,
        (LIMIT, y) | (y, LIMIT) => 2 + u32::from(y),
        (..LIMIT, 0..=LIMIT) => 300,
        (x, _) => 400 + u32::from(x),
    }
}

fn floats_in_patterns(x: f64) -> u32 {
    match x {
        0.0 => 1,
        1.0 | -1.0 => 2,
        0.5..=100.0 => 3,
        f64::NEG_INFINITY..0.0 => 4,
        x if x.is_nan() => 5,
        _ => 6,
    }
}

fn fields_in_any_order((a, b): (i32, i32)) -> i32 {
    let Point { y, x } = Point { x: a, y: b };
    let moved = Point {
        x: y,
        ..Point { x: 5, y: x }
    };
    let Point { x: column, y: row } = moved;
    column.wrapping_mul(3) ^ row
}

fn tuples_of_options(x: (Option<u8>, Option<u8>, Option<u8>)) -> u32 {
    match x {
        (None, None, None) => 0,
        (Some(a), None, None) | (None, Some(a), None) | (None, None, Some(a)) => u32::from(a),
        (Some(a), Some(b), None) | (Some(a), None, Some(b)) | (None, Some(a), Some(b)) => {
            u32::from(a) * 256 + u32::from(b)
        }
        (Some(a), Some(b), Some(c)) => u32::from(a) ^ u32::from(b) ^ u32::from(c),
    }
}

fn while_let_takes_from_both_ends(x: [u32; 9]) -> u64 {
    let mut rest = &x[..];
    let mut order = Vec::new();
    while let [first, middle @ .., last] = rest {
        order.push(first ^ last);
        rest = middle;
    }
    let mut stack = order.clone();
    while let Some(top) = stack.pop()
        && top != 0
    {
        order.push(top);
    }
    digest(order)
}
