//! The exits of kernels: what the frequent panics become, so that they cost a kernel few registers and little text.
//!
//! A panic whose message and place are constants (an index out of bounds, an overflow, `unwrap`) becomes a call of one of
//! two functions that each module has ([`functions`]), with the number of its place in the module and, for an index, with
//! what the message says of it. What the numbers stand for is in comments at the end of each kernel ([`describe`]), where
//! the host and reports read it. Other panics stay calls of the device's runtime.
//!
//! The functions are text, since LLVM passes arguments in memory and lets `ptxas` keep half of the registers for the
//! callee. These have them in registers, so `ptxas` gives each kernel a copy of its own, which takes what registers the
//! kernel has. They store one word at a time, in order (`volatile`), each from the same register: a move with a predicate
//! may leave what the register had, so it waits for the store before. Else `ptxas` would read all that a thread stores at
//! once, into as many registers. The order is the one that takes the fewest in most kernels.
//!
//! The record is as `gpu_std::runtime::PanicRecord` lays it out. A thread that gets its address out of the slot is the only
//! one that writes it; the host reads it once the kernel has ended, so no fence is needed.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::llvm::{self, Context, FUNCTION_INDEX, Module, Value};
use crate::reach::reach;
use crate::rust_constant::{self, Constant};

/// How the names of the functions begin.
const NAME: &str = "oxwarp_panic";
/// How a comment begins that says what a number stands for.
const COMMENT: &str = "\t// panic ";
/// The variable that the functions read, as LLVM declares it.
const SLOT: &str = ".visible .global .align 8 .u64 oxwarp_panic_slot;";

/// What an index out of bounds says of itself besides its place, and registers to store it.
const PARAMETERS: &str = "	.reg .b64 index,\n	.reg .b64 len,\n";
const REGISTERS: &str = "	.reg .b32 	low, high;\n";
/// Stores it as the operands of `PanicRecord`.
const STORE_OPERANDS: &str = "	mov.b64 	{low, high}, len;
	@!%late mov.b32 	word, low;
	st.volatile.global.b32 	[record+80], word;
	@!%late mov.b32 	word, high;
	st.volatile.global.b32 	[record+84], word;
	st.volatile.global.b64 	[record+72], index;
";

/// Where in the source a kernel can panic, and with what message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Site {
    file: String,
    line: u32,
    column: u32,
    /// `None` for an index out of bounds.
    message: Option<String>,
}

/// The places of a kernel's panics; the index of each is its number.
#[derive(Debug, Default)]
pub struct Sites(Vec<Site>);

impl Sites {
    fn number(&mut self, site: Site) -> usize {
        let known = self.0.iter().position(|known| *known == site);
        known.unwrap_or_else(|| {
            self.0.push(site);
            self.0.len() - 1
        })
    }
}

/// Replaces the panics of an optimised module. `replacements` is the runtime's table.
pub fn replace(
    context: Context,
    module: Module,
    kernel: Value,
    replacements: &BTreeMap<String, String>,
) -> Sites {
    let function = |path: &str| llvm::function(module, replacements.get(path)?);
    let index = function("core::panicking::panic_bounds_check");
    let messages = ["core::panicking::panic", "core::option::expect_failed"].map(function);
    let mut sites = Sites::default();
    for instruction in reach(kernel)
        .functions
        .into_iter()
        .flat_map(llvm::instructions)
    {
        let Some(call) = llvm::is_call(instruction) else {
            continue;
        };
        let callee = Some(llvm::called_value(call));
        let site = if callee == index {
            site(call, None)
        } else if messages.contains(&callee) {
            message(call).and_then(|message| site(call, Some(message)))
        } else {
            None
        };
        if let Some(site) = site {
            leave(context, call, &site.message, sites.number(site.clone()));
        }
    }
    sites
}

/// The constant text that a call has as its first two arguments.
fn message(call: Value) -> Option<String> {
    let len = llvm::unsigned_constant(llvm::operand(call, 1))?;
    let bytes = rust_constant::bytes(llvm::operand(call, 0))?;
    Some(String::from_utf8_lossy(bytes.get(..len as usize)?).into_owned())
}

