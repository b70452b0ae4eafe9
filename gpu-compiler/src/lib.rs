//! Compiles rustc's own LLVM bitcode of a kernel to PTX.
