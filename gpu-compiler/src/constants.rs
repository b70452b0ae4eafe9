//! How much constant memory the kernels of a module use together: a device gives a module 64 KiB.

use crate::llvm::{self, Module, Value};
use crate::reach::reach;
use crate::records::Kernel;
use crate::report::Diagnostic;

/// `gpu_std::constant::CONSTANT_BYTES`.
const LIMIT: u64 = 64 << 10;

/// The error of a module whose constants do not fit, at the first kernel that reads one.
pub fn excess(module: Module, kernels: &[Kernel]) -> Option<Diagnostic> {
    let mut sizes: Vec<u64> = llvm::globals(module)
        .filter(|&global| is_constant_memory(global) && llvm::first_use(global).is_some())
        .map(|global| llvm::array_length(llvm::value_type(global)))
        .collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let total: u64 = sizes.iter().map(|size| size.next_multiple_of(16)).sum();
    if total <= LIMIT {
        return None;
    }
    let reads = |kernel: &&Kernel| {
        let globals = reach(kernel.function).globals;
        globals.into_iter().any(is_constant_memory)
    };
    let kernel = kernels.iter().find(reads)?;
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