/// The constant `core::panic::Location` that a call has as its third argument.
fn site(call: Value, message: Option<String>) -> Option<Site> {
    let location = llvm::is_global_variable(llvm::operand(call, 2))?;
    let location = Constant::of(llvm::initializer(location)?).ok()?;
    Some(Site {
        file: location.text(0).ok()?,
        line: location.u32(16).ok()?,
        column: location.u32(20).ok()?,
        message,
    })
}

/// Replaces a call by one of the [`functions`].
fn leave(context: Context, call: Value, message: &Option<String>, number: usize) {
    let arguments: Vec<Value> = match message {
        None => (0..2).map(|index| llvm::operand(call, index)).collect(),
        Some(_) => Vec::new(),
    };
    let (text, constraints) = match message {
        None => (
            format!("call.uni {NAME}_index, ($0, $1, {number});"),
            "l,l,~{memory}",
        ),
        Some(_) => (format!("call.uni {NAME}, ({number});"), "~{memory}"),
    };
    let types: Vec<_> = arguments
        .iter()
        .map(|&value| llvm::type_of(value))
        .collect();
    let signature = llvm::signature(llvm::void_type(context), &types);
    let assembly = llvm::inline_assembly(signature, &text, constraints, true);
    let builder = llvm::create_builder(context);
    llvm::position_before(builder, call);
    let left = llvm::call(builder, signature, assembly, &arguments);
    for kind in ["convergent", "noreturn", "nounwind"] {
        let attribute = llvm::create_enum_attribute(context, llvm::attribute(kind), 0);
        llvm::add_call_attribute(left, FUNCTION_INDEX, attribute);
    }
    llvm::erase(call);
}

/// A kernel's PTX with a comment for each of its numbers before the brace that ends its entry: number, line, column, file,
/// and the message but for an index, with tabs between, and in each what Rust's `escape_default` leaves.
pub fn describe(ptx: String, sites: &Sites) -> String {
    let Some(end) = entry_end(&ptx).filter(|_| !sites.0.is_empty()) else {
        return ptx;
    };
    let mut comments = String::new();
    for (number, site) in sites.0.iter().enumerate() {
        let (file, line, column) = (site.file.escape_default(), site.line, site.column);
        let _ = write!(comments, "{COMMENT}{number}\t{line}\t{column}\t{file}");
        if let Some(message) = &site.message {
            let _ = write!(comments, "\t{}", message.escape_default());
        }
        comments.push('\n');
    }
    format!("{}{comments}{}", &ptx[..end], &ptx[end..])
}

/// Where the brace is that ends the entry. One in assembly of the user's ends nothing.
fn entry_end(ptx: &str) -> Option<usize> {
    let mut at = ptx.find(".entry ")?;
    let mut in_assembly = false;
    for line in ptx[at..].split_inclusive('\n') {
        match line.trim() {
            "// begin inline asm" => in_assembly = true,
            "// end inline asm" => in_assembly = false,
            _ if line.starts_with('}') && !in_assembly => return Some(at),
            _ => {}
        }
        at += line.len();
    }
    None
}

/// A kernel's PTX with its numbers counted from `next`, which becomes the first that is free.
pub fn renumber(ptx: &str, next: &mut usize) -> String {
    let first = *next;
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        match Numbered::of(line) {
            Some(Numbered {
                before,
                number,
                after,
            }) => {
                let _ = writeln!(text, "{before}{}{after}", first + number);
                *next = (*next).max(first + number + 1);
            }
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

/// A line with a number of these.
struct Numbered<'a> {
    before: &'a str,
    number: usize,
    after: &'a str,
}

impl<'a> Numbered<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (start, end) = if let Some(rest) = line.strip_prefix(COMMENT) {
            (COMMENT.len(), COMMENT.len() + rest.find('\t')?)
        } else if calls(line) {
            (line.rfind(['(', ' '])? + 1, line.rfind(')')?)
        } else {
            return None;
        };
        Some(Numbered {
            before: &line[..start],
            number: line[start..end].parse().ok()?,
            after: &line[end..],
        })
    }
}

