//! `gpu.match.all.*`, whose LLVM intrinsic returns a structure, and `gpu.place`, which only the simulator needs.

use crate::error::Error;
use crate::llvm::{self, Value};

use super::{Lowering, malformed, name_of};

impl Lowering {
    /// The mask that `match.all.sync` returns, which is 0 where its predicate is false.
    pub(super) fn match_all(&self, call: Value) -> Result<(), Error> {
        let name = name_of(call);
        let bits = name
            .rsplit_once('.')
            .ok_or(malformed("the name of a match"))?
            .1;
        let intrinsic = self.known_intrinsic(&format!("llvm.nvvm.match.all.sync.{bits}p"), &[])?;
        let arguments = [0, 1].map(|index| llvm::operand(call, index));
        let both = llvm::call(
            self.builder,
            llvm::value_type(intrinsic),
            intrinsic,
            &arguments,
        );
        llvm::replace_instruction(call, llvm::extract(self.builder, both, 0));
        Ok(())
    }

    /// Nothing: a GPU does not ask where an operation stands.
    pub(super) fn place(&self, call: Value) -> Result<(), Error> {
        llvm::erase(call);
        Ok(())
    }
}
