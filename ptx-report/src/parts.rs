//! The kernels of a module that can be loaded apart from each other, and the text of a module for each.
//!
//! In: a module, and the variables that every loaded module has for itself. Out: [`Parts`]. Kernels that share another
//! variable, which one writes and the other reads, or which the host finds by its name, are in one part with it: there must
//! be one of it for all of them. Those variables are visible outside of the module; what is not, nobody writes
//! (`gpu-compiler` sees to that), and each part has its own copy, as of the functions that it calls.
//!
//! The text is cut when the program runs, and not when it is compiled, so that a function that many kernels call is in the
//! program once.

use std::collections::{BTreeSet, HashMap};

use crate::module::{Item, Kind, Module};
use crate::references::References;

/// The kernels of a module that can be loaded apart: [`Module::parts`].
///
/// ```
/// let ptx = "
/// .version 7.0
/// .target sm_80
/// .address_size 64
/// .visible .global .align 4 .u32 count;
/// .visible .entry up()
/// {
///     red.global.add.u32 [count], 1;
///     ret;
/// }
/// .visible .entry down()
/// {
///     red.global.add.u32 [count], -1;
///     ret;
/// }
/// .visible .entry nothing()
/// {
///     ret;
/// }
/// ";
/// let parts = ptx_report::Module::parse(ptx).parts(&[]);
/// assert_eq!(parts.len(), 2);
/// assert_eq!(parts.part_of("up"), parts.part_of("down"));
/// let nothing = parts.text(parts.part_of("nothing").unwrap());
/// assert!(nothing.contains(".target sm_80") && !nothing.contains("count"));
/// ```
#[derive(Debug)]
pub struct Parts<'a> {
    /// The statements of each.
    texts: Vec<Vec<&'a str>>,
    of_kernel: HashMap<&'a str, usize>,
}

impl<'a> Module<'a> {
    /// Divides the kernels, so that those that share a variable are together. The variables of `own` are shared by none:
    /// each module that is loaded has them for itself.
    ///
    /// A module with a statement of another form than LLVM and `nvcc` write has no parts.
    pub fn parts(&self, own: &[&str]) -> Parts<'a> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        if self.items.iter().all(is_plain) {
            let references = References::of(self);
            for kernel in self.kernels() {
                let reached = references.reached(kernel);
                let is_shared = |&&index: &&usize| is_shared(&self.items[index], own);
                let mut group = Group {
                    kernels: vec![kernel],
                    shared: reached.iter().filter(is_shared).copied().collect(),
                    reached,
                };
                groups.retain_mut(|other| !group.takes(other));
                groups.push(group);
            }
        }
        Parts::of(self, groups)
    }
}

/// Kernels that are loaded together.
struct Group<'a> {
    kernels: Vec<&'a str>,
    /// The variables that keep them together, among what they reach.
    shared: BTreeSet<usize>,
    reached: BTreeSet<usize>,
}

impl Group<'_> {
    /// Whether it shares a variable with another, which it then takes in.
    fn takes(&mut self, other: &mut Self) -> bool {
        let same = !self.shared.is_disjoint(&other.shared);
        if same {
            self.kernels.append(&mut other.kernels);
            self.shared.append(&mut other.shared);
            self.reached.append(&mut other.reached);
        }
        same
    }
}

