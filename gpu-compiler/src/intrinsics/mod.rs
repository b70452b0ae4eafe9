//! Lowers the `gpu.*` symbols (`gpu_std::intrinsics`): each becomes an LLVM intrinsic, an instruction, or memory of its
//! own address space.
//!
//! - [`async_copy`]: copies from global to shared memory;
//! - [`atomic`]: read-modify-write, loads and stores with a scope;
//! - [`half`]: arithmetic on 16-bit floats;
//! - [`host_variable`]: what the device's runtime shares with the host;
//! - [`matrix`]: the matrix units;
//! - [`ptx`]: inline PTX;
//! - [`warp`]: what LLVM's own intrinsics of a warp leave to do.

mod async_copy;
mod atomic;
mod half;
mod host_variable;
mod matrix;
mod ptx;
mod warp;

pub use host_variable::{PANIC_SLOT, PRINT_BUFFER};

use crate::error::Error;
use crate::inert;
use crate::llvm::{self, Builder, Context, Module, Value, linkage, opcode};
use crate::names;
use crate::rust_constant;

/// The variable that is the grid barrier of the running launch; the host sets it to zeros before each.
pub const GRID_BARRIER: &str = "oxwarp_grid_barrier";
/// `gpu_std::grid::GridBarrier`: its bytes, and where in it `ended` is.
const GRID_BARRIER_BYTES: u64 = 12;
const GRID_BARRIER_ENDED: u64 = 8;
/// What `gpu_std::kernel::read_only_parameter` is called from here on; see [`optimise`](crate::optimise).
pub const READ_ONLY: &str = "gpu.read_only";

/// Lowers all `gpu.*` symbols of the module.
pub fn lower(context: Context, module: Module) -> Result<(), Error> {
    let lowering = Lowering {
        context,
        module,
        builder: llvm::create_builder(context),
    };
    lowering.host_variable(host_variable::PANIC_SLOT);
    lowering.grid_barrier_variable();
    for function in llvm::functions(module).collect::<Vec<_>>() {
        let name = llvm::name(function);
        if let Some(intrinsic) = name.strip_prefix("gpu.llvm.") {
            lowering.llvm_intrinsic(function, &format!("llvm.{intrinsic}"))?;
        } else if names::path(&name).starts_with("gpu_std::kernel::read_only_parameter") {
            lowering.read_only_parameter(function);
        } else {
            lowering.other(function, &name)?;
        }
    }
    Ok(())
}

/// Lowers what is floating-point arithmetic, so that all arithmetic is contracted by the same rule.
pub fn lower_arithmetic(context: Context, module: Module) -> Result<(), Error> {
    let lowering = Lowering {
        context,
        module,
        builder: llvm::create_builder(context),
    };
    for function in llvm::functions(module).collect::<Vec<_>>() {
        if let Some(operation) = llvm::name(function).strip_prefix("gpu.half.") {
            for call in llvm::calls_of(function) {
                llvm::position_before(lowering.builder, call);
                lowering.half(call, operation)?;
            }
        }
    }
    Ok(())
}

/// Gives the module the variable of the barrier.
pub fn add_grid_barrier(context: Context, module: Module) {
    let bytes = llvm::array_type(llvm::i8_type(context), GRID_BARRIER_BYTES);
    // SAFETY: the name lives through the call.
    let variable = unsafe {
        llvm::add_global(
            module,
            bytes,
            llvm::c_string(GRID_BARRIER).as_ptr(),
            llvm::GLOBAL,
        )
    };
    llvm::set_initializer(variable, Some(llvm::const_null(bytes)));
    llvm::set_externally_initialized(variable, 1);
    llvm::set_alignment(variable, 4);
}

type Rule = fn(&Lowering, Value) -> Result<(), Error>;

/// How a call of `gpu.<name>` is lowered.
fn rule(name: &str) -> Option<Rule> {
    Some(match name {
        "on_device" => Lowering::on_device,
        "place" => Lowering::place,
        "match.all.i32" | "match.all.i64" => Lowering::match_all,
        "ptx" => Lowering::ptx,
        "shared.static" => Lowering::shared_static,
        "shared.offset" => Lowering::shared_offset,
        "constant.static" => Lowering::constant_static,
        "shared.dynamic" => Lowering::shared_dynamic,
        "panic.slot" => Lowering::panic_slot,
        "grid.barrier" => Lowering::grid_barrier,
        "grid.leave" => Lowering::grid_leave,
        "print.buffer" => Lowering::print_buffer,
        "atomic.fence" => Lowering::atomic_fence,
        _ if name.starts_with("cp.async.") => Lowering::cp_async,
        _ if name.starts_with("mma.") => Lowering::mma,
        _ if name.starts_with("ldmatrix.") => Lowering::ldmatrix,
        _ => match name.strip_prefix("atomic.")?.rsplit_once('.')?.0 {
            "fadd" => Lowering::atomic_fadd,
            "rmw" => Lowering::atomic_rmw,
            "cas" => Lowering::atomic_cas,
            "load" => Lowering::atomic_load,
            "store" => Lowering::atomic_store,
            _ => return None,
        },
    })
}

