//! The lines of a function's body: labels, instructions, places of the source.
//!
//! In: a function's text. Out: its [`Statement`]s, in order.

/// One statement of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement<'a> {
    /// A branch may come here.
    Label(&'a str),
    /// Where an indirect branch with this label may go: a list.
    Targets(&'a str, &'a str),
    /// What follows is of this line: file and line.
    Line(&'a str),
    /// An instruction.
    Instruction(Instruction<'a>),
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Its whole text.
    pub text: &'a str,
    /// `ld.global.b32`.
    pub operation: &'a str,
    /// What follows the operation, less the semicolon.
    pub operands: &'a str,
    /// Whether it is executed only where a predicate holds.
    pub conditional: bool,
}

impl<'a> Instruction<'a> {
    fn of(text: &'a str) -> Self {
        let conditional = text.starts_with('@');
        let rest = if conditional {
            text.split_once(char::is_whitespace)
                .map_or("", |(_, rest)| rest.trim_start())
        } else {
            text
        };
        let (operation, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        Instruction {
            text,
            operation: operation.trim_end_matches(';'),
            operands: operands.trim().trim_end_matches(';').trim_end(),
            conditional,
        }
    }

    /// The operation without what follows the first dot.
    pub fn kind(&self) -> &'a str {
        self.operation.split('.').next().unwrap_or_default()
    }

    /// The parts of the operation after the first.
    pub fn modifiers(&self) -> impl Iterator<Item = &'a str> {
        self.operation.split('.').skip(1)
    }

    /// The function that it calls by name, or the register that holds its address.
    pub fn callee(&self) -> Option<&'a str> {
        if self.kind() != "call" {
            return None;
        }
        let operands = match self.operands.strip_prefix('(') {
            Some(result) => result
                .split_once(')')?
                .1
                .trim_start_matches([',', ' ', '\t', '\n']),
            None => self.operands,
        };
        operands.split(',').next().map(str::trim)
    }
}

/// The statements of a function's body.
pub fn statements(function: &str) -> Vec<Statement<'_>> {
    let body = function.find('{').map_or("", |at| &function[at + 1..]);
    let mut statements = Vec::new();
    let mut rest = body;
    while let Some(end) = rest
        .find('\n')
        .map(|end| end + 1)
        .or((!rest.is_empty()).then_some(rest.len()))
    {
        let (mut line, mut after) = rest.split_at(end);
        if line.trim_start().starts_with("call") && !line.contains(';') {
            // `nvcc` puts each part of a call on a line of its own.
            (line, after) = rest.split_at(rest.find(';').map_or(rest.len(), |end| end + 1));
        }
        statements.extend(statement(
            line.split("//").next().unwrap_or_default().trim(),
        ));
        rest = after;
    }
    statements
}

fn statement(line: &str) -> Option<Statement<'_>> {
    if let Some((label, rest)) = line
        .split_once(':')
        .filter(|(label, _)| label.starts_with('$'))
    {
        return match rest.trim().strip_prefix(".branchtargets") {
            Some(list) => Some(Statement::Targets(label, list.trim_end_matches(';'))),
            // Labels of line tables, where no branch goes to.
            None if label.starts_with("$L__tmp") || label.starts_with("$L__func") => None,
            None => Some(Statement::Label(label)),
        };
    }
    if let Some(of_source) = line.strip_prefix(".loc") {
        return Some(Statement::Line(
            of_source.split(',').next().unwrap_or_default().trim(),
        ));
    }
    let is_instruction = !line.is_empty() && !line.starts_with(['.', '{', '}']);
    is_instruction.then(|| Statement::Instruction(Instruction::of(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_callees() {
        let load = Instruction::of("@!%p1 ld.global.nc.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1+16];");
        assert!(load.conditional);
        assert_eq!((load.kind(), load.operation), ("ld", "ld.global.nc.v4.b32"));
        assert_eq!(
            load.modifiers().collect::<Vec<_>>(),
            ["global", "nc", "v4", "b32"]
        );
        let callee = |text| Instruction::of(text).callee();
        assert_eq!(callee("call.uni f, (param0);"), Some("f"));
        assert_eq!(
            callee("call.uni (retval0), g, (param0, param1);"),
            Some("g")
        );
        assert_eq!(
            callee("call (retval0), %rd3, (param0), prototype_0;"),
            Some("%rd3")
        );
        assert_eq!(callee("ret;"), None);
    }

    #[test]
    fn lines_of_a_body() {
        let text = ".entry a()\n{\n\t.reg .b32 %r1;\n$L__tmp7:\n$L_1:\n\t.loc\t3 20 9, function_name $x\n\tcall.uni \n\tf, \n\t(\n\tp\n\t);\n\
                    $L_2: .branchtargets $L_1, $L_3;\n\tret; // done\n}";
        let statements = statements(text);
        assert_eq!(statements.len(), 5, "{statements:?}");
        assert_eq!(statements[0], Statement::Label("$L_1"));
        assert_eq!(statements[1], Statement::Line("3 20 9"));
        assert!(
            matches!(statements[2], Statement::Instruction(call) if call.callee() == Some("f"))
        );
        assert_eq!(statements[3], Statement::Targets("$L_2", " $L_1, $L_3"));
        assert!(matches!(statements[4], Statement::Instruction(ret) if ret.operation == "ret"));
    }
}
