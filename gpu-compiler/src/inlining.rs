//! How large a function may be to be inlined: as large as LLVM's NVPTX back end says, in every pipeline.
//!
//! A call in a kernel costs more than on a host: arguments go through local memory, and a closure that captures by
//! reference keeps what it captures in memory, where no later step sees that it does not change. The pipelines that run
//! before the back end is known to the passes would take the host's limits, a tenth of these.

use crate::llvm::{self, Context, FUNCTION_INDEX, Module};

/// What LLVM reads as the limit of one function.
const THRESHOLD: &str = "function-inline-threshold";
/// LLVM's limits at `-O3`, with and without a hint of the source, times eleven, as for NVPTX.
const WITH_HINT: &str = "3575";
const WITHOUT: &str = "2750";

/// Gives the functions of a module their limits, but for those that are to stay small.
pub fn allow(context: Context, module: Module) {
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        let has =
            |kind| llvm::enum_attribute(function, FUNCTION_INDEX, llvm::attribute(kind)).is_some();
        if has("minsize") || has("optsize") {
            continue;
        }
        let limit = if has("inlinehint") {
            WITH_HINT
        } else {
            WITHOUT
        };
        let attribute = llvm::string_attribute(context, THRESHOLD, limit);
        llvm::add_attribute(function, FUNCTION_INDEX, attribute);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loop_checks;
    use crate::notation::parse;

    /// The calls that are left of a function that two places call, with some forty stores that no pass can take away.
    fn calls_left(attributes: &str, allows: bool) -> usize {
        let stores: String = (0..40)
            .map(|i| {
                format!(
                    "%v{i} = load volatile i64, ptr %closure
                     store volatile i64 %v{i}, ptr %closure\n"
                )
            })
            .collect();
        let (context, module) = parse(&format!(
            "define internal void @large(ptr %closure) {attributes} {{
                {stores}
                ret void
            }}
            define ptx_kernel void @k(ptr %p, ptr %q) {{
                call void @large(ptr %p)
                call void @large(ptr %q)
                ret void
            }}"
        ));
        if allows {
            allow(context, module);
        }
        loop_checks::simplify(module).unwrap();
        let kernel = llvm::function(module, "k").unwrap();
        let instructions = llvm::instructions(kernel).into_iter();
        instructions.filter_map(llvm::is_call).count()
    }

    #[test]
    fn what_a_host_would_call_is_inlined() {
        assert_eq!((calls_left("", false), calls_left("", true)), (2, 0));
    }

    #[test]
    fn what_is_to_stay_small_is_called() {
        assert_eq!(calls_left("minsize optsize", true), 2);
        assert_eq!(calls_left("noinline", true), 2);
    }
}
