//! `gpu.ptx`: from a template and operands in memory to LLVM inline assembly.
//!
//! `gpu_std::ptx!` calls `gpu.ptx(template, pure, outputs, letter, address, letter, address...)`: the template is a
//! constant C string, the letters are LLVM's constraints for NVPTX, and outputs come before inputs. Each input is
//! loaded from its address and each output stored to its own; LLVM then keeps them in registers.

use crate::error::Error;
use crate::llvm::{self, Type, Value, opcode};
use crate::requirements;

use super::{Lowering, constant, constant_text, malformed};

/// The first PTX ISA with registers of 128 bits.
const WIDE_ISA: u32 = 83;
/// Arguments before the operands.
const FIXED: u32 = 3;

struct Operand {
    letter: char,
    address: Value,
}

impl Lowering {
    pub(super) fn ptx(&self, call: Value) -> Result<(), Error> {
        let template = constant_text(llvm::operand(call, 0)).ok_or(malformed("a PTX template"))?;
        let pure = constant(call, 1)? != 0;
        let outputs = constant(call, 2)? as usize;
        let operands = operands(call)?;
        let (outputs, inputs) = operands
            .split_at_checked(outputs)
            .ok_or(malformed("the outputs of a PTX template"))?;
        if operands.iter().any(|operand| operand.letter == 'q') {
            requirements::require_ptx(self.module, self.builder, WIDE_ISA);
        }
        let results: Vec<Type> = outputs
            .iter()
            .map(|output| self.register(output.letter))
            .collect::<Result<_, _>>()?;
        let values: Vec<Value> = inputs
            .iter()
            .map(|input| self.input(input))
            .collect::<Result<_, Error>>()?;
        let result = match results[..] {
            [] => llvm::void_type(self.context),
            [one] => one,
            _ => llvm::structure(self.context, &results),
        };
        let types: Vec<Type> = values.iter().map(|&value| llvm::type_of(value)).collect();
        let signature = llvm::signature(result, &types);
        let text = to_llvm(&template);
        let assembly =
            llvm::inline_assembly(signature, &text, &constraints(outputs, inputs, pure), !pure);
        let value = llvm::call(self.builder, signature, assembly, &values);
        self.describe(value, pure);
        for (index, output) in outputs.iter().enumerate() {
            let part = match outputs.len() {
                1 => value,
                _ => llvm::extract(self.builder, value, index as u32),
            };
            self.store(part, output);
        }
        llvm::erase(call);
        Ok(())
    }

    fn register(&self, letter: char) -> Result<Type, Error> {
        Ok(match letter {
            'b' => llvm::bool_type(self.context),
            'q' => llvm::i128_type(self.context),
            'h' => llvm::i16_type(self.context),
            'r' => llvm::i32_type(self.context),
            'l' => llvm::i64_type(self.context),
            'f' => llvm::float_type(self.context),
            'd' => llvm::double_type(self.context),
            _ => return Err(malformed("the type of a PTX operand")),
        })
    }

    /// A predicate is a byte in memory.
    fn input(&self, input: &Operand) -> Result<Value, Error> {
        let register = self.register(input.letter)?;
        if input.letter != 'b' {
            return Ok(self.load(register, input.address));
        }
        let byte = self.load(llvm::i8_type(self.context), input.address);
        Ok(llvm::cast(self.builder, opcode::TRUNC, byte, register))
    }

    fn store(&self, value: Value, output: &Operand) {
        let value = match output.letter {
            'b' => llvm::zero_extend(self.builder, value, llvm::i8_type(self.context)),
            _ => value,
        };
        llvm::build_store(self.builder, value, output.address);
    }

    fn load(&self, value_type: Type, address: Value) -> Value {
        // SAFETY: the name is a C string.
        unsafe { llvm::build_load(self.builder, value_type, address, c"".as_ptr()) }
    }

    /// What is not pure may be a barrier, or touch any memory.
    fn describe(&self, call: Value, pure: bool) {
        let kinds: &[&str] = if pure {
            &["memory", "nounwind", "willreturn"]
        } else {
            &["convergent", "nounwind"]
        };
        for kind in kinds {
            let attribute = llvm::create_enum_attribute(self.context, llvm::attribute(kind), 0);
            llvm::add_call_attribute(call, llvm::FUNCTION_INDEX, attribute);
        }
    }
}

/// The pairs of letter and address.
fn operands(call: Value) -> Result<Vec<Operand>, Error> {
    let count = llvm::argument_count(call);
    (FIXED..count)
        .step_by(2)
        .map(|index| {
            let letter = char::from(constant(call, index)? as u8);
            let address = llvm::operand(call, index + 1);
            Ok(Operand { letter, address })
        })
        .collect()
}

fn constraints(outputs: &[Operand], inputs: &[Operand], pure: bool) -> String {
    let outputs = outputs.iter().map(|output| format!("={}", output.letter));
    let inputs = inputs.iter().map(|input| input.letter.to_string());
    let memory = (!pure).then(|| "~{memory}".to_owned());
    let all: Vec<String> = outputs.chain(inputs).chain(memory).collect();
    all.join(",")
}

/// `{0}` is an operand, `{{` and `}}` are braces; for LLVM an operand is `$0` and a dollar is `$$`.
fn to_llvm(template: &str) -> String {
    let mut text = String::new();
    let mut rest = template.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '$' => text.push_str("$$"),
            '{' if rest.next_if_eq(&'{').is_some() => text.push('{'),
            '}' if rest.next_if_eq(&'}').is_some() => text.push('}'),
            '{' => {
                let number: String =
                    std::iter::from_fn(|| rest.next_if(char::is_ascii_digit)).collect();
                rest.next_if_eq(&'}');
                text.push_str(&format!("${{{number}}}"));
            }
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_become_llvm_assembly() {
        assert_eq!(
            to_llvm("add.s32 {0}, {1}, {12};"),
            "add.s32 ${0}, ${1}, ${12};"
        );
        assert_eq!(
            to_llvm("{{ .reg .b32 $t; mov.u32 {0}, %tid.x; }}"),
            "{ .reg .b32 $$t; mov.u32 ${0}, %tid.x; }"
        );
    }
}
