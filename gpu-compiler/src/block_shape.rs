//! `#[kernel(block(x, y, z))]`: the threads of every block, as constants in the code.
//!
//! The runtime refuses another block, so a kernel that says its own reads constants for `blockDim`, and 0 for `threadIdx`
//! along a dimension of one thread; of the other indices LLVM learns the range, so that checks of them against the size of
//! a tile go. The shape is an attribute of the kernel, from which LLVM writes `.reqntid`.
//!
//! LLVM's own pass knows from it or from `launch_bounds` that each index is below the threads of the block. It is of its back
//! end's pipeline; here it runs before checks are taken out of loops, too.

use crate::error::Error;
use crate::llvm::{self, Context, Module, TargetMachine, Value};
use crate::optimise::run_passes;

/// LLVM's attribute of a kernel, with the three numbers and commas between.
pub const ATTRIBUTE: &str = "nvvm.reqntid";

/// The threads of every block of a kernel along x, y and z, if it says so.
pub fn of(kernel: Value) -> Option<[u32; 3]> {
    let text = llvm::string_attribute_value(kernel, ATTRIBUTE)?;
    let extents: Vec<u32> = text
        .split(',')
        .map_while(|extent| extent.parse().ok())
        .collect();
    extents.try_into().ok()
}

/// The threads along one dimension of the blocks that an instruction runs in.
pub fn extent_at(instruction: Value, dimension: &str) -> Option<u32> {
    let axis = ["x", "y", "z"].iter().position(|&name| name == dimension)?;
    Some(of(llvm::function_of(instruction))?[axis])
}

/// Puts the shapes into the code of the kernels, into which what they call is inlined.
pub fn fold(context: Context, module: Module, machine: TargetMachine) -> Result<(), Error> {
    for dimension in ["x", "y", "z"] {
        for call in reads(module, "ntid", dimension) {
            if let Some(extent) = extent_at(call, dimension) {
                let extent = llvm::const_int(llvm::type_of(call), extent.into(), 0);
                llvm::replace_instruction(call, extent);
            }
        }
        for call in reads(module, "tid", dimension) {
            match extent_at(call, dimension) {
                Some(1) => {
                    let zero = llvm::const_int(llvm::type_of(call), 0, 0);
                    llvm::replace_instruction(call, zero);
                }
                Some(extent) => set_range(context, call, extent),
                None => {}
            }
        }
    }
    run_passes(module, "function(nvvm-intr-range)", Some(machine))
}

fn reads(module: Module, register: &str, dimension: &str) -> Vec<Value> {
    let name = format!("llvm.nvvm.read.ptx.sreg.{register}.{dimension}");
    llvm::function(module, &name).map_or(Vec::new(), llvm::calls_of)
}

/// The call gives a number below `end`.
fn set_range(context: Context, call: Value, end: u32) {
    let of = llvm::type_of(call);
    let bound = |number| llvm::value_as_metadata(llvm::const_int(of, number, 0));
    let range = llvm::node(context, &[bound(0), bound(end.into())]);
    let kind = llvm::metadata_kind_named(context, "range");
    llvm::set_metadata(call, kind, llvm::metadata_as_value(context, range));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;
    use crate::target::Target;
    use crate::{optimise, retarget};

    const REGISTERS: &str = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
        declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
        declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()";

    /// What `expression`, an instruction, becomes in a kernel with blocks of 16 threads along x.
    fn folded(expression: &str, attribute: &str) -> Option<u64> {
        let (context, module) = parse(&format!(
            "{REGISTERS}
            define ptx_kernel void @f(ptr %p) {attribute} {{
                %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
                %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
                %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
                %ny = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
                %result = {expression}
                store i32 %result, ptr %p
                ret void
            }}"
        ));
        let target = Target(75);
        fold(
            context,
            module,
            retarget::machine(target, target.isa()).unwrap(),
        )
        .unwrap();
        optimise::verify(module).unwrap();
        optimise::run_passes(module, "function(instcombine)", None).unwrap();
        let function = llvm::function(module, "f").unwrap();
        let store = llvm::instructions(function)
            .into_iter()
            .find_map(llvm::is_store);
        llvm::unsigned_constant(llvm::operand(store.unwrap(), 0))
    }

    const SIXTEEN: &str = "\"nvvm.reqntid\"=\"16,1,1\"";
    const SQUARE: &str = "\"nvvm.reqntid\"=\"8,8,1\"";

    #[test]
    fn extents_are_constants() {
        assert_eq!(folded("add i32 %nx, %ny", SIXTEEN), Some(17));
        assert_eq!(folded("add i32 %nx, %ty", SIXTEEN), Some(16));
        assert_eq!(folded("add i32 %nx, %ny", ""), None);
    }

    #[test]
    fn an_index_is_below_its_extent() {
        assert_eq!(folded("udiv i32 %tx, 16", SIXTEEN), Some(0));
        assert_eq!(folded("udiv i32 %tx, 15", SIXTEEN), None);
        assert_eq!(folded("udiv i32 %ty, 8", SQUARE), Some(0));
        assert_eq!(folded("udiv i32 %ty, 7", SQUARE), None);
        assert_eq!(folded("udiv i32 %tx, 16", ""), None);
        assert_eq!(
            folded("udiv i32 %tx, 16", "\"nvvm.maxntid\"=\"16\""),
            Some(0)
        );
        assert_eq!(folded("udiv i32 %ty, 16", "\"nvvm.maxntid\"=\"17\""), None);
    }
}
