//! Iteration over modules and functions, names, and small constructors on top of the C API.

use std::ffi::CString;

use super::library::*;
use super::{FUNCTION_INDEX, kind, linkage};

/// All functions of a module, declarations too.
pub fn functions(module: Module) -> impl Iterator<Item = Value> {
    std::iter::successors(first_function(module), |&function| next_function(function))
}

/// All global variables of a module, declarations too.
pub fn globals(module: Module) -> impl Iterator<Item = Value> {
    std::iter::successors(first_global(module), |&global| next_global(global))
}

/// All aliases of a module.
pub fn aliases(module: Module) -> impl Iterator<Item = Value> {
    std::iter::successors(first_alias(module), |&alias| next_alias(alias))
}

/// All instructions of a function, collected: the function may be changed while one goes through them.
pub fn instructions(function: Value) -> Vec<Value> {
    std::iter::successors(first_block(function), |&block| next_block(block))
        .flat_map(block_instructions)
        .collect()
}

/// All instructions of a block, collected.
pub fn block_instructions(block: Block) -> Vec<Value> {
    std::iter::successors(first_instruction(block), |&i| next_instruction(i)).collect()
}

/// The value of an integer constant of at most 64 bits, unsigned.
pub fn unsigned_constant(value: Value) -> Option<u64> {
    narrow_constant(value).map(zero_extended)
}

/// The value of an integer constant of at most 64 bits, signed.
pub fn signed_constant(value: Value) -> Option<i64> {
    narrow_constant(value).map(sign_extended)
}

/// Whether a value is an integer of at most 64 bits.
pub fn is_narrow_integer(value: Value) -> bool {
    let of = type_of(value);
    type_kind(of) == kind::INTEGER && integer_width(of) <= 64
}

/// LLVM reads the low 64 bits of wider constants.
fn narrow_constant(value: Value) -> Option<Value> {
    is_constant_int(value).filter(|&constant| is_narrow_integer(constant))
}

/// The blocks of a function, collected.
pub fn blocks(function: Value) -> Vec<Block> {
    std::iter::successors(first_block(function), |&block| next_block(block)).collect()
}

/// Whether one edge leads into a block.
pub fn entered_once(block: Block) -> bool {
    // A terminator that leads there twice uses it twice.
    users(block_value(block)).len() == 1
}

/// The phis of a block, collected.
pub fn phis(block: Block) -> Vec<Value> {
    let instructions = block_instructions(block).into_iter();
    instructions.map_while(is_phi).collect()
}

/// A phi's values and the blocks that they come from, collected.
pub fn edges(phi: Value) -> Vec<(Value, Block)> {
    (0..incoming_count(phi))
        .map(|edge| (incoming_value(phi, edge), incoming_block(phi, edge)))
        .collect()
}

/// Whether an instruction calls what LLVM may call where it was not meant to be, such as `llvm.umin`.
pub fn is_speculatable_call(instruction: Value) -> bool {
    let callee = is_call(instruction).and_then(|call| is_function(called_value(call)));
    callee.is_some_and(|callee| {
        enum_attribute(callee, FUNCTION_INDEX, attribute("speculatable")).is_some()
    })
}

/// The conditional branch at the end of a block.
pub fn conditional_branch(block: Block) -> Option<Value> {
    terminator(block)
        .and_then(is_branch)
        .filter(|&branch| is_conditional(branch) != 0)
}

/// The value of a phi for the edge from `block`.
pub fn incoming_from(phi: Value, block: Block) -> Option<Value> {
    let mut edges = 0..incoming_count(phi);
    edges
        .find(|&edge| incoming_block(phi, edge) == block)
        .map(|edge| incoming_value(phi, edge))
}

/// The users of a value, collected.
pub fn users(value: Value) -> Vec<Value> {
    std::iter::successors(first_use(value), |&a_use| next_use(a_use))
        .map(user)
        .collect()
}

/// The calls and invokes of a function, collected.
pub fn calls_of(function: Value) -> Vec<Value> {
    let mut calls: Vec<Value> = users(function)
        .into_iter()
        .filter(|&user| is_call_of(user, function))
        .collect();
    calls.dedup();
    calls
}

/// Whether `instruction` calls (or invokes) something.
pub fn is_call_site(instruction: Value) -> bool {
    is_call(instruction).is_some() || is_invoke(instruction).is_some()
}

fn is_call_of(instruction: Value, function: Value) -> bool {
    is_call_site(instruction) && called_value(instruction) == function
}

/// The types of a function's parameters.
pub fn parameter_types(function: Value) -> Vec<Type> {
    (0..parameter_count(function))
        .map(|index| type_of(parameter(function, index)))
        .collect()
}

/// The type that a function returns.
pub fn result_type(function: Value) -> Type {
    return_type(value_type(function))
}

/// The operands of an instruction or constant.
pub fn operands(value: Value) -> impl Iterator<Item = Value> {
    (0..operand_count(value).max(0) as u32).map(move |index| operand(value, index))
}

/// Whether a function or global has no body here.
pub fn declared_only(global: Value) -> bool {
    is_declaration(global) != 0
}

/// The function around an instruction.
pub fn function_of(instruction: Value) -> Value {
    block_function(instruction_block(instruction))
}

