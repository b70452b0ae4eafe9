//! Loads and stores: direction, space of memory and width.

use std::fmt;

use crate::statement::Instruction;

/// Whether memory is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// `ld`
    Load,
    /// `st`
    Store,
}

/// Where the memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Space {
    /// The device's memory.
    Global,
    /// The device's memory through the read-only cache (`ld.global.nc`): what nothing writes during the launch.
    ReadOnly,
    /// A block's shared memory.
    Shared,
    /// A thread's own stack, in the device's memory: arrays that do not fit into registers.
    Local,
    /// Constant memory.
    Constant,
    /// A kernel's parameters, in constant memory.
    Parameter,
    /// Any of them: known only when it runs, which costs a little more.
    Generic,
}

impl Space {
    /// The space that an instruction names.
    pub(crate) fn of(instruction: &Instruction) -> Self {
        let mut space = Space::Generic;
        for modifier in instruction.modifiers() {
            space = match modifier.split("::").next().unwrap_or_default() {
                "global" => Space::Global,
                "nc" => Space::ReadOnly,
                "shared" => Space::Shared,
                "local" => Space::Local,
                "const" => Space::Constant,
                "param" => Space::Parameter,
                _ => continue,
            };
        }
        space
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Space::Global => "global",
            Space::ReadOnly => "global read-only",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Constant => "constant",
            Space::Parameter => "parameter",
            Space::Generic => "generic",
        })
    }
}

/// A kind of load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// Load or store.
    pub direction: Direction,
    /// Where.
    pub space: Space,
    /// How many bytes a thread reads or writes at once: 16 at most.
    pub bytes: u32,
}

impl Access {
    /// The access that an instruction is; none of the parameters of functions, which are in registers.
    pub(crate) fn of(instruction: &Instruction) -> Option<Self> {
        let direction = match instruction.kind() {
            "ld" | "ldu" | "ldmatrix" => Direction::Load,
            "st" | "stmatrix" => Direction::Store,
            _ => return None,
        };
        let space = Space::of(instruction);
        let of_a_call = space == Space::Parameter
            && (direction == Direction::Store || instruction.operands.contains("[retval"));
        (!of_a_call).then(|| Access {
            direction,
            space,
            bytes: bytes(instruction),
        })
    }
}

/// The bytes of a thread's part: `.v4.b32` is 16, `ldmatrix...x4...b16` too.
fn bytes(instruction: &Instruction) -> u32 {
    let of_matrix = instruction.kind().ends_with("matrix");
    let (mut count, mut bits) = (1, 8);
    for modifier in instruction.modifiers() {
        match modifier {
            "v2" | "x2" => count = 2,
            "v4" | "x4" => count = 4,
            "v8" => count = 8,
            "f16x2" | "bf16x2" => bits = 32,
            _ => bits = type_bits(modifier).unwrap_or(bits),
        }
    }
    // A thread has a register of each matrix, whatever its elements are.
    count * if of_matrix { 4 } else { bits / 8 }
}

/// 32 for `b32`, `u32`, `s32` and `f32`.
fn type_bits(modifier: &str) -> Option<u32> {
    let digits = modifier.strip_prefix(['b', 'u', 's', 'f'])?;
    digits
        .parse()
        .ok()
        .filter(|bits| [8, 16, 32, 64, 128].contains(bits))
}
