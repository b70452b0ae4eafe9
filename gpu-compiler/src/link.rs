//! Links in what kernels reach, and nothing else.
//!
//! A module is linked "as needed" by making its definitions `linkonce_odr`: LLVM's linker then takes only those that
//! something refers to. It is read lazily, so that the rest is never parsed. Rounds go on until no symbol is left that
//! some source defines:
//!
//! 1. the user's own files ([`linked`](crate::linked));
//! 2. the device runtime: functions of the crate's own bitcode that replace core's and alloc's (`gpu_std::runtime`);
//! 3. the mathematical functions ([`math`](crate::math));
//! 4. the toolchain's core, alloc and compiler_builtins;
//! 5. the crates that the user's depends on, as far as their libraries hold bitcode ([`dependencies`](crate::dependencies)).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::check;
use crate::dependencies::Dependencies;
use crate::error::Error;
use crate::futex;
use crate::host_hints;
use crate::linked::Linked;
use crate::llvm::{self, Context, Module, Value, linkage};
use crate::math::{self, Libdevice};
use crate::missing;
use crate::names;
use crate::optimise::run_passes;
use crate::records::Records;
use crate::request::Request;
use crate::retarget;
use crate::std_bitcode::StdBitcode;
use crate::wide_integers;

/// The sources of definitions.
pub struct Sources<'a> {
    context: Context,
    bitcode: Vec<u8>,
    replacements: &'a BTreeMap<String, String>,
    std: StdBitcode,
    dependencies: Dependencies,
    libdevice: Option<Libdevice>,
}

impl<'a> Sources<'a> {
    /// Opens the sources that `request` names.
    pub fn open(context: Context, request: &Request, records: &'a Records) -> Result<Self, Error> {
        let bitcode = read_file(&request.bitcode)?;
        let libdevice = request
            .libdevice
            .as_deref()
            .map(Libdevice::open)
            .transpose()?;
        let std = StdBitcode::open(&request.rust_libraries)?;
        Ok(Sources {
            context,
            bitcode,
            replacements: &records.replacements,
            std,
            dependencies: Dependencies::new(request),
            libdevice,
        })
    }

    /// Links into `module` all that its kernels reach, and drops the rest.
    pub fn link_into(
        &self,
        module: Module,
        kernels: &[Value],
        linked: &Linked,
    ) -> Result<(), Error> {
        drop_roots(module);
        keep_only(module, kernels)?;
        while self.link_rust(module)? {
            keep_only(module, kernels)?;
        }
        // From here on assembly is libdevice's.
        check::mark_host_assembly(self.context, module);
        host_hints::lower(self.context, module);
        while linked.link(self.context, module)?
            || self.link_math(module)?
            || self.link_rust(module)?
            || missing::replace(self.context, module)
        {
            keep_only(module, kernels)?;
        }
        set_linkage(module, kernels, linkage::INTERNAL);
        Ok(())
    }

    /// Links what is missing of the device runtime and the standard library; whether there was something.
    fn link_rust(&self, module: Module) -> Result<bool, Error> {
        math::name_calls(module);
        wide_integers::name_conversions(module);
        futex::answer(module);
        let mut missing: Vec<String> = undefined(module).into_iter().map(llvm::name).collect();
        missing.retain(|name| !math::is_function(name));
        let linked = self.link_runtime(module, &missing)? | self.link_std(module, &missing)?;
        Ok(linked || self.link_dependencies(module, &missing)?)
    }

    fn link_runtime(&self, module: Module, missing: &[String]) -> Result<bool, Error> {
        let mut wanted = BTreeSet::new();
        for symbol in missing {
            if let Some(replacement) = self.replacements.get(&names::path(symbol)) {
                replace(module, symbol, replacement);
                wanted.insert(replacement);
            } else if self.replacements.values().any(|name| name == symbol) {
                wanted.insert(symbol);
            }
        }
        if wanted.is_empty() {
            return Ok(false);
        }
        let runtime = parse_lazily(self.context, &self.bitcode, "the crate")?;
        for function in llvm::functions(runtime) {
            let name = llvm::name(function);
            if self.replacements.values().any(|other| *other == name) {
                llvm::set_linkage(function, linkage::EXTERNAL);
                self.keep_out_of_line(function);
            } else if is_cold_runtime(function, &name) {
                self.keep_out_of_line(function);
            }
        }
        drop_roots(runtime);
        link_as_needed(module, runtime, "the device runtime")?;
        Ok(wanted.iter().any(|name| is_defined(module, name)))
    }

