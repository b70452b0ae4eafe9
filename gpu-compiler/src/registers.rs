//! Instructions of PTX, a line each as LLVM's back end writes them, and the registers in them.

use std::collections::BTreeMap;

use crate::exits;

const ASSEMBLY_BEGINS: &str = "// begin inline asm";
const ASSEMBLY_ENDS: &str = "// end inline asm";

/// The functions of a text. Registers are of one function, whose body ends with a brace at the start of a line.
pub fn functions(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.split_inclusive("\n}")
}

/// How many instructions may write each register.
pub fn writes(function: &str) -> BTreeMap<&str, u32> {
    let mut writes: BTreeMap<&str, u32> = BTreeMap::new();
    let mut is_assembly = false;
    for line in function.lines() {
        is_assembly =
            (is_assembly || line.contains(ASSEMBLY_BEGINS)) && !line.contains(ASSEMBLY_ENDS);
        if exits::calls(line) {
            continue;
        }
        let may_be_written = if is_assembly {
            line
        } else {
            first_operand(line)
        };
        for register in registers(may_be_written) {
            *writes.entry(register).or_default() += 1;
        }
    }
    writes
}

/// Where an instruction names what it writes; of what does not look like one, all of it.
fn first_operand(line: &str) -> &str {
    let Some((_, operands)) = line.split_once(" \t") else {
        return line;
    };
    let end = match operands.strip_prefix('{') {
        Some(group) => group.find('}').map(|end| end + 1),
        None => operands.find(','),
    };
    &operands[..end.unwrap_or(operands.len())]
}

/// The registers that a text names.
pub fn registers(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '%'));
    parts.filter(|part| part.starts_with('%'))
}

/// The operands of a line, if its instruction is the one named.
pub fn operands<'a>(line: &'a str, instruction: &str) -> Option<&'a str> {
    let operands = line.trim().strip_prefix(instruction)?;
    operands.strip_prefix(" \t")?.strip_suffix(';')
}

/// The three operands of a line, if its instruction is the one named.
pub fn three_operands<'a>(line: &'a str, instruction: &str) -> Option<[&'a str; 3]> {
    let operands: Vec<&str> = operands(line, instruction)?.split(", ").collect();
    operands.try_into().ok()
}
