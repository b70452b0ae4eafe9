//! Parsing: numbers of every type with their errors, and small languages.

use std::num::IntErrorKind;
use std::str::FromStr;

use crate::check::digest_text;

agree!(
    integers,
    integers_of_any_radix,
    wide_integers,
    errors_of_integers,
    floats,
    characters_and_booleans,
    there_and_back,
    dates,
    own_from_str,
    arithmetic,
    lists_of_pairs,
    hexadecimal,
);

/// A number as text, at times with a letter that it should not have.
fn number((x, fault): (i64, u8)) -> String {
    let mut text = x.to_string();
    match fault % 8 {
        0 => text.insert(0, '+'),
        1 => text.push(' '),
        2 => text.clear(),
        3 => text.insert(text.len() / 2, 'f'),
        _ => {}
    }
    text
}

fn integers(x: (i64, u8)) -> (Option<u8>, Option<i16>, Option<u32>, Option<i64>) {
    let text = number(x);
    (
        text.parse().ok(),
        text.parse().ok(),
        text.parse().ok(),
        text.parse().ok(),
    )
}

fn integers_of_any_radix((x, n): ((i64, u8), u8)) -> (Option<i32>, Option<u64>) {
    let (text, radix) = (number(x), u32::from(n) % 35 + 2);
    (
        i32::from_str_radix(&text, radix).ok(),
        u64::from_str_radix(&text, radix).ok(),
    )
}

fn wide_integers((x, y): (u128, (i64, u8))) -> (Option<u128>, Option<i128>) {
    (
        x.to_string().parse().ok(),
        (number(y) + "000000000000000000").parse().ok(),
    )
}

fn errors_of_integers(x: (i64, u8)) -> (u8, u64) {
    match number(x).parse::<i8>() {
        Ok(_) => (0, 0),
        Err(error) => {
            let kind = match error.kind() {
                IntErrorKind::Empty => 1,
                IntErrorKind::InvalidDigit => 2,
                IntErrorKind::PosOverflow => 3,
                IntErrorKind::NegOverflow => 4,
                _ => 5,
            };
            (kind, digest_text(&error.to_string()))
        }
    }
}

fn floats((x, shift, fault): (i64, i8, u8)) -> (Option<f64>, Option<f32>) {
    let text = match fault % 8 {
        0 => "inf".to_owned(),
        1 => "NaN".to_owned(),
        2 => format!("{x}."),
        3 => format!(".{x}"),
        4 => format!("{}.{}e{}", x / 1_000_000, x % 1_000_000, shift),
        5 => format!("{x}e{shift}"),
        6 => "1e".to_owned(),
        _ => format!("0.000{}", x.unsigned_abs()),
    };
    (text.parse().ok(), text.parse().ok())
}

fn characters_and_booleans(i: u8) -> (Option<bool>, Option<char>) {
    const TEXTS: [&str; 7] = ["true", "false", "é", "", "ab", "TRUE", "x"];
    let text = TEXTS[usize::from(i) % 7];
    (text.parse().ok(), text.parse().ok())
}

fn there_and_back((a, b, c): (f32, f64, i128)) -> ([bool; 3], usize) {
    let texts = [a.to_string(), format!("{b:e}"), c.to_string()];
    let same = [
        texts[0]
            .parse::<f32>()
            .is_ok_and(|x| x.to_bits() == a.to_bits() || x.is_nan()),
        texts[1]
            .parse::<f64>()
            .is_ok_and(|x| x.to_bits() == b.to_bits() || x.is_nan()),
        texts[2].parse() == Ok(c),
    ];
    (same, texts.iter().map(String::len).sum())
}

fn dates((y, m, d, separator): (u16, u8, u8, bool)) -> Option<(u16, u8, u8)> {
    fn parse(text: &str) -> Option<(u16, u8, u8)> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let (year, month): (u16, u8) = (year.parse().ok()?, month.parse().ok()?);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 => 28 + u8::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        let day = day.parse().ok().filter(|day| (1..=days).contains(day))?;
        Some((year, month, day))
    }
    let text = format!(
        "{y:04}-{:02}{}{:02}",
        m % 14,
        if separator { '-' } else { '/' },
        d % 33
    );
    parse(&text).or_else(|| parse(&text.replace('/', "-")).map(|(y, m, d)| (y, m + 20, d)))
}

