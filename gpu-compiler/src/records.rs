//! Finds the kernel records in the bitcode and makes each entry a `ptx_kernel`.
//!
//! A record is a constant that `gpu_std::kernel::KernelRecord` lays out; its entry is a function that takes a pointer
//! to the parameter struct. The `ptx_kernel` takes that struct by value, with Rust's size and alignment, so the host's
//! C ABI never decides how a parameter crosses the launch.

use std::collections::BTreeMap;

use crate::block_shape;
use crate::error::Error;
use crate::llvm::{self, Context, Module, Value};
use crate::rust_constant::{Constant, data, malformed};

/// `gpu_std::kernel::KERNEL_MAGIC`.
const KERNEL_MAGIC: &[u8; 16] = b"oxwarp kernel 01";
/// `gpu_std::runtime::RUNTIME_MAGIC`.
const RUNTIME_MAGIC: &[u8; 16] = b"oxwarp runtime01";
/// `gpu_std::kernel::NO_FMA`.
const NO_FMA: u32 = 1;
/// `gpu_std::kernel::TAKES_POINTERS`.
const TAKES_POINTERS: u32 = 2;
/// `gpu_std::kernel::FAST_MATH`.
const FAST_MATH: u32 = 4;
/// `gpu_std::kernel::unchecked`.
const UNCHECKED: u32 = 8;

/// What a kernel chooses for its own code and what it reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choices {
    /// Multiplications and additions may be contracted.
    pub fma: bool,
    /// `f32` arithmetic may be approximate.
    pub fast_math: bool,
    /// Nothing panics.
    pub unchecked: bool,
}

/// A kernel instance that this crate has the code of; `Kernel<()>` is what is known of it outside of any module.
#[derive(Clone, Debug)]
pub struct Kernel<Function = Value> {
    pub id: u128,
    pub name: String,
    pub module_path: String,
    /// Where its name stands.
    pub file: String,
    pub line: u32,
    pub choices: Choices,
    /// Whether a raw pointer may be among its parameters.
    pub takes_pointers: bool,
    /// The places of the views of device memory in the parameter struct, in bytes.
    pub views: Vec<u64>,
    /// The `ptx_kernel`.
    pub function: Function,
    /// Its name.
    pub symbol: String,
    /// The name of the Rust function that it calls.
    pub entry: String,
}

impl<Function> Kernel<Function> {
    /// The same kernel, as `function`.
    pub fn with<Other>(&self, function: Other) -> Kernel<Other> {
        Kernel {
            id: self.id,
            name: self.name.clone(),
            module_path: self.module_path.clone(),
            file: self.file.clone(),
            line: self.line,
            choices: self.choices,
            takes_pointers: self.takes_pointers,
            views: self.views.clone(),
            function,
            symbol: self.symbol.clone(),
            entry: self.entry.clone(),
        }
    }
}

/// What the records say.
#[derive(Debug, Default)]
pub struct Records {
    pub kernels: Vec<Kernel>,
    /// Paths of core's and alloc's functions, and the symbol of what replaces each on a device.
    pub replacements: BTreeMap<String, String>,
}

/// Reads all records and adds a `ptx_kernel` for each whose entry is defined here. An entry that is only declared
/// belongs to a kernel of another crate, which has compiled it.
pub fn read(context: Context, module: Module) -> Result<Records, Error> {
    let mut records = Records::default();
    let found: Vec<Constant> = llvm::globals(module)
        .filter_map(llvm::initializer)
        .filter(|&initializer| starts_with(initializer, KERNEL_MAGIC))
        .map(Constant::of)
        .collect::<Result<_, _>>()?;
    for record in found {
        let entry = record.pointer(32)?;
        if llvm::declared_only(entry) {
            continue;
        }
        if records.replacements.is_empty() {
            records.replacements = replacements(record.pointer(40)?)?;
        }
        records
            .kernels
            .push(kernel(context, module, &record, entry)?);
    }
    records.kernels.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    Ok(records)
}

fn kernel(
    context: Context,
    module: Module,
    record: &Constant,
    entry: Value,
) -> Result<Kernel, Error> {
    let id = record.u128(16)?;
    let name = record.text(48)?;
    let flags = record.u32(100)?;
    let symbol = symbol(&name, id);
    let function = ptx_kernel(
        context,
        module,
        &symbol,
        entry,
        record.u64(104)?,
        record.u64(112)?,
    );
    add_bounds(context, function, record)?;
    Ok(Kernel {
        id,
        name,
        module_path: record.text(64)?,
        file: record.text(80)?,
        line: record.u32(96)?,
        choices: Choices {
            fma: flags & NO_FMA == 0,
            fast_math: flags & FAST_MATH != 0,
            unchecked: flags & UNCHECKED != 0,
        },
        takes_pointers: flags & TAKES_POINTERS != 0,
        views: record.numbers(120)?,
        function,
        symbol,
        entry: llvm::name(entry),
    })
}

