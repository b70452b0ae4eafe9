//! Device functions of the user's own files: `#[device_link("ops.ptx")]`.
//!
//! Each such function calls `gpu.linked(symbol, file)`, both constant C strings, before what it computes on the simulator.
//! The function is replaced by a declaration of the symbol ([`Linked::read`]). LLVM bitcode is linked as libdevice is
//! ([`Linked::link`]). PTX is put into the text of the module's own ([`Linked::merge`]), so that `ptxas` can inline it and
//! the driver loads one module.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::intrinsics::constant_text;
use crate::link::{self, read_file};
use crate::llvm::{self, Context, Module};
use crate::ptx_text::{self, Statement};
use crate::target::Target;

const LINKED: &str = "gpu.linked";

/// The linked functions and files.
pub struct Linked {
    /// Symbols, and the file of each.
    functions: BTreeMap<String, PathBuf>,
    files: BTreeMap<PathBuf, File>,
}

enum File {
    Ptx(Vec<Statement>),
    Bitcode(Vec<u8>),
}

impl Linked {
    /// Finds the functions of a crate's bitcode, makes them declarations, and reads the files.
    pub fn read(module: Module) -> Result<Self, Error> {
        let mut linked = Linked {
            functions: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        let Some(mark) = llvm::function(module, LINKED) else {
            return Ok(linked);
        };
        for call in llvm::calls_of(mark) {
            let text = |index| {
                let what = "a linked function";
                constant_text(llvm::operand(call, index)).ok_or(Error::Record { what })
            };
            let (symbol, file) = (text(0)?, PathBuf::from(text(1)?));
            linked.open(&file)?;
            let function = llvm::function_of(call);
            let declaration = llvm::declare(module, &symbol, llvm::value_type(function));
            llvm::replace_all_uses(function, declaration);
            if let Some(other) = linked.functions.insert(symbol.clone(), file.clone())
                && other != file
            {
                return Err(twice(&symbol, &other, &file));
            }
        }
        Ok(linked)
    }

    fn open(&mut self, path: &Path) -> Result<(), Error> {
        if !self.files.contains_key(path) {
            let bytes = read_file(path)?;
            let file = if path.extension().is_some_and(|extension| extension == "bc") {
                File::Bitcode(bytes)
            } else {
                File::Ptx(ptx_text::statements(&String::from_utf8_lossy(&bytes)))
            };
            self.files.insert(path.into(), file);
        }
        Ok(())
    }

    /// Links what is missing and in bitcode; whether there was something.
    pub fn link(&self, context: Context, module: Module) -> Result<bool, Error> {
        let missing: Vec<String> = link::undefined(module)
            .into_iter()
            .map(llvm::name)
            .collect();
        let mut linked = false;
        for (path, file) in &self.files {
            let wanted = |name: &&String| self.functions.get(*name) == Some(path);
            if let File::Bitcode(bytes) = file
                && missing.iter().any(|name| wanted(&name))
            {
                let what = path.display().to_string();
                let source = link::parse_lazily(context, bytes, &what)?;
                llvm::strip_debug_info(source);
                link::link_as_needed(module, source, &what)?;
                linked |= missing
                    .iter()
                    .filter(wanted)
                    .any(|name| link::is_defined(module, name));
            }
        }
        Ok(linked)
    }

    /// What is wrong with the undefined function `symbol`, and what to do, if it is one of these. `Some(None)` if nothing
    /// is.
    pub fn fault(&self, symbol: &str, target: Target) -> Option<Option<(String, String)>> {
        let path = self.functions.get(symbol)?;
        let file = path.display();
        let File::Ptx(statements) = &self.files[path] else {
            return Some(Some(missing(symbol, path)));
        };
        if !defines(statements, symbol) {
            return Some(Some(missing(symbol, path)));
        }
        let needed = needed(statements, ".target").unwrap_or(0);
        Some((needed > target.0).then(|| {
            (
                format!("`{symbol}` is PTX for sm_{needed} in {file}, and this crate is compiled for {target}"),
                format!("make the file for {target}, or compile the crate for sm_{needed} (`targets` in Cargo.toml, or OXWARP_TARGETS)"),
            )
        }))
    }

    /// The functions in PTX, and the text of their files.
    pub fn ptx(&self) -> Vec<(&str, &[Statement])> {
        let functions = self.functions.iter();
        let ptx = functions.filter_map(|(symbol, path)| match &self.files[path] {
            File::Ptx(statements) => Some((symbol.as_str(), statements.as_slice())),
            File::Bitcode(_) => None,
        });
        ptx.collect()
    }

    /// The functions in PTX that a module calls.
    pub fn called_in(&self, module: Module) -> Vec<String> {
        let in_ptx = |path: &PathBuf| matches!(self.files[path], File::Ptx(_));
        let called = |symbol: &str| {
            llvm::function(module, symbol)
                .is_some_and(|function| llvm::first_use(function).is_some())
        };
        let functions = self.functions.iter();
        functions
            .filter(|(symbol, path)| in_ptx(path) && called(symbol))
            .map(|(symbol, _)| symbol.clone())
            .collect()
    }

    /// The PTX ISA that the files of these functions need.
    pub fn isa(&self, called: &[String]) -> u32 {
        let versions = self.used(called).into_iter();
        let versions = versions.filter_map(|(_, statements)| needed(statements, ".version"));
        versions.max().unwrap_or(0)
    }

    /// A module's PTX with the functions in PTX that it calls.
    pub fn merge(&self, called: &[String], ptx: String) -> Result<String, Error> {
        let used = self.used(called);
        if used.is_empty() {
            return Ok(ptx);
        }
        let (ptx, declared) = self.without_declarations(ptx);
        let mut taken: BTreeMap<String, &Path> = BTreeMap::new();
        let mut text = String::new();
        for (path, statements) in used {
            let own: BTreeSet<&str> = statements
                .iter()
                .filter(|statement| !statement.has(".extern"))
                .filter_map(Statement::name)
                .collect();
            let mut of_file = String::new();
            for statement in statements {
                let Some(name) = statement.name() else {
                    continue;
                };
                let known =
                    declared.contains(name) || taken.contains_key(name) || own.contains(name);
                if !(statement.has(".extern") && known) {
                    of_file.push_str(&as_shared(statement));
                    of_file.push('\n');
                }
            }
            for statement in statements.iter().filter(|one| !one.has(".extern")) {
                let Some((name, other)) = statement
                    .name()
                    .and_then(|name| Some((name, taken.get(name)?)))
                else {
                    continue;
                };
                if statement.has(".visible") {
                    return Err(twice(name, other, path));
                }
                of_file = ptx_text::rename(&of_file, name, &format!("{name}_{}", taken.len()));
            }
            for statement in statements {
                taken.extend(statement.name().map(|name| (name.to_owned(), path)));
            }
            text.push_str(&of_file);
        }
        let address_size = ".address_size 64\n";
        let at = ptx
            .find(address_size)
            .map_or(0, |at| at + address_size.len());
        Ok(format!("{}\n{text}{}", &ptx[..at], &ptx[at..]))
    }

    /// The module's PTX without its declarations of linked functions, and the names of its other declarations.
    fn without_declarations(&self, ptx: String) -> (String, BTreeSet<String>) {
        let mut kept = String::with_capacity(ptx.len());
        let mut declared = BTreeSet::new();
        let mut rest = ptx.as_str();
        while let Some(at) = rest.find(".extern .func") {
            let (statement, after) = ptx_text::first(&rest[at..]);
            let name = statement.name().unwrap_or_default();
            kept.push_str(&rest[..at]);
            if !self.functions.contains_key(name) {
                kept.push_str(statement.text());
                declared.insert(name.to_owned());
            }
            rest = after;
        }
        (kept + rest, declared)
    }

    /// The files of these functions.
    fn used(&self, called: &[String]) -> Vec<(&Path, &[Statement])> {
        let files = self.files.iter().filter_map(|(path, file)| match file {
            File::Ptx(statements) => Some((path.as_path(), statements.as_slice())),
            File::Bitcode(_) => None,
        });
        let paths: BTreeSet<&Path> = called
            .iter()
            .filter_map(|symbol| Some(self.functions.get(symbol)?.as_path()))
            .collect();
        files.filter(|(path, _)| paths.contains(path)).collect()
    }
}

/// A statement whose variable, if it is one that code can write, is visible: that is how those are known of which there is
/// one for all kernels, when these are loaded apart.
fn as_shared(statement: &Statement) -> Cow<'_, str> {
    let is_visible = [".visible", ".extern", ".weak", ".common"]
        .iter()
        .any(|word| statement.has(word));
    if statement.has(".global") && !is_visible {
        Cow::Owned(format!(".visible {}", statement.text()))
    } else {
        Cow::Borrowed(statement.text())
    }
}

fn missing(symbol: &str, path: &Path) -> (String, String) {
    (
        format!("there is no function `{symbol}` in {}", path.display()),
        "in CUDA C write `extern \"C\"` before it, or name the mangled symbol with `#[link_name]`"
            .into(),
    )
}

fn twice(symbol: &str, one: &Path, other: &Path) -> Error {
    Error::Link {
        what: other.display().to_string(),
        cause: format!("`{symbol}` is in {} too", one.display()),
    }
}

fn defines(statements: &[Statement], symbol: &str) -> bool {
    statements
        .iter()
        .any(|statement| statement.defines_function() && statement.name() == Some(symbol))
}

/// The number of `.version 6.3` (63) or `.target sm_75` (75).
fn needed(statements: &[Statement], directive: &str) -> Option<u32> {
    let value = statements
        .iter()
        .find_map(|statement| statement.directive(directive))?;
    let digits: String = value
        .trim_start_matches("sm_")
        .chars()
        .take_while(|&character| character.is_ascii_digit() || character == '.')
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}