fn malformed(what: &'static str) -> Error {
    Error::Record { what }
}

fn intrinsic_id(name: &str) -> Result<u32, Error> {
    match llvm::lookup_intrinsic_id(name.as_ptr().cast(), name.len()) {
        0 => Err(Error::Llvm {
            step: "intrinsics",
            cause: format!("this LLVM has no `{name}`"),
        }),
        id => Ok(id),
    }
}

/// The argument `index` of a call, which `gpu_std` passes as a constant.
fn constant(call: Value, index: u32) -> Result<u64, Error> {
    llvm::is_constant_int(llvm::operand(call, index))
        .map(llvm::zero_extended)
        .ok_or(malformed("a constant argument of an intrinsic"))
}

/// The C string that a constant points to.
pub fn constant_text(pointer: Value) -> Option<String> {
    let initializer = llvm::initializer(llvm::is_global_variable(pointer)?)?;
    let data = match llvm::is_constant_struct(initializer) {
        Some(structure) => llvm::operand(structure, 0),
        None => initializer,
    };
    let mut length = 0;
    // SAFETY: LLVM writes how many bytes the constant has, and constants live as long as the context.
    let bytes = unsafe {
        let data = llvm::raw_data(llvm::is_constant_data(data)?, &mut length);
        std::slice::from_raw_parts(data, length)
    };
    let text = bytes.split(|&byte| byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// What follows `gpu.` in the name of the function that is called.
fn name_of(call: Value) -> String {
    let name = llvm::name(llvm::called_value(call));
    name.strip_prefix("gpu.").unwrap_or_default().to_owned()
}

struct Lowering {
    context: Context,
    module: Module,
    builder: Builder,
}

impl Lowering {
    /// A new declaration has the intrinsic's attributes: `convergent`, memory effects, ranges.
    fn llvm_intrinsic(&self, function: Value, name: &str) -> Result<(), Error> {
        let id = intrinsic_id(name)?;
        let intrinsic = if llvm::intrinsic_is_overloaded(id) != 0 {
            llvm::declare(self.module, name, llvm::value_type(function))
        } else {
            self.known_intrinsic(name, &[])?
        };
        let convergent = llvm::attribute("convergent");
        if llvm::enum_attribute(intrinsic, llvm::FUNCTION_INDEX, convergent).is_none() {
            for call in llvm::calls_of(function) {
                llvm::remove_call_attribute(call, llvm::FUNCTION_INDEX, convergent);
            }
        }
        llvm::replace_all_uses(function, intrinsic);
        Ok(())
    }

    /// The declaration of an intrinsic that is overloaded on `types`.
    fn known_intrinsic(&self, name: &str, types: &[llvm::Type]) -> Result<Value, Error> {
        let id = intrinsic_id(name)?;
        // SAFETY: pointer and length are of one slice, and the types are those that the intrinsic is overloaded on.
        Ok(unsafe { llvm::intrinsic_declaration(self.module, id, types.as_ptr(), types.len()) })
    }

    fn other(&self, function: Value, name: &str) -> Result<(), Error> {
        let Some(name) = name.strip_prefix("gpu.") else {
            return Ok(());
        };
        if matches!(name, "malloc" | "free") {
            let provided = llvm::declare(self.module, name, llvm::value_type(function));
            llvm::replace_all_uses(function, provided);
            return Ok(());
        }
        let Some(lower) = rule(name) else {
            return Ok(());
        };
        for call in llvm::calls_of(function) {
            llvm::position_before(self.builder, call);
            lower(self, call)?;
        }
        Ok(())
    }

    /// True: this is the device.
    fn on_device(&self, call: Value) -> Result<(), Error> {
        llvm::replace_instruction(call, llvm::const_int(llvm::type_of(call), 1, 0));
        Ok(())
    }

    /// One `addrspace(3)` global for each key, which is the `TypeId` of a source place in one instance of the function
    /// around it: however often that function is inlined or copied, its array stays one.
    fn shared_static(&self, call: Value) -> Result<(), Error> {
        self.keyed_static(call, "shared", llvm::SHARED, |bytes, global| {
            llvm::set_initializer(global, Some(llvm::undef(bytes)));
            llvm::set_linkage(global, linkage::INTERNAL);
        })
    }

    /// One `addrspace(4)` global for each key, which is the `TypeId` that stands for the static. The host finds it by its
    /// name, and fills it when it loads the module.
    fn constant_static(&self, call: Value) -> Result<(), Error> {
        self.keyed_static(call, "constant", llvm::CONSTANT, |bytes, global| {
            llvm::set_initializer(global, Some(llvm::const_null(bytes)));
        })
    }

    /// Puts the address of the global of that kind and of the call's key in the place of the call; `complete` finishes a
    /// new global.
    fn keyed_static(
        &self,
        call: Value,
        kind: &str,
        space: u32,
        complete: impl FnOnce(llvm::Type, Value),
    ) -> Result<(), Error> {
        let (size, align) = (constant(call, 0)?, constant(call, 1)?);
        let name = format!(
            "{kind}_{:032x}",
            rust_constant::type_id(llvm::operand(call, 2))?
        );
        let global = llvm::global(self.module, &name).unwrap_or_else(|| {
            let bytes = llvm::array_type(llvm::i8_type(self.context), size.max(1));
            let global = self.global(&name, bytes, space);
            // What is there before the first write is unspecified, but not undefined: LLVM must load it.
            llvm::set_externally_initialized(global, 1);
            // 16 bytes let LLVM use the widest accesses.
            llvm::set_alignment(global, (align as u32).max(16));
            complete(bytes, global);
            global
        });
        let generic = llvm::pointer_type(self.context, 0);
        llvm::replace_instruction(call, llvm::const_address_space_cast(global, generic));
        Ok(())
    }

    /// Of the address in shared memory LLVM knows the alignment, of the generic one it does not.
    fn shared_offset(&self, call: Value) -> Result<(), Error> {
        let shared = llvm::pointer_type(self.context, llvm::SHARED);
        let address = llvm::operand(call, 0);
        let address = llvm::cast(self.builder, opcode::ADDR_SPACE_CAST, address, shared);
        let offset = llvm::cast(
            self.builder,
            opcode::PTR_TO_INT,
            address,
            llvm::type_of(call),
        );
        llvm::replace_instruction(call, offset);
        Ok(())
    }

    /// The launch decides how large it is: `.extern .shared`, of which a module has one.
    fn shared_dynamic(&self, call: Value) -> Result<(), Error> {
        const NAME: &str = "oxwarp_dynamic_shared";
        /// `gpu_std::shared::DYNAMIC_ALIGN`.
        const ALIGN: u32 = 128;
        let global = llvm::global(self.module, NAME).unwrap_or_else(|| {
            let bytes = llvm::array_type(llvm::i8_type(self.context), 0);
            let global = self.global(NAME, bytes, llvm::SHARED);
            llvm::set_alignment(global, ALIGN);
            global
        });
        let generic = llvm::pointer_type(self.context, 0);
        llvm::replace_instruction(call, llvm::const_address_space_cast(global, generic));
        Ok(())
    }

    /// A module in which a kernel asks for the barrier has the variable.
    fn grid_barrier_variable(&self) {
        let asked = llvm::function(self.module, "gpu.grid.barrier");
        if asked.is_some_and(|function| !llvm::calls_of(function).is_empty()) {
            add_grid_barrier(self.context, self.module);
        }
    }

    fn grid_barrier(&self, call: Value) -> Result<(), Error> {
        let variable =
            llvm::global(self.module, GRID_BARRIER).ok_or(malformed("a grid barrier"))?;
        let generic = llvm::pointer_type(self.context, 0);
        llvm::replace_instruction(call, llvm::const_address_space_cast(variable, generic));
        Ok(())
    }

    /// Stores 1 to `ended`, after all that the thread did. The store is there before the thread ends, and so before the
    /// other threads of its block go on without it.
    fn grid_leave(&self, call: Value) -> Result<(), Error> {
        if let Some(barrier) = llvm::global(self.module, GRID_BARRIER) {
            let [one, offset] = [
                llvm::const_int(llvm::i32_type(self.context), 1, 0),
                llvm::const_int(llvm::i64_type(self.context), GRID_BARRIER_ENDED, 0),
            ];
            let ended =
                llvm::element_pointer(self.builder, llvm::i8_type(self.context), barrier, offset);
            let store = llvm::build_store(self.builder, one, ended);
            self.publish_to_device(store);
            self.fence_device();
        }
        llvm::erase(call);
        Ok(())
    }

    /// Keeps the calls of the instances whose slice rustc itself calls read-only (`&[T]` where `T` has no interior
    /// mutability), as calls that no pass can mistake for an access.
    fn read_only_parameter(&self, function: Value) {
        let read_only = llvm::enum_attribute(function, 1, llvm::attribute("readonly")).is_some();
        let signature = llvm::signature(
            llvm::void_type(self.context),
            &[llvm::pointer_type(self.context, 0)],
        );
        for call in llvm::calls_of(function) {
            if read_only {
                let mark = llvm::declare(self.module, READ_ONLY, signature);
                inert::make_mark(self.context, mark);
                llvm::position_before(self.builder, call);
                llvm::call(self.builder, signature, mark, &[llvm::operand(call, 0)]);
            }
            llvm::erase(call);
        }
    }

    fn global(&self, name: &str, value_type: llvm::Type, address_space: u32) -> Value {
        // SAFETY: the name lives through the call.
        unsafe {
            llvm::add_global(
                self.module,
                value_type,
                llvm::c_string(name).as_ptr(),
                address_space,
            )
        }
    }
}