/// Says what the kernel's options say of its launches. Of the block's threads PTX takes the exact number or the most.
fn add_bounds(context: Context, function: Value, record: &Constant) -> Result<(), Error> {
    let add = |name: &str, value: &str| {
        let attribute = llvm::string_attribute(context, name, value);
        llvm::add_attribute(function, llvm::FUNCTION_INDEX, attribute);
    };
    let [x, y, z] = [record.u32(148)?, record.u32(152)?, record.u32(156)?];
    let is_exact = x > 0;
    if is_exact {
        add(block_shape::ATTRIBUTE, &format!("{x},{y},{z}"));
    }
    let [x, y, z] = [record.u32(160)?, record.u32(164)?, record.u32(168)?];
    if x > 0 {
        // Which LLVM leaves out for targets without clusters.
        add("nvvm.cluster_dim", &format!("{x},{y},{z}"));
    }
    for (attribute, at) in [("maxntid", 136), ("minctasm", 140), ("maxnreg", 144)] {
        let bound = record.u32(at)?;
        if bound > 0 && !(attribute == "maxntid" && is_exact) {
            add(&format!("nvvm.{attribute}"), &bound.to_string());
        }
    }
    Ok(())
}

/// The name in PTX, whose letters are ASCII.
fn symbol(name: &str, id: u128) -> String {
    let ascii = |letter: char| if letter.is_ascii() { letter } else { '_' };
    format!("{}_{id:032x}", name.chars().map(ascii).collect::<String>())
}

/// `ptx_kernel void symbol(ptr byval([size x i8]) align(align))`, which calls `entry` with that pointer.
fn ptx_kernel(
    context: Context,
    module: Module,
    symbol: &str,
    entry: Value,
    size: u64,
    align: u64,
) -> Value {
    let pointer = llvm::pointer_type(context, 0);
    let void = llvm::void_type(context);
    let parameters = if size == 0 { &[][..] } else { &[pointer][..] };
    let function = llvm::declare(module, symbol, llvm::signature(void, parameters));
    llvm::set_call_convention(function, llvm::PTX_KERNEL);
    if size > 0 {
        let bytes = llvm::array_type(llvm::i8_type(context), size);
        let by_value = llvm::create_type_attribute(context, llvm::attribute("byval"), bytes);
        let aligned = llvm::create_enum_attribute(context, llvm::attribute("align"), align);
        llvm::add_attribute(function, 1, by_value);
        llvm::add_attribute(function, 1, aligned);
    }
    let builder = llvm::create_builder(context);
    let body = llvm::append(context, function);
    llvm::position_at_end(builder, body);
    let argument = if size == 0 {
        llvm::const_null(pointer)
    } else {
        llvm::parameter(function, 0)
    };
    llvm::call(builder, llvm::value_type(entry), entry, &[argument]);
    llvm::build_return_void(builder);
    let always_inline = llvm::create_enum_attribute(context, llvm::attribute("alwaysinline"), 0);
    llvm::remove_enum_attribute(entry, llvm::FUNCTION_INDEX, llvm::attribute("noinline"));
    llvm::add_attribute(entry, llvm::FUNCTION_INDEX, always_inline);
    function
}

/// The pointers in each constant that begins with these bytes, in their order.
pub fn pointers_of_tables(module: Module, magic: &[u8; 16]) -> Result<Vec<Vec<Value>>, Error> {
    llvm::globals(module)
        .filter_map(llvm::initializer)
        .filter(|&initializer| starts_with(initializer, magic))
        .map(|initializer| Ok(Constant::of(initializer)?.pointers()))
        .collect()
}

/// Reads `gpu_std::runtime::RUNTIME`.
fn replacements(table: Value) -> Result<BTreeMap<String, String>, Error> {
    let initializer = llvm::initializer(table).ok_or(malformed("the runtime table"))?;
    if !starts_with(initializer, RUNTIME_MAGIC) {
        return Err(malformed("the runtime's magic"));
    }
    let table = Constant::of(initializer)?;
    let count = table.u64(16)?;
    (0..count as usize)
        .map(|index| {
            let at = 24 + index * 24;
            Ok((table.text(at)?, llvm::name(table.pointer(at + 16)?)))
        })
        .collect()
}

fn starts_with(initializer: Value, magic: &[u8; 16]) -> bool {
    llvm::is_constant_struct(initializer).is_some()
        && llvm::operand_count(initializer) > 0
        && llvm::is_constant_data(llvm::operand(initializer, 0))
            .is_some_and(|first| data(first).starts_with(magic))
}
