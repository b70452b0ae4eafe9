//! The PTX in a program's file, where each crate's stands as a terminated text, one a target.

use std::collections::BTreeMap;

use ptx_report::Module;

/// What a text begins with, after which come a version and the target.
const HEAD: &[u8] = b".version ";
const TARGET: &[u8] = b"\n.target sm_";
/// The most bytes of a version.
const VERSION: usize = 8;

/// All PTX texts of a program.
pub fn ptx(program: &[u8]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = program;
    while let Some(start) = find(rest, HEAD) {
        let text = &rest[start..];
        let version = &text[HEAD.len()..text.len().min(HEAD.len() + VERSION + TARGET.len())];
        if find(version, TARGET).is_none() {
            rest = &text[HEAD.len()..];
            continue;
        }
        let end = text
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(text.len());
        texts.push(String::from_utf8_lossy(&text[..end]).into_owned());
        rest = &text[end..];
    }
    texts
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted[0];
    let mut at = 0;
    loop {
        at += bytes[at..].iter().position(|&byte| byte == first)?;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
}

/// Every kernel with the module that a GPU of this compute capability loads; without one, the newest.
pub fn kernels<'m, 'a>(
    modules: &'m [Module<'a>],
    target: Option<u32>,
) -> Vec<(&'m Module<'a>, &'a str)> {
    let mut best: BTreeMap<&str, &Module> = BTreeMap::new();
    let runs = |module: &&Module| module.target().unwrap_or(0) <= target.unwrap_or(u32::MAX);
    for module in modules.iter().filter(runs) {
        for symbol in module.kernels() {
            let known = best.entry(symbol).or_insert(module);
            if known.target() < module.target() {
                *known = module;
            }
        }
    }
    best.into_iter()
        .map(|(symbol, module)| (module, symbol))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(target: u32, kernel: &str) -> String {
        format!(".version 7.0\n.target sm_{target}\n.visible .entry {kernel}()\n{{\n\tret;\n}}\n")
    }

    #[test]
    fn texts_end_at_their_terminator() {
        let program = format!(
            "\x7fELF.version 7.0\0{}\0.version \0{}\0",
            text(75, "a"),
            text(90, "a")
        );
        assert_eq!(ptx(program.as_bytes()), [text(75, "a"), text(90, "a")]);
        assert!(ptx(b".version 7").is_empty());
    }

    #[test]
    fn the_newest_that_runs_is_taken() {
        let texts = [text(75, "a"), text(90, "a"), text(80, "b")];
        let modules: Vec<Module> = texts.iter().map(|text| Module::parse(text)).collect();
        let of = |target| -> Vec<(&str, u32)> {
            let kernels = kernels(&modules, target).into_iter();
            kernels
                .map(|(module, symbol)| (symbol, module.target().unwrap()))
                .collect()
        };
        assert_eq!(of(None), [("a", 90), ("b", 80)]);
        assert_eq!(of(Some(86)), [("a", 75), ("b", 80)]);
        assert_eq!(of(Some(50)), []);
    }
}
