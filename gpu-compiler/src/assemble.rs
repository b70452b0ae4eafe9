//! Puts the PTX of kernels that were compiled apart into one module, as text.
//!
//! LLVM writes each as a module of its own, of which this reads the statements: what two have in common becomes one, files
//! and panics get new numbers, and what only has the same name gets another. The version is the newest that any asks for.
//! So the program has what kernels share once. When it runs it takes the module apart again, to load of it what it launches
//! (`ptx_report::Parts`): there is one of each visible variable, and of all else each kernel may get its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};

use crate::exits;
use crate::one_kernel::Image;
use crate::ptx_text::rename;
use crate::shared_code;

/// One module of the shared functions and those kernels, all for the same target.
pub fn assemble(kernels: &[&Image], shared: &shared_code::Image) -> String {
    let mut next = 0;
    let numbered: Vec<String> = kernels
        .iter()
        .map(|kernel| exits::renumber(&kernel.ptx, &mut next))
        .collect();
    let exits = exits::functions(numbered.iter().map(String::as_str));
    let symbols = shared
        .functions
        .iter()
        .map(|function| function.symbol.as_str());
    let mut assembly = Assembly {
        shared: symbols.collect(),
        ..Assembly::default()
    };
    assembly.add(&exits);
    assembly.add(&shared.ptx);
    for ptx in &numbered {
        assembly.add(ptx);
    }
    assembly.text()
}

#[derive(Default)]
struct Assembly<'a> {
    /// The newest `.version`, as the line says it, and `.target` and `.address_size`.
    version: (u32, &'a str),
    target: Vec<&'a str>,
    /// Files, and the number of each.
    files: BTreeMap<&'a str, usize>,
    /// The functions that one of the modules defines for all.
    shared: BTreeSet<&'a str>,
    statements: Vec<Statement>,
    /// Where what is declared and what is defined is among the statements.
    known: BTreeMap<Key, usize>,
}

/// A name, and whether the statement only declares it.
type Key = (String, bool);

/// A statement of one module, its text with the numbers that files have in the assembly.
struct Statement {
    key: Key,
    text: String,
}

impl Statement {
    /// Whether two statements of one name are of the same thing. There is one variable of a visible name, whatever
    /// alignment the code of a kernel asks for.
    fn is_same(&self, other: &Statement) -> bool {
        let is_variable = self.key.1 && self.text.starts_with(".visible ");
        self.text == other.text
            || is_variable
                && self.split_at_alignment().map(|parts| (parts.0, parts.2))
                    == other.split_at_alignment().map(|parts| (parts.0, parts.2))
    }

    /// Gives it the larger alignment of the two, which are the same.
    fn align_as(&mut self, other: &Statement) {
        if let Some((_, own, _)) = self.split_at_alignment()
            && let Some((before, larger, after)) = other.split_at_alignment()
            && larger > own
        {
            self.text = format!("{before}{larger}{after}");
        }
    }

    /// The text before, in and after `.align 8`.
    fn split_at_alignment(&self) -> Option<(&str, u32, &str)> {
        let at = self.text.find(".align ")? + ".align ".len();
        let length = self.text[at..].find(' ')?;
        let (before, after) = (&self.text[..at], &self.text[at + length..]);
        Some((before, self.text[at..at + length].parse().ok()?, after))
    }
}

impl<'a> Assembly<'a> {
    fn add(&mut self, ptx: &'a str) {
        let mut statements = self.read(ptx);
        let renamed = self.conflicts(&statements);
        if !renamed.is_empty() {
            let suffix = suffix(&statements, &renamed);
            for statement in &mut statements {
                for name in &renamed {
                    let new = format!("{name}_{suffix:x}");
                    statement.text = rename(&statement.text, name, &new);
                    if statement.key.0 == *name {
                        statement.key.0 = new;
                    }
                }
            }
        }
        for statement in statements {
            let (name, declares) = &statement.key;
            if let Some(&known) = self.known.get(&statement.key) {
                self.statements[known].align_as(&statement);
            } else if !(*declares && self.known.contains_key(&(name.clone(), false))) {
                let key = statement.key.clone();
                self.known.insert(key, self.statements.len());
                self.statements.push(statement);
            }
        }
    }

