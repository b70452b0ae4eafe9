//! A PTX text and its parts: functions with their bodies, and constants.
//!
//! In: PTX as LLVM, NVRTC and `nvcc` write it. Out: slices of it. Only as much of the grammar is read as is needed to tell
//! statements of a module from each other; what is in a body is for [`flow`](crate::flow).

use std::collections::{BTreeSet, HashMap};

use crate::Place;

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
    items: Vec<Item<'a>>,
    /// Where in `items` a function is defined.
    functions: HashMap<&'a str, usize>,
    never_return: BTreeSet<&'a str>,
    /// What constants are initialised with.
    constants: HashMap<&'a str, &'a str>,
}

/// A statement of a module.
#[derive(Clone, Copy, Debug)]
struct Item<'a> {
    text: &'a str,
    kind: Kind<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind<'a> {
    Kernel(&'a str),
    Function(&'a str),
    /// Line tables, which speak of all functions.
    Section,
    Other,
}

impl<'a> Module<'a> {
    /// Divides a text.
    pub fn parse(ptx: &'a str) -> Self {
        let mut module = Module {
            items: Vec::new(),
            functions: HashMap::new(),
            never_return: BTreeSet::new(),
            constants: HashMap::new(),
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
        let kind = if let Some(name) = name_after(head, ".entry") {
            Kind::Kernel(name)
        } else if let Some(name) = name_after(head, ".func") {
            if head.contains(".noreturn") {
                self.never_return.insert(name);
            }
            Kind::Function(name)
        } else if head.starts_with(".section") {
            Kind::Section
        } else {
            if let Some((_, value)) = statement.split_once('=') {
                let name = head
                    .split('[')
                    .next()
                    .and_then(|head| head.split_whitespace().last());
                self.constants.extend(name.map(|name| (name, value)));
            }
            Kind::Other
        };
        if let Kind::Kernel(name) | Kind::Function(name) = kind
            && statement.contains('{')
        {
            self.functions.insert(name, self.items.len());
        }
        self.items.push(Item { text, kind });
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
        self.items.iter().filter_map(|item| match item.kind {
            Kind::Kernel(name) => Some(name),
            _ => None,
        })
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

    /// The module with this kernel and no other, so that tools work on one kernel. Line tables are left out.
    pub fn alone(&self, symbol: &str) -> String {
        let kept = self.items.iter().filter(|item| match item.kind {
            Kind::Kernel(name) => name == symbol,
            Kind::Section => false,
            _ => true,
        });
        let text: String = kept.map(|item| item.text).collect();
        text + "\n"
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
    for line in text.split_inclusive('\n') {
        at += line.len();
        let code = line.split("//").next().unwrap_or_default().trim();
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
    fn one_kernel_alone_keeps_what_it_may_use() {
        let alone = Module::parse(PTX).alone("b");
        assert!(
            !alone.contains(".entry a(") && !alone.contains(".section"),
            "{alone}"
        );
        for kept in [
            ".target sm_80",
            ".entry b()",
            "helper",
            "location[3]",
            ".noreturn;",
            ".file",
        ] {
            assert!(alone.contains(kept), "{kept}");
        }
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
