//! Statics and constants: numbers, tables, text, references between them, functions, padding, zero-sized items.

use std::num::NonZeroU16;

use crate::check::digest;

agree!(
    tables_of_numbers,
    tables_of_text,
    references_between_statics,
    nested_structures,
    tables_of_functions,
    tables_of_objects,
    options_and_enums,
    wide_and_aligned,
    constants_with_destructors,
    slices_of_slices,
    promoted_temporaries,
    statics_or_the_stack,
    bytes_of_a_file,
    associated_constants,
);

static PRIMES: [u16; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
static WEIGHTS: [[f64; 3]; 2] = [[0.25, -1.5, f64::MAX], [f64::NEG_INFINITY, 1e-300, -0.0]];

fn tables_of_numbers((i, x): (u8, f64)) -> (u16, f64, Option<usize>) {
    let prime = PRIMES[usize::from(i) % 12];
    let weight = WEIGHTS[usize::from(i) % 2][usize::from(i / 2) % 3];
    (
        prime,
        weight * x,
        PRIMES.iter().position(|&p| i.is_multiple_of(p as u8)),
    )
}

static NAMES: [&str; 5] = ["zero", "größe", "", "\u{1f980} crab", "a\0b"];
const RAW: &[u8] = br#"a "raw" \ text"#;

fn tables_of_text((i, j): (u8, u8)) -> (usize, u8, Option<char>) {
    let name = NAMES[usize::from(i) % 5];
    (
        name.len(),
        RAW[usize::from(j) % RAW.len()],
        name.chars().nth(usize::from(j) % 6),
    )
}

struct Node {
    value: u32,
    next: Option<&'static Node>,
}

static FIRST: Node = Node {
    value: 10,
    next: Some(&SECOND),
};
static SECOND: Node = Node {
    value: 20,
    next: Some(&THIRD),
};
static THIRD: Node = Node {
    value: 35,
    next: None,
};
static ENTRIES: [&Node; 3] = [&FIRST, &SECOND, &THIRD];

fn references_between_statics((i, x): (u8, u32)) -> u32 {
    let mut sum = x;
    let mut at = Some(ENTRIES[usize::from(i) % 3]);
    while let Some(node) = at {
        sum = sum.wrapping_mul(31).wrapping_add(node.value);
        at = node.next;
    }
    sum
}

struct Planet {
    name: &'static str,
    mass: f64,
    moons: &'static [Moon],
}

struct Moon {
    code: char,
    radius: Option<f32>,
}

const PLANETS: &[Planet] = &[
    Planet {
        name: "Earth",
        mass: 5.97,
        moons: &[Moon {
            code: 'M',
            radius: Some(1737.4),
        }],
    },
    Planet {
        name: "Mars",
        mass: 0.642,
        moons: &[
            Moon {
                code: 'P',
                radius: None,
            },
            Moon {
                code: 'D',
                radius: Some(6.2),
            },
        ],
    },
    Planet {
        name: "Venus",
        mass: 4.87,
        moons: &[],
    },
];

fn nested_structures((i, x): (u8, f64)) -> (f64, Option<f32>, u32) {
    let planet = &PLANETS[usize::from(i) % 3];
    let radius = planet.moons.last().and_then(|moon| moon.radius);
    let codes = planet
        .moons
        .iter()
        .map(|moon| u32::from(moon.code))
        .sum::<u32>();
    (planet.mass * x, radius, codes + planet.name.len() as u32)
}

type Step = (fn(u32, u32) -> u32, u32);

static STEPS: [Step; 4] = [
    (u32::wrapping_add, 5),
    (u32::wrapping_mul, 3),
    (u32::rotate_left, 7),
    (|x, y| x ^ y, 0xff00),
];

fn tables_of_functions((x, program): (u32, [u8; 5])) -> u32 {
    program.iter().fold(x, |x, &byte| {
        let (function, argument) = STEPS[usize::from(byte) % 4];
        function(x, argument)
    })
}

trait Rule: Sync {
    fn holds(&self, x: u32) -> bool;
}
struct Below(u32);
struct Multiple<const N: u32>;
impl Rule for Below {
    fn holds(&self, x: u32) -> bool {
        x < self.0
    }
}
impl<const N: u32> Rule for Multiple<N> {
    fn holds(&self, x: u32) -> bool {
        x.is_multiple_of(N)
    }
}
static RULES: [&dyn Rule; 4] = [&Below(100), &Multiple::<3>, &Multiple::<4>, &Below(1 << 31)];

fn tables_of_objects(x: u32) -> [bool; 4] {
    RULES.map(|rule| rule.holds(x))
}

#[derive(Clone, Copy)]
enum Item {
    Nothing,
    Pair(u8, u64),
    Wide { x: u128 },
}

static ITEMS: [Item; 3] = [
    Item::Pair(3, 1 << 50),
    Item::Wide { x: 7 << 100 },
    Item::Nothing,
];
static NUMBERS: [Option<NonZeroU16>; 3] = [None, NonZeroU16::new(9), NonZeroU16::new(u16::MAX)];

fn options_and_enums((i, x): (u8, u64)) -> (u64, Option<u16>) {
    let number = match ITEMS[usize::from(i) % 3] {
        Item::Nothing => x,
        Item::Pair(a, b) => x ^ b ^ u64::from(a),
        Item::Wide { x: wide } => (wide >> 64) as u64 ^ x,
    };
    (number, NUMBERS[usize::from(i / 3) % 3].map(NonZeroU16::get))
}

#[repr(align(64))]
struct Aligned([u8; 5]);

static ALIGNED: [Aligned; 2] = [Aligned([1, 2, 3, 4, 5]), Aligned([9; 5])];
static WIDE: [u128; 3] = [1 << 127, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef, 5];

fn wide_and_aligned((i, x): (u8, u128)) -> (u8, usize, u128) {
    let aligned = &ALIGNED[usize::from(i) % 2];
    let misaligned = (&raw const *aligned).addr() % 64;
    (
        aligned.0[usize::from(i) % 5],
        misaligned,
        WIDE[usize::from(i) % 3] ^ x,
    )
}

const EMPTY: Vec<u32> = Vec::new();

fn constants_with_destructors((x, n): ([u32; 3], u8)) -> (u64, usize) {
    let mut buckets = [EMPTY; 3];
    for (i, x) in x.into_iter().enumerate() {
        buckets[(i + usize::from(n)) % 3].push(x);
        buckets[x as usize % 3].push(i as u32);
    }
    (digest(buckets.concat()), buckets[0].len())
}

static ROWS: &[&[i8]] = &[&[1, -2, 3], &[], &[i8::MIN], &[4, 5, 6, 7]];

fn slices_of_slices((i, j): (u8, u8)) -> (Option<i8>, i32) {
    let row = ROWS[usize::from(i) % 4];
    (
        row.get(usize::from(j) % 5).copied(),
        row.iter().copied().map(i32::from).sum(),
    )
}

fn promoted_temporaries(x: u32) -> (u32, usize) {
    fn pick(i: u32) -> &'static [u32] {
        match i % 3 {
            0 => &[1, 2, 3],
            1 => &[],
            _ => const { &[u32::MAX >> 3] },
        }
    }
    (pick(x).iter().fold(x, |a, b| a ^ b), pick(x / 3).len())
}

