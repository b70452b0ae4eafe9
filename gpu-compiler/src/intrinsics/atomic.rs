//! `gpu.atomic.*`: LLVM's atomic instructions with the operation, the ordering and the scope that the call names.
//!
//! Operations and orderings are the numbers of LLVM's C API, which `gpu_std::atomic` passes as constants.

use crate::error::Error;
use crate::llvm::{self, Value};

use super::{Lowering, constant, malformed};

/// LLVM's names of the scopes, at `gpu_std::atomic::Scope::NUMBER`.
const SCOPES: [&str; 3] = ["block", "device", ""];

impl Lowering {
    /// `gpu.atomic.fadd.*(address, value)`: relaxed, of the whole system.
    pub(super) fn atomic_fadd(&self, call: Value) -> Result<(), Error> {
        let (fadd, monotonic) = (11, 2);
        let [pointer, value] = [0, 1].map(|index| llvm::operand(call, index));
        llvm::replace_instruction(
            call,
            llvm::build_atomic_rmw(self.builder, fadd, pointer, value, monotonic, 0),
        );
        Ok(())
    }

    /// `gpu.atomic.rmw.*(operation, ordering, scope, address, value)`.
    pub(super) fn atomic_rmw(&self, call: Value) -> Result<(), Error> {
        let (operation, ordering) = (constant(call, 0)? as i32, constant(call, 1)? as i32);
        let [pointer, value] = [3, 4].map(|index| llvm::operand(call, index));
        let new = llvm::build_atomic_rmw(self.builder, operation, pointer, value, ordering, 0);
        llvm::set_sync_scope(new, self.scope(call, 2)?);
        llvm::replace_instruction(call, new);
        Ok(())
    }

    /// `gpu.atomic.cas.*(success, failure, scope, address, expected, new)`, which returns the old value.
    pub(super) fn atomic_cas(&self, call: Value) -> Result<(), Error> {
        let (success, failure) = (constant(call, 0)? as i32, constant(call, 1)? as i32);
        let [pointer, expected, new] = [3, 4, 5].map(|index| llvm::operand(call, index));
        let exchange =
            llvm::build_compare_exchange(self.builder, pointer, expected, new, success, failure, 0);
        llvm::set_sync_scope(exchange, self.scope(call, 2)?);
        llvm::replace_instruction(call, llvm::extract(self.builder, exchange, 0));
        Ok(())
    }

    /// `gpu.atomic.load.*(ordering, scope, address)`.
    pub(super) fn atomic_load(&self, call: Value) -> Result<(), Error> {
        let value_type = llvm::type_of(call);
        let address = llvm::operand(call, 2);
        // SAFETY: the name is a C string.
        let load = unsafe { llvm::build_load(self.builder, value_type, address, c"".as_ptr()) };
        self.make_atomic(load, call)?;
        llvm::replace_instruction(call, load);
        Ok(())
    }

    /// `gpu.atomic.store.*(ordering, scope, address, value)`.
    pub(super) fn atomic_store(&self, call: Value) -> Result<(), Error> {
        let [address, value] = [2, 3].map(|index| llvm::operand(call, index));
        let store = llvm::build_store(self.builder, value, address);
        self.make_atomic(store, call)?;
        llvm::erase(call);
        Ok(())
    }

    /// `gpu.atomic.fence(ordering, scope)`.
    pub(super) fn atomic_fence(&self, call: Value) -> Result<(), Error> {
        // SAFETY: the name is a C string.
        let fence =
            unsafe { llvm::build_fence(self.builder, constant(call, 0)? as i32, 0, c"".as_ptr()) };
        llvm::set_sync_scope(fence, self.scope(call, 1)?);
        llvm::erase(call);
        Ok(())
    }

    /// Makes a store one that other threads of the device see after all that this thread did before.
    pub(super) fn publish_to_device(&self, store: Value) {
        let release = 5;
        llvm::set_ordering(store, release);
        llvm::set_sync_scope(store, self.scope_named(SCOPES[1]));
    }

    /// Waits until other threads of the device see what this thread wrote.
    pub(super) fn fence_device(&self) {
        let sequentially_consistent = 7;
        // SAFETY: the name is a C string.
        let fence =
            unsafe { llvm::build_fence(self.builder, sequentially_consistent, 0, c"".as_ptr()) };
        llvm::set_sync_scope(fence, self.scope_named(SCOPES[1]));
    }

    fn make_atomic(&self, access: Value, call: Value) -> Result<(), Error> {
        llvm::set_ordering(access, constant(call, 0)? as i32);
        llvm::set_sync_scope(access, self.scope(call, 1)?);
        Ok(())
    }

    fn scope(&self, call: Value, index: u32) -> Result<u32, Error> {
        let name = SCOPES
            .get(constant(call, index)? as usize)
            .ok_or(malformed("the scope of an atomic"))?;
        Ok(self.scope_named(name))
    }

    fn scope_named(&self, name: &str) -> u32 {
        // SAFETY: pointer and length are of one string.
        unsafe { llvm::sync_scope(self.context, name.as_ptr().cast(), name.len()) }
    }
}
