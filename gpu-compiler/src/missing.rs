//! Methods without device code in tables of methods.
//!
//! A value that becomes a trait object brings all methods of the trait, of which a kernel may call none:
//! `io::Result::unwrap` is made for an error that could be printed, and printing it asks the operating system for the text.
//! So such a method is replaced by one that panics and names it. Where code refers to it directly, it is still an error of
//! the compiler ([`check`](crate::check)).

use crate::link::undefined;
use crate::llvm::{self, Context, FUNCTION_INDEX, Module, Value};
use crate::names;

/// The runtime's panic, which takes the message's address and length.
const PANIC: &str = "oxwarp.no_device_code";
/// The attribute of what takes a method's place: the method's symbol.
const INSTEAD_OF: &str = "oxwarp.instead_of";

/// Replaces them in a module in which everything is linked that there is; whether there were some.
pub fn replace(context: Context, module: Module) -> bool {
    let in_tables = |&value: &Value| {
        llvm::is_function(value).is_some()
            && names::is_rust(&llvm::name(value))
            && llvm::users(value)
                .iter()
                .any(|&user| llvm::is_instruction(user).is_none())
    };
    let methods: Vec<Value> = undefined(module).into_iter().filter(in_tables).collect();
    for &method in &methods {
        let places = direct_uses(method);
        llvm::replace_all_uses(method, panicking(context, module, method));
        for (instruction, index) in places {
            llvm::set_operand(instruction, index, method);
        }
    }
    !methods.is_empty()
}

/// The symbol of the method in whose place `function` is.
pub fn instead_of(function: Value) -> Option<String> {
    llvm::is_function(function)?;
    llvm::string_attribute_value(function, INSTEAD_OF)
}

/// The instructions that refer to a function, and as which of their operands.
fn direct_uses(function: Value) -> Vec<(Value, u32)> {
    let instructions = llvm::users(function)
        .into_iter()
        .filter_map(llvm::is_instruction);
    let operands = |instruction| {
        (0..)
            .zip(llvm::operands(instruction))
            .filter(move |&(_, operand)| operand == function)
            .map(move |(index, _)| (instruction, index))
    };
    instructions.flat_map(operands).collect()
}

fn panicking(context: Context, module: Module, method: Value) -> Value {
    let symbol = llvm::name(method);
    let function = llvm::declare(
        module,
        &format!("{symbol}_instead"),
        llvm::value_type(method),
    );
    llvm::set_linkage(function, llvm::linkage::INTERNAL);
    let attribute = llvm::string_attribute(context, INSTEAD_OF, &symbol);
    llvm::add_attribute(function, FUNCTION_INDEX, attribute);
    llvm::add_attributes(context, function, &["noinline", "noreturn", "cold"]);
    let text = format!("`{}` has no device code", names::path(&symbol));
    let message = llvm::constant_text(context, module, &text);
    let length = llvm::const_int(llvm::i64_type(context), text.len() as u64, 0);
    let types = [llvm::type_of(message), llvm::type_of(length)];
    let signature = llvm::signature(llvm::void_type(context), &types);
    let panic = llvm::declare(module, PANIC, signature);
    let builder = llvm::create_builder(context);
    llvm::position_at_end(builder, llvm::append(context, function));
    llvm::call(builder, signature, panic, &[message, length]);
    llvm::build_unreachable(builder);
    function
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    #[test]
    fn a_method_in_a_table_panics_and_a_call_stays_as_it_is() {
        const METHOD: &str = "_RNvNtCsgEmfK2I1SDS_3std2io5print";
        let (context, module) = parse(&format!(
            "@table = constant [2 x ptr] [ptr @{METHOD}, ptr @c]
            declare void @{METHOD}(ptr)
            declare void @c()
            define ptr @f(ptr %p) {{
                call void @{METHOD}(ptr %p)
                ret ptr @table
            }}"
        ));
        assert!(replace(context, module));
        assert!(!replace(context, module));
        crate::optimise::verify(module).unwrap();
        let method = llvm::function(module, METHOD).unwrap();
        assert_eq!(llvm::calls_of(method).len(), 1);
        assert_eq!(llvm::users(method).len(), 1);
        let instead = llvm::function(module, &format!("{METHOD}_instead")).unwrap();
        assert_eq!(instead_of(instead).as_deref(), Some(METHOD));
        assert_eq!(instead_of(method), None);
        let panic = llvm::function(module, PANIC).unwrap();
        assert_eq!(llvm::function_of(llvm::calls_of(panic)[0]), instead);
    }
}
