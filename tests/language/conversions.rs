//! Conversions between the number types: `as`, `From`, `TryFrom`, characters, booleans.

/// Each type to each other with `as`, and with `TryFrom`, in a module named after it.
macro_rules! from {
    ($($ty:ident)*) => {$(
        mod $ty {
            agree!(with_as, with_try_from);

            fn with_as(x: $ty) -> ((u8, i8, u16, i16), (u32, i32, u64, i64), (u128, i128), (f32, f64)) {
                (
                    (x as u8, x as i8, x as u16, x as i16), (x as u32, x as i32, x as u64, x as i64),
                    (x as u128, x as i128), (x as f32, x as f64),
                )
            }

            type Tried = (Option<u8>, Option<i16>, Option<u32>, Option<i64>, Option<i128>, Option<u128>);

            fn with_try_from(x: $ty) -> Tried {
                (
                    x.try_into().ok(), x.try_into().ok(), x.try_into().ok(), x.try_into().ok(), x.try_into().ok(),
                    x.try_into().ok(),
                )
            }
        }
    )*};
}

from!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128);

agree!(
    from_f32,
    from_f64,
    characters,
    digits,
    booleans,
    chains_of_casts,
    bytes_to_arrays_and_back,
    into_what_is_wanted,
);

fn from_f32(x: f32) -> ((u8, i8, u16, i16), (u32, i32, u64, i64), (u128, i128), f64) {
    (
        (x as u8, x as i8, x as u16, x as i16),
        (x as u32, x as i32, x as u64, x as i64),
        (x as u128, x as i128),
        x.into(),
    )
}

fn from_f64(x: f64) -> ((u8, i8, u16, i16), (u32, i32, u64, i64), (u128, i128), f32) {
    (
        (x as u8, x as i8, x as u16, x as i16),
        (x as u32, x as i32, x as u64, x as i64),
        (x as u128, x as i128),
        x as f32,
    )
}

fn characters((x, letter): (u32, char)) -> (Option<char>, u32, Option<u8>, char) {
    let byte = u8::try_from(letter).ok();
    (
        char::from_u32(x % 0x12_0000),
        letter.into(),
        byte,
        byte.unwrap_or(b'?').into(),
    )
}

fn digits((n, radix, letter): (u32, u8, char)) -> (Option<char>, Option<u32>, bool) {
    let radix = u32::from(radix) % 35 + 2;
    (
        char::from_digit(n % 40, radix),
        letter.to_digit(radix),
        letter.is_ascii_hexdigit(),
    )
}

fn booleans((a, x): (bool, i32)) -> (u8, i32, f32, bool) {
    let b = x & 4 != 0;
    (
        a as u8 + u8::from(b),
        i32::from(a).wrapping_mul(x),
        f32::from(a),
        a ^ b | (a & !b),
    )
}

fn chains_of_casts((x, y): (i32, f64)) -> (u64, i64, u16, u32) {
    (
        x as i8 as u64,
        x as u16 as i64,
        y as i32 as i16 as u16,
        (y as f32).to_bits() as u8 as char as u32,
    )
}

fn bytes_to_arrays_and_back(x: [u8; 12]) -> (u32, Option<u64>, [u16; 2], bool) {
    let head: [u8; 4] = x[..4].try_into().unwrap_or([1; 4]);
    let wide = x[usize::from(x[0] % 2) * 5..]
        .get(..8)
        .and_then(|x| x.try_into().ok());
    let array: Result<&[u8; 5], _> = x[..usize::from(x[1]) % 7].try_into();
    let pair = [x[3], x[4]].map(|x| u16::from(x) << 4);
    (
        u32::from_le_bytes(head),
        wide.map(u64::from_be_bytes),
        pair,
        array.is_ok(),
    )
}

fn into_what_is_wanted((a, b, c): (u8, i16, char)) -> (u64, i32, f64, u32) {
    fn wide(x: impl Into<u64>) -> u64 {
        x.into()
    }
    (wide(a) ^ wide(u32::from(c)), b.into(), b.into(), c.into())
}
