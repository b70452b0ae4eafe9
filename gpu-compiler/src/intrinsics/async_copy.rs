//! `gpu.cp.async.*`: LLVM's intrinsics take an address of shared and one of global memory, `gpu_std` has generic ones.

use crate::error::Error;
use crate::llvm::{self, Value, opcode};

use super::{Lowering, malformed, name_of};

impl Lowering {
    /// `gpu.cp.async.<bytes>(to, from)` and `gpu.cp.async.<bytes>.zero(to, from, present)`.
    pub(super) fn cp_async(&self, call: Value) -> Result<(), Error> {
        let name = name_of(call);
        let (bytes, suffix) = match name.strip_prefix("cp.async.") {
            Some(rest) => match rest.strip_suffix(".zero") {
                Some(bytes) => (bytes, ".s"),
                None => (rest, ""),
            },
            None => return Err(malformed("the name of a `cp.async`")),
        };
        // What is 16 bytes may pass the first-level cache by, as in CUDA C.
        let cache = if bytes == "16" { "cg" } else { "ca" };
        let name = format!("llvm.nvvm.cp.async.{cache}.shared.global.{bytes}{suffix}");
        let intrinsic = self.known_intrinsic(&name, &[])?;
        let in_space = |index, space| {
            let address = llvm::operand(call, index);
            let to = llvm::pointer_type(self.context, space);
            llvm::cast(self.builder, opcode::ADDR_SPACE_CAST, address, to)
        };
        let mut arguments = vec![in_space(0, llvm::SHARED), in_space(1, llvm::GLOBAL)];
        if !suffix.is_empty() {
            arguments.push(llvm::operand(call, 2));
        }
        let signature = llvm::value_type(intrinsic);
        llvm::call(self.builder, signature, intrinsic, &arguments);
        llvm::erase(call);
        Ok(())
    }
}
