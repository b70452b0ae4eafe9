//! Random types, as the text of `types.rs`.

use std::fmt::Write;

use crate::common::Random;
use crate::leaves::MOST;

/// How many types there are.
const COUNT: usize = 128;

/// Types without fields, and the leaves of each.
const SCALARS: [(&str, usize); 19] = [
    ("u8", 1),
    ("u16", 1),
    ("u32", 1),
    ("u64", 1),
    ("usize", 1),
    ("u128", 2),
    ("i8", 1),
    ("i16", 1),
    ("i32", 1),
    ("i64", 1),
    ("i128", 2),
    ("f32", 1),
    ("f64", 1),
    ("bool", 1),
    ("char", 1),
    ("NonZeroU8", 1),
    ("NonZeroU16", 1),
    ("NonZeroU32", 1),
    ("NonZeroI64", 1),
];

/// The whole file.
pub fn types() -> String {
    let mut text = String::from(
        "//! Written by the test `the_types_are_those_of_the_seed` with `OXWARP_BLESS=1`.\n\n\
         use std::num::{NonZeroI64, NonZeroU8, NonZeroU16, NonZeroU32};\n\n\
         use crate::common::Random;\nuse crate::leaves::{Leaves, Value};\n\n",
    );
    let mut generator = Generator {
        random: Random::new(2024),
        leaves: Vec::new(),
    };
    for number in 0..COUNT {
        generator.declare(number, &mut text);
    }
    text
}

struct Generator {
    random: Random,
    /// How many leaves the types so far have.
    leaves: Vec<usize>,
}

impl Generator {
    fn below(&mut self, end: usize) -> usize {
        (self.random.bits() >> 32) as usize % end
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn declare(&mut self, number: usize, text: &mut String) {
        let room = MOST - 3;
        let (kind, repr, body, leaves) = match self.below(9) {
            0 => {
                let repr = self.one_of(&["C, packed", "packed", "C, packed(2)", "packed(4)"]);
                let (fields, leaves) = self.fields(room, true);
                ("structure", repr, fields, leaves)
            }
            1..=5 => {
                let repr = self.one_of(&[
                    "Rust",
                    "Rust",
                    "C",
                    "C",
                    "align(8)",
                    "align(16)",
                    "C, align(16)",
                ]);
                let (fields, leaves) = self.fields(room, false);
                ("structure", repr, fields, leaves)
            }
            _ => {
                let repr = self.one_of(&[
                    "Rust",
                    "Rust",
                    "Rust",
                    "C",
                    "u8",
                    "i32",
                    "C, u16",
                    "u64",
                    "align(16)",
                ]);
                let mut variants = Vec::new();
                let mut most = 0;
                for letter in ["A", "B", "C", "D"].into_iter().take(1 + self.below(4)) {
                    let (fields, leaves) = if self.below(4) == 0 {
                        (String::new(), 0)
                    } else {
                        self.fields(room - 1, false)
                    };
                    most = most.max(leaves + 1);
                    variants.push(format!("{letter} {{ {fields} }}"));
                }
                ("enumeration", repr, variants.join(", "), most)
            }
        };
        self.leaves.push(leaves);
        let _ = writeln!(
            text,
            "{kind}!(t{number}: #[repr({repr})] T{number} {{ {body} }});"
        );
    }

    /// Fields with at most `room` leaves, of `packed` structures or others.
    fn fields(&mut self, mut room: usize, packed: bool) -> (String, usize) {
        let mut fields = Vec::new();
        let mut sum = 0;
        for name in ["a", "b", "c", "d", "e", "f"]
            .into_iter()
            .take(1 + self.below(6))
        {
            let (ty, leaves) = self.ty(room / 2, packed, 2);
            fields.push(format!("{name}: {ty}"));
            sum += leaves;
            room -= leaves;
        }
        (fields.join(", "), sum)
    }

    /// A type with at most `room` leaves, or one of a scalar.
    fn ty(&mut self, room: usize, packed: bool, depth: usize) -> (String, usize) {
        let inner = |this: &mut Self, room| this.ty(room, packed, depth - 1);
        match self.below(12) {
            0 | 1 if depth > 0 && room > 2 => {
                let length = self.below(5);
                let (ty, leaves) = inner(self, room / length.max(1));
                (format!("[{ty}; {length}]"), leaves * length)
            }
            2 | 3 if depth > 0 && room > 1 => {
                let (ty, leaves) = inner(self, room);
                (format!("Option<{ty}>"), leaves.max(1))
            }
            4 if depth > 0 && room > 5 => {
                let ((a, x), (b, y)) = (inner(self, room / 2), inner(self, room / 2));
                (format!("({a}, {b})"), x + y)
            }
            5 if depth > 0 && room > 3 => {
                let ((a, x), (b, y)) = (inner(self, room - 1), inner(self, room - 1));
                (format!("Result<{a}, {b}>"), x.max(y) + 1)
            }
            6 if depth > 0 => ("()".into(), 0),
            7..=9 if !packed && !self.leaves.is_empty() => {
                let number = self.below(self.leaves.len());
                match self.leaves[number] {
                    leaves if leaves <= room => (format!("T{number}"), leaves),
                    _ => self.scalar(),
                }
            }
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> (String, usize) {
        let (name, leaves) = SCALARS[self.below(SCALARS.len())];
        (name.into(), leaves)
    }
}