impl<'a> Parts<'a> {
    fn of(module: &Module<'a>, groups: Vec<Group<'a>>) -> Self {
        let mut parts = Self {
            texts: Vec::with_capacity(groups.len()),
            of_kernel: HashMap::new(),
        };
        for (part, group) in groups.into_iter().enumerate() {
            parts.texts.push(module.texts_of(&group.reached).collect());
            let kernels = group.kernels.into_iter().map(|kernel| (kernel, part));
            parts.of_kernel.extend(kernels);
        }
        parts
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none, so that the module must be loaded whole.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The part with this kernel, counted from 0.
    pub fn part_of(&self, kernel: &str) -> Option<usize> {
        self.of_kernel.get(kernel).copied()
    }

    /// The PTX of a part: a module.
    ///
    /// # Panics
    ///
    /// If there is no such part.
    pub fn text(&self, part: usize) -> String {
        self.texts[part].concat() + "\n"
    }
}

/// Whether the kernels that refer to a statement must refer to the same.
fn is_shared(item: &Item<'_>, own: &[&str]) -> bool {
    let words = item.statement().split_whitespace();
    let directives: Vec<&str> = words.take_while(|word| word.starts_with('.')).collect();
    let has = |wanted: &[&str]| directives.iter().any(|word| wanted.contains(word));
    item.kind == Kind::Variable
        && has(&[".global", ".const"])
        && has(&[".visible", ".extern", ".weak", ".common"])
        && !own.contains(&item.name)
}

/// Whether a statement is of a form that is known: a directive that is about the whole module, or the declaration or
/// definition of one name.
fn is_plain(item: &Item<'_>) -> bool {
    let statement = item.statement();
    match item.kind {
        Kind::Directive => {
            let word = statement.split_whitespace().next();
            let known = [".version", ".target", ".address_size", ".file"];
            word.is_none_or(|word| known.contains(&word))
        }
        Kind::Variable => {
            let declared = statement.split('=').next().unwrap_or_default();
            !declared.contains(',')
        }
        Kind::Kernel | Kind::Function | Kind::Section => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";
    const END: &str = "\t.file\t1 \"/a.rs\"\n";
    const SLOT: &str = ".visible .global .align 8 .u64 slot;\n";
    const SUMS: &str = ".visible .global .align 4 .b8 sums[64];\n";
    const LIMIT: &str = ".visible .const .align 4 .b8 limit[4];\n";
    const TEXT: &str = ".global .align 1 .b8 text[2] = {104, 105};\n";
    const TABLE: &str = ".global .align 8 .u64 table[1] = {generic(text)};\n";
    const DECLARED: &str = ".func fail\n(\n\t.param .b64 p\n)\n.noreturn;\n";
    const FAIL: &str = ".func fail(\n\t.param .b64 p\n)\n.noreturn\n{\n\tmov.b64 %rd1, table;\n\tld.global.b64 %rd2, [slot];\n\texit;\n}\n";

    fn entry(name: &str, body: &str) -> String {
        format!(
            "\t// .globl\t{name}\n.visible .entry {name}(\n\t.param .b64 param_0\n)\n{{\n{body}\tret;\n}}\n"
        )
    }

    fn calls(what: &str) -> String {
        format!("\t{{ // callseq 0, 0\n\tcall.uni {what}, (param0);\n\t}} // callseq 0\n")
    }

    /// The texts of the parts with these kernels.
    fn texts<const N: usize>(ptx: &str, kernels: [&str; N]) -> [String; N] {
        let parts = Module::parse(ptx).parts(&["slot"]);
        kernels.map(|kernel| parts.text(parts.part_of(kernel).unwrap()))
    }

    #[test]
    fn a_part_has_what_its_kernel_reaches_in_the_modules_order() {
        let [a, b] = [
            entry("a", &calls("fail")),
            entry("b", "\tmov.b64 %rd1, text;\n"),
        ];
        let c = entry("c", "\t// panic 7\t1\t1\ta.rs\tsums in the table\n");
        let ptx = [
            HEAD, SLOT, SUMS, LIMIT, TEXT, TABLE, DECLARED, &a, &b, &c, FAIL, END,
        ]
        .concat();
        let parts = Module::parse(&ptx).parts(&["slot"]);
        assert_eq!((parts.len(), parts.part_of("fail")), (3, None));
        assert_eq!(
            texts(&ptx, ["a", "b", "c"]),
            [
                [HEAD, SLOT, TEXT, TABLE, DECLARED, &a, FAIL, END, "\n"].concat(),
                [HEAD, TEXT, &b, END, "\n"].concat(),
                [HEAD, &c, END, "\n"].concat(),
            ]
        );
    }

    #[test]
    fn kernels_that_share_a_variable_share_a_part() {
        let writes = |name: &str, what: &str| entry(name, &format!("\tst.u32 [{what}+4], 1;\n"));
        let [sums, limit] = [writes("sums_1", "sums"), writes("limit_1", "limit")];
        let [both, slot] = [entry("both", &calls("through")), writes("own", "slot")];
        let through =
            ".func through()\n{\n\tld.const.u32 %r1, [limit];\n\tld.u32 %r1, [sums];\n}\n";
        let ptx = [HEAD, SLOT, SUMS, LIMIT, through, &sums, &slot, &limit].concat();
        let apart = texts(&ptx, ["sums_1", "own", "limit_1"]);
        assert_eq!(apart[0], [HEAD, SUMS, &sums, "\n"].concat());
        assert_eq!(apart[1], [HEAD, SLOT, &slot, "\n"].concat());
        assert_eq!(apart[2], [HEAD, LIMIT, &limit, "\n"].concat());
        let ptx = ptx + &both + &writes("own_2", "slot");
        let together = [HEAD, SUMS, LIMIT, through, &sums, &limit, &both, "\n"].concat();
        let [one, two, three, own, own_2] =
            texts(&ptx, ["sums_1", "limit_1", "both", "own", "own_2"]);
        assert_eq!([one, two, three], [together.as_str(); 3]);
        assert_eq!(own, apart[1]);
        assert_ne!(own, own_2);
    }

    #[test]
    fn what_each_block_or_part_has_for_itself_keeps_nothing_together() {
        let variables =
            ".shared .align 4 .b8 tile[64];\n.extern .shared .align 16 .b8 dynamic[];\n";
        let both =
            "\tst.shared.u32 [tile], 1;\n\tst.shared.u32 [dynamic], 1;\n\tmov.b64 %rd1, text;\n";
        let ptx = [HEAD, variables, TEXT, &entry("a", both), &entry("b", both)].concat();
        let [a, b] = texts(&ptx, ["a", "b"]);
        assert_eq!(a, [HEAD, variables, TEXT, &entry("a", both), "\n"].concat());
        assert_eq!(b, [HEAD, variables, TEXT, &entry("b", both), "\n"].concat());
    }

    #[test]
    fn braces_in_comments_end_nothing() {
        let [a, b] = [
            entry("a", "\t/* } \n } { { */ mov.u32 %r1, 0; // {\n"),
            entry("b", ""),
        ];
        let ptx = [HEAD, &a, &b].concat();
        assert_eq!(
            texts(&ptx, ["a", "b"]),
            [[HEAD, &a, "\n"].concat(), [HEAD, &b, "\n"].concat()]
        );
    }

    #[test]
    fn a_module_of_another_form_is_not_divided() {
        for other in [".global .u32 one, two;\n", ".alias f, g;\n"] {
            let ptx = [HEAD, other, &entry("a", ""), &entry("b", "")].concat();
            let parts = Module::parse(&ptx).parts(&[]);
            assert!(parts.is_empty() && parts.part_of("a").is_none(), "{other}");
        }
    }
}
