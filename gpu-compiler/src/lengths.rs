//! An index below the smallest of several lengths, or the largest of several indices below a length, as several
//! comparisons.
//!
//! `for (x, y) in x.iter().zip(y)` and `i < x.len() && i < y.len()` become one comparison with the smaller length. That
//! takes four instructions of a GPU for the smaller of two 64-bit numbers and two for the comparison, each waiting for the
//! one before, before the first load can begin. Two comparisons are four that do not wait, since a comparison takes another
//! one's result along. `x[i - 1]` and `x[i + 1]` in one condition become one with the larger index.
//!
//! In: PTX as the back end writes it, which makes the one out of the two. Out: the same with the comparisons apart, where
//! the smaller number is used for nothing else. Lengths not in loops: the driver's compiler takes the smaller of two out of
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::RangeInclusive;

use crate::registers::{functions, registers, three_operands, writes};

/// The label of a block that is not entered from the one above alone, as a loop's first is.
const BLOCK: &str = "$L__BB";
/// Comparisons of a number with the smaller or larger of two. Where the smaller is the left one, or the larger the right one,
/// `or` joins the first two, and `and` the others.
const COMPARISONS: [(&str, bool); 4] = [
    ("setp.lt", true),
    ("setp.le", true),
    ("setp.gt", false),
    ("setp.ge", false),
];

/// The PTX with the comparisons apart.
pub fn compare_apart(ptx: &str) -> String {
    functions(ptx).map(in_function).collect()
}

fn in_function(function: &str) -> String {
    let writes = writes(function);
    let mut named: BTreeMap<&str, u32> = BTreeMap::new();
    for register in function.lines().flat_map(registers) {
        *named.entry(register).or_default() += 1;
    }
    let is_constant = |operand: &str| !operand.starts_with('%') || writes.get(operand) == Some(&1);
    let mut extremes: BTreeMap<&str, Extreme> = BTreeMap::new();
    let (mut apart, mut unused) = (BTreeMap::new(), BTreeSet::<usize>::new());
    let loops = loops(function);
    let repeats = |place: usize| loops.iter().any(|lines| lines.contains(&place));
    for (place, line) in function.lines().enumerate() {
        if line.starts_with(BLOCK) {
            extremes.clear();
        } else if let Some((is_largest, [to, a, b])) = extreme(line) {
            let is_known = is_constant(to) && is_constant(a) && is_constant(b);
            if is_known && named[to] == 2 && (is_largest || !repeats(place)) {
                let of = Extreme::of(place, is_largest, [a, b], &extremes);
                extremes.insert(to, of);
            }
        } else if let Some((text, lines)) = comparison(line, &extremes) {
            apart.insert(place, text);
            unused.extend(lines);
        }
    }
    let lines = function.split_inclusive('\n').enumerate();
    lines
        .filter(|(place, _)| !unused.contains(place))
        .map(|(place, line)| apart.get(&place).map_or(line, String::as_str))
        .collect()
}

/// The lines from a label to a branch back to it.
fn loops(function: &str) -> Vec<RangeInclusive<usize>> {
    let mut labels = BTreeMap::new();
    let mut loops = Vec::new();
    for (place, line) in function.lines().enumerate() {
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, place);
        } else if let Some((_, to)) = line.split_once("bra") {
            let to = to.trim_start_matches(".uni").trim().trim_end_matches(';');
            loops.extend(labels.get(to).map(|&label| label..=place));
        }
    }
    loops
}

/// An instruction that takes the smaller or the larger of two numbers: which, and its operands.
fn extreme(line: &str) -> Option<(bool, [&str; 3])> {
    let of = |(name, is_largest)| Some((is_largest, three_operands(line, name)?));
    [("min.u64", false), ("max.u64", true)]
        .into_iter()
        .find_map(of)
}

/// The smallest or largest of some numbers, and the lines that compute it.
struct Extreme<'a> {
    is_largest: bool,
    of: Vec<&'a str>,
    lines: Vec<usize>,
}

