//! `gpu.mma.*` and `gpu.ldmatrix.*`: the matrix units, whose LLVM intrinsics take registers and return a structure of
//! them. `gpu_std` passes addresses of a lane's elements; LLVM then keeps these in registers.

use crate::error::Error;
use crate::llvm::{self, Type, Value, opcode};

use super::{Lowering, malformed, name_of};

impl Lowering {
    /// `gpu.mma.*(c, a, b)`: `c` is replaced by `a * b + c`.
    pub(super) fn mma(&self, call: Value) -> Result<(), Error> {
        let intrinsic = self.known_intrinsic(&format!("llvm.nvvm.{}", name_of(call)), &[])?;
        let types = llvm::parameter_types(intrinsic);
        let of_c = llvm::element_count(llvm::result_type(intrinsic)) as usize;
        // A of a double is one register, else it is four; the rest are those of B.
        let of_a = if types.len() == 2 + of_c { 1 } else { 4 };
        let [c, a, b] = [0, 1, 2].map(|index| llvm::operand(call, index));
        let (factors, sums) = types.split_at(types.len() - of_c);
        let mut registers = self.load_all(a, &factors[..of_a]);
        registers.extend(self.load_all(b, &factors[of_a..]));
        registers.extend(self.load_all(c, sums));
        self.call_and_store(intrinsic, &registers, c);
        llvm::erase(call);
        Ok(())
    }

    /// `gpu.ldmatrix.*(to, row)`.
    pub(super) fn ldmatrix(&self, call: Value) -> Result<(), Error> {
        let shared = llvm::pointer_type(self.context, llvm::SHARED);
        let name = name_of(call);
        let count = name
            .strip_prefix("ldmatrix.")
            .ok_or(malformed("the name of an `ldmatrix`"))?;
        let name = format!("llvm.nvvm.ldmatrix.sync.aligned.m8n8.{count}.b16");
        let intrinsic = self.known_intrinsic(&name, &[shared])?;
        let [to, row] = [0, 1].map(|index| llvm::operand(call, index));
        let row = llvm::cast(self.builder, opcode::ADDR_SPACE_CAST, row, shared);
        self.call_and_store(intrinsic, &[row], to);
        llvm::erase(call);
        Ok(())
    }

    /// Calls what returns a structure, and stores its fields from `to` on. All lanes come to the call together: it must not
    /// move into a branch.
    fn call_and_store(&self, intrinsic: Value, arguments: &[Value], to: Value) {
        let signature = llvm::value_type(intrinsic);
        let fields = llvm::call(self.builder, signature, intrinsic, arguments);
        let convergent =
            llvm::create_enum_attribute(self.context, llvm::attribute("convergent"), 0);
        llvm::add_call_attribute(fields, llvm::FUNCTION_INDEX, convergent);
        for index in 0..llvm::element_count(llvm::result_type(intrinsic)) {
            let field = llvm::extract(self.builder, fields, index);
            let address = self.nth(to, llvm::type_of(field), index as usize);
            llvm::build_store(self.builder, field, address);
        }
    }

    /// Loads values that lie one after the other.
    fn load_all(&self, from: Value, types: &[Type]) -> Vec<Value> {
        let load = |(index, &of): (usize, &Type)| {
            let address = self.nth(from, of, index);
            // SAFETY: the name is a C string.
            unsafe { llvm::build_load(self.builder, of, address, c"".as_ptr()) }
        };
        types.iter().enumerate().map(load).collect()
    }

    /// The address of the element `index` of an array.
    fn nth(&self, array: Value, element: Type, index: usize) -> Value {
        let index = llvm::const_int(llvm::i64_type(self.context), index as u64, 0);
        llvm::element_pointer(self.builder, element, array, index)
    }
}
