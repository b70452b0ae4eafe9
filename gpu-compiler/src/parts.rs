//! One module for each kernel: the kernel, and a copy of all that it reaches; and one of what kernels share.
//!
//! Kernels are compiled apart from each other, so that what comes out for one depends on nothing but its own code: it
//! can be kept for the next build ([`cache`](crate::cache)), helpers are inlined and specialised for the one kernel that
//! calls them, and kernels are compiled at the same time. Of variables that a kernel can write there is one each for all
//! kernels, whose name and type the parts share. Of some functions there is one for all, too
//! ([`shared_code`](crate::shared_code)).

use std::collections::BTreeSet;

use crate::error::Error;
use crate::link;
use crate::llvm::{self, Context, Metadata, Module, Value, linkage};
use crate::optimise::run_passes;
use crate::records::Kernel;
use crate::retarget;
use crate::shared_code;
use crate::step::Steps;

/// A linked module that parts can be taken out of, as bitcode.
pub struct Whole {
    kernels: Vec<u8>,
    shared: Vec<u8>,
}

impl Whole {
    /// Of a module whose definitions are internal but for the kernels.
    pub fn of(
        context: Context,
        module: Module,
        kernels: &[Kernel],
        steps: &Steps,
    ) -> Result<Self, Error> {
        forget_checksums(context, module);
        share_variables(module);
        let shared = shared_code::find(context, module, steps);
        let set_linkage = |functions: &[Value], linkage| {
            for &function in functions {
                llvm::set_linkage(function, linkage);
            }
        };
        let kernels: Vec<Value> = kernels.iter().map(|kernel| kernel.function).collect();
        set_linkage(&kernels, linkage::LINK_ONCE_ODR);
        set_linkage(&shared, linkage::LINK_ONCE_ODR);
        let with_shared = bitcode(module);
        // Leaves declarations of the shared functions; what is external stays.
        set_linkage(&kernels, linkage::EXTERNAL);
        set_linkage(&shared, linkage::AVAILABLE_EXTERNALLY);
        run_passes(module, "elim-avail-extern,globaldce", None)?;
        set_linkage(&kernels, linkage::LINK_ONCE_ODR);
        Ok(Whole {
            kernels: bitcode(module),
            shared: with_shared,
        })
    }

    /// The bitcode of a kernel and of what it reaches.
    pub fn kernel(&self, kernel: &Kernel<()>) -> Result<Vec<u8>, Error> {
        extract(&self.kernels, &BTreeSet::from([kernel.symbol.clone()]))
    }

    /// The bitcode of shared functions and of what they reach.
    pub fn shared(&self, symbols: &BTreeSet<String>) -> Result<Vec<u8>, Error> {
        extract(&self.shared, symbols)
    }
}

/// Forgets the checksums of source files, which change with every character in them.
fn forget_checksums(context: Context, module: Module) {
    let scopes: BTreeSet<Metadata> = llvm::functions(module)
        .flat_map(llvm::instructions)
        .filter_map(llvm::debug_location)
        .map(llvm::location_scope)
        .chain(llvm::functions(module).filter_map(llvm::subprogram))
        .collect();
    let files: BTreeSet<Metadata> = scopes.into_iter().filter_map(llvm::scope_file).collect();
    let (checksum, none) = (2, llvm::text(context, ""));
    for file in files {
        llvm::replace_node_operand(llvm::metadata_as_value(context, file), checksum, none);
    }
}

/// Lets LLVM's linker take the variables that a kernel can write as those of the same name, where they are referred to.
fn share_variables(module: Module) {
    let variables = llvm::globals(module).filter(|&global| {
        !llvm::declared_only(global)
            && (llvm::is_global_constant(global) == 0
                || llvm::is_externally_initialized(global) != 0)
    });
    for (index, variable) in variables.enumerate() {
        if llvm::name(variable).is_empty() {
            llvm::rename(variable, &format!("oxwarp_variable_{index}"));
        }
        make_public(variable);
        llvm::set_linkage(variable, linkage::LINK_ONCE_ODR);
    }
}

/// Gives a function or variable a name that it can have in PTX. LLVM does that for names that no other module sees.
pub fn make_public(value: Value) {
    let name = llvm::name(value);
    if name.contains(['.', '@']) {
        llvm::rename(value, &name.replace(['.', '@'], "_$_"));
    }
}

/// Takes functions and what they reach out of the bitcode of a module.
fn extract(whole: &[u8], symbols: &BTreeSet<String>) -> Result<Vec<u8>, Error> {
    let context = llvm::context_create();
    let whole = link::parse_lazily(context, whole, "the linked module")?;
    // SAFETY: the name is a C string.
    let part = unsafe { llvm::create_module(c"part".as_ptr(), context) };
    retarget::set_target(part);
    for symbol in symbols {
        let function = llvm::function(whole, symbol).ok_or_else(|| Error::Bitcode {
            what: symbol.clone(),
        })?;
        llvm::declare(part, symbol, llvm::value_type(function));
    }
    // SAFETY: `whole` is not used again.
    if unsafe { llvm::link_modules(part, whole) } != 0 {
        return Err(Error::Link {
            what: "a part of the linked module".into(),
            cause: "see the messages above".into(),
        });
    }
    for value in llvm::functions(part).chain(llvm::globals(part)) {
        if !llvm::declared_only(value) && !llvm::is_local(value) {
            let own = llvm::is_function(value).is_some() && !symbols.contains(&llvm::name(value));
            let linkage = if own {
                linkage::INTERNAL
            } else {
                linkage::EXTERNAL
            };
            llvm::set_linkage(value, linkage);
        }
    }
    let bitcode = bitcode(part);
    // SAFETY: the bitcode is a copy, and nothing else of the context is used again.
    unsafe {
        llvm::dispose_module(part);
        llvm::dispose_context(context);
    }
    Ok(bitcode)
}

fn bitcode(module: Module) -> Vec<u8> {
    let buffer = llvm::write_bitcode(module);
    // SAFETY: start and size are of one buffer, which is not used after its bytes are copied.
    unsafe {
        let (start, size) = (llvm::buffer_start(buffer), llvm::buffer_size(buffer));
        let bytes = std::slice::from_raw_parts(start, size).to_vec();
        llvm::dispose_buffer(buffer);
        bytes
    }
}
