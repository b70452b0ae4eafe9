//! `#[kernel(fast_math)]`: what nvcc's `--use_fast_math` does to `f32`, and nothing to other types.
//!
//! - Division and square root are approximate, a division by a constant is a multiplication.
//! - Subnormal numbers count as 0.
//! - The functions that the hardware has (or that are a few of its instructions) are the hardware's.
//!
//! NaN and infinities keep their meaning, and sums their order.

use crate::choices::add_flags;
use crate::llvm::{
    self, ALLOW_APPROXIMATE, ALLOW_RECIPROCAL, Builder, Context, FUNCTION_INDEX, Module, Type,
    Value, kind, opcode,
};
use crate::requirements;

/// The first PTX ISA with `tanh.approx`.
const TANH_ISA: u32 = 70;

/// Applies it to all functions of the module.
pub fn apply(context: Context, module: Module) {
    let fast = FastMath {
        module,
        builder: llvm::create_builder(context),
        float: llvm::float_type(context),
    };
    for name in FUNCTIONS {
        fast.replace_calls(name);
    }
    let flush = llvm::string_attribute(
        context,
        "denormal-fp-math-f32",
        "preserve-sign,preserve-sign",
    );
    for function in llvm::functions(module)
        .filter(|&function| !llvm::declared_only(function))
        .collect::<Vec<_>>()
    {
        llvm::add_attribute(function, FUNCTION_INDEX, flush);
        for instruction in llvm::instructions(function) {
            if llvm::can_use_fast_math_flags(instruction) != 0
                && llvm::type_kind(llvm::type_of(instruction)) == kind::FLOAT
            {
                add_flags(instruction, ALLOW_APPROXIMATE | ALLOW_RECIPROCAL);
            }
        }
    }
}

/// Functions of C's libm that are replaced.
const FUNCTIONS: [&str; 11] = [
    "sinf", "cosf", "tanf", "tanhf", "expf", "exp2f", "exp10f", "logf", "log2f", "log10f", "powf",
];

struct FastMath {
    module: Module,
    builder: Builder,
    float: Type,
}

impl FastMath {
    fn replace_calls(&self, name: &str) {
        let Some(function) = llvm::function(self.module, name) else {
            return;
        };
        for call in llvm::calls_of(function) {
            llvm::position_before(self.builder, call);
            let x = llvm::operand(call, 0);
            let result = match name {
                "sinf" => self.instruction("sin.approx.ftz", x),
                "cosf" => self.instruction("cos.approx.ftz", x),
                "tanf" => {
                    let sine = self.instruction("sin.approx.ftz", x);
                    let cosine = self.instruction("cos.approx.ftz", x);
                    llvm::binary(self.builder, opcode::FDIV, sine, cosine)
                }
                "tanhf" => {
                    requirements::require_ptx(self.module, self.builder, TANH_ISA);
                    self.instruction("tanh.approx", x)
                }
                "expf" => self.exp2(self.times(x, std::f64::consts::LOG2_E)),
                "exp2f" => self.exp2(x),
                "exp10f" => self.exp2(self.times(x, std::f64::consts::LOG2_10)),
                "logf" => self.times(self.log2(x), std::f64::consts::LN_2),
                "log2f" => self.log2(x),
                "log10f" => self.times(self.log2(x), std::f64::consts::LOG10_2),
                _ => {
                    let exponent = llvm::operand(call, 1);
                    self.exp2(self.product(exponent, self.log2(x)))
                }
            };
            llvm::replace_instruction(call, result);
        }
    }

    fn exp2(&self, x: Value) -> Value {
        self.instruction("ex2.approx.ftz", x)
    }

    fn log2(&self, x: Value) -> Value {
        self.instruction("lg2.approx.ftz", x)
    }

    fn times(&self, x: Value, factor: f64) -> Value {
        self.product(x, llvm::const_real(self.float, factor))
    }

    fn product(&self, x: Value, y: Value) -> Value {
        llvm::binary(self.builder, opcode::FMUL, x, y)
    }

    /// One instruction from an `f32` to an `f32`.
    fn instruction(&self, name: &str, x: Value) -> Value {
        let signature = llvm::signature(self.float, &[self.float]);
        let text = format!("{name}.f32 $0, $1;");
        let assembly = llvm::inline_assembly(signature, &text, "=f,f", false);
        llvm::call(self.builder, signature, assembly, &[x])
    }
}
