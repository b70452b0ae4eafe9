//! Orderings and operations as the numbers of LLVM's C API, which the device compiler reads off a call.

/// `LLVMAtomicRMWBinOp`.
pub mod operation {
    pub const SWAP: u32 = 0;
    pub const ADD: u32 = 1;
    pub const SUB: u32 = 2;
    pub const AND: u32 = 3;
    pub const OR: u32 = 5;
    pub const XOR: u32 = 6;
    pub const MAX: u32 = 7;
    pub const MIN: u32 = 8;
    pub const UMAX: u32 = 9;
    pub const UMIN: u32 = 10;
    pub const FADD: u32 = 11;
    pub const INC: u32 = 15;
    pub const DEC: u32 = 16;
}

/// `LLVMAtomicOrdering`.
pub const RELAXED: u32 = 2;
/// `LLVMAtomicOrdering`.
pub const ACQUIRE: u32 = 4;
/// `LLVMAtomicOrdering`.
pub const RELEASE: u32 = 5;
/// `LLVMAtomicOrdering`.
pub const ACQ_REL: u32 = 6;
/// `LLVMAtomicOrdering`.
pub const SEQ_CST: u32 = 7;

/// Evaluates an expression in which `$number` is the constant of the ordering.
macro_rules! with_ordering {
    ($ordering:expr, $number:ident => $call:expr) => {
        match $ordering {
            Ordering::Relaxed => with_ordering!(@ $number, RELAXED, $call),
            Ordering::Acquire => with_ordering!(@ $number, ACQUIRE, $call),
            Ordering::Release => with_ordering!(@ $number, RELEASE, $call),
            Ordering::AcqRel => with_ordering!(@ $number, ACQ_REL, $call),
            _ => with_ordering!(@ $number, SEQ_CST, $call),
        }
    };
    (@ $number:ident, $constant:ident, $call:expr) => {{
        const $number: u32 = order::$constant;
        $call
    }};
}

pub(super) use with_ordering;
