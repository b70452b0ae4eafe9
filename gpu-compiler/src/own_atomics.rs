//! Atomic instructions on a thread's own stack, which PTX does not have: `atom` is of global and shared memory.
//!
//! No other thread reaches a stack, so they are loads and stores, and a value that has its own atomics becomes registers,
//! as any variable does ([`lower`]). Where the address is a parameter or was loaded, it is looked at when the code runs
//! ([`distinguish`]).

use std::collections::BTreeSet;

use crate::error::Error;
use crate::llvm::{self, Builder, Context, Module, Type, Value, opcode, predicate};
use crate::optimise::run_passes;

/// `LLVMAtomicRMWBinOp`.
mod operation {
    pub const EXCHANGE: i32 = 0;
    pub const ADD: i32 = 1;
    pub const SUB: i32 = 2;
    pub const AND: i32 = 3;
    pub const NAND: i32 = 4;
    pub const OR: i32 = 5;
    pub const XOR: i32 = 6;
    pub const MAX: i32 = 7;
    pub const MIN: i32 = 8;
    pub const UNSIGNED_MAX: i32 = 9;
    pub const UNSIGNED_MIN: i32 = 10;
    pub const FLOAT_ADD: i32 = 11;
    pub const FLOAT_SUB: i32 = 12;
}

/// Lowers those of a module whose address is known to be on the stack.
pub fn lower(context: Context, module: Module) {
    let builder = llvm::create_builder(context);
    for instruction in llvm::functions(module).flat_map(llvm::instructions) {
        let on_stack = |index| object_of(llvm::operand(instruction, index)) == Object::OnStack;
        if llvm::is_load(instruction).is_some() && on_stack(0)
            || llvm::is_store(instruction).is_some() && on_stack(1)
        {
            llvm::set_ordering(instruction, llvm::NOT_ATOMIC);
        } else if is_atomic(instruction) && on_stack(0) {
            let operands: Vec<Value> = llvm::operands(instruction).collect();
            llvm::position_before(builder, instruction);
            if let Some(value) = plain(builder, instruction, &operands) {
                llvm::replace_instruction(instruction, value);
            }
        }
    }
}

/// Lets those of a module whose address may be on the stack look at it first. Nothing is, where there are no variables.
pub fn distinguish(context: Context, module: Module) -> Result<(), Error> {
    let instructions: Vec<Value> = llvm::functions(module)
        .flat_map(llvm::instructions)
        .collect();
    let may_be_on_stack = |&atomic: &Value| {
        let address = llvm::operand(atomic, 0);
        llvm::pointer_address_space(llvm::type_of(address)) == llvm::GENERIC
            && object_of(address) == Object::Unknown
    };
    let has_variables = instructions.iter().any(|&i| llvm::is_alloca(i).is_some());
    let unknown: Vec<Value> = instructions
        .into_iter()
        .filter(|&instruction| is_atomic(instruction) && has_variables)
        .filter(may_be_on_stack)
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let builder = llvm::create_builder(context);
    for (number, atomic) in unknown.into_iter().enumerate() {
        let name = format!("gpu.atomic.either_way.{number}");
        let function = either_way(context, module, builder, atomic, &name);
        let operands: Vec<Value> = llvm::operands(atomic).collect();
        llvm::position_before(builder, atomic);
        let signature = llvm::value_type(function);
        let result = llvm::call(builder, signature, function, &operands);
        llvm::replace_instruction(atomic, result);
    }
    run_passes(module, "always-inline,globaldce", None)
}

fn is_atomic(instruction: Value) -> bool {
    llvm::is_atomic_rmw(instruction).is_some() || llvm::is_compare_exchange(instruction).is_some()
}

