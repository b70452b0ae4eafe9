//! The LLVM that compiles the kernels: its C API and the few things this crate says often.

mod build;
mod library;
mod walk;

pub use build::*;
pub use library::*;
pub use walk::*;

/// `LLVMLinkage`: external, and those that this compiler sets.
pub mod linkage {
    /// Visible to other modules.
    pub const EXTERNAL: i32 = 0;
    /// Defined elsewhere too, in the same way.
    pub const AVAILABLE_EXTERNALLY: i32 = 1;
    /// May be dropped when unused; equal in all modules.
    pub const LINK_ONCE_ODR: i32 = 3;
    /// Seen in this module only.
    pub const INTERNAL: i32 = 8;
    /// As `INTERNAL`, without a symbol.
    pub const PRIVATE: i32 = 9;
}

/// `LLVMOpcode`, those that this compiler looks for.
pub mod opcode {
    /// `ret`
    pub const RETURN: i32 = 1;
    /// `br`
    pub const BR: i32 = 2;
    /// `unreachable`
    pub const UNREACHABLE: i32 = 7;
    /// `add`
    pub const ADD: i32 = 8;
    /// `sub`
    pub const SUB: i32 = 10;
    /// `mul`
    pub const MUL: i32 = 12;
    /// `shl`
    pub const SHL: i32 = 20;
    /// `or`
    pub const OR: i32 = 24;
    /// `udiv`
    pub const UDIV: i32 = 14;
    /// `urem`
    pub const UREM: i32 = 17;
    /// `lshr`
    pub const LSHR: i32 = 21;
    /// `and`
    pub const AND: i32 = 23;
    /// `xor`
    pub const XOR: i32 = 25;
    /// `ashr`
    pub const ASHR: i32 = 22;
    /// `fneg`
    pub const FNEG: i32 = 66;
    /// `fcmp`
    pub const FCMP: i32 = 43;
    /// `getelementptr`
    pub const GEP: i32 = 29;
    /// `extractvalue`
    pub const EXTRACT_VALUE: i32 = 53;
    /// `extractelement`
    pub const EXTRACT_ELEMENT: i32 = 50;
    /// `insertelement`
    pub const INSERT_ELEMENT: i32 = 51;
    /// `trunc`
    pub const TRUNC: i32 = 30;
    /// `sext`
    pub const SEXT: i32 = 32;
    /// `icmp`
    pub const ICMP: i32 = 42;
    /// `select`
    pub const SELECT: i32 = 46;
    /// `freeze`
    pub const FREEZE: i32 = 68;
    /// `zext`
    pub const ZEXT: i32 = 31;
    /// `fadd`
    pub const FADD: i32 = 9;
    /// `fsub`
    pub const FSUB: i32 = 11;
    /// `fmul`
    pub const FMUL: i32 = 13;
    /// `fdiv`
    pub const FDIV: i32 = 16;
    /// `frem`
    pub const FREM: i32 = 19;
    /// `fptrunc`
    pub const FP_TRUNC: i32 = 37;
    /// `fpext`
    pub const FP_EXT: i32 = 38;
    /// `bitcast`
    pub const BIT_CAST: i32 = 41;
    /// `fptoui`
    pub const FP_TO_UI: i32 = 33;
    /// `fptosi`
    pub const FP_TO_SI: i32 = 34;
    /// `uitofp`
    pub const UI_TO_FP: i32 = 35;
    /// `sitofp`
    pub const SI_TO_FP: i32 = 36;
    /// `ptrtoint`
    pub const PTR_TO_INT: i32 = 39;
    /// `addrspacecast`
    pub const ADDR_SPACE_CAST: i32 = 60;
    /// `inttoptr`
    pub const INT_TO_PTR: i32 = 40;
}

/// `LLVMTypeKind`, those that this compiler looks for.
pub mod kind {
    /// `float`
    pub const FLOAT: i32 = 2;
    /// `double`
    pub const DOUBLE: i32 = 3;
    /// `iN`
    pub const INTEGER: i32 = 8;
    /// `ptr`
    pub const POINTER: i32 = 12;
}

/// The attribute index of the function itself.
pub const FUNCTION_INDEX: u32 = u32::MAX;
/// `LLVMAtomicOrderingNotAtomic`.
pub const NOT_ATOMIC: i32 = 0;
/// `LLVMFastMathAllowReciprocal`.
pub const ALLOW_RECIPROCAL: u32 = 1 << 4;
/// `LLVMFastMathApproxFunc`.
pub const ALLOW_APPROXIMATE: u32 = 1 << 6;
/// `LLVMFastMathAllowContract`.
pub const ALLOW_CONTRACT: u32 = 1 << 5;
/// `llvm::CallingConv::PTX_Kernel`.
pub const PTX_KERNEL: u32 = 71;
/// The address space of pointers to any memory.
pub const GENERIC: u32 = 0;
/// The address space of `.global` memory.
pub const GLOBAL: u32 = 1;
/// The address space of `.shared` memory.
pub const SHARED: u32 = 3;
/// The address space of `.const` memory.
pub const CONSTANT: u32 = 4;

/// `LLVMIntPredicate`.
pub mod predicate {
    /// `eq`
    pub const EQ: i32 = 32;
    /// `ne`
    pub const NE: i32 = 33;
    /// `ugt`
    pub const UGT: i32 = 34;
    /// `uge`
    pub const UGE: i32 = 35;
    /// `ult`
    pub const ULT: i32 = 36;
    /// `ule`
    pub const ULE: i32 = 37;
    /// `sgt`
    pub const SGT: i32 = 38;
    /// `slt`
    pub const SLT: i32 = 40;
    /// `sle`
    const SLE: i32 = 41;

    /// `ogt`, of floats
    pub const OGT: i32 = 2;
    /// `olt`, of floats
    pub const OLT: i32 = 4;

    /// What holds where `predicate` does not; `None` for signed ones.
    pub fn inverse(predicate: i32) -> Option<i32> {
        match predicate {
            EQ => Some(NE),
            NE => Some(EQ),
            UGT => Some(ULE),
            UGE => Some(ULT),
            ULT => Some(UGE),
            ULE => Some(UGT),
            _ => None,
        }
    }

    /// The unsigned one that says the same of numbers that are not negative.
    pub fn unsigned(predicate: i32) -> i32 {
        match predicate {
            SGT..=SLE => predicate - (SGT - UGT),
            _ => predicate,
        }
    }

    /// The same with the operands exchanged; `None` for signed ones.
    pub fn swapped(predicate: i32) -> Option<i32> {
        match predicate {
            EQ | NE => Some(predicate),
            UGT => Some(ULT),
            UGE => Some(ULE),
            ULT => Some(UGT),
            ULE => Some(UGE),
            _ => None,
        }
    }
}
