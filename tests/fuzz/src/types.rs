//! The types of generated programs, and literals of them.

use std::fmt;

use crate::random::Random;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Signed or not, and bits; 0 for the size of a pointer.
    Integer(bool, u32),
    /// Bits.
    Float(u32),
    Bool,
}

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Scalar(Scalar),
    Array(Scalar, usize),
    Option(Scalar),
    /// `S` with this number.
    Struct(usize),
    /// `E` with this number.
    Enum(usize),
}

/// The integer types.
pub const INTEGERS: [Scalar; 12] = {
    use Scalar::Integer;
    [
        Integer(false, 8),
        Integer(false, 16),
        Integer(false, 32),
        Integer(false, 64),
        Integer(false, 128),
        Integer(false, 0),
        Integer(true, 8),
        Integer(true, 16),
        Integer(true, 32),
        Integer(true, 64),
        Integer(true, 128),
        Integer(true, 0),
    ]
};

/// `usize`.
pub const USIZE: Scalar = Scalar::Integer(false, 0);
/// `u32`.
pub const U32: Scalar = Scalar::Integer(false, 32);

impl Scalar {
    /// Any, the common ones more often.
    pub fn any(random: &mut Random) -> Self {
        match random.below(10) {
            0 => Self::Float(32),
            1 => Self::Float(64),
            2 => Self::Bool,
            3..6 => *random.pick(&[U32, Self::Integer(true, 32), Self::Integer(false, 64)]),
            _ => *random.pick(&INTEGERS),
        }
    }

    /// An integer.
    pub fn any_integer(random: &mut Random) -> Self {
        *random.pick(&INTEGERS)
    }

    /// A literal, often of a value where something changes.
    pub fn literal(self, random: &mut Random) -> String {
        match self {
            Self::Bool => random.one_in(2).to_string(),
            Self::Float(bits) => {
                let value = match random.below(8) {
                    0 => "0.0".to_owned(),
                    1 => "-0.0".to_owned(),
                    2 => format!("f{bits}::INFINITY"),
                    3 => format!("f{bits}::MIN_POSITIVE"),
                    4 => format!("f{bits}::MAX"),
                    5 => format!("{}.5", random.below(100) as i64 - 50),
                    6 => format!("{}e-{}", random.below(999), random.below(40)),
                    _ => format!("f{bits}::from_bits({})", random.bits() >> (64 - bits)),
                };
                let typed = value.ends_with(|c: char| c.is_ascii_digit());
                if typed {
                    format!("({value}f{bits})")
                } else {
                    format!("({value})")
                }
            }
            Self::Integer(signed, _) => match random.below(6) {
                0 => format!("{self}::MAX"),
                1 => format!("{self}::MIN"),
                2 if signed => format!("(-{}{self})", random.below(100)),
                3 => format!("(0x{:x}u64 as {self})", random.bits()),
                _ => format!("{}{self}", random.below(100)),
            },
        }
    }

    /// A literal as simple as can be.
    pub fn simple_literal(self) -> String {
        match self {
            Self::Bool => "false".to_owned(),
            Self::Float(bits) => format!("0f{bits}"),
            Self::Integer(..) => format!("1{self}"),
        }
    }
}

impl Type {
    /// An expression as simple as can be, if there is one.
    pub fn simple(self) -> Option<String> {
        Some(match self {
            Self::Scalar(scalar) => scalar.simple_literal(),
            Self::Array(scalar, len) => format!("[{}; {len}]", scalar.simple_literal()),
            Self::Option(scalar) => format!("Option::<{scalar}>::None"),
            Self::Struct(_) | Self::Enum(_) => return None,
        })
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(signed, 0) => f.write_str(if *signed { "isize" } else { "usize" }),
            Self::Integer(signed, bits) => write!(f, "{}{bits}", if *signed { 'i' } else { 'u' }),
            Self::Float(bits) => write!(f, "f{bits}"),
            Self::Bool => f.write_str("bool"),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => scalar.fmt(f),
            Self::Array(scalar, len) => write!(f, "[{scalar}; {len}]"),
            Self::Option(scalar) => write!(f, "Option<{scalar}>"),
            Self::Struct(number) => write!(f, "S{number}"),
            Self::Enum(number) => write!(f, "E{number}"),
        }
    }
}