/// A function of the instruction's operands that does what it does, as the address demands.
fn either_way(
    context: Context,
    module: Module,
    builder: Builder,
    atomic: Value,
    name: &str,
) -> Value {
    let types: Vec<Type> = llvm::operands(atomic).map(llvm::type_of).collect();
    let signature = llvm::signature(llvm::type_of(atomic), &types);
    let function = llvm::declare(module, name, signature);
    llvm::set_linkage(function, llvm::linkage::INTERNAL);
    llvm::add_attributes(context, function, &["alwaysinline", "nounwind"]);
    let operands: Vec<Value> = (0..types.len() as u32)
        .map(|i| llvm::parameter(function, i))
        .collect();
    let [entry, own, others] = [(); 3].map(|()| llvm::append(context, function));
    llvm::position_at_end(builder, entry);
    let on_stack = is_local(context, module, builder, operands[0]);
    llvm::conditional(builder, on_stack, own, others);
    llvm::position_at_end(builder, others);
    let copy = llvm::clone_instruction(atomic);
    llvm::insert(builder, copy);
    for (index, &operand) in operands.iter().enumerate() {
        llvm::set_operand(copy, index as u32, operand);
    }
    llvm::build_return(builder, copy);
    llvm::position_at_end(builder, own);
    let value =
        plain(builder, atomic, &operands).unwrap_or_else(|| llvm::undef(llvm::type_of(atomic)));
    llvm::build_return(builder, value);
    function
}

/// PTX's `isspacep.local`.
fn is_local(context: Context, module: Module, builder: Builder, address: Value) -> Value {
    let signature = llvm::signature(llvm::bool_type(context), &[llvm::type_of(address)]);
    let test = llvm::declare(module, "llvm.nvvm.isspacep.local", signature);
    llvm::call(builder, signature, test, &[address])
}

/// What an address points into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Object {
    /// A variable of the thread's.
    OnStack,
    /// Memory that other threads reach.
    Elsewhere,
    /// Either, for all that is known.
    Unknown,
}

fn object_of(address: Value) -> Object {
    let objects: Vec<Object> = roots(address).into_iter().map(object).collect();
    let all = |object| objects.iter().all(|&other| other == object);
    match () {
        () if all(Object::OnStack) => Object::OnStack,
        () if all(Object::Elsewhere) => Object::Elsewhere,
        () => Object::Unknown,
    }
}

/// The values that `address` is computed from and that are computed from no other address.
fn roots(address: Value) -> Vec<Value> {
    let (mut roots, mut seen, mut open) = (Vec::new(), BTreeSet::new(), vec![address]);
    while let Some(address) = open.pop() {
        let operands = if !seen.insert(address) {
            0..0
        } else if llvm::is_gep(address).is_some() || llvm::is_address_space_cast(address).is_some()
        {
            0..1
        } else if llvm::is_select(address).is_some() {
            1..3
        } else if llvm::is_phi(address).is_some() {
            0..llvm::operand_count(address) as u32
        } else {
            roots.push(address);
            0..0
        };
        open.extend(operands.map(|index| llvm::operand(address, index)));
    }
    roots
}

/// What a root points into.
fn object(root: Value) -> Object {
    if llvm::is_alloca(root).is_some() {
        Object::OnStack
    } else if is_parameter_of_function(root) {
        Object::Unknown
    } else if llvm::is_load(root).is_some() {
        // A kernel's parameters and the program's variables hold no address of a stack.
        let known = |root: Value| {
            llvm::is_global_variable(root).is_some()
                || llvm::is_argument(root).is_some() && !is_parameter_of_function(root)
        };
        match roots(llvm::operand(root, 0)).into_iter().all(known) {
            true => Object::Elsewhere,
            false => Object::Unknown,
        }
    } else {
        Object::Elsewhere
    }
}

/// Whether it is a parameter of a function that is no kernel.
fn is_parameter_of_function(value: Value) -> bool {
    llvm::is_argument(value).is_some()
        && llvm::call_convention(llvm::parameter_parent(value)) != llvm::PTX_KERNEL
}

/// The instruction as a load and a store, before the builder's place; `None` of an operation that Rust does not have.
fn plain(builder: Builder, atomic: Value, operands: &[Value]) -> Option<Value> {
    let (address, operand) = (operands[0], operands[1]);
    let old = load(builder, llvm::type_of(operand), address);
    if llvm::is_atomic_rmw(atomic).is_some() {
        let new = result(builder, llvm::atomic_operation(atomic), old, operand)?;
        llvm::build_store(builder, new, address);
        return Some(old);
    }
    let equal = llvm::compare(builder, predicate::EQ, old, operand);
    llvm::build_store(
        builder,
        llvm::select(builder, equal, operands[2], old),
        address,
    );
    let neither = llvm::undef(llvm::type_of(atomic));
    let first = llvm::insert_value(builder, neither, old, 0);
    Some(llvm::insert_value(builder, first, equal, 1))
}

