//! What a kernel does, by its PTX: instructions by kind, and the checks that are left.
//!
//! In: a module and a kernel's symbol. Out: a [`Code`], which prints as a table. The functions that the kernel calls and
//! that return are counted too, each once; what runs only when a thread panics is not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::access::{Access, Direction, Space};
use crate::checks::{Check, Place, Position, checks};
use crate::flow::Flow;
use crate::loops::loops;
use crate::module::Module;
use crate::statement::Instruction;

/// What a kernel's PTX does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Instructions of the kernel's own body, those of panics among them.
    pub instructions: usize,
    /// Loads and stores, and how many instructions are one.
    pub accesses: BTreeMap<Access, usize>,
    /// Atomic operations by the space of their memory.
    pub atomics: BTreeMap<Space, usize>,
    /// Copies to shared memory that go on while the thread does (`cp.async`).
    pub async_copies: usize,
    /// Multiplications with an addition in one instruction (`fma`).
    pub fma: usize,
    /// Operations of the matrix units.
    pub matrix: usize,
    /// Barriers of the block or a part of it.
    pub barriers: usize,
    /// Loops, each copy of one counted.
    pub loops: usize,
    /// Calls of functions that return, by name; calls through a pointer are `a pointer`.
    pub calls: BTreeMap<String, usize>,
    /// Branches to a panic.
    pub checks: Vec<Check>,
}

impl Code {
    /// The code of a kernel, if the module has it.
    pub fn of(module: &Module, symbol: &str) -> Option<Self> {
        let kernel = module.kernel(symbol)?;
        let mut code = Code::default();
        let mut open = vec![(kernel, false)];
        let mut seen = BTreeSet::from([symbol]);
        while let Some((function, in_loop)) = open.pop() {
            for (callee, in_loop) in code.add(function, in_loop, module) {
                if let Some(function) = module.function(callee).filter(|_| seen.insert(callee)) {
                    open.push((function, in_loop));
                }
            }
        }
        Some(code)
    }

    /// Adds a function, which is called from a loop or not. Gives what it calls, likewise.
    fn add<'a>(
        &mut self,
        function: &'a str,
        from_loop: bool,
        module: &Module,
    ) -> Vec<(&'a str, bool)> {
        let is_kernel = function.contains(".entry");
        let flow = Flow::of(function, module);
        let loops = loops(&flow.next);
        if is_kernel {
            let counts = flow.blocks.iter().map(|block| block.instructions.len());
            self.instructions = counts.sum();
        }
        let mut called = Vec::new();
        for (index, block) in flow
            .blocks
            .iter()
            .enumerate()
            .filter(|&(index, _)| !flow.panics[index])
        {
            let in_loop = from_loop || loops.iter().any(|blocks| blocks.contains(&index));
            for instruction in &block.instructions {
                self.count(instruction, is_kernel);
                called.extend(instruction.callee().map(|callee| (callee, in_loop)));
            }
        }
        self.loops += loops.len();
        let mut checks = checks(&flow, &loops, module);
        for check in checks
            .iter_mut()
            .filter(|check| from_loop && check.position == Position::Straight)
        {
            check.position = Position::Loop;
        }
        self.checks.extend(checks);
        called
    }

    fn count(&mut self, instruction: &Instruction, is_kernel: bool) {
        // Functions have their parameters in registers.
        let access = Access::of(instruction);
        if let Some(access) = access.filter(|access| is_kernel || access.space != Space::Parameter)
        {
            *self.accesses.entry(access).or_default() += 1;
        }
        match instruction.kind() {
            "fma" => self.fma += 1,
            "mma" | "wmma" | "wgmma" => {
                self.matrix += usize::from(
                    instruction
                        .modifiers()
                        .any(|part| part == "mma" || part == "sync"),
                );
            }
            "bar" | "barrier" => self.barriers += 1,
            "atom" | "red" => *self.atomics.entry(Space::of(instruction)).or_default() += 1,
            "cp" => {
                self.async_copies += usize::from(
                    instruction
                        .modifiers()
                        .any(|part| part.starts_with("shared")),
                )
            }
            "call" => {
                let callee = instruction.callee().unwrap_or_default();
                let name = if callee.starts_with('%') {
                    "a pointer".into()
                } else {
                    readable(callee)
                };
                *self.calls.entry(name).or_default() += 1;
            }
            _ => {}
        }
    }

    /// The checks that stand somewhere.
    pub fn checks_at(&self, position: Position) -> impl Iterator<Item = &Check> {
        self.checks
            .iter()
            .filter(move |check| check.position == position)
    }

    /// Bytes that a thread reads or writes in a space by one of each instruction, whatever loops it is in.
    pub fn bytes(&self, direction: Direction, space: Space) -> u64 {
        let of = |access: &Access| access.direction == direction && access.space == space;
        let accesses = self.accesses.iter().filter(|(access, _)| of(access));
        accesses
            .map(|(access, &count)| u64::from(access.bytes) * count as u64)
            .sum()
    }

    /// The distinct places of checks that stand somewhere, with what they say and how many there are.
    fn places(&self, position: Position) -> BTreeMap<&(Option<Place>, String), usize> {
        let mut places = BTreeMap::new();
        for panic in self.checks_at(position).flat_map(|check| &check.panics) {
            *places.entry(panic).or_default() += 1;
        }
        places
    }

    fn write_accesses(&self, f: &mut fmt::Formatter<'_>, direction: Direction) -> fmt::Result {
        let mut spaces: BTreeMap<Space, Vec<String>> = BTreeMap::new();
        for (access, count) in self
            .accesses
            .iter()
            .filter(|(access, _)| access.direction == direction)
        {
            spaces
                .entry(access.space)
                .or_default()
                .push(format!("{count} of {}", bytes(access.bytes.into())));
        }
        let texts: Vec<String> = spaces
            .iter()
            .map(|(space, counts)| format!("{space} {}", counts.join(", ")))
            .collect();
        let head = if direction == Direction::Load {
            "loads"
        } else {
            "stores"
        };
        writeln!(
            f,
            "  {head:<16}{}",
            if texts.is_empty() {
                "none".into()
            } else {
                texts.join("; ")
            }
        )
    }

    fn write_checks(
        &self,
        f: &mut fmt::Formatter<'_>,
        head: &str,
        position: Position,
    ) -> fmt::Result {
        let count = self.checks_at(position).count();
        writeln!(f, "  {head:<16}{count}")?;
        for ((place, what), count) in self.places(position) {
            let times = if count > 1 {
                format!(", {count} times")
            } else {
                String::new()
            };
            match place {
                Some(place) => writeln!(f, "  {:<16}{place}: {what}{times}", "")?,
                None => writeln!(f, "  {:<16}{what}{times}", "")?,
            }
        }
        Ok(())
    }
}

