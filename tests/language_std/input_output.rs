//! `std::io` on memory, time spans, C strings.

use std::ffi::{CStr, CString};
use std::io::{BufRead, Cursor, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use crate::check::digest;

agree!(
    written,
    read,
    found,
    of_other_readers,
    durations,
    c_strings,
    zero_sized
);

fn written((a, b): (u32, i8)) -> u64 {
    let mut bytes: Vec<u8> = Vec::new();
    write!(bytes, "{a:05}{b:+}").unwrap();
    let mut buffer = [0u8; 16];
    let mut rest = &mut buffer[..];
    let fits = write!(rest, "{a}").is_ok();
    let left = rest.len();
    bytes.extend_from_slice(&buffer);
    bytes.push(left as u8 + u8::from(fits));
    digest(bytes)
}

fn read(x: [u8; 12]) -> (u64, [u8; 4], bool) {
    let mut cursor = Cursor::new(x);
    let mut four = [0; 4];
    cursor.read_exact(&mut four).unwrap();
    let mut rest = Vec::new();
    cursor.read_to_end(&mut rest).unwrap();
    (digest(rest), four, cursor.read_exact(&mut four).is_err())
}

fn found(x: [u8; 12]) -> (usize, u64, u8) {
    let mut line = Vec::new();
    let length = (&x[..]).read_until(b'0', &mut line).unwrap();
    let mut cursor = Cursor::new(&x[..]);
    let place = cursor.seek(SeekFrom::End(-3)).unwrap();
    let mut one = [0];
    cursor.read_exact(&mut one).unwrap();
    (length, digest(line) ^ place, one[0])
}

fn of_other_readers(x: [u8; 8]) -> u64 {
    let mut text = Vec::new();
    (&x[..3])
        .chain(&x[5..])
        .take(5)
        .read_to_end(&mut text)
        .unwrap();
    let bytes = Cursor::new(x)
        .bytes()
        .map(Result::unwrap)
        .filter(|byte| byte % 2 == 0);
    digest(text.into_iter().chain(bytes))
}

fn durations((a, b, f): (u32, u32, f32)) -> (u64, u32, f64, Option<u64>) {
    let span = Duration::new(a.into(), b % 1_000_000_000) + Duration::from_millis(b.into());
    let seconds = if f.is_finite() { f.abs().min(1e5) } else { 0.5 };
    let other = span * 3 / 7 + Duration::from_secs_f32(seconds);
    let less = span.checked_sub(Duration::from_secs(1 << 20));
    (
        span.as_secs(),
        other.subsec_nanos(),
        other.as_secs_f64(),
        less.map(|span| span.as_secs()),
    )
}

fn c_strings(x: [u8; 8]) -> (usize, u64, bool) {
    let x = x.map(|x| x % 8);
    let length = CStr::from_bytes_until_nul(&x).map_or(99, |text| text.to_bytes().len());
    let owned = CString::new(&x[..length.min(8)]);
    let bytes = owned
        .as_ref()
        .map(|text| digest(text.as_bytes_with_nul().iter().copied()));
    (length, bytes.unwrap_or(0), c"abc".to_str() == Ok("abc"))
}

fn zero_sized(n: u8) -> (usize, usize, u32) {
    #[derive(Clone, Copy, PartialEq)]
    struct Nothing;
    let nothings = vec![Nothing; n as usize];
    let units: Vec<()> = (0..n).map(|_| ()).collect();
    let numbered = [(); 8].iter().zip(0..n).map(|(_, i)| u32::from(i));
    (
        nothings.iter().filter(|&&x| x == Nothing).count() + nothings.chunks(3).count(),
        units.len(),
        numbered.sum(),
    )
}
