//! Checks that pass go on with the next block.
//!
//! LLVM's back end for PTX turns no condition around, so that a check whose good way comes next in the text is a branch to
//! the next line, and then one to the exit. `ptxas` keeps blocks in the order of the text, with the exit in the middle of
//! what always runs, and has more registers at work. Here such a check becomes one branch to the exit. Other branches are
//! left alone: `ptxas` does not unroll a loop whose last branch leaves it.

use std::collections::{BTreeMap, BTreeSet};

/// How LLVM's labels begin.
const LABEL: &str = "$L__BB";

/// How its labels for debug information begin, which may stand before those of blocks.
const DEBUG_LABEL: &str = "$L__tmp";

/// The PTX with such checks turned around.
pub fn turn_around(ptx: &str) -> String {
    let exits = exits(ptx);
    let mut text = String::with_capacity(ptx.len());
    let mut lines = ptx.lines();
    while let Some(line) = lines.next() {
        let mut ahead = lines.clone();
        let turned = check(line).and_then(|(negated, predicate, passed)| {
            let exit = ahead
                .next()?
                .strip_prefix("\tbra.uni \t")?
                .strip_suffix(';')?;
            let mut rest = ahead.clone();
            let next = rest.find(|line| !line.starts_with(DEBUG_LABEL))?;
            let is_next = label(next) == Some(passed);
            let not = if negated { "" } else { "!" };
            (is_next && exits.contains(exit)).then(|| format!("\t@{not}{predicate} bra \t{exit};"))
        });
        match turned {
            Some(turned) => {
                text.push_str(&turned);
                lines = ahead;
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// A conditional branch: whether its predicate is negated, the predicate, and where it goes.
fn check(line: &str) -> Option<(bool, &str, &str)> {
    let (predicate, target) = line.strip_prefix("\t@")?.split_once(" bra \t")?;
    let positive = predicate.strip_prefix('!');
    let negated = positive.is_some();
    Some((
        negated,
        positive.unwrap_or(predicate),
        target.strip_suffix(';')?,
    ))
}

fn label(line: &str) -> Option<&str> {
    line.strip_suffix(':')
        .filter(|label| label.starts_with(LABEL))
}

/// The labels from which every way ends the thread.
fn exits(ptx: &str) -> BTreeSet<&str> {
    let blocks = blocks(ptx);
    let mut exits = BTreeSet::new();
    loop {
        let found: Vec<&str> = blocks
            .iter()
            .filter(|(label, ways)| {
                !exits.contains(*label) && ways.iter().all(|way| exits.contains(way))
            })
            .map(|(label, _)| *label)
            .collect();
        if found.is_empty() {
            return exits;
        }
        exits.extend(found);
    }
}

/// The labels of blocks, and where each goes on: nowhere if it ends the thread, to no label where a function returns.
fn blocks(ptx: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut blocks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (mut current, mut last) = ("", "");
    for line in ptx.lines() {
        let next = if line == "}" { Some("") } else { label(line) };
        if let Some(next) = next {
            let ends = ["bra.uni", "exit;"].iter().any(|end| last.starts_with(end));
            if !ends {
                blocks.entry(current).or_default().push(next);
            }
            blocks.entry(next).or_default();
            (current, last) = (next, "");
        }
        let instruction = line.trim();
        if !line.starts_with('\t') || instruction.starts_with(['.', '/']) {
            continue;
        }
        if ["ret;", "brx"]
            .iter()
            .any(|way| instruction.starts_with(way))
        {
            blocks.entry(current).or_default().push("");
        } else if let Some((_, target)) = instruction.trim_end_matches(';').split_once("bra") {
            let target = target.split_whitespace().next_back().unwrap_or_default();
            blocks.entry(current).or_default().push(target);
        }
        last = instruction;
    }
    // What is before a function's first label is no block of that name.
    blocks.insert("", vec![""]);
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check with two exits behind it, and what follows where it passes.
    fn ptx(check: &str, passed: &str) -> String {
        format!(
            ".visible .entry k()\n{{\n{check}$L__BB0_1:\n\tadd.s32 \t%r1, %r1, 1;\n{passed}$L__BB0_2:\n\tret;\n$L__BB0_3:\n\t@%p2 bra \
             \t$L__BB0_4;\n\tbra.uni \t$L__BB0_5;\n$L__BB0_4:\n\t{{ // callseq 0, 0\n\tcall.uni fails, (param0);\n\t}} // callseq 0\n\t// begin inline \
             asm\n\texit;\n\t// end inline asm\n$L__BB0_5:\n\t.loc\t1 2 3\n\texit;\n\n}}\n"
        )
    }

    #[test]
    fn a_check_branches_to_its_exit() {
        for (condition, other) in [("%p1", "!%p1"), ("!%p1", "%p1")] {
            let long = format!("\t@{condition} bra \t$L__BB0_1;\n\tbra.uni \t$L__BB0_3;\n");
            let short = format!("\t@{other} bra \t$L__BB0_3;\n");
            for debug in ["", "$L__tmp1:\n$L__tmp2:\n"] {
                let turned = turn_around(&ptx(&format!("{long}{debug}"), ""));
                let of_exits = ptx(&format!("{short}{debug}"), "").replace(
                    "\t@%p2 bra \t$L__BB0_4;\n\tbra.uni \t$L__BB0_5;\n",
                    "\t@!%p2 bra \t$L__BB0_5;\n",
                );
                assert_eq!(turned, of_exits);
            }
        }
    }

    #[test]
    fn other_branches_stay() {
        let around = |target: &str| format!("\t@%p1 bra \t$L__BB0_1;\n\tbra.uni \t{target};\n");
        // A loop's end, and one whose good way does not come next.
        for check in [
            around("$L__BB0_2"),
            "\t@%p1 bra \t$L__BB0_2;\n\tbra.uni \t$L__BB0_3;\n".into(),
        ] {
            assert!(turn_around(&ptx(&check, "")).contains(&check), "{check}");
        }
    }
}
