//! The LLVM that compiles the kernels: its C API and the few things this crate says often.

mod library;
mod walk;

pub use library::*;
pub use walk::*;

/// `LLVMLinkage`: external, and those that this compiler sets.
pub mod linkage {
    /// Visible to other modules.
    pub const EXTERNAL: i32 = 0;
    /// May be dropped when unused; equal in all modules.
    pub const LINK_ONCE_ODR: i32 = 3;
    /// Seen in this module only.
    pub const INTERNAL: i32 = 8;
    /// As `INTERNAL`, without a symbol.
    pub const PRIVATE: i32 = 9;
}

/// `LLVMOpcode`, those that this compiler looks for.
pub mod opcode {
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
    /// `inttoptr`
    pub const INT_TO_PTR: i32 = 40;
}

/// `LLVMTypeKind`, those that this compiler looks for.
pub mod kind {
    /// `float`
    pub const FLOAT: i32 = 2;
    /// `double`
    pub const DOUBLE: i32 = 3;
    /// `ptr`
    pub const POINTER: i32 = 12;
}

/// The attribute index of the function itself.
pub const FUNCTION_INDEX: u32 = u32::MAX;
/// `LLVMFastMathAllowContract`.
pub const ALLOW_CONTRACT: u32 = 1 << 5;
/// `llvm::CallingConv::PTX_Kernel`.
pub const PTX_KERNEL: u32 = 71;
/// The address space of `.global` memory.
pub const GLOBAL: u32 = 1;
/// The address space of `.shared` memory.
pub const SHARED: u32 = 3;