/// `1 byte`, `4 bytes`.
pub(crate) fn bytes(count: u64) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}

/// A symbol as the source has it.
pub(crate) fn readable(symbol: &str) -> String {
    // LLVM gives a local copy of a function a number.
    let symbol = symbol.split("_$_").next().unwrap_or(symbol);
    format!("{:#}", rustc_demangle::demangle(symbol))
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            ("fma", self.fma),
            ("matrix", self.matrix),
            ("barriers", self.barriers),
            ("async copies", self.async_copies),
            ("loops", self.loops),
        ];
        let counts = counts.iter().filter(|(_, count)| *count > 0);
        let counts: String = counts
            .map(|(name, count)| format!("; {name} {count}"))
            .collect();
        writeln!(f, "  {:<16}{}{counts}", "instructions", self.instructions)?;
        self.write_accesses(f, Direction::Load)?;
        self.write_accesses(f, Direction::Store)?;
        if !self.atomics.is_empty() {
            let atomics: Vec<String> = self
                .atomics
                .iter()
                .map(|(space, count)| format!("{space} {count}"))
                .collect();
            writeln!(f, "  {:<16}{}", "atomics", atomics.join("; "))?;
        }
        if !self.calls.is_empty() {
            let calls: Vec<String> = self
                .calls
                .iter()
                .map(|(name, count)| format!("{name} {count}"))
                .collect();
            writeln!(f, "  {:<16}{}", "calls", calls.join("; "))?;
        }
        self.write_checks(f, "checks in loops", Position::Loop)?;
        let (straight, slow) = (Position::Straight, Position::SlowCopy);
        let counts = [straight, slow].map(|position| self.checks_at(position).count());
        writeln!(
            f,
            "  {:<16}{} outside of loops, {} in slow copies of loops",
            "other checks", counts[0], counts[1]
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A nest with a check in the inner loop; two copies of a loop of which one has a check; a check before them.
    const PTX: &str = "
.version 7.0
.target sm_80
.func panic_bounds_check(.param .b64 a)
.noreturn;
.func core_panic(.param .b64 a)
.noreturn;
.global .align 1 .b8 text[4] = {110, 111, 116, 33};
.global .align 1 .b8 name[4] = {97, 46, 114, 115};
.global .align 8 .u64 inner[3] = {generic(name), 4, 21474836491};
.global .align 8 .u64 slow[3] = {generic(name), 4, 21474836492};
.global .align 8 .u64 first[3] = {generic(name), 4, 21474836489};
.visible .entry kernel_0(
)
{
	.reg .b32 	%r<3>;
	ld.param.b64 	%rd1, [kernel_0_param_0];
	@%p9 bra 	$FIRST;
	mov.b32 	%r1, 0;
$OUTER:
	mov.b32 	%r2, 0;
	bar.sync 	0;
$INNER:
	setp.ge.u32 	%p1, %r2, %r9;
	@%p1 bra 	$PANIC;
	fma.rn.f32 	%r2, %r2, %r3, %r4;
	setp.lt.u32 	%p2, %r2, 9;
	@%p2 bra 	$INNER;
	add.s32 	%r1, %r1, 1;
	{ // callseq 0, 0
	call.uni 	_ZN5twice17h0123456789abcdefE, (param0);
	} // callseq 0
	setp.lt.u32 	%p3, %r1, 9;
	@%p3 bra 	$OUTER;
	setp.lt.u32 	%p4, %r1, %r8;
	@%p4 bra 	$FAST;
$SLOW:
	setp.ge.u32 	%p5, %r1, %r8;
	@%p5 bra 	$PANIC_SLOW;
	.loc 1 20 9
	ld.global.nc.v4.b32 	{%r3, %r4, %r5, %r6}, [%rd1];
	@%p6 bra 	$SLOW;
	ret;
$FAST:
	.loc 1 20 9
	ld.global.nc.v4.b32 	{%r3, %r4, %r5, %r6}, [%rd1];
	@%p7 bra 	$FAST;
	ret;
$PANIC:
	mov.b64 	%rd4, inner;
	call.uni 	panic_bounds_check, (param0);
	exit;
$PANIC_SLOW:
	mov.b64 	%rd4, slow;
	call.uni 	panic_bounds_check, (param0);
	exit;
$FIRST:
	mov.b64 	%rd3, text;
	mov.b64 	%rd4, first;
	st.param.b64 	[param1], 4;
	call.uni 	core_panic, (param0);
	exit;
}
.func _ZN5twice17h0123456789abcdefE(
)
{
	@%p1 bra 	$PANIC;
	atom.relaxed.cta.shared.add.u32 	%r1, [%rd1], %r2;
	st.shared.b16 	[%rd1], %rs1;
	ret;
$PANIC:
	st.b32 	[%rd9], 1;
	call.uni 	panic_bounds_check, (param0);
	exit;
}
";

    fn code() -> Code {
        Code::of(&Module::parse(PTX), "kernel_0").unwrap()
    }

    #[test]
    fn instructions_by_kind_those_of_called_functions_too() {
        let code = code();
        assert_eq!(
            (code.instructions, code.fma, code.barriers, code.loops),
            (35, 1, 1, 4)
        );
        assert_eq!(code.calls, BTreeMap::from([("twice".to_owned(), 1)]));
        assert_eq!(code.atomics, BTreeMap::from([(Space::Shared, 1)]));
        let access = |direction, space, bytes| Access {
            direction,
            space,
            bytes,
        };
        let wanted = [
            (access(Direction::Load, Space::ReadOnly, 16), 2),
            (access(Direction::Load, Space::Parameter, 8), 1),
            (access(Direction::Store, Space::Shared, 2), 1),
        ];
        assert_eq!(code.accesses, BTreeMap::from(wanted));
        assert_eq!(code.bytes(Direction::Load, Space::ReadOnly), 32);
        assert_eq!(Code::of(&Module::parse(PTX), "kernel_1"), None);
    }

    #[test]
    fn checks_stand_where_they_are_made_and_name_their_place() {
        let code = code();
        let at = |position| -> Vec<String> {
            let panics = code.checks_at(position).flat_map(|check| &check.panics);
            let text = |(place, what): &(Option<Place>, String)| match place {
                Some(place) => format!("{place} {what}"),
                None => what.clone(),
            };
            panics.map(text).collect()
        };
        // What is called from a loop is in it.
        assert_eq!(
            at(Position::Loop),
            ["a.rs:11:5 index out of bounds", "index out of bounds"]
        );
        assert_eq!(at(Position::SlowCopy), ["a.rs:12:5 index out of bounds"]);
        assert_eq!(at(Position::Straight), ["a.rs:9:5 not!"]);
    }

    #[test]
    fn it_prints_as_a_table() {
        let wanted = "  instructions    35; fma 1; barriers 1; loops 4
  loads           global read-only 2 of 16 bytes; parameter 1 of 8 bytes
  stores          shared 1 of 2 bytes
  atomics         shared 1
  calls           twice 1
  checks in loops 2
                  index out of bounds
                  a.rs:11:5: index out of bounds
  other checks    1 outside of loops, 1 in slow copies of loops
";
        let text = code().to_string();
        assert_eq!(text, wanted);
    }
}
