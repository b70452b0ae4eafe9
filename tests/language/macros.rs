//! Macros by example: repetition, recursion, hygiene, items and types that they make.

use crate::check::digest_text;

agree!(
    repetitions,
    recursion_over_tokens,
    hygiene,
    items,
    implementations,
    a_small_language,
    nested_repetitions,
    names_as_text,
    macros_that_make_macros,
    std_macros,
);

macro_rules! largest {
    ($x:expr) => { $x };
    ($x:expr, $($rest:expr),+ $(,)?) => {{
        let (x, rest) = ($x, largest!($($rest),+));
        if x > rest { x } else { rest }
    }};
}

fn repetitions(x: [i32; 4]) -> (i32, i32) {
    (largest!(x[0], x[1], x[2], x[3],), largest!(x[0] % 7, 3))
}

macro_rules! count {
    () => { 0u32 };
    ($first:tt $($rest:tt)*) => { 1 + count!($($rest)*) };
}

fn recursion_over_tokens(x: u32) -> (u32, u32) {
    (x ^ count!(a [b c] (d) 5 "e"), x.wrapping_add(count!()))
}

macro_rules! squared {
    ($x:expr) => {{
        let y = $x;
        y.wrapping_mul(y)
    }};
}

fn hygiene((x, y): (u32, u32)) -> u32 {
    squared!(y ^ 1).wrapping_add(squared!(x)) ^ y
}

macro_rules! record {
    ($name:ident { $($field:ident: $ty:ty = $default:expr),* }) => {
        struct $name { $($field: $ty),* }
        impl $name {
            const FIELDS: usize = [$(stringify!($field)),*].len();
            fn sum(&self) -> u64 {
                0 $(+ u64::from(self.$field))*
            }
        }
        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default),* }
            }
        }
    };
}

record!(Settings {
    width: u16 = 640,
    height: u16 = 480,
    deep: bool = true
});

fn items((x, deep): (u16, bool)) -> (u64, usize) {
    let settings = Settings {
        width: x,
        deep,
        ..Default::default()
    };
    (
        settings.sum(),
        Settings::FIELDS + usize::from(settings.deep),
    )
}

trait Width {
    const BITS: u32;
    fn top(self) -> bool;
}

macro_rules! widths {
    ($($ty:ty),*) => {$(
        impl Width for $ty {
            const BITS: u32 = <$ty>::BITS;
            fn top(self) -> bool {
                self >> (<Self as Width>::BITS - 1) & 1 != 0
            }
        }
    )*};
}

widths!(u8, i16, u64);

fn implementations((a, b, c): (u8, i16, u64)) -> ([bool; 3], u32) {
    (
        [a.top(), b.top(), c.top()],
        <u64 as Width>::BITS + u32::from(a),
    )
}

/// Statements in words.
macro_rules! program {
    (@step $x:ident add $n:literal) => { $x = $x.wrapping_add($n); };
    (@step $x:ident twice) => { $x = $x.wrapping_mul(2); };
    (@step $x:ident when $limit:literal [$($inner:tt)*]) => { if $x > $limit { program!(@all $x $($inner)*); } };
    (@all $x:ident $($name:ident $($n:literal)? $([$($inner:tt)*])?);*) => { $(program!(@step $x $name $($n)? $([$($inner)*])?);)* };
    ($start:expr => $($all:tt)*) => {{
        let mut x: u32 = $start;
        program!(@all x $($all)*);
        x
    }};
}

fn a_small_language(x: u32) -> (u32, u32) {
    let first = program!(x => add 5; twice; when 100 [add 7; when 1000 [twice]]; add 1);
    (first, program!(first => twice))
}

macro_rules! table {
    ($($row:ident: [$($x:expr),*]),* $(,)?) => {
        [$((stringify!($row), &[$($x),*][..])),*]
    };
}

fn nested_repetitions((x, i): (u32, u8)) -> (u32, usize) {
    let rows = table! { one: [x], none: [], three: [1, x, x ^ 2] };
    let (name, row) = rows[usize::from(i) % 3];
    (row.iter().fold(7, |a, b| a ^ b), name.len())
}

macro_rules! named {
    ($($name:ident),*) => { |i: usize| [$(stringify!($name)),*][i % count!($($name)*) as usize] };
}

fn names_as_text(i: u8) -> (u64, u64) {
    let name = named!(alpha, beta, gamma_ray);
    const JOINED: &str = concat!("v", 1, '.', 25, "-", true, stringify!(a + b));
    (
        digest_text(name(i.into())),
        digest_text(&JOINED[..usize::from(i) % JOINED.len()]),
    )
}

macro_rules! constants {
    ($($name:ident = $value:expr;)*) => {
        $(macro_rules! $name { () => { $value }; })*
    };
}

constants! {
    three = 3;
    text = "text";
}

fn macros_that_make_macros(x: u32) -> (u32, u32) {
    (x.wrapping_mul(three!()), x ^ text!().len() as u32)
}

fn std_macros((x, y): (u32, Option<u8>)) -> (bool, u32, u64) {
    debug_assert!(x <= u32::MAX, "{x}");
    assert_ne!(Some(x), None);
    let line = line!() > 100 && file!().ends_with("macros.rs") && column!() > 1;
    let kind = if cfg!(target_pointer_width = "64") {
        64
    } else {
        32
    };
    (
        matches!(y, Some(1..=99)) && line,
        kind ^ x,
        digest_text(module_path!()) ^ u64::from(x),
    )
}
