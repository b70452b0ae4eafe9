//! Text: characters, UTF-8, searching, splitting, changing, formatting into a `String` and into own buffers.

use std::fmt::{self, Write};

use crate::check::{digest, digest_text};

agree!(
    characters_and_bytes,
    encodings,
    valid_or_not,
    lossy,
    classes_of_characters,
    cases_of_characters,
    searches,
    splits,
    lines_and_words,
    trims,
    changed_in_place,
    replaced_and_repeated,
    boundaries,
    own_display,
    own_writer,
    formatted_numbers,
    formatted_floats,
    padded_and_debug,
    rotated_cipher,
    palindromes,
);

/// Some text that the bytes choose.
fn text(bytes: &[u8]) -> String {
    const PARTS: [&str; 16] = [
        "a",
        "b",
        " ",
        "é",
        "ß",
        "\u{3c0}",
        "\n",
        "xyz",
        "-",
        "\u{1f980}",
        "A",
        "9",
        "\t",
        ",",
        "İ",
        "ab",
    ];
    bytes.iter().map(|x| PARTS[usize::from(x % 16)]).collect()
}

fn characters_and_bytes(x: [u8; 8]) -> (u64, usize, Option<char>) {
    let text = text(&x);
    let places = text
        .char_indices()
        .map(|(i, letter)| i as u64 * 0x20_0000 + u64::from(letter));
    (
        digest(places),
        text.bytes().rev().filter(|byte| byte.is_ascii()).count(),
        text.chars().nth_back(2),
    )
}

fn encodings(letter: char) -> ([u8; 4], usize, u64) {
    let mut bytes = [0; 4];
    let length = letter.encode_utf8(&mut bytes).len();
    let mut units = [0; 2];
    (
        bytes,
        length + letter.len_utf16(),
        digest(letter.encode_utf16(&mut units).iter().copied()),
    )
}

fn valid_or_not((x, n): ([u8; 6], u8)) -> Result<usize, (usize, Option<usize>)> {
    let mut bytes = text(&x).into_bytes();
    let at = usize::from(n) % bytes.len();
    if n > 60 {
        bytes[at] ^= 0x40;
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(text.chars().count()),
        Err(error) => Err((error.valid_up_to(), error.error_len())),
    }
}

fn lossy(x: [u8; 9]) -> (u64, usize) {
    let text = String::from_utf8_lossy(&x);
    let units = x.map(|x| u16::from(x) << 8 | u16::from(x % 3));
    let wide: String = char::decode_utf16(units)
        .map(|unit| unit.unwrap_or('?'))
        .collect();
    (digest_text(&text) ^ digest_text(&wide), text.len())
}

fn classes_of_characters(letter: char) -> [bool; 9] {
    [
        letter.is_alphabetic(),
        letter.is_numeric(),
        letter.is_uppercase(),
        letter.is_lowercase(),
        letter.is_whitespace(),
        letter.is_control(),
        letter.is_alphanumeric(),
        letter.is_ascii_punctuation(),
        letter.is_ascii_graphic(),
    ]
}

fn cases_of_characters((letter, x): (char, [u8; 5])) -> (u64, u64, char) {
    let text = text(&x);
    let both = letter.to_uppercase().chain(letter.to_lowercase());
    (
        digest(both),
        digest_text(&text.to_uppercase()) ^ digest_text(&text.to_lowercase()),
        letter.to_ascii_uppercase(),
    )
}

fn searches((x, y): ([u8; 12], [u8; 2])) -> ([Option<usize>; 4], usize) {
    // The code that searches for text is large.
    #[inline(never)]
    fn places(text: &str, part: &str) -> (Option<usize>, usize) {
        let mut places = text.match_indices(part).map(|(at, _)| at);
        (places.next(), places.count())
    }
    let (text, part) = (text(&x), text(&y));
    let (first, more) = places(&text, &part);
    (
        [
            first,
            text.rfind('a'),
            text.find(char::is_whitespace),
            text.find(['x', '9']),
        ],
        places(&text, "ab").1 * 10 + more,
    )
}

fn splits(x: [u8; 14]) -> [u64; 4] {
    let text = text(&x);
    let lengths =
        |parts: &mut dyn Iterator<Item = &str>| digest(parts.map(|part| part.len() as u64));
    [
        lengths(&mut text.split(',')),
        lengths(&mut text.splitn(3, ['a', ' '])),
        lengths(&mut text.split_inclusive('b').rev()),
        text.split_once('-')
            .map_or(0, |(left, right)| digest_text(left) ^ right.len() as u64),
    ]
}

fn lines_and_words(x: [u8; 14]) -> (u64, usize, Option<usize>) {
    let text = text(&x);
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().count() as u64);
    (
        digest(lines),
        text.split_ascii_whitespace().count(),
        text.split(' ').map(str::len).max(),
    )
}

fn trims(x: [u8; 6]) -> [u64; 4] {
    let text = text(&x);
    [
        digest_text(text.trim()),
        digest_text(text.trim_start_matches(['a', 'b', ' '])),
        digest_text(text.trim_end_matches(|letter: char| !letter.is_ascii())),
        text.strip_prefix("a").map_or(1, digest_text),
    ]
}