    /// The names that stand for something else in what is here already, directly or through what it refers to.
    fn conflicts(&self, statements: &[Statement]) -> BTreeSet<String> {
        let shared = |statement: &&Statement| self.known.contains_key(&statement.key);
        let differs = |statement: &&Statement| {
            let known = self.known.get(&statement.key);
            !known.is_some_and(|&known| self.statements[known].is_same(statement))
        };
        let name = |statement: &Statement| statement.key.0.clone();
        let mut found: BTreeSet<String> = statements
            .iter()
            .filter(shared)
            .filter(differs)
            .map(name)
            .collect();
        loop {
            let refers = |statement: &&Statement| {
                !found.contains(&statement.key.0)
                    && found
                        .iter()
                        .any(|name| statement.text.contains(name.as_str()))
            };
            let more: Vec<String> = statements
                .iter()
                .filter(shared)
                .filter(refers)
                .map(name)
                .collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    /// The statements of a module that have a name; the others are noted.
    fn read(&mut self, ptx: &'a str) -> Vec<Statement> {
        let files = self.number_files(ptx);
        let mut statements = Vec::new();
        let mut lines = ptx.lines();
        while let Some(line) = lines.next() {
            if line.starts_with(".version") {
                let version = number(line);
                if version > self.version.0 {
                    self.version = (version, line);
                }
            } else if line.starts_with(".target") || line.starts_with(".address_size") {
                if !self.target.contains(&line) {
                    self.target.push(line);
                }
            } else if line.starts_with('.') {
                statements.push(statement(self.in_assembly(line), &mut lines, &files));
            }
        }
        statements
    }

    /// The first line of a statement. A shared function is neither another module's nor visible to one.
    fn in_assembly(&self, line: &'a str) -> &'a str {
        let inner = line
            .strip_prefix(".visible ")
            .or(line.strip_prefix(".extern "));
        inner
            .filter(|inner| inner.starts_with(".func") && self.shared.contains(name(inner)))
            .unwrap_or(line)
    }

    /// Gives each file of a module its number in the assembly: the old one, and the new.
    fn number_files(&mut self, ptx: &'a str) -> BTreeMap<&'a str, usize> {
        let mut numbers = BTreeMap::new();
        for line in ptx.lines().rev().take_while(|line| *line != "}") {
            if let Some((number, path)) = line
                .trim()
                .strip_prefix(".file")
                .and_then(|file| file.trim().split_once(' '))
            {
                let next = self.files.len() + 1;
                numbers.insert(number, *self.files.entry(path).or_insert(next));
            }
        }
        numbers
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.version.1);
        for line in &self.target {
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text);
        for statement in &self.statements {
            text.push_str(&statement.text);
        }
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_by_key(|(_, number)| **number);
        for (path, number) in files {
            let _ = writeln!(text, "\t.file\t{number} {path}");
        }
        text
    }
}

/// The statement that begins with `first`: up to the end of its body, or to a semicolon before one begins. LLVM puts the
/// function's name into those of its parameters, which are known in the function alone.
fn statement<'a>(
    first: &'a str,
    lines: &mut impl Iterator<Item = &'a str>,
    files: &BTreeMap<&str, usize>,
) -> Statement {
    let mut text = String::new();
    let (mut in_body, mut in_assembly) = (false, false);
    for line in std::iter::once(first).chain(lines) {
        push_line(&mut text, line, files);
        match line.trim() {
            "// begin inline asm" => in_assembly = true,
            "// end inline asm" => in_assembly = false,
            _ => {}
        }
        in_body |= line == "{";
        let last = if in_body { "}" } else { ";" };
        if line.ends_with(last) && (!in_body || line == last) && !in_assembly {
            break;
        }
    }
    let name = name(first);
    Statement {
        key: (name.to_owned(), !in_body),
        text: text.replace(&format!("{name}_param_"), "param_"),
    }
}

fn push_line(text: &mut String, line: &str, files: &BTreeMap<&str, usize>) {
    let place = line.strip_prefix("\t.loc\t");
    match place.and_then(|place| place.split_once(' ')) {
        Some((file, place)) => {
            let file = files.get(file).copied().unwrap_or_default();
            let _ = write!(text, "\t.loc\t{file} {place}");
        }
        None => text.push_str(line),
    }
    text.push('\n');
}

/// What the first line of a statement declares or defines.
fn name(first: &str) -> &str {
    let function = first.contains(".func") || first.contains(".entry");
    let declared = if function {
        first.trim_end_matches(['(', ')', ';'])
    } else {
        first.split(['[', '=', ';']).next().unwrap_or_default()
    };
    declared.split_whitespace().last().unwrap_or_default()
}

/// `6.4` as 64.
fn number(version: &str) -> u32 {
    let digits: String = version.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_default()
}

/// A suffix for names, which depends on what they stand for.
fn suffix(statements: &[Statement], renamed: &BTreeSet<String>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for statement in statements
        .iter()
        .filter(|statement| renamed.contains(&statement.key.0))
    {
        hasher.write(statement.text.as_bytes());
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report;
    use crate::shared_code::Facts;

    fn assembled(kernels: &[&str], shared: &str, functions: &[&str]) -> String {
        let image = |ptx: &&str| Image {
            kernel: report::Kernel {
                id: 0,
                symbol: String::new(),
                dimensions: 3,
                cooperative: false,
                shared_bytes: 0,
                deep_stack: false,
                prints: false,
                allocates: false,
            },
            ptx: ptx.to_string(),
            constants: Vec::new(),
            linked: Vec::new(),
            shared: Vec::new(),
        };
        let images: Vec<Image> = kernels.iter().map(image).collect();
        let facts = |symbol: &&str| Facts {
            symbol: symbol.to_string(),
            ..Facts::default()
        };
        let shared = shared_code::Image {
            ptx: module("6.4", shared, &[]),
            functions: functions.iter().map(facts).collect(),
        };
        assemble(&images.iter().collect::<Vec<_>>(), &shared)
    }

    fn module(version: &str, statements: &str, files: &[&str]) -> String {
        let mut text = format!(
            "//\n// Generated\n//\n\n.version {version}\n.target sm_75\n.address_size 64\n\n\t// .globl\tk\n{statements}"
        );
        for (index, file) in files.iter().enumerate() {
            let _ = writeln!(text, "\t.file\t{} \"{file}\"", index + 1);
        }
        text
    }

    fn entry(name: &str, body: &str) -> String {
        format!(".visible .entry {name}(\n\t.param .b64 {name}_param_0\n)\n{{\n{body}\tret;\n}}\n")
    }

    fn function(body: &str) -> String {
        format!(".func helper()\n{{\n{body}\n}}\n")
    }

    #[test]
    fn what_is_equal_is_there_once_and_files_get_new_numbers() {
        let bytes =
            ".global .align 1 .b8 alloc_1[1] = {7};\n.visible .global .align 8 .u64 slot;\n";
        let one = format!(
            "{bytes}{}{}",
            function("\tret;"),
            entry("a", "\t.loc\t1 2 3\n\tcall.uni helper;\n")
        );
        let two = format!(
            "{bytes}{}{}",
            function("\tret;"),
            entry("b", "\t.loc\t2 4 5\n\tld [b_param_0];\n")
        );
        let text = assembled(
            &[
                &module("6.4", &one, &["x.rs"]),
                &module("7.8", &two, &["y.rs", "x.rs"]),
            ],
            "",
            &[],
        );
        let entry =
            |name: &str, body: &str| entry(name, body).replace(&format!("{name}_param_"), "param_");
        let expected = format!(
            ".version 7.8\n.target sm_75\n.address_size 64\n\n{bytes}{}{}{}\t.file\t1 \"x.rs\"\n\t.file\t2 \"y.rs\"\n",
            function("\tret;"),
            entry("a", "\t.loc\t1 2 3\n\tcall.uni helper;\n"),
            entry("b", "\t.loc\t1 4 5\n\tld [param_0];\n"),
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn what_differs_gets_a_name_of_its_own_and_so_does_what_refers_to_it() {
        let table = ".global .align 8 .u64 table[1] = {helper};\n";
        let of = |name: &str, body: &str| {
            let statements = format!(
                ".func helper()\n;\n{table}{}{}",
                entry(name, "\tmov table;\n"),
                function(body)
            );
            module("6.4", &statements, &[])
        };
        let text = assembled(
            &[
                &of("a", "\tone;"),
                &of("b", "\ttwo;"),
                &of("c", "\tone;"),
                &of("d", "\ttwo;"),
            ],
            "",
            &[],
        );
        let count = |what: &str| text.matches(what).count();
        assert_eq!((count("\tone;"), count("\ttwo;")), (1, 1), "{text}");
        assert_eq!(count(".u64 table"), 2, "{text}");
        assert_eq!(count("= {helper};"), 1, "{text}");
        assert_eq!(count("mov table;"), 2, "{text}");
        let suffixed = text
            .lines()
            .find(|line| line.contains(".u64 table_"))
            .unwrap();
        let suffix = suffixed.split(['_', '[']).nth(1).unwrap();
        assert_eq!(count(&format!("{{helper_{suffix}}}")), 1, "{text}");
        assert_eq!(count(&format!("mov table_{suffix};")), 2, "{text}");
        assert_eq!(
            count(&format!(".func helper_{suffix}()")),
            2,
            "declared and defined: {text}"
        );
    }

    #[test]
    fn a_variable_that_kernels_share_has_the_larger_alignment() {
        let of = |name: &str, align: u32| {
            let variable = format!(".visible .global .align {align} .b8 sums[64];\n");
            module("6.4", &(variable + &entry(name, "")), &[])
        };
        let text = assembled(&[&of("a", 4), &of("b", 16), &of("c", 8)], "", &[]);
        assert_eq!(text.matches("sums").count(), 1, "{text}");
        assert!(
            text.contains(".visible .global .align 16 .b8 sums[64];\n"),
            "{text}"
        );
    }

    #[test]
    fn shared_functions_are_the_modules_own() {
        let declared = ".extern .func fail\n(\n\t.param .b64 fail_param_0\n)\n.noreturn;\n.extern .func vprintf\n(\n)\n;\n";
        let kernel = module(
            "6.4",
            &format!("{declared}{}", entry("a", "\tcall.uni fail;\n")),
            &[],
        );
        let shared =
            ".visible .func fail(\n\t.param .b64 fail_param_0\n)\n.noreturn\n{\n\tret;\n}\n";
        let text = assembled(&[&kernel], shared, &["fail"]);
        assert_eq!(text.matches(".func fail").count(), 1, "{text}");
        assert!(
            text.contains("\n.func fail(\n") && text.contains(".extern .func vprintf"),
            "{text}"
        );
    }

    #[test]
    fn braces_of_inline_assembly_end_no_function() {
        let body = "\t// begin inline asm\n{\n\tmov;\n}\n\t// end inline asm\n";
        let text = assembled(&[&module("6.4", &entry("a", body), &[])], "", &[]);
        assert!(text.contains(&format!("{body}\tret;\n}}\n")), "{text}");
    }
}
