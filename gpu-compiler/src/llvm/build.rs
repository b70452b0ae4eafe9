//! Builders of instructions, without names.

use super::library::*;
use super::{FUNCTION_INDEX, attribute};

const UNNAMED: *const std::ffi::c_char = c"".as_ptr();

/// `left & right`
pub fn and(builder: Builder, left: Value, right: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_and(builder, left, right, UNNAMED) }
}

/// `left | right`
pub fn or(builder: Builder, left: Value, right: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_or(builder, left, right, UNNAMED) }
}

/// `!value`
pub fn not(builder: Builder, value: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_not(builder, value, UNNAMED) }
}

/// `left + right`, wrapping.
pub fn add(builder: Builder, left: Value, right: Value) -> Value {
    binary(builder, super::opcode::ADD, left, right)
}

/// `left - right`, wrapping.
pub fn sub(builder: Builder, left: Value, right: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_sub(builder, left, right, UNNAMED) }
}

/// `left << right`
pub fn shift_left(builder: Builder, left: Value, right: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_shl(builder, left, right, UNNAMED) }
}

/// `value` as the wider unsigned type `to`.
pub fn zero_extend(builder: Builder, value: Value, to: Type) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_zext(builder, value, to, UNNAMED) }
}

/// `value`, or some value if it is undefined.
pub fn freeze(builder: Builder, value: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_freeze(builder, value, UNNAMED) }
}

/// A comparison of integers by one of [`predicate`](super::predicate).
pub fn compare(builder: Builder, predicate: i32, left: Value, right: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_icmp(builder, predicate, left, right, UNNAMED) }
}

/// An aggregate with another element `index`.
pub fn insert_value(builder: Builder, aggregate: Value, value: Value, index: u32) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_insert(builder, aggregate, value, index, UNNAMED) }
}

/// Field `index` of an aggregate.
pub fn extract(builder: Builder, aggregate: Value, index: u32) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_extract(builder, aggregate, index, UNNAMED) }
}

/// Result and overflow of an intrinsic such as `llvm.uadd.with.overflow`.
pub fn with_overflow(
    module: Module,
    builder: Builder,
    intrinsic: &str,
    of: Type,
    left: Value,
    right: Value,
) -> (Value, Value) {
    let id = lookup_intrinsic_id(intrinsic.as_ptr().cast(), intrinsic.len());
    // SAFETY: the intrinsic is overloaded on one type, and the names are C strings.
    unsafe {
        let function = intrinsic_declaration(module, id, &of, 1);
        let both = super::call(builder, value_type(function), function, &[left, right]);
        (extract(builder, both, 0), extract(builder, both, 1))
    }
}

/// The address of the element `index` of an array that starts at `pointer`.
pub fn element_pointer(builder: Builder, element: Type, pointer: Value, index: Value) -> Value {
    // SAFETY: one index is read, and the name is a C string.
    unsafe { build_gep(builder, element, pointer, &index, 1, UNNAMED) }
}

/// The result of an intrinsic of two operands such as `llvm.umin`, which is overloaded on their type.
pub fn intrinsic(module: Module, builder: Builder, name: &str, left: Value, right: Value) -> Value {
    let id = lookup_intrinsic_id(name.as_ptr().cast(), name.len());
    let of = type_of(left);
    // SAFETY: one type is read.
    let function = unsafe { intrinsic_declaration(module, id, &of, 1) };
    super::call(builder, value_type(function), function, &[left, right])
}

/// `if condition { yes } else { no }`
pub fn select(builder: Builder, condition: Value, yes: Value, no: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_select(builder, condition, yes, no, UNNAMED) }
}

/// Compares two floats.
pub fn compare_floats(builder: Builder, predicate: i32, left: Value, right: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_fcmp(builder, predicate, left, right, UNNAMED) }
}

/// The negative of a float.
pub fn negated(builder: Builder, value: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_fneg(builder, value, UNNAMED) }
}

/// Builds a cast of `opcode`.
pub fn cast(builder: Builder, opcode: i32, value: Value, to: Type) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_cast(builder, opcode, value, to, UNNAMED) }
}

/// Builds an operation of two operands.
pub fn binary(builder: Builder, opcode: i32, left: Value, right: Value) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_binary(builder, opcode, left, right, UNNAMED) }
}

/// A structure's type.
pub fn structure(context: Context, elements: &[Type]) -> Type {
    // SAFETY: pointer and length are of one slice.
    unsafe { struct_type(context, elements.as_ptr(), elements.len() as u32, 0) }
}

/// A text in memory that is never written, without a zero at its end.
pub fn constant_text(context: Context, module: Module, text: &str) -> Value {
    // SAFETY: pointer and length are of one string, and the name is a C string.
    let global = unsafe {
        let bytes = const_string(context, text.as_ptr().cast(), text.len(), 1);
        let global = add_global(module, type_of(bytes), UNNAMED, super::GENERIC);
        set_initializer(global, Some(bytes));
        global
    };
    set_global_constant(global, 1);
    set_linkage(global, super::linkage::INTERNAL);
    global
}

/// Inline assembly in LLVM's own notation.
pub fn inline_assembly(
    signature: Type,
    text: &str,
    constraints: &str,
    side_effects: bool,
) -> Value {
    let (att, no) = (0, 0);
    // SAFETY: pointers and lengths are of one string each.
    unsafe {
        inline_asm(
            signature,
            text.as_ptr().cast(),
            text.len(),
            constraints.as_ptr().cast(),
            constraints.len(),
            Bool::from(side_effects),
            no,
            att,
            no,
        )
    }
}

/// A phi without edges.
pub fn phi(builder: Builder, of: Type) -> Value {
    // SAFETY: the name is a C string.
    unsafe { build_phi(builder, of, UNNAMED) }
}

/// Gives a phi its value for the edge from `block`.
pub fn add_incoming_edge(phi: Value, value: Value, block: Block) {
    // SAFETY: one value and one block are read.
    unsafe { add_incoming(phi, &value, &block, 1) }
}

/// Makes the edges of a block's phis from `old` edges from `new`.
pub fn replace_edges(builder: Builder, block: Block, old: Block, new: Block) {
    for phi_of_old in super::phis(block) {
        position_before(builder, phi_of_old);
        let replaced = phi(builder, type_of(phi_of_old));
        for (value, from) in super::edges(phi_of_old) {
            add_incoming_edge(replaced, value, if from == old { new } else { from });
        }
        super::replace_instruction(phi_of_old, replaced);
    }
}

/// A new block at the end of a function.
pub fn append(context: Context, function: Value) -> Block {
    // SAFETY: the name is a C string.
    unsafe { append_block(context, function, UNNAMED) }
}

/// Gives a function attributes without a value, such as `noinline`.
pub fn add_attributes(context: Context, function: Value, kinds: &[&str]) {
    for kind in kinds {
        let attribute = create_enum_attribute(context, attribute(kind), 0);
        add_attribute(function, FUNCTION_INDEX, attribute);
    }
}