/// Whether a line of PTX leaves its kernel through one of the [`functions`], which writes no register.
pub fn calls(line: &str) -> bool {
    line.trim_start()
        .strip_prefix("call.uni ")
        .is_some_and(|callee| callee.starts_with(NAME))
}

/// The functions that PTX calls, and the variable that they read; empty if it calls none.
pub fn functions<'a>(ptx: impl Iterator<Item = &'a str> + Clone) -> String {
    let lines = || ptx.clone().flat_map(str::lines);
    let is_called = |name: &str| {
        let call = format!("call.uni {NAME}{name}, ");
        lines().any(|line| line.trim_start().starts_with(&call))
    };
    let mut text = String::new();
    if is_called("") {
        text += &function("", "", "", "");
    }
    if is_called("_index") {
        text += &function("_index", PARAMETERS, REGISTERS, STORE_OPERANDS);
    }
    if text.is_empty() {
        return text;
    }
    let declared = lines().find(|line| line.ends_with(" oxwarp_panic_slot;"));
    format!("{}\n{text}", declared.unwrap_or(SLOT))
}

/// A function that claims the record, fills it, and ends the thread.
fn function(name: &str, parameters: &str, registers: &str, store_operands: &str) -> String {
    let words = [
        ("site", 92),
        ("%ctaid.x", 16),
        ("%ctaid.y", 20),
        ("%ctaid.z", 24),
        ("%tid.x", 28),
        ("%tid.y", 32),
        ("%tid.z", 36),
    ];
    let store_place: String = words
        .map(|(word, offset)| {
            format!(
                "\t@!%late mov.b32 \tword, {word};\n\tst.volatile.global.b32 \t[record+{offset}], word;\n"
            )
        })
        .concat();
    format!(
        ".func {NAME}{name}(
{parameters}	.reg .b32 site
)
.noreturn
{{
	.reg .pred 	%late;
	.reg .b32 	word;
{registers}	.reg .b64 	record, module;
	ld.global.b64 	record, [oxwarp_panic_slot];
	atom.global.exch.b64 	record, [record], 0;
	setp.eq.b64 	%late, record, 0;
	@%late exit;
	mov.b32 	word, 0;
{store_place}{store_operands}	mov.b64 	module, 0;
	@!%late mov.b64 	module, oxwarp_panic_slot;
	st.volatile.global.b64 	[record], module;
	exit;
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;
    use crate::optimise;

    const RUNTIME: [(&str, &str); 2] = [
        ("core::panicking::panic_bounds_check", "check"),
        ("core::panicking::panic", "text"),
    ];

    /// Replaces the panics of a kernel with this body; the calls of a panic in its blocks, and the sites.
    fn replaced(body: &str) -> (Vec<String>, Sites) {
        let (context, module) = parse(&format!(
            "@file = private constant [4 x i8] c\"a.rs\"
             @words = private constant [7 x i8] c\"no! not\"
             @at7 = private constant <{{ ptr, [16 x i8] }}> <{{ ptr @file, [16 x i8] c\"\\04\\00\\00\\00\\00\\00\\00\\00\\07\\00\\00\\00\\05\\00\\00\\00\" }}>
             @at9 = private constant <{{ ptr, [16 x i8] }}> <{{ ptr @file, [16 x i8] c\"\\04\\00\\00\\00\\00\\00\\00\\00\\09\\00\\00\\00\\01\\01\\00\\00\" }}>
             declare void @check(i64, i64, ptr) noreturn
             declare void @text(ptr, i64, ptr) noreturn
             define ptx_kernel void @k(i64 %i, i64 %n, ptr %p) {{
             {body}
             }}"
        ));
        let kernel = llvm::function(module, "k").unwrap();
        let runtime = RUNTIME.map(|(path, symbol)| (path.to_owned(), symbol.to_owned()));
        let sites = replace(context, module, kernel, &runtime.into());
        optimise::verify(module).unwrap();
        let calls = llvm::instructions(kernel)
            .into_iter()
            .filter_map(llvm::is_call);
        let callees = calls.map(|call| match llvm::name(llvm::called_value(call)) {
            name if name.is_empty() => "exit".to_owned(),
            name => name,
        });
        (callees.collect(), sites)
    }

    #[test]
    fn panics_with_a_constant_place_become_numbers() {
        let (calls, sites) = replaced(
            "   %a = icmp ult i64 %i, %n
                br i1 %a, label %good, label %index
             good:
                %b = icmp ult i64 %i, 7
                br i1 %b, label %text, label %again
             index:
                call void @check(i64 %i, i64 %n, ptr @at7)
                unreachable
             again:
                call void @check(i64 %n, i64 7, ptr @at7)
                unreachable
             text:
                call void @text(ptr @words, i64 3, ptr @at9)
                unreachable",
        );
        assert_eq!(calls, ["exit"; 3]);
        let site = |line, column, message: Option<&str>| Site {
            file: "a.rs".into(),
            line,
            column,
            message: message.map(String::from),
        };
        assert_eq!(sites.0, [site(7, 5, None), site(9, 257, Some("no!"))]);
    }

    #[test]
    fn other_panics_stay() {
        let (calls, sites) = replaced(
            "   %a = icmp ult i64 %i, %n
                br i1 %a, label %place, label %text
             place:
                call void @check(i64 %i, i64 %n, ptr %p)
                unreachable
             text:
                call void @text(ptr @words, i64 %n, ptr @at9)
                unreachable",
        );
        assert_eq!(
            (calls.as_slice(), sites.0.len()),
            (["check", "text"].map(String::from).as_slice(), 0)
        );
    }

    #[test]
    fn numbers_are_counted_through_the_kernels_of_a_module() {
        let site = Site {
            file: "a b.rs".into(),
            line: 7,
            column: 16,
            message: None,
        };
        let text = Site {
            message: Some("tab\t\"é\"".into()),
            ..site.clone()
        };
        let body = "\t// begin inline asm\n}\n\t// end inline asm\n\tcall.uni oxwarp_panic_index, (%rd1, %rd2, 0);\n\tcall.uni \
                    oxwarp_panic, (1);\n";
        let ptx = format!(".visible .entry k()\n{{\n{body}}}\n.func f()\n{{\n}}\n");
        let described = describe(ptx, &Sites(vec![site, text]));
        let mut next = 40;
        let numbered = renumber(&described, &mut next);
        assert_eq!(next, 42);
        for part in [
            "oxwarp_panic_index, (%rd1, %rd2, 40);\n",
            "oxwarp_panic, (41);\n\t// panic 40\t7\t16\ta b.rs\n\t// panic 41\t7\t16\ta b.rs\ttab\\t\\\"\\u{e9}\\\"\n}\n.func",
        ] {
            assert!(numbered.contains(part), "{part}\nin\n{numbered}");
        }
        assert_eq!(
            renumber(
                &numbered
                    .replace(" 41", " 1")
                    .replace("(41", "(1")
                    .replace(" 40", " 0"),
                &mut 40
            ),
            numbered
        );
    }

    #[test]
    fn a_module_has_the_functions_that_it_calls() {
        let one = "\tcall.uni oxwarp_panic, (1);\n";
        let text = functions([one].into_iter());
        assert!(text.starts_with(SLOT), "{text}");
        assert_eq!(text.matches(".func").count(), 1, "{text}");
        let declared = ".visible .global .align 8 .b64 oxwarp_panic_slot;";
        let both = [
            "\tcall.uni oxwarp_panic_index, (%rd1, %rd2, 0);\n",
            one,
            declared,
        ];
        let text = functions(both.into_iter());
        assert!(text.starts_with(declared), "{text}");
        assert_eq!(text.matches(".func").count(), 2, "{text}");
        assert!(functions(["\tret;\n"].into_iter()).is_empty());
    }
}