fn changed_in_place((x, n): ([u8; 8], u8)) -> (u64, Option<char>) {
    let mut text = text(&x);
    let at = text
        .char_indices()
        .nth(usize::from(n) % 8)
        .map_or(0, |(at, _)| at);
    text.insert(at, 'ö');
    text.insert_str(0, "<>");
    let removed = text.remove(at.min(2));
    let popped = text.pop();
    text.retain(|letter| letter != 'b');
    text.make_ascii_uppercase();
    let tail: String = text.drain(..text.find('A').unwrap_or(0)).collect();
    (
        digest_text(&text) ^ digest_text(&tail),
        popped.max(Some(removed)),
    )
}

fn replaced_and_repeated((x, n): ([u8; 8], u8)) -> (u64, u64) {
    let text = text(&x);
    let replaced = text.replace("a", "[b]").replacen('b', "", 2);
    let mut joined = [text.as_str(), "+", &replaced].concat();
    if let Some(at) = joined.find('+') {
        joined.replace_range(at..=at, "\u{2192}");
    }
    (
        digest_text(&joined),
        digest_text(
            &text
                .split('b')
                .next()
                .unwrap_or("?")
                .repeat(usize::from(n) % 5),
        ),
    )
}

fn boundaries((x, n): ([u8; 6], u8)) -> (bool, Option<u64>, usize) {
    let text = text(&x);
    let at = usize::from(n) % 12;
    let part = text.get(at..).map(digest_text);
    let (left, right) = text.split_at_checked(at).unwrap_or(("", &text));
    (
        text.is_char_boundary(at),
        part,
        left.len() * 100 + right.len(),
    )
}

struct Fraction(i32, u32);

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if f.alternate() {
            write!(f, "({})/({})", self.0, self.1)
        } else {
            f.pad_integral(
                self.0 >= 0,
                "",
                &format!("{}/{}", self.0.unsigned_abs(), self.1),
            )
        }
    }
}

fn own_display((a, b): (i32, u32)) -> u64 {
    let fraction = Fraction(a, b);
    digest_text(&format!(
        "{fraction}|{fraction:#}|{fraction:>30}|{fraction:+}"
    ))
}

/// A line that cannot grow.
struct Line {
    bytes: [u8; 24],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

fn own_writer((a, b, c): (u8, i64, bool)) -> ([u8; 24], bool) {
    let mut line = Line {
        bytes: [b'.'; 24],
        length: 0,
    };
    let fits = write!(line, "{a}:{b:x}/{c}")
        .and_then(|()| line.write_char('!'))
        .is_ok();
    (line.bytes, fits)
}

fn formatted_numbers((a, b, c): (i16, u64, i128)) -> u64 {
    digest_text(&format!(
        "{a} {a:+06} {a:#x} {b} {b:#034b} {b:o} {c} {c:X} {:?}",
        (a, b)
    ))
}

fn formatted_floats((a, b): (f32, f64)) -> (u64, u64) {
    (
        digest_text(&format!("{a} {a:?} {a:.3} {a:e}")),
        digest_text(&format!("{b} {b:?} {b:+.1} {b:12.2E}")),
    )
}

#[derive(Debug)]
#[allow(dead_code)]
struct Entry<'a> {
    name: &'a str,
    place: Option<(u8, char)>,
    unit: (),
}

fn padded_and_debug((x, place): ([u8; 3], Option<(u8, char)>)) -> (u64, u64) {
    let name = &text(&x);
    let width = usize::from(x[0] % 12);
    let entry = Entry {
        name,
        place,
        unit: (),
    };
    (
        digest_text(&format!("{entry:?}\n{entry:#?}")),
        digest_text(&format!(
            "[{name:*^width$}][{name:<9.2}][{:>1$}]",
            'x', width
        )),
    )
}

fn rotated_cipher((x, n): ([u8; 10], u8)) -> (u64, bool) {
    let turn = |text: &str, by: u8| -> String {
        let turned = text.chars().map(|letter| match letter {
            'a'..='z' => ((letter as u8 - b'a' + by) % 26 + b'a').into(),
            'A'..='Z' => ((letter as u8 - b'A' + by) % 26 + b'A').into(),
            other => other,
        });
        turned.collect()
    };
    let (text, by) = (text(&x), n % 26);
    let secret = turn(&text, by);
    (
        digest_text(&secret),
        turn(&secret, 26 - by) == text && secret != text,
    )
}

fn palindromes(x: [u8; 9]) -> (usize, u64) {
    let letters: Vec<char> = text(&x)
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .collect();
    let is_palindrome = |part: &[char]| part.iter().eq(part.iter().rev());
    let longest = (0..letters.len())
        .flat_map(|from| (from..=letters.len()).map(move |to| (from, to)))
        .filter(|&(from, to)| is_palindrome(&letters[from..to]))
        .max_by_key(|(from, to)| to - from)
        .unwrap_or((0, 0));
    (
        longest.1 - longest.0,
        digest(letters[longest.0..longest.1].iter().copied()),
    )
}