    /// A panic is rare, and small kernels are fast; but what asks to be inlined always (`panic_fmt`) is.
    fn keep_out_of_line(&self, function: Value) {
        if llvm::enum_attribute(
            function,
            llvm::FUNCTION_INDEX,
            llvm::attribute("alwaysinline"),
        )
        .is_none()
        {
            let noinline =
                llvm::create_enum_attribute(self.context, llvm::attribute("noinline"), 0);
            llvm::add_attribute(function, llvm::FUNCTION_INDEX, noinline);
        }
    }

    fn link_math(&self, module: Module) -> Result<bool, Error> {
        let missing: Vec<String> = undefined(module).into_iter().map(llvm::name).collect();
        let wanted: Vec<&String> = missing
            .iter()
            .filter(|name| math::is_function(name))
            .collect();
        if wanted.is_empty() {
            return Ok(false);
        }
        let (source, what) = match &self.libdevice {
            Some(libdevice) => (
                parse_lazily(self.context, libdevice.bitcode(), "libdevice")?,
                "libdevice",
            ),
            None => (parse_lazily(self.context, math::LIBM, "libm")?, "libm"),
        };
        math::mark(self.context, source);
        math::name_definitions(source, &wanted, self.libdevice.is_some());
        llvm::strip_debug_info(source);
        link_as_needed(module, source, what)?;
        Ok(wanted.iter().any(|name| is_defined(module, name)))
    }

    fn link_std(&self, module: Module, missing: &[String]) -> Result<bool, Error> {
        let members: BTreeSet<_> = missing
            .iter()
            .filter_map(|name| self.std.defines(name))
            .collect();
        for member in members {
            if let Some(bitcode) = self.std.bitcode(member)? {
                let source = parse_lazily(self.context, bitcode, "the standard library")?;
                llvm::strip_debug_info(source);
                self.hide_host_definitions(source, |symbol| {
                    missing.contains(symbol) && self.std.defines(symbol) != Some(member)
                });
                link_as_needed(module, source, "the standard library")?;
            }
        }
        Ok(missing.iter().any(|name| is_defined(module, name)))
    }

    /// Links what is missing of other crates, once nothing else is: then all that is left is theirs.
    fn link_dependencies(&self, module: Module, missing: &[String]) -> Result<bool, Error> {
        let missing = missing.iter().filter(|name| !is_defined(module, name));
        let missing: Vec<&String> = missing.collect();
        for bitcode in self.dependencies.find(missing.iter().copied())? {
            let source = parse_lazily(self.context, &bitcode, "a dependency")?;
            llvm::strip_debug_info(source);
            self.hide_host_definitions(source, |symbol| self.std.defines(symbol).is_some());
            link_as_needed(module, source, "a dependency")?;
        }
        Ok(missing.iter().any(|name| is_defined(module, name)))
    }

    /// LLVM's linker takes whatever the module declares. What the runtime replaces is made a declaration in `source`
    /// too, and what is not this object's to define (std's own functions) gets another name.
    fn hide_host_definitions(&self, source: Module, is_foreign: impl Fn(&String) -> bool) {
        let functions = llvm::functions(source).filter(|&function| !llvm::declared_only(function));
        for function in functions.collect::<Vec<_>>() {
            let symbol = llvm::name(function);
            let replaced = self.is_replaced(&symbol);
            if replaced || is_foreign(&symbol) {
                llvm::rename(function, &format!("{symbol}.host"));
            }
            if replaced {
                let declaration = llvm::declare(source, &symbol, llvm::value_type(function));
                llvm::replace_all_uses(function, declaration);
            }
        }
    }

    /// A mangled symbol holds the last part of its path as it is, which spares demangling most of them.
    fn is_replaced(&self, symbol: &str) -> bool {
        let last_part = |path: &str| {
            path.rsplit("::")
                .next()
                .is_some_and(|part| symbol.contains(part))
        };
        self.replacements.keys().any(|path| last_part(path))
            && self.replacements.contains_key(&names::path(symbol))
    }
}

/// Whether a function is one of `gpu_std` that is marked `#[cold]`.
fn is_cold_runtime(function: Value, symbol: &str) -> bool {
    symbol.contains("gpu_std")
        && llvm::enum_attribute(function, llvm::FUNCTION_INDEX, llvm::attribute("cold")).is_some()
}

/// Lets `replacement` take the place of the declared function `symbol`. The calls say `noinline`, as core's panics do:
/// whether the replacement is inlined is its own choice.
fn replace(module: Module, symbol: &str, replacement: &str) {
    if let Some(function) = llvm::function(module, symbol) {
        for call in llvm::calls_of(function) {
            llvm::remove_call_attribute(call, llvm::FUNCTION_INDEX, llvm::attribute("noinline"));
        }
        let replacement = llvm::declare(module, replacement, llvm::value_type(function));
        llvm::replace_all_uses(function, replacement);
    }
}