/// What `old` becomes; `None` of an operation that Rust does not have.
fn result(builder: Builder, operation: i32, old: Value, operand: Value) -> Option<Value> {
    let binary = |opcode| llvm::binary(builder, opcode, old, operand);
    let choice = |predicate| {
        let keeps = llvm::compare(builder, predicate, old, operand);
        llvm::select(builder, keeps, old, operand)
    };
    Some(match operation {
        operation::EXCHANGE => operand,
        operation::ADD => binary(opcode::ADD),
        operation::SUB => binary(opcode::SUB),
        operation::AND => binary(opcode::AND),
        operation::NAND => llvm::not(builder, binary(opcode::AND)),
        operation::OR => binary(opcode::OR),
        operation::XOR => binary(opcode::XOR),
        operation::MAX => choice(predicate::SGT),
        operation::MIN => choice(predicate::SLT),
        operation::UNSIGNED_MAX => choice(predicate::UGT),
        operation::UNSIGNED_MIN => choice(predicate::ULT),
        operation::FLOAT_ADD => binary(opcode::FADD),
        operation::FLOAT_SUB => binary(opcode::FSUB),
        _ => return None,
    })
}

fn load(builder: Builder, of: Type, address: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { llvm::build_load(builder, of, address, c"".as_ptr()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    /// How many atomic instructions a module has afterwards, and how many looks at an address.
    fn left(text: &str) -> (usize, usize) {
        let (context, module) = parse(text);
        lower(context, module);
        distinguish(context, module).unwrap();
        crate::optimise::verify(module).unwrap();
        let instructions: Vec<Value> = llvm::functions(module)
            .flat_map(llvm::instructions)
            .collect();
        let looks = llvm::function(module, "llvm.nvvm.isspacep.local").map(llvm::calls_of);
        (
            instructions.iter().filter(|&&i| is_atomic(i)).count(),
            looks.map_or(0, |calls| calls.len()),
        )
    }

    #[test]
    fn on_the_stack_none_is_atomic() {
        let function = "define i32 @f(i32 %x, i1 %c) {
            %a = alloca [4 x i32]
            %b = alloca i32
            %q = getelementptr i32, ptr %a, i32 %x
            %p = select i1 %c, ptr %q, ptr %b
            %add = atomicrmw add ptr %p, i32 %x seq_cst
            %nand = atomicrmw nand ptr %b, i32 %x monotonic
            %pair = cmpxchg ptr %a, i32 %add, i32 %nand acq_rel monotonic
            %old = extractvalue { i32, i1 } %pair, 0
            ret i32 %old
        }";
        assert_eq!(left(function), (0, 0));
    }

    #[test]
    fn an_address_that_may_be_of_either_is_looked_at() {
        let function = |variable: &str| {
            format!(
                "@g = global i32 0
                define i32 @f(ptr %p, i32 %x) {{
                    {variable}
                    %old = atomicrmw xchg ptr %p, i32 %x seq_cst
                    %other = atomicrmw add ptr @g, i32 %old seq_cst
                    %pair = cmpxchg ptr %p, i32 %old, i32 %other acq_rel monotonic
                    ret i32 %other
                }}"
            )
        };
        assert_eq!(left(&function("%a = alloca i32")), (3, 2));
        assert_eq!(left(&function("")), (3, 0));
    }

    /// The address is loaded through itself.
    #[test]
    fn lists_are_followed() {
        let function = "define void @f(ptr %first, i1 %c) {
            entry:
                %a = alloca i32
                br label %next
            next:
                %p = phi ptr [ %first, %entry ], [ %following, %next ]
                %following = load ptr, ptr %p
                %old = atomicrmw add ptr %following, i32 1 monotonic
                br i1 %c, label %next, label %end
            end:
                ret void
        }";
        assert_eq!(left(function), (1, 1));
    }
}
