//! `gpu.half.*`: arithmetic on 16-bit floats, whose bits Rust passes as `u16`, and on pairs of them as `u32`.
//!
//! A name is `gpu.half.<operation>.<type>`, with the types `f16`, `bf16`, `f16x2` and `bf16x2`. LLVM computes in the
//! type itself where the target has instructions for it, else in `f32` with one rounding to the type.

use crate::error::Error;
use crate::llvm::{self, Type, Value, opcode};

use super::{Lowering, malformed};

impl Lowering {
    /// Lowers a call of `gpu.half.<name>`.
    pub(super) fn half(&self, call: Value, name: &str) -> Result<(), Error> {
        let (operation, half) = name
            .rsplit_once('.')
            .ok_or(malformed("the name of a 16-bit operation"))?;
        let half = self.half_type(half)?;
        let arguments: Vec<Value> = (0..llvm::argument_count(call))
            .map(|index| llvm::operand(call, index))
            .collect();
        let value = match operation {
            "to_f32" => {
                let float = llvm::float_type(self.context);
                let half = self.bits_as(arguments[0], half);
                llvm::cast(self.builder, opcode::FP_EXT, half, float)
            }
            "from_f32" | "from_f64" => {
                llvm::cast(self.builder, opcode::FP_TRUNC, arguments[0], half)
            }
            _ => {
                let arguments: Vec<Value> = arguments
                    .iter()
                    .map(|&bits| self.bits_as(bits, half))
                    .collect();
                self.arithmetic(operation, half, &arguments)?
            }
        };
        llvm::replace_instruction(call, self.bits_as(value, llvm::type_of(call)));
        Ok(())
    }

    fn arithmetic(&self, operation: &str, half: Type, arguments: &[Value]) -> Result<Value, Error> {
        let binary = match operation {
            "add" => opcode::FADD,
            "sub" => opcode::FSUB,
            "mul" => opcode::FMUL,
            "div" => opcode::FDIV,
            _ => return Ok(self.overloaded(operation, half, arguments)),
        };
        Ok(llvm::binary(
            self.builder,
            binary,
            arguments[0],
            arguments[1],
        ))
    }

    /// `llvm.fma` and its like.
    fn overloaded(&self, operation: &str, half: Type, arguments: &[Value]) -> Value {
        let name = format!("llvm.{operation}.{}", mangled(half, self));
        let signature = llvm::signature(half, &vec![half; arguments.len()]);
        let intrinsic = llvm::declare(self.module, &name, signature);
        llvm::call(self.builder, signature, intrinsic, arguments)
    }

    fn bits_as(&self, value: Value, wanted: Type) -> Value {
        if llvm::type_of(value) == wanted {
            value
        } else {
            llvm::cast(self.builder, opcode::BIT_CAST, value, wanted)
        }
    }

    fn half_type(&self, name: &str) -> Result<Type, Error> {
        let (half, bfloat) = (
            llvm::half_type(self.context),
            llvm::bfloat_type(self.context),
        );
        Ok(match name {
            "f16" => half,
            "bf16" => bfloat,
            "f16x2" => llvm::vector_type(half, 2),
            "bf16x2" => llvm::vector_type(bfloat, 2),
            _ => return Err(malformed("the name of a 16-bit type")),
        })
    }
}

/// LLVM's name of the type in an intrinsic's name.
fn mangled(half: Type, lowering: &Lowering) -> &'static str {
    let names = ["f16", "bf16", "f16x2", "bf16x2"];
    let llvm_names = ["f16", "bf16", "v2f16", "v2bf16"];
    let index = names
        .iter()
        .position(|name| lowering.half_type(name).is_ok_and(|known| known == half));
    index.map_or("f16", |index| llvm_names[index])
}