fn statics_or_the_stack((own, kind, i): ([u16; 9], u8, u8)) -> (u64, u16) {
    let (from, other) = (usize::from(i) % 8, own.map(u16::swap_bytes));
    let numbers: &[u16] = match kind % 5 {
        0 => &own[from..],
        1 => &PRIMES[from..],
        2 => &PRIMES[3..],
        3 => &[],
        _ => &other,
    };
    let first = if kind > 99 { &PRIMES[from] } else { &own[from] };
    (digest(numbers.iter().copied()), *first)
}

const SOURCE: &[u8] = include_bytes!("statics.rs");

fn bytes_of_a_file(i: u16) -> (u8, bool) {
    (
        SOURCE[usize::from(i) % 5000],
        SOURCE[usize::from(i) % 4000..].starts_with(b"s"),
    )
}

struct Table<const N: usize>;
impl<const N: usize> Table<N> {
    const SQUARES: [u64; N] = {
        let mut squares = [0; N];
        let mut i = 0;
        while i < N {
            squares[i] = (i * i) as u64;
            i += 1;
        }
        squares
    };
    const LAST: &'static u64 = &Self::SQUARES[N - 1];
}

fn associated_constants(x: u8) -> (u64, u64) {
    let i = usize::from(x);
    (
        Table::<16>::SQUARES[i % 16] ^ Table::<5>::LAST,
        Table::<5>::SQUARES[i % 5],
    )
}
