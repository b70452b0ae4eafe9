//! `Option`, `Result` and `?`.

use std::num::{IntErrorKind, TryFromIntError};

agree!(
    question_mark_of_options,
    question_mark_converts_errors,
    combinators_of_options,
    combinators_of_results,
    taken_and_replaced,
    filled_when_empty,
    transposed,
    zipped_and_exclusive,
    from_option_to_result,
    first_error_of_many,
    nested_and_flattened,
    references_into_options,
    errors_as_objects,
    iterated,
    controlled_flow,
);

fn question_mark_of_options((x, i): ([u8; 4], u8)) -> Option<u8> {
    fn quotient(x: &[u8], i: u8) -> Option<u8> {
        let a = x.get(usize::from(i) % 5)?;
        let b = x.first()?.checked_sub(10)?;
        a.checked_div(b)
    }
    let first = quotient(&x, i)?;
    let second = quotient(&x[1..], i.wrapping_add(1)).unwrap_or(first);
    first.checked_add(second)
}

enum Fault {
    Range(TryFromIntError),
    Odd(u32),
    Missing,
}

impl From<TryFromIntError> for Fault {
    fn from(error: TryFromIntError) -> Self {
        Fault::Range(error)
    }
}

fn question_mark_converts_errors((x, y): (i64, Option<u32>)) -> Result<u32, u32> {
    fn parse(x: i64, y: Option<u32>) -> Result<u16, Fault> {
        let x = u16::try_from(x)?;
        let y = y.ok_or(Fault::Missing)?;
        if y % 2 == 1 {
            return Err(Fault::Odd(y));
        }
        Ok(x ^ u16::try_from(y >> 8)?)
    }
    parse(x, y).map(u32::from).map_err(|fault| match fault {
        Fault::Range(error) => error.to_string().len() as u32,
        Fault::Odd(y) => y,
        Fault::Missing => 0,
    })
}

fn combinators_of_options((a, b): (Option<u32>, Option<u32>)) -> [u32; 6] {
    let half = |x: u32| x.is_multiple_of(2).then(|| x / 2);
    [
        a.map_or(1, |x| x ^ 1),
        a.and_then(half).or(b).unwrap_or(2),
        a.filter(|x| *x > 9)
            .or_else(|| b.map(|x| x >> 1))
            .unwrap_or_default(),
        a.xor(b).unwrap_or(3),
        a.is_some_and(|x| x % 3 == 0).into(),
        b.is_none_or(|x| x % 5 == 0).into(),
    ]
}

fn combinators_of_results((ok, x): (bool, u8)) -> (Result<u16, bool>, u8, Option<u8>) {
    let result: Result<u8, bool> = if ok { Ok(x) } else { Err(x > 9) };
    let wide = result
        .map(|x| u16::from(x) * 3)
        .and_then(|x| if x < 600 { Ok(x) } else { Err(true) })
        .or_else(|e| if e { Ok(7) } else { Err(e) });
    let value = result.unwrap_or_else(|e| if e { 100 } else { 50 });
    (wide, value, result.ok().filter(|x| x % 2 == 0))
}

fn taken_and_replaced((x, y): (Option<u32>, u32)) -> [Option<u32>; 4] {
    let (mut a, mut b) = (x, Some(y));
    let taken = a.take();
    let replaced = b.replace(y ^ 1);
    let odd = b.take_if(|b| *b % 2 == 1);
    [taken, replaced, odd, a.or(b)]
}

fn filled_when_empty((x, y): (Option<u32>, u32)) -> (u32, u32, Option<u32>) {
    let (mut a, mut b, mut c) = (x, x, x);
    *a.get_or_insert_with(|| y / 2) ^= 1;
    let inserted = *b.insert(y);
    let got = *c.get_or_insert(y);
    (a.unwrap_or(0), inserted ^ got, b)
}

fn transposed(x: Option<(bool, u8)>) -> (Result<Option<u8>, u8>, Option<Result<u8, u8>>) {
    let option = x.map(|(ok, x)| if ok { Ok(x) } else { Err(x) });
    let result = option.transpose();
    (result, result.transpose())
}

