//! A PTX text and its parts: functions with their bodies, and constants.
//!
//! In: PTX as LLVM, NVRTC and `nvcc` write it. Out: slices of it. Only as much of the grammar is read as is needed to tell
//! statements of a module from each other; what is in a body is for [`flow`](crate::flow).

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::Place;
use crate::references::References;
use crate::sites::{PanicSite, sites};

/// A PTX text, divided into its functions and constants.
///
/// ```
/// let module = ptx_report::Module::parse(
///     ".version 7.0\n.target sm_80\n.visible .entry nothing()\n{\n\tret;\n}\n",
/// );
/// assert_eq!(module.target(), Some(80));
/// assert!(module.kernel("nothing").unwrap().ends_with("}"));
/// ```
#[derive(Debug)]
pub struct Module<'a> {
    /// All statements, in order.
    pub(crate) items: Vec<Item<'a>>,
    /// Where in `items` a function is defined.
    functions: HashMap<&'a str, usize>,
    never_return: BTreeSet<&'a str>,
    /// What constants are initialised with.
    constants: HashMap<&'a str, &'a str>,
    sites: HashMap<u32, PanicSite>,
}

/// A statement of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    /// From the end of the statement before, with the comments between them.
    pub text: &'a str,
    /// What it declares or defines; empty where that is nothing.
    pub name: &'a str,
    pub kind: Kind,
}

impl<'a> Item<'a> {
    /// From its first word on.
    pub fn statement(&self) -> &'a str {
        without_leading_comments(self.text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Kernel,
    Function,
    Variable,
    /// Line tables, which speak of all functions.
    Section,
    Directive,
}

impl<'a> Module<'a> {
    /// Divides a text.
    pub fn parse(ptx: &'a str) -> Self {
        let mut module = Module {
            items: Vec::new(),
            functions: HashMap::new(),
            never_return: BTreeSet::new(),
            constants: HashMap::new(),
            sites: HashMap::new(),
        };
        let mut rest = ptx;
        while !rest.is_empty() {
            let (text, after) = rest.split_at(statement_end(rest));
            module.add(text);
            rest = after;
        }
        module
    }

    fn add(&mut self, text: &'a str) {
        let statement = without_leading_comments(text);
        let head = statement.split(['{', '=', ';']).next().unwrap_or_default();
        let (name, kind) = if let Some(name) = name_after(head, ".entry") {
            (name, Kind::Kernel)
        } else if let Some(name) = name_after(head, ".func") {
            (name, Kind::Function)
        } else if let Some(name) = variable(head) {
            (name, Kind::Variable)
        } else if head.starts_with(".section") {
            ("", Kind::Section)
        } else {
            ("", Kind::Directive)
        };
        if kind == Kind::Function && head.contains(".noreturn") {
            self.never_return.insert(name);
        }
        if matches!(kind, Kind::Kernel | Kind::Function) && statement.contains('{') {
            self.functions.insert(name, self.items.len());
        }
        if kind == Kind::Kernel {
            self.sites.extend(sites(name, statement));
        }
        if let Some((_, value)) = statement.split_once('=').filter(|_| kind == Kind::Variable) {
            self.constants.insert(name, value);
        }
        self.items.push(Item { text, name, kind });
    }

    /// The target: 80 for `sm_80`.
    pub fn target(&self) -> Option<u32> {
        let directives = self.items.iter().flat_map(|item| item.text.lines());
        let target = directives
            .into_iter()
            .find_map(|line| line.trim().strip_prefix(".target"))?;
        let digits = target.trim().strip_prefix("sm_")?;
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        digits[..end].parse().ok()
    }

    /// The symbols of all kernels, in the text's order.
    pub fn kernels(&self) -> impl Iterator<Item = &'a str> {
        let kernels = self.items.iter().filter(|item| item.kind == Kind::Kernel);
        kernels.map(|item| item.name)
    }