#[derive(PartialEq)]
struct Colour([u8; 3]);

impl FromStr for Colour {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let digits = text.strip_prefix('#').ok_or("no #")?;
        let part = |i: usize| {
            let part = digits.get(2 * i..2 * i + 2).ok_or("short")?;
            u8::from_str_radix(part, 16).map_err(|_| "not hexadecimal")
        };
        Ok(Colour([part(0)?, part(1)?, part(2)?]))
    }
}

fn own_from_str((x, n): ([u8; 3], u8)) -> Result<[u8; 3], u64> {
    let mut text = format!("#{:02x}{:02X}{:02x}", x[0], x[1], x[2]);
    text.truncate(usize::from(n) % 20);
    if n % 5 == 0 {
        text = text.replace(['a', 'F', '#'], "g");
    }
    text.parse::<Colour>()
        .map(|colour| colour.0)
        .map_err(digest_text)
}

/// Sums, products and parentheses, by recursive descent.
fn arithmetic(x: [u8; 11]) -> Result<i64, usize> {
    type Bytes<'a> = std::iter::Peekable<std::slice::Iter<'a, u8>>;
    fn sum(text: &mut Bytes) -> Option<i64> {
        let mut value = product(text)?;
        while let Some(sign) = text.next_if(|byte| matches!(byte, b'+' | b'-')) {
            let next = product(text)?;
            value = if *sign == b'+' {
                value.wrapping_add(next)
            } else {
                value.wrapping_sub(next)
            };
        }
        Some(value)
    }
    fn product(text: &mut Bytes) -> Option<i64> {
        let mut value = atom(text)?;
        while text.next_if_eq(&&b'*').is_some() {
            value = value.wrapping_mul(atom(text)?);
        }
        Some(value)
    }
    fn atom(text: &mut Bytes) -> Option<i64> {
        match text.next()? {
            b'(' => {
                let value = sum(text)?;
                text.next_if_eq(&&b')').map(|_| value)
            }
            digit @ b'0'..=b'9' => {
                let mut value = i64::from(digit - b'0');
                while let Some(digit) = text.next_if(|byte| byte.is_ascii_digit()) {
                    value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
                }
                Some(value)
            }
            b'-' => atom(text).map(i64::wrapping_neg),
            _ => None,
        }
    }
    let source = x.map(|x| b"0123456789(1+2*3)-+*123"[usize::from(x) % 23]);
    let mut text = source.iter().peekable();
    match sum(&mut text) {
        Some(value) => Ok(value ^ (text.len() as i64) << 40),
        None => Err(text.len()),
    }
}

fn lists_of_pairs((x, fault): ([(u8, i16); 3], u8)) -> Result<i32, u64> {
    let pairs = x
        .map(|(key, value)| format!("k{key} = {value}"))
        .join(if fault % 4 == 0 { ";;" } else { "; " });
    let parse = |pair: &str| -> Result<i32, String> {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("no = in {pair:?}"))?;
        let key: i32 = key
            .trim()
            .trim_start_matches('k')
            .parse()
            .map_err(|_| "no key".to_owned())?;
        let value: i32 = value
            .trim()
            .parse()
            .map_err(|error| format!("{key}: {error}"))?;
        Ok(key * 1000 + value)
    };
    let sum: Result<i32, String> = pairs.split(';').map(parse).sum();
    sum.map_err(|error| digest_text(&error))
}

fn hexadecimal((x, n): ([u8; 6], u8)) -> (u64, Option<[u8; 6]>) {
    let mut text: String = x.iter().map(|byte| format!("{byte:02x}")).collect();
    if n > 200 {
        text.replace_range(3..4, "z");
    }
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|x| x as u8))
        .collect();
    let bytes = digits.and_then(|digits| {
        let bytes: Vec<u8> = digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect();
        bytes.try_into().ok()
    });
    (digest_text(&text), bytes)
}
