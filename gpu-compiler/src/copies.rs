//! Copies of a few bytes as loads and stores of the widest registers.
//!
//! `*y = x[i]` of a 16-byte element is a `memcpy` or `memmove`. LLVM's back end makes loads and stores of 8 bytes out of
//! that, each load followed by its store, and never one that may use the read-only data cache. So these copies are written out before:
//! pieces of up to 16 bytes, as wide as the alignment of both sides allows, all loads before the stores.

use crate::llvm::{self, Builder, Context, FUNCTION_INDEX, Module, Type, Value};

/// The longest copy that is written out, in bytes.
const LONGEST: u64 = 128;
/// The widest load, in bytes.
const WIDEST: u64 = 16;

/// Writes out the short copies of a module.
pub fn write_out(context: Context, module: Module) {
    let builder = llvm::create_builder(context);
    for function in llvm::functions(module).collect::<Vec<_>>() {
        let name = llvm::name(function);
        if ["llvm.memcpy.", "llvm.memmove."]
            .iter()
            .any(|copy| name.starts_with(copy))
        {
            for call in llvm::calls_of(function) {
                write_out_one(context, builder, call);
            }
        }
    }
}

fn write_out_one(context: Context, builder: Builder, call: Value) {
    let length = llvm::is_constant_int(llvm::operand(call, 2)).map(llvm::zero_extended);
    let is_volatile = llvm::is_constant_int(llvm::operand(call, 3)).map(llvm::zero_extended);
    let (Some(length), Some(0)) = (length.filter(|&length| length <= LONGEST), is_volatile) else {
        return;
    };
    let [to, from] = [0, 1].map(|index| llvm::operand(call, index));
    let align = alignment(call, 1).min(alignment(call, 2)).min(WIDEST);
    llvm::position_before(builder, call);
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < length {
        let size = align.min(1 << (length - start).ilog2());
        let piece = piece(context, size);
        let load = load(context, builder, piece, (from, start), size);
        pieces.push((load, start, size));
        start += size;
    }
    for (value, start, size) in pieces {
        let store = llvm::build_store(builder, value, at(context, builder, to, start));
        llvm::set_alignment(store, size as u32);
    }
    llvm::erase(call);
}

fn load(
    context: Context,
    builder: Builder,
    piece: Type,
    (from, start): (Value, u64),
    size: u64,
) -> Value {
    let address = at(context, builder, from, start);
    // SAFETY: the name is a C string.
    let load = unsafe { llvm::build_load(builder, piece, address, c"".as_ptr()) };
    llvm::set_alignment(load, size as u32);
    load
}

fn at(context: Context, builder: Builder, pointer: Value, start: u64) -> Value {
    if start == 0 {
        return pointer;
    }
    let offset = llvm::const_int(llvm::i64_type(context), start, 0);
    llvm::element_pointer(builder, llvm::i8_type(context), pointer, offset)
}

/// A type of that many bytes that one instruction loads.
fn piece(context: Context, size: u64) -> Type {
    match size {
        1 => llvm::i8_type(context),
        2 => llvm::i16_type(context),
        4 => llvm::i32_type(context),
        8 => llvm::vector_type(llvm::i32_type(context), 2),
        _ => llvm::vector_type(llvm::i32_type(context), 4),
    }
}

/// What the call says of the alignment of its argument `index`, counted from one.
fn alignment(call: Value, index: u32) -> u64 {
    debug_assert_ne!(index, FUNCTION_INDEX);
    llvm::call_enum_attribute(call, index, llvm::attribute("align"))
        .map_or(1, llvm::attribute_value)
}