/// A value's name; empty where it has none.
pub fn name(value: Value) -> String {
    let mut length = 0;
    // SAFETY: LLVM writes the length of the name that it returns.
    let bytes = unsafe { std::slice::from_raw_parts(value_name(value, &mut length), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Gives a value another name.
pub fn rename(value: Value, name: &str) {
    // SAFETY: pointer and length are of one string.
    unsafe { set_value_name(value, name.as_ptr(), name.len()) }
}

/// The function of that name, or a new declaration of it.
pub fn declare(module: Module, name: &str, function_type: Type) -> Value {
    let name = c_string(name);
    // SAFETY: the name lives through both calls.
    unsafe {
        named_function(module, name.as_ptr())
            .unwrap_or_else(|| add_function(module, name.as_ptr(), function_type))
    }
}

/// The function of that name.
pub fn function(module: Module, name: &str) -> Option<Value> {
    // SAFETY: the name lives through the call.
    unsafe { named_function(module, c_string(name).as_ptr()) }
}

/// The global variable of that name.
pub fn global(module: Module, name: &str) -> Option<Value> {
    // SAFETY: the name lives through the call.
    unsafe { named_global(module, c_string(name).as_ptr()) }
}

/// A function's type.
pub fn signature(result: Type, parameters: &[Type]) -> Type {
    // SAFETY: pointer and length are of one slice.
    unsafe { function_type(result, parameters.as_ptr(), parameters.len() as u32, 0) }
}

/// Builds a call.
pub fn call(builder: Builder, callee_type: Type, callee: Value, arguments: &[Value]) -> Value {
    // SAFETY: pointer and length are of one slice.
    unsafe {
        build_call(
            builder,
            callee_type,
            callee,
            arguments.as_ptr(),
            arguments.len() as u32,
            c"".as_ptr(),
        )
    }
}

/// Puts `new` in the place of `instruction`, which is erased.
pub fn replace_instruction(instruction: Value, new: Value) {
    replace_all_uses(instruction, new);
    erase(instruction);
}

/// Erases an instruction that has no uses.
pub fn erase(instruction: Value) {
    // SAFETY: callers keep no handle to it: they take it from a collected list, each once.
    unsafe { erase_instruction(instruction) }
}

/// The number of an enum attribute's kind.
pub fn attribute(kind: &str) -> u32 {
    // SAFETY: pointer and length are of one string.
    unsafe { attribute_kind(kind.as_ptr().cast(), kind.len()) }
}

/// An attribute that LLVM knows by its name.
pub fn string_attribute(context: Context, name: &str, value: &str) -> Attribute {
    // SAFETY: pointers and lengths are of one string each.
    unsafe {
        create_string_attribute(
            context,
            name.as_ptr().cast(),
            name.len() as u32,
            value.as_ptr().cast(),
            value.len() as u32,
        )
    }
}

/// Whether a function has an attribute that LLVM knows by its name.
pub fn has_string_attribute(function: Value, name: &str) -> bool {
    find_string_attribute(function, name).is_some()
}

/// The value of a function's attribute that LLVM knows by its name.
pub fn string_attribute_value(function: Value, name: &str) -> Option<String> {
    let attribute = find_string_attribute(function, name)?;
    let mut length = 0;
    // SAFETY: LLVM writes how long the text is, and attributes live as long as the context.
    let text = unsafe {
        let start = get_string_attribute_value(attribute, &mut length);
        std::slice::from_raw_parts(start, length as usize)
    };
    Some(String::from_utf8_lossy(text).into_owned())
}

fn find_string_attribute(function: Value, name: &str) -> Option<Attribute> {
    // SAFETY: pointer and length are of one string.
    unsafe {
        get_string_attribute(
            function,
            FUNCTION_INDEX,
            name.as_ptr().cast(),
            name.len() as u32,
        )
    }
}

/// The template of inline assembly.
pub fn assembly_text(assembly: Value) -> String {
    assembly_string(assembly, inline_asm_text)
}

/// The constraints of inline assembly.
pub fn assembly_constraints(assembly: Value) -> String {
    assembly_string(assembly, inline_asm_constraints)
}

fn assembly_string(assembly: Value, read: unsafe fn(Value, *mut usize) -> *const u8) -> String {
    let mut length = 0;
    // SAFETY: LLVM writes how long the text is, and the assembly lives as long as the context.
    let text = unsafe {
        let start = read(assembly, &mut length);
        std::slice::from_raw_parts(start, length)
    };
    String::from_utf8_lossy(text).into_owned()
}

/// Whether functions of this linkage are seen by other modules.
pub fn is_local(global: Value) -> bool {
    matches!(self::linkage(global), linkage::INTERNAL | linkage::PRIVATE)
}

/// A C string of `text`, which holds no zero byte.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// The number of a kind of metadata.
pub fn metadata_kind_named(context: Context, name: &str) -> u32 {
    // SAFETY: pointer and length are of one string.
    unsafe { metadata_kind(context, name.as_ptr().cast(), name.len() as u32) }
}

/// Metadata that says nothing but that it is there.
pub fn empty_metadata(context: Context) -> Value {
    metadata_as_value(context, node(context, &[]))
}

/// A node of metadata.
pub fn node(context: Context, operands: &[Metadata]) -> Metadata {
    // SAFETY: pointer and length are of one slice.
    unsafe { metadata_node(context, operands.as_ptr(), operands.len()) }
}

/// A node that another one takes the place of, by `replace_metadata`.
pub fn temporary_node(context: Context) -> Metadata {
    // SAFETY: no operands are read.
    unsafe { temporary_metadata_node(context, std::ptr::null(), 0) }
}

/// A text as metadata.
pub fn text(context: Context, text: &str) -> Metadata {
    // SAFETY: pointer and length are of one string.
    unsafe { metadata_text(context, text.as_ptr().cast(), text.len()) }
}
