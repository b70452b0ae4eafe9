//! Orderings and scopes of atomic read-modify-write instructions.
//!
//! LLVM's NVPTX back end writes `atom.global.add.u32` whatever the ordering and the scope are, which PTX reads as relaxed
//! and of device scope. What asks for more is marked with a comment, as inline assembly right before the instruction
//! ([`mark`]), and the comment then becomes the instruction's modifiers ([`modify`]): `atom.acq_rel.sys.global.add.u32`.
//! Compare-and-swap, loads, stores and fences are right as LLVM writes them.
//!
//! An instruction whose result nothing reads becomes `red` ([`reduce`]), which returns none.

use std::collections::HashMap;

use crate::llvm::{self, Context, Module, Value};

/// The start of a mark.
const MARK: &str = "// oxwarp.atom ";

/// `LLVMAtomicOrdering`.
mod ordering {
    pub const RELAXED: i32 = 2;
    pub const ACQUIRE: i32 = 4;
    pub const RELEASE: i32 = 5;
    pub const SEQ_CST: i32 = 7;
}

/// Marks the instructions of an optimised module.
pub fn mark(module: Module) {
    let context = llvm::module_context(module);
    let builder = llvm::create_builder(context);
    let signature = llvm::signature(llvm::void_type(context), &[]);
    for instruction in llvm::functions(module)
        .filter(|&function| !llvm::declared_only(function))
        .flat_map(llvm::instructions)
        .filter_map(llvm::is_atomic_rmw)
    {
        let Some(modifiers) = modifiers(context, instruction) else {
            continue;
        };
        llvm::position_before(builder, instruction);
        if llvm::ordering(instruction) == ordering::SEQ_CST {
            // SAFETY: the name is a C string.
            let fence = unsafe { llvm::build_fence(builder, ordering::SEQ_CST, 0, c"".as_ptr()) };
            llvm::set_sync_scope(fence, llvm::atomic_sync_scope(instruction));
        }
        let mark = llvm::inline_assembly(signature, &format!("{MARK}{modifiers}"), "", true);
        llvm::call(builder, signature, mark, &[]);
    }
}

/// PTX's modifiers, where they are not what PTX reads out of none.
fn modifiers(context: Context, instruction: Value) -> Option<String> {
    let ordering = match llvm::ordering(instruction) {
        ordering::RELAXED => "relaxed",
        ordering::ACQUIRE => "acquire",
        ordering::RELEASE => "release",
        _ => "acq_rel",
    };
    let scope = llvm::atomic_sync_scope(instruction);
    let is = |name: &str| {
        // SAFETY: pointer and length are of one string.
        scope == unsafe { llvm::sync_scope(context, name.as_ptr().cast(), name.len()) }
    };
    let scope = match () {
        () if is("block") => "cta",
        () if is("device") => "gpu",
        () => "sys",
    };
    ((ordering, scope) != ("relaxed", "gpu")).then(|| format!("{ordering}.{scope}"))
}

/// Gives the marked instructions their modifiers and takes the marks out.
pub fn modify(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut pending: Option<&str> = None;
    let mut lines = ptx.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if is_begin_of_mark(line, lines.peek()) {
            pending = lines.next().and_then(|mark| mark.trim().strip_prefix(MARK));
            lines.next_if(|line| line.trim() == "// end inline asm");
        } else if let (Some(modifiers), Some(at)) = (pending, line.find("atom.")) {
            let (before, operation) = line.split_at(at + "atom.".len());
            let ordered = ["relaxed.", "acquire.", "release.", "acq_rel."];
            text.push_str(before);
            if !ordered
                .iter()
                .any(|ordering| operation.starts_with(ordering))
            {
                text.push_str(modifiers);
                text.push('.');
            }
            text.push_str(operation);
            pending = None;
        } else {
            text.push_str(line);
        }
    }
    text
}

/// Turns `atom.*` whose result is not read into `red.*`, where PTX has that: not for an exchange, and not with an acquire.
pub fn reduce(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    // A register is known in its function alone.
    for function in ptx.split_inclusive("\n}\n") {
        let mentions = function.contains("atom.").then(|| registers(function));
        for line in function.split_inclusive('\n') {
            let reduced = mentions
                .as_ref()
                .and_then(|mentions| reduced(line, mentions));
            text.push_str(reduced.as_deref().unwrap_or(line));
        }
    }
    text
}

/// How often each register is named.
fn registers(function: &str) -> HashMap<&str, usize> {
    let mut mentions = HashMap::new();
    for (start, _) in function.match_indices('%') {
        let name = &function[start + 1..];
        let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let length = name
            .find(|character| !is_part(character))
            .unwrap_or(name.len());
        *mentions.entry(&name[..length]).or_insert(0) += 1;
    }
    mentions
}

fn reduced(line: &str, mentions: &HashMap<&str, usize>) -> Option<String> {
    let at = line.find("atom.")?;
    let (before, instruction) = line.split_at(at);
    let (operation, operands) = instruction.split_once(char::is_whitespace)?;
    let (result, operands) = operands.split_once(',')?;
    let unread = mentions.get(result.trim().strip_prefix('%')?) == Some(&1);
    let part = |parts: &[&str]| operation.split('.').any(|part| parts.contains(&part));
    let exists = part(&["add", "min", "max", "inc", "dec", "and", "or", "xor"])
        && !part(&["acquire", "acq_rel"]);
    (unread && exists).then(|| {
        let (operation, operands) = (operation.replacen("atom", "red", 1), operands.trim_start());
        format!("{before}{operation} \t{operands}")
    })
}

fn is_begin_of_mark(line: &str, next: Option<&&str>) -> bool {
    line.trim() == "// begin inline asm" && next.is_some_and(|next| next.trim().starts_with(MARK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_atomic_gets_the_modifiers() {
        let marked = "\t// begin inline asm\n\t// oxwarp.atom acq_rel.sys\n\t// end inline asm\n\tmov.u32 \t%r1, 1;\n\
                      \tatom.global.add.u32 \t%r2, [%rd1], %r1;\n\tatom.shared.add.u32 \t%r3, [%r4], 2;\n";
        assert_eq!(
            modify(marked),
            "\tmov.u32 \t%r1, 1;\n\tatom.acq_rel.sys.global.add.u32 \t%r2, [%rd1], %r1;\n\
             \tatom.shared.add.u32 \t%r3, [%r4], 2;\n"
        );
    }

    #[test]
    fn what_nothing_reads_is_a_reduction() {
        let body = |read: &str| {
            format!(
                ".entry a() {{\n\tatom.relaxed.cta.shared.add.u32 \t%r3, [%r4], 2;\n\tadd.s32 \t%r5, {read}, %r4;\n\
                 \tatom.global.exch.b32 \t%r6, [%rd1], %r5;\n\tatom.acq_rel.gpu.add.u32 \t%r7, [%rd1], %r5;\n}}\n"
            )
        };
        assert_eq!(reduce(&body("%r3")), body("%r3"));
        let unread = body("%r33");
        let wanted = unread.replace(
            "atom.relaxed.cta.shared.add.u32 \t%r3, ",
            "red.relaxed.cta.shared.add.u32 \t",
        );
        assert_eq!(reduce(&unread), wanted);
        assert_eq!(reduce(&(body("%r3") + &unread)), body("%r3") + &wanted);
    }

    #[test]
    fn what_has_modifiers_keeps_them() {
        let marked = "// begin inline asm\n// oxwarp.atom relaxed.cta\n// end inline asm\natom.relaxed.sys.cas.b32 a;\n";
        assert_eq!(modify(marked), "atom.relaxed.sys.cas.b32 a;\n");
    }
}
