//! How much constant memory the kernels of a module use together: a device gives a module 64 KiB.

use std::collections::BTreeMap;

use crate::llvm::{self, Module, Value};
use crate::records::Kernel;
use crate::report::Diagnostic;

/// `gpu_std::constant::CONSTANT_BYTES`.
const LIMIT: u64 = 64 << 10;

/// A static in constant memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    pub symbol: String,
    pub bytes: u64,
}

/// The statics in constant memory that a module reads.
pub fn read_in(module: Module) -> Vec<Constant> {
    llvm::globals(module)
        .filter(|&global| is_constant_memory(global) && llvm::first_use(global).is_some())
        .map(|global| Constant {
            symbol: llvm::name(global),
            bytes: llvm::array_length(llvm::value_type(global)),
        })
        .collect()
}

/// The error of kernels whose constants together do not fit, at the first that reads one.
pub fn excess<'a>(
    kernels: impl Iterator<Item = (&'a Kernel<()>, &'a [Constant])>,
) -> Option<Diagnostic> {
    let (mut first, mut all) = (None, BTreeMap::new());
    for (kernel, constants) in kernels.filter(|(_, constants)| !constants.is_empty()) {
        first.get_or_insert(kernel);
        all.extend(constants.iter().map(|one| (&one.symbol, one.bytes)));
    }
    let mut sizes: Vec<u64> = all.into_values().collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let total: u64 = sizes.iter().map(|size| size.next_multiple_of(16)).sum();
    let kernel = first.filter(|_| total > LIMIT)?;
    Some(Diagnostic {
        kernel: kernel.name.clone(),
        module: kernel.module_path.clone(),
        file: kernel.file.clone(),
        line: kernel.line,
        message: format!(
            "the kernels of this crate read {total} bytes of constant memory, in statics of {}; there are {LIMIT}",
            list(&sizes)
        ),
        help: "pass the larger ones to the kernels as slices".into(),
        places: Vec::new(),
    })
}

fn is_constant_memory(global: Value) -> bool {
    llvm::pointer_address_space(llvm::type_of(global)) == llvm::CONSTANT
}

/// `40000 and 30000`, the largest first.
fn list(sizes: &[u64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    sizes.join(" and ")
}