    /// The text of one kernel, from the directive that begins it to the brace that ends it.
    pub fn kernel(&self, symbol: &str) -> Option<&'a str> {
        self.function(symbol)
    }

    /// The text of a function that is defined here.
    pub(crate) fn function(&self, symbol: &str) -> Option<&'a str> {
        let item = self.items[*self.functions.get(symbol)?];
        Some(without_leading_comments(item.text).trim_end())
    }

    /// Whether a function never returns: it ends in a panic.
    pub(crate) fn never_returns(&self, symbol: &str) -> bool {
        self.never_return.contains(symbol)
    }

    /// Where a thread panics that leaves its kernel with this number.
    pub fn panic_site(&self, number: u32) -> Option<PanicSite> {
        self.sites.get(&number).cloned()
    }

    /// The module with this kernel and what it uses, so that tools work on one kernel. Line tables are left out.
    pub fn alone(&self, symbol: &str) -> String {
        let kept = References::of(self).reached(symbol);
        self.texts_of(&kept).collect::<String>() + "\n"
    }

    /// The texts of these statements and of the directives, in order.
    pub(crate) fn texts_of(&self, kept: &BTreeSet<usize>) -> impl Iterator<Item = &'a str> {
        let items = self.items.iter().enumerate();
        items
            .filter(|(index, item)| kept.contains(index) || item.kind == Kind::Directive)
            .map(|(_, item)| item.text)
    }

    /// The place in the source that a constant is, if it is a `core::panic::Location`: the address and length of the
    /// file's name, then line and column.
    pub(crate) fn place(&self, constant: &str) -> Option<Place> {
        let mut words = self.words(constant)?;
        let (file, len, position) = (words.next()?, words.next()?, words.next()?);
        let name = file.strip_prefix("generic(")?.split(')').next()?;
        let position: u64 = position.parse().ok()?;
        Some(Place {
            file: self.text(name, len.parse().ok()?)?,
            line: position as u32,
            column: (position >> 32) as u32,
        })
    }

    /// The first `len` bytes of a constant, if they are text.
    pub(crate) fn text(&self, constant: &str, len: usize) -> Option<String> {
        let bytes: Option<Vec<u8>> = self
            .words(constant)?
            .take(len)
            .map(|word| word.parse().ok())
            .collect();
        String::from_utf8(bytes?)
            .ok()
            .filter(|text| text.len() == len)
    }

    fn words(&self, constant: &str) -> Option<impl Iterator<Item = &'a str>> {
        let inside = self.constants.get(constant)?.trim().strip_prefix('{')?;
        Some(
            inside
                .trim_end_matches([';', '}'])
                .split(',')
                .map(str::trim),
        )
    }
}

/// What follows a directive, less the parameters that may stand before or after it.
fn name_after<'a>(head: &'a str, directive: &str) -> Option<&'a str> {
    let (before, after) = head.split_once(directive)?;
    if !before.split_whitespace().all(|word| word.starts_with('.')) {
        return None;
    }
    let after = match after.trim_start().strip_prefix('(') {
        Some(result) => result.split_once(')')?.1,
        None => after,
    };
    let name = after
        .trim_start()
        .split(|c: char| c == '(' || c.is_whitespace())
        .next()?;
    (!name.is_empty()).then_some(name)
}

/// What the declaration of a variable declares.
fn variable(head: &str) -> Option<&str> {
    let mut words = head.split_whitespace();
    let in_memory = |word| matches!(word, ".global" | ".const" | ".shared");
    words
        .by_ref()
        .take_while(|word| word.starts_with('.'))
        .find(|&word| in_memory(word))?;
    head.split('[').next()?.split_whitespace().last()
}

fn without_leading_comments(text: &str) -> &str {
    let mut text = text.trim_start();
    while text.starts_with("//") {
        text = text
            .split_once('\n')
            .map_or("", |(_, rest)| rest)
            .trim_start();
    }
    text
}

/// Where the first statement of a text ends, with its line.
fn statement_end(text: &str) -> usize {
    let (mut at, mut depth, mut has_body, mut begun) = (0, 0usize, false, false);
    let mut in_comment = false;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let code = code_of(line, &mut in_comment);
        let code = code.trim();
        if code.is_empty() {
            continue;
        }
        if !begun {
            begun = true;
            // Those end with their line.
            if [".version", ".target", ".address_size", ".file", ".loc"]
                .iter()
                .any(|word| code.starts_with(word))
            {
                return at;
            }
        }
        let words = || code.split(|c: char| c.is_whitespace() || c == '(');
        has_body |=
            depth == 0 && words().any(|word| matches!(word, ".entry" | ".func" | ".section"));
        for byte in code.bytes() {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let closed = has_body && code.ends_with('}') || code.ends_with(';');
        if depth == 0 && closed {
            return at;
        }
    }
    text.len()
}