fn zipped_and_exclusive((a, b): (Option<u8>, Option<u8>)) -> (Option<(u8, u8)>, Option<u8>, u8) {
    let zipped = a.zip(b);
    let (x, y) = zipped.map(|(a, b)| (b, a)).unzip();
    (zipped, x.max(y), a.map_or(0, |a| a / 2).max(b.unwrap_or(1)))
}

fn from_option_to_result((a, b): (Option<u8>, u8)) -> (Result<u8, u8>, Result<u8, i32>) {
    let parsed = "12".get(..usize::from(b) % 4).ok_or(-1).and_then(|text| {
        text.parse::<u8>().map_err(|error| match error.kind() {
            IntErrorKind::Empty => -2,
            _ => -3,
        })
    });
    (a.ok_or_else(|| b / 2), parsed)
}

fn first_error_of_many(x: [u8; 6]) -> Result<u32, (u8, u8)> {
    let each = x.iter().zip(0u8..).map(|(&x, i)| {
        if x < 230 {
            Ok(u32::from(x))
        } else {
            Err((x, i))
        }
    });
    each.sum()
}

fn nested_and_flattened(x: (Option<u8>, bool, bool)) -> (Option<u8>, Result<u8, u8>) {
    let (value, outer, inner) = x;
    let nested: Option<Option<u8>> = outer.then_some(value);
    let result: Result<Result<u8, u8>, u8> = match (outer, inner) {
        (true, true) => Ok(Ok(1)),
        (true, false) => Ok(Err(2)),
        _ => Err(value.unwrap_or(3)),
    };
    (nested.flatten(), result.and_then(|inner| inner))
}

fn references_into_options((x, y): (Option<[u32; 2]>, u32)) -> ([u32; 2], u32, bool) {
    let mut option = x;
    if let Some([first, _]) = option.as_mut() {
        *first ^= y;
    }
    let text = x.map(|x| x[0].to_string());
    let length = text.as_deref().map_or(0, str::len);
    let same = option.as_ref().map(|x| &x[1]) == x.as_ref().map(|x| &x[1]);
    (
        option.unwrap_or([1, 2]),
        length as u32,
        same && option.as_slice().is_empty(),
    )
}

#[derive(Debug)]
struct TooLarge(u32);

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} is too large", self.0)
    }
}

impl std::error::Error for TooLarge {}

fn errors_as_objects((x, base): (u32, bool)) -> (u32, u32) {
    fn run(x: u32, base: bool) -> Result<u32, Box<dyn std::error::Error>> {
        let text = if base { "77" } else { "7x" };
        let number: u32 = text.parse()?;
        if x > 1000 {
            return Err(TooLarge(x).into());
        }
        Ok(number + x)
    }
    match run(x, base) {
        Ok(x) => (0, x),
        Err(error) if error.is::<TooLarge>() => (1, error.to_string().len() as u32),
        Err(error) => (2, error.to_string().len() as u32),
    }
}

fn iterated((a, b): (Option<u32>, [Option<u32>; 5])) -> (u32, usize) {
    let mut sum = 0u32;
    for x in a.iter() {
        sum ^= x;
    }
    for x in b.iter().flatten().chain(&a) {
        sum = sum.rotate_left(1) ^ x;
    }
    (sum, a.into_iter().chain(b[0]).count())
}

fn controlled_flow(x: [u32; 8]) -> (u32, bool) {
    use std::ops::ControlFlow::{self, Break, Continue};
    let found = x.iter().try_for_each(|&x| match x % 8 {
        3 => Break(x),
        _ => Continue(()),
    });
    let summed: ControlFlow<u32, u32> = x.iter().try_fold(0u32, |sum, &x| {
        sum.checked_add(x).map_or(Break(sum), Continue)
    });
    match (found, summed) {
        (Break(x), Break(sum)) => (x ^ sum, true),
        (Continue(()), Break(sum) | Continue(sum)) => (sum, false),
        (Break(x), Continue(sum)) if sum > x => (sum - x, true),
        (Break(x), Continue(_)) => (x, false),
    }
}
