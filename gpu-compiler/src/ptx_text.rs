//! PTX as text: the statements of a module, what they define, and functions' signatures.
//!
//! Enough of PTX's grammar to put the functions of one module into another, and to compare a definition with a
//! declaration of it. What a function's body says is left to `ptxas`.

/// One statement of a module, without comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    text: String,
}

/// A function's parameters and result, as bits; small integers are passed as 32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The result's, if there is one.
    pub result: Option<u64>,
    /// The parameters'.
    pub parameters: Vec<u64>,
}

/// The statements of a module.
pub fn statements(ptx: &str) -> Vec<Statement> {
    let text = without_comments(ptx);
    let mut statements = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (statement, after) = first(rest);
        statements.push(statement);
        rest = after.trim_start();
    }
    statements
}

/// The first statement of a text that begins with one and has no comments in it, and what is after it.
pub fn first(text: &str) -> (Statement, &str) {
    let (statement, after) = text.split_at(end(text));
    let statement = Statement {
        text: statement.trim_end().into(),
    };
    (statement, after)
}

fn without_comments(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut rest = ptx;
    while let Some(at) = rest.find(['/', '"']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (kept, length) = if rest.starts_with("//") {
            (false, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (false, rest.find("*/").map_or(rest.len(), |end| end + 2))
        } else {
            (true, quoted(rest))
        };
        if kept {
            text.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    text + rest
}

/// The length of the string that `text` begins with, or 1.
fn quoted(text: &str) -> usize {
    match text.strip_prefix('"').and_then(|inside| inside.find('"')) {
        Some(end) => end + 2,
        None => 1,
    }
}

/// Where the first statement of a text without comments ends.
fn end(text: &str) -> usize {
    const LINES: [&str; 5] = [".version", ".target", ".address_size", ".file", ".loc"];
    if LINES.iter().any(|line| text.starts_with(line)) {
        return text.find('\n').unwrap_or(text.len());
    }
    let (mut depth, mut at) = (0usize, 0);
    let has_body = |before: &str| {
        let words = before.split_whitespace();
        words
            .into_iter()
            .any(|word| matches!(word, ".func" | ".entry" | ".section"))
    };
    while at < text.len() {
        let byte = text.as_bytes()[at];
        match byte {
            b'"' => at += quoted(&text[at..]) - 1,
            b'{' | b'(' => depth += 1,
            b'}' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 && (byte == b';' || (byte == b'}' && has_body(&text[..at]))) {
            return at;
        }
    }
    text.len()
}

impl Statement {
    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What follows a directive at its start: `6.3` for `.version`.
    pub fn directive(&self, name: &str) -> Option<&str> {
        let value = self.text.strip_prefix(name)?;
        value.starts_with(char::is_whitespace).then(|| value.trim())
    }

    /// Whether it has the word before what it declares: `.extern`, `.func`.
    pub fn has(&self, word: &str) -> bool {
        self.head().split_whitespace().any(|part| part == word)
    }

    /// Whether it defines a function.
    pub fn defines_function(&self) -> bool {
        self.has(".func") && self.text.contains('{')
    }

    /// The function or variable that it declares or defines.
    pub fn name(&self) -> Option<&str> {
        if self.has(".func") {
            return self.function().map(|(_, name, _)| name);
        }
        const OTHERS: [&str; 5] = [".entry", ".global", ".const", ".shared", ".local"];
        if !OTHERS.iter().any(|word| self.has(word)) {
            return None;
        }
        let declared = self.text.split(['(', '[', '=', ';']).next()?;
        declared.split_whitespace().last()
    }

    /// A function's parameters and result.
    pub fn signature(&self) -> Option<Signature> {
        let (result, _, parameters) = self.function()?;
        let widths = |list: &str| -> Option<Vec<u64>> {
            let list = list.split(',').map(str::trim);
            list.filter(|one| !one.is_empty()).map(width).collect()
        };
        Some(Signature {
            result: widths(result)?.first().copied(),
            parameters: widths(parameters)?,
        })
    }

    /// The text before a body or an initial value.
    fn head(&self) -> &str {
        self.text.split(['{', '=']).next().unwrap_or_default()
    }

    /// A function's result, name and parameters.
    fn function(&self) -> Option<(&str, &str, &str)> {
        let (_, rest) = self.head().split_once(".func")?;
        let mut rest = rest.trim_start();
        let mut result = "";
        if let Some(inside) = rest.strip_prefix('(') {
            (result, rest) = inside.split_once(')')?;
        }
        let (name, parameters) = rest.split_once('(').unwrap_or((rest, ")"));
        let name = name.split_whitespace().last()?.trim_end_matches(';');
        Some((result, name, parameters.split(')').next()?))
    }
}

/// The bits of `.param .b32 name` or `.param .align 8 .b8 name[16]`.
fn width(parameter: &str) -> Option<u64> {
    let bits = parameter.split_whitespace().find_map(|word| {
        let kind = word.strip_prefix('.')?;
        let (letter, number) = kind.split_at_checked(1)?;
        ["b", "u", "s", "f"]
            .contains(&letter)
            .then(|| number.parse::<u64>().ok())?
    })?;
    match parameter.split_once('[') {
        None => Some(bits.max(32)),
        Some((_, length)) => Some(bits * length.trim_end_matches(']').trim().parse::<u64>().ok()?),
    }
}

/// `text` with every name of `from` as `to`.
pub fn rename(text: &str, from: &str, to: &str) -> String {
    let part_of_name =
        |character: char| character.is_ascii_alphanumeric() || "_$%".contains(character);
    let mut renamed = String::with_capacity(text.len());
    let mut copied = 0;
    for (at, _) in text.match_indices(from) {
        let before = text[..at].chars().next_back();
        let after = text[at + from.len()..].chars().next();
        if !before.is_some_and(part_of_name) && !after.is_some_and(part_of_name) {
            renamed.push_str(&text[copied..at]);
            renamed.push_str(to);
            copied = at + from.len();
        }
    }
    renamed + &text[copied..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "// a { comment\n.version 9.0\n.target sm_75\n.address_size 64\n\
        .extern .func  (.param .b32 r) vprintf\n(\n\t.param .b64 p0,\n\t.param .b64 p1\n)\n;\n\
        .global .align 1 .b8 $str[3] = {110, 10, 0};\n.const .f32 half = 0f3F000000;\n\
        .visible .func  (.param .b32 r) mul(\n\t.param .b32 a, /* ; */\n\t.param .align 8 .b8 b[16]\n)\n\
        {\n\t{ .reg .b32 t; }\n\t// \"}\n\tret;\n}\n.func nothing()\n{\n\tret;\n}\n.file 1 \"a;b.cu\"\n\
        .section .debug_str { .b8 1 }\n.visible .entry k(\n\t.param .b64 x\n)\n{\n\tret;\n}\n";

    #[test]
    fn statements_are_found_with_their_names() {
        let names: Vec<_> = statements(PTX)
            .iter()
            .map(|statement| statement.name().map(String::from))
            .collect();
        let expected = [
            None,
            None,
            None,
            Some("vprintf"),
            Some("$str"),
            Some("half"),
            Some("mul"),
            Some("nothing"),
            None,
            None,
            Some("k"),
        ];
        assert_eq!(names, expected.map(|name| name.map(String::from)));
        let statements = statements(PTX);
        assert_eq!(statements[0].directive(".version"), Some("9.0"));
        let defined: Vec<_> = statements
            .iter()
            .filter(|one| one.defines_function())
            .collect();
        assert_eq!(defined.len(), 2);
        assert!(statements[3].has(".extern") && !statements[6].has(".extern"));
        assert!(statements[6].text().ends_with("ret;\n}") && !statements[6].text().contains('"'));
    }

    #[test]
    fn signatures_are_widths() {
        let statements = statements(PTX);
        let signature = |index: usize| statements[index].signature().unwrap();
        assert_eq!(
            (signature(6).result, signature(6).parameters),
            (Some(32), vec![32, 128])
        );
        assert_eq!(
            (signature(7).result, signature(7).parameters),
            (None, vec![])
        );
        assert_eq!(signature(3).parameters, [64, 64]);
    }

    #[test]
    fn only_whole_names_are_renamed() {
        let text = "mov.u64 %rd1, $str; mov.u64 %rd2, $str2; add x$str, [$str+4];";
        let renamed = "mov.u64 %rd1, $str_1; mov.u64 %rd2, $str2; add x$str, [$str_1+4];";
        assert_eq!(rename(text, "$str", "$str_1"), renamed);
    }
}