/// A line without its comments; `in_comment` is whether it begins, and then whether the next one begins, inside of one.
fn code_of<'a>(line: &'a str, in_comment: &mut bool) -> Cow<'a, str> {
    if !*in_comment && !line.contains("/*") {
        return Cow::Borrowed(line.split("//").next().unwrap_or_default());
    }
    let (mut code, mut rest) = (String::new(), line);
    loop {
        if *in_comment {
            let Some((_, after)) = rest.split_once("*/") else {
                break;
            };
            (rest, *in_comment) = (after, false);
        }
        let Some(at) = rest.find('/') else {
            code += rest;
            break;
        };
        let length = match rest[at..].get(..2) {
            Some("//") => {
                code += &rest[..at];
                break;
            }
            Some("/*") => {
                *in_comment = true;
                code += &rest[..at];
                2
            }
            _ => {
                code += &rest[..=at];
                1
            }
        };
        rest = &rest[at + length..];
    }
    Cow::Owned(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "//
// Generated
//

.version 7.0
.target sm_80
.address_size 64

	// .globl	a
.func panics
(
	.param .b64 p
)
.noreturn;
.global .align 1 .b8 name[6] = {97, 46, 114, 115, 0, 0};
.global .align 8 .u64 location[3] = {generic(name), 4, 30064771077};
.visible .entry a(
	.param .b64 p
)
.maxntid 256
{
	mov.b64 %rd1, location;
	{ // callseq 0, 0
	call.uni panics, (param0);
	} // callseq 0
	exit;
}
	// .globl	b
.visible .entry b()
{
	ret;
}
.func  (.param .b32 func_retval0) helper(
	.param .b32 p
)
{
	ret;
}
	.file	1 \"/a.rs\"
	.section	.debug_macinfo	{	}
";

    #[test]
    fn functions_and_constants_are_found() {
        let module = Module::parse(PTX);
        assert_eq!(module.target(), Some(80));
        assert_eq!(module.kernels().collect::<Vec<_>>(), ["a", "b"]);
        let a = module.kernel("a").unwrap();
        assert!(
            a.starts_with(".visible .entry a(") && a.ends_with("exit;\n}"),
            "{a}"
        );
        assert_eq!(
            module.kernel("b"),
            Some(".visible .entry b()\n{\n\tret;\n}")
        );
        assert!(module.function("helper").is_some());
        assert_eq!(
            variable(".extern .shared .align 16 .b8 dynamic[]"),
            Some("dynamic")
        );
        assert_eq!(
            variable(".visible .global .align 8 .u64 slot"),
            Some("slot")
        );
        assert_eq!(variable(".version 7.0"), None);
        assert!(module.function("panics").is_none() && module.never_returns("panics"));
        assert!(!module.never_returns("helper"));
        let place = module.place("location").unwrap();
        assert_eq!(
            (place.file.as_str(), place.line, place.column),
            ("a.rs", 5, 7)
        );
        assert_eq!(module.place("name"), None);
    }

    #[test]
    fn one_kernel_alone_keeps_what_it_uses() {
        let module = Module::parse(PTX);
        let alone = module.alone("b");
        for left_out in [".entry a(", ".section", "helper", "location[3]", "panics"] {
            assert!(!alone.contains(left_out), "{left_out} in\n{alone}");
        }
        for kept in [".version 7.0", ".target sm_80", ".entry b()", ".file"] {
            assert!(alone.contains(kept), "{kept} not in\n{alone}");
        }
        let alone = module.alone("a");
        assert!(
            alone.contains(".noreturn;") && !alone.contains("helper"),
            "{alone}"
        );
        assert!(
            alone.contains("location[3]") && alone.contains("name[6]"),
            "{alone}"
        );
    }

    #[test]
    fn every_byte_is_in_one_statement() {
        let text: String = Module::parse(PTX)
            .items
            .iter()
            .map(|item| item.text)
            .collect();
        assert_eq!(text, PTX);
    }
}