impl<'a> Extreme<'a> {
    fn of(
        line: usize,
        is_largest: bool,
        operands: [&'a str; 2],
        known: &BTreeMap<&str, Extreme<'a>>,
    ) -> Self {
        let mut extreme = Extreme {
            is_largest,
            of: Vec::new(),
            lines: vec![line],
        };
        for operand in operands {
            match known.get(operand) {
                Some(known) if known.is_largest == is_largest => {
                    extreme.of.extend(&known.of);
                    extreme.lines.extend(&known.lines);
                }
                _ => extreme.of.push(operand),
            }
        }
        extreme
    }
}

/// A comparison with a smallest or largest number as several, and the lines that computed the number.
fn comparison<'a>(
    line: &str,
    extremes: &'a BTreeMap<&str, Extreme>,
) -> Option<(String, &'a [usize])> {
    let of = |&(name, is_below): &(&'static str, bool)| {
        let operands = three_operands(line, &format!("{name}.u64"))?;
        Some((name, is_below, operands))
    };
    let (name, is_below, [to, a, b]) = COMPARISONS.iter().find_map(of)?;
    let (of, is_left) = match (extremes.get(a), extremes.get(b)) {
        (Some(of), None) => (of, true),
        (None, Some(of)) => (of, false),
        _ => return None,
    };
    let any_is_enough = (is_below == is_left) != of.is_largest;
    let join = if any_is_enough { "or" } else { "and" };
    let pair = |number: &str| {
        if is_left {
            format!("{number}, {b}")
        } else {
            format!("{a}, {number}")
        }
    };
    let (last, first) = of.of.split_last()?;
    let mut text = format!("\t{{ .reg .pred \t%q; {name}.u64 \t%q, {};", pair(first[0]));
    for number in &first[1..] {
        let _ = write!(text, " {name}.{join}.u64 \t%q, {}, %q;", pair(number));
    }
    let _ = writeln!(text, " {name}.{join}.u64 \t{to}, {}, %q; }}", pair(last));
    Some((text, &of.lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(lines: &[&str]) -> Vec<String> {
        let body: Vec<String> = lines.iter().map(|line| indented(line)).collect();
        let text = compare_apart(&format!(".func f()\n{{\n{}}}\n", body.concat()));
        let lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
        lines[2..lines.len() - 1].to_vec()
    }

    fn indented(line: &str) -> String {
        let tab = if line.ends_with(':') { "" } else { "\t" };
        format!("{tab}{line}\n")
    }

    const MIN: &str = "min.u64 \t%rd3, %rd1, %rd2;";
    const CHECK: &str = "setp.le.u64 \t%p1, %rd3, %rd9;";

    /// The same behind loads of the lengths.
    fn with_lengths(lines: &[&str]) -> Vec<String> {
        let lengths = ["ld.param.b64 \t%rd1, [p];", "ld.param.b64 \t%rd2, [q];"];
        apart(&[&lengths, lines].concat())[2..].to_vec()
    }

    #[test]
    fn an_index_is_compared_with_each_length() {
        for (comparison, first, second) in [
            (
                "setp.le.u64 \t%p1, %rd3, %rd9;",
                "setp.le.u64 \t%q, %rd1, %rd9;",
                "setp.le.or.u64 \t%p1, %rd2, %rd9",
            ),
            (
                "setp.gt.u64 \t%p1, %rd3, %rd9;",
                "setp.gt.u64 \t%q, %rd1, %rd9;",
                "setp.gt.and.u64 \t%p1, %rd2, %rd9",
            ),
            (
                "setp.lt.u64 \t%p1, %rd9, %rd3;",
                "setp.lt.u64 \t%q, %rd9, %rd1;",
                "setp.lt.and.u64 \t%p1, %rd9, %rd2",
            ),
            (
                "setp.ge.u64 \t%p1, %rd9, %rd3;",
                "setp.ge.u64 \t%q, %rd9, %rd1;",
                "setp.ge.or.u64 \t%p1, %rd9, %rd2",
            ),
        ] {
            let expected = format!("{{ .reg .pred \t%q; {first} {second}, %q; }}");
            assert_eq!(with_lengths(&[MIN, comparison]), [expected]);
        }
    }

    #[test]
    fn each_index_is_compared_with_the_length() {
        let max = "max.u64 \t%rd3, %rd1, %rd2;";
        for (comparison, first, second) in [
            (
                "setp.lt.u64 \t%p1, %rd3, %rd9;",
                "setp.lt.u64 \t%q, %rd1, %rd9;",
                "setp.lt.and.u64 \t%p1, %rd2, %rd9",
            ),
            (
                "setp.le.u64 \t%p1, %rd9, %rd3;",
                "setp.le.u64 \t%q, %rd9, %rd1;",
                "setp.le.or.u64 \t%p1, %rd9, %rd2",
            ),
        ] {
            let expected = format!("{{ .reg .pred \t%q; {first} {second}, %q; }}");
            assert_eq!(with_lengths(&[max, comparison]), [expected]);
        }
    }

    /// They change from trip to trip, as lengths do not.
    #[test]
    fn indices_of_a_loop_are_compared_apart_too() {
        let lines = [
            "$L__BB0_1:",
            "max.u64 \t%rd3, %rd1, %rd2;",
            "setp.ge.u64 \t%p1, %rd3, %rd9;",
            "@%p1 bra \t$L__BB0_1;",
            "// begin inline asm",
            "call.uni oxwarp_panic_index, (%rd1, %rd9, 7);",
            "// end inline asm",
        ];
        let apart = with_lengths(&lines);
        assert_eq!(apart.len(), lines.len() - 1, "{apart:?}");
        assert!(apart[1].contains("setp.ge.or.u64"), "{apart:?}");
    }

    #[test]
    fn the_largest_of_indices_that_are_smallest_ones_stays_whole() {
        let max = "max.u64 \t%rd4, %rd3, 64;";
        let check = "setp.lt.u64 \t%p1, %rd4, %rd9;";
        let apart = "{ .reg .pred \t%q; setp.lt.u64 \t%q, %rd3, %rd9; setp.lt.and.u64 \t%p1, 64, %rd9, %q; }";
        assert_eq!(with_lengths(&[MIN, max, check]), [MIN, apart]);
    }

    #[test]
    fn three_lengths_are_three_comparisons() {
        let more = "min.u64 \t%rd4, %rd3, 64;";
        let check = "setp.le.u64 \t%p1, %rd4, %rd9;";
        assert_eq!(
            with_lengths(&[MIN, more, check]),
            [
                "{ .reg .pred \t%q; setp.le.u64 \t%q, %rd1, %rd9; setp.le.or.u64 \t%q, %rd2, %rd9, %q; \
              setp.le.or.u64 \t%p1, 64, %rd9, %q; }"
            ]
        );
    }

    #[test]
    fn a_smaller_length_that_is_needed_stays() {
        let loop_begins = "$L__BB0_1:";
        for lines in [
            &[MIN, CHECK, "mov.b64 \t%rd5, %rd3;"][..],
            &[MIN, CHECK, "mov.b64 \t%rd1, 0;"],
            &[MIN, "setp.eq.u64 \t%p1, %rd3, %rd9;"],
            &["min.s64 \t%rd3, %rd1, %rd2;", CHECK],
        ] {
            assert_eq!(with_lengths(lines), lines);
        }
        let [before, inside] = [(MIN, loop_begins), (loop_begins, MIN)]
            .map(|(first, second)| [first, second, CHECK, "@%p1 bra \t$L__BB0_1;"]);
        assert_eq!(with_lengths(&before), before);
        assert_eq!(with_lengths(&inside), inside);
    }
}
