//! What a kernel does, by its PTX: instructions by kind, and the checks that are left.
//!
//! In: a module and a kernel's symbol. Out: a [`Code`]. The functions that the kernel calls and
//! that return are counted too, each once; what runs only when a thread panics is not.

use std::collections::{BTreeMap, BTreeSet};

use crate::access::{Access, Direction, Space};
use crate::checks::{Check, Position, checks};
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
    ///
    /// ```
    /// use ptx_report::{Code, Direction, Module, Space};
    ///
    /// let ptx = ".version 7.0\n.target sm_80\n.visible .entry add()\n{\n\
    ///     \tld.global.nc.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];\n\tfma.rn.f32 %r5, %r1, %r2, %r3;\n\tret;\n}\n";
    /// let code = Code::of(&Module::parse(ptx), "add").unwrap();
    /// assert_eq!(code.bytes(Direction::Load, Space::ReadOnly), 16);
    /// assert_eq!((code.fma, code.checks.len()), (1, 0));
    /// ```
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
}

/// A symbol as the source has it.
pub(crate) fn readable(symbol: &str) -> String {
    // LLVM gives a local copy of a function a number.
    let symbol = symbol.split("_$_").next().unwrap_or(symbol);
    format!("{:#}", rustc_demangle::demangle(symbol))
}

#[cfg(test)]
mod tests;
