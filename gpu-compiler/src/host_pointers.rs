//! Finds pointers into host memory among a kernel's by-value parameters.
//!
//! `Copy + 'static` lets a `&'static T` through, and a closure that captures one. Such a pointer is of no use on a
//! device. The views of device memory have known places in the parameter struct, so any other pointer that a kernel
//! loads from there is the host's. A pointer that is never loaded does no harm.

use crate::llvm::{self, Value, kind};
use crate::records::Kernel;

/// The loads of host pointers in a kernel. An `unsafe fn` kernel may take raw pointers, which its caller answers for.
pub fn loads(kernel: &Kernel) -> Vec<Value> {
    if kernel.takes_pointers || llvm::parameter_count(kernel.function) == 0 {
        return Vec::new();
    }
    let parameters = llvm::parameter(kernel.function, 0);
    let loads = llvm::instructions(kernel.function)
        .into_iter()
        .filter_map(llvm::is_load);
    let pointers = loads.filter(|&load| llvm::type_kind(llvm::type_of(load)) == kind::POINTER);
    let host = |&load: &Value| {
        offset_from(parameters, llvm::operand(load, 0))
            .is_some_and(|offset| !kernel.views.contains(&offset))
    };
    pointers.filter(host).collect()
}

/// How many bytes `address` lies behind `base`, if that is a constant.
fn offset_from(base: Value, address: Value) -> Option<u64> {
    if address == base {
        return Some(0);
    }
    let gep = llvm::is_gep(address)
        .filter(|&gep| llvm::operand(gep, 0) == base && llvm::operand_count(gep) == 2)?;
    let bytes = llvm::type_kind(llvm::gep_element(gep)) == kind::INTEGER;
    let offset = llvm::is_constant_int(llvm::operand(gep, 1)).filter(|_| bytes)?;
    Some(llvm::zero_extended(offset))
}