/// A file's bytes.
pub fn read_file(path: &std::path::Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|cause| Error::File {
        path: path.into(),
        cause,
    })
}

/// Reads a module whole.
pub fn parse(context: Context, bitcode: &[u8], what: &str) -> Result<Module, Error> {
    let mut module = None;
    // SAFETY: the buffer copies the bytes, and LLVM writes the module.
    let failed = unsafe { llvm::parse_bitcode(context, buffer(bitcode), &mut module) };
    module
        .filter(|_| failed == 0)
        .ok_or_else(|| Error::Bitcode { what: what.into() })
}

/// Reads a module's names; a function's body is read when it is linked.
pub fn parse_lazily(context: Context, bitcode: &[u8], what: &str) -> Result<Module, Error> {
    let mut module = None;
    // SAFETY: the buffer copies the bytes, and LLVM writes the module, which owns the buffer from then on.
    let failed = unsafe { llvm::parse_bitcode_lazily(context, buffer(bitcode), &mut module) };
    module
        .filter(|_| failed == 0)
        .ok_or_else(|| Error::Bitcode { what: what.into() })
}

fn buffer(bytes: &[u8]) -> llvm::Buffer {
    // SAFETY: pointer and length are of one slice, which LLVM copies.
    unsafe { llvm::buffer_from_bytes(bytes.as_ptr(), bytes.len(), c"bitcode".as_ptr()) }
}

/// Links those definitions of `source` that `module` refers to. `source` is gone afterwards.
pub fn link_as_needed(module: Module, source: Module, what: &str) -> Result<(), Error> {
    for value in llvm::functions(source)
        .chain(llvm::globals(source))
        .chain(llvm::aliases(source))
    {
        if !llvm::declared_only(value) && !llvm::is_local(value) {
            llvm::set_linkage(value, linkage::LINK_ONCE_ODR);
            llvm::set_comdat(value, None);
        }
    }
    retarget::set_target(source);
    // SAFETY: `source` is not used again.
    if unsafe { llvm::link_modules(module, source) } != 0 {
        return Err(Error::Link {
            what: what.into(),
            cause: "see the messages above".into(),
        });
    }
    Ok(())
}

/// Removes what would keep host code alive: constructors, and lists of used symbols.
fn drop_roots(module: Module) {
    for name in [
        "llvm.used",
        "llvm.compiler.used",
        "llvm.global_ctors",
        "llvm.global_dtors",
    ] {
        if let Some(list) = llvm::global(module, name) {
            // SAFETY: nothing refers to such a list, and its handle goes no further.
            unsafe { llvm::delete_global(list) };
        }
    }
}

/// Drops what the kernels do not reach. Nothing unwinds on a device, and without its
/// clean-up paths a function reaches less.
fn keep_only(module: Module, kernels: &[Value]) -> Result<(), Error> {
    run_passes(module, "function(lower-invoke,unreachableblockelim)", None)?;
    for function in llvm::functions(module).filter(|&function| llvm::has_personality(function) != 0)
    {
        llvm::set_personality(function, None);
    }
    set_linkage(module, kernels, linkage::LINK_ONCE_ODR);
    run_passes(module, "globaldce", None)
}

/// Gives all definitions but the kernels a linkage with which they are dropped when nothing refers to them.
fn set_linkage(module: Module, kernels: &[Value], linkage: i32) {
    for value in llvm::functions(module)
        .chain(llvm::globals(module))
        .chain(llvm::aliases(module))
    {
        llvm::set_comdat(value, None);
        if !llvm::declared_only(value) && !llvm::is_local(value) && !kernels.contains(&value) {
            llvm::set_visibility(value, 0);
            llvm::set_linkage(value, linkage);
        }
    }
}

/// Whether the module has the function or variable, not only a declaration of it.
pub fn is_defined(module: Module, name: &str) -> bool {
    llvm::function(module, name)
        .or_else(|| llvm::global(module, name))
        .is_some_and(|value| !llvm::declared_only(value))
}

/// Functions and globals that are used but not defined, less those that LLVM or this compiler knows.
pub fn undefined(module: Module) -> Vec<Value> {
    llvm::functions(module)
        .chain(llvm::globals(module))
        .filter(|&value| llvm::declared_only(value) && llvm::first_use(value).is_some())
        .filter(|&value| {
            llvm::is_function(value).is_none_or(|function| llvm::intrinsic_id(function) == 0)
        })
        .filter(|&value| !llvm::name(value).starts_with("gpu."))
        .collect()
}
