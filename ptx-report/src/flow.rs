//! The control flow of a function: blocks of instructions without a branch between them.
//!
//! In: a function's text and its module. Out: its blocks, which blocks may follow each, and which end in a panic on every
//! way.

use std::collections::{BTreeSet, HashMap};

use crate::module::Module;
use crate::statement::{Instruction, Statement, statements};

/// What PTX says where a panic is recorded.
const PANIC_SLOT: &str = "[oxwarp_panic_slot]";

/// Instructions without a branch between them.
#[derive(Debug, Default)]
pub struct Block<'a> {
    pub instructions: Vec<Instruction<'a>>,
    /// The places of the source that have an access of memory here.
    pub accesses: BTreeSet<&'a str>,
    /// The places of the source that have an instruction here.
    pub lines: BTreeSet<&'a str>,
    labels: Vec<&'a str>,
    targets: Vec<&'a str>,
    ends: bool,
}

/// The blocks of a function, and the ways between them.
#[derive(Debug)]
pub struct Flow<'a> {
    pub blocks: Vec<Block<'a>>,
    /// The blocks that may follow each.
    pub next: Vec<Vec<usize>>,
    /// Whether every way from a block records a panic.
    pub panics: Vec<bool>,
}

impl<'a> Flow<'a> {
    /// The flow of a function's text.
    pub fn of(function: &'a str, module: &Module) -> Self {
        let blocks = blocks(function);
        let labels: HashMap<&str, usize> = blocks
            .iter()
            .enumerate()
            .flat_map(|(index, block)| block.labels.iter().map(move |&label| (label, index)))
            .collect();
        let next: Vec<Vec<usize>> = blocks
            .iter()
            .enumerate()
            .map(|(index, block)| {
                let targets = block
                    .targets
                    .iter()
                    .filter_map(|label| labels.get(label).copied());
                let after = (!block.ends && index + 1 < blocks.len()).then_some(index + 1);
                targets.chain(after).collect()
            })
            .collect();
        let panics = panics(&blocks, &next, module);
        Flow {
            blocks,
            next,
            panics,
        }
    }
}

fn blocks(function: &str) -> Vec<Block<'_>> {
    let mut blocks = vec![Block::default()];
    let mut place = "";
    let mut tables: HashMap<&str, Vec<&str>> = HashMap::new();
    for statement in statements(function) {
        let last = blocks.last_mut().expect("there is one");
        match statement {
            Statement::Line(of_source) => place = of_source,
            Statement::Targets(label, list) => {
                tables.insert(label, list.split(',').map(str::trim).collect());
            }
            Statement::Label(label) => {
                if !last.instructions.is_empty() || last.ends {
                    blocks.push(Block::default());
                }
                blocks.last_mut().expect("there is one").labels.push(label);
            }
            Statement::Instruction(instruction) => {
                last.instructions.push(instruction);
                last.lines.insert(place);
                if accesses_memory(instruction) {
                    last.accesses.insert(place);
                }
                let operands = instruction.operands;
                match instruction.kind() {
                    "bra" => last.targets.push(operands),
                    "brx" => last
                        .targets
                        .extend(operands.split(',').next_back().map(str::trim)),
                    "ret" | "exit" | "trap" => {}
                    _ => continue,
                }
                last.ends = !instruction.conditional;
                blocks.push(Block::default());
            }
        }
    }
    for block in &mut blocks {
        if let Some(table) = block.targets.first().and_then(|label| tables.get(label)) {
            block.targets.clone_from(table);
        }
    }
    blocks
}

/// Whether it loads or stores what the source names; not parameters, the stack or what a panic records.
fn accesses_memory(instruction: Instruction) -> bool {
    let space = instruction.modifiers().next();
    match instruction.kind() {
        "ld" => matches!(space, Some("global" | "shared" | "const")),
        "st" => matches!(space, Some("global" | "shared")),
        "cp" => space == Some("async"),
        kind => matches!(kind, "atom" | "red" | "ldmatrix" | "stmatrix"),
    }
}

/// The blocks from which every way records a panic, and those that only they lead to.
fn panics(blocks: &[Block], next: &[Vec<usize>], module: &Module) -> Vec<bool> {
    let itself = |instruction: &Instruction| {
        instruction.text.contains(PANIC_SLOT)
            || instruction
                .callee()
                .is_some_and(|callee| module.never_returns(callee))
    };
    let of_block = |block: &Block| block.instructions.iter().any(itself);
    let mut panics: Vec<bool> = blocks.iter().map(of_block).collect();
    let before = before(next);
    loop {
        let all =
            |blocks: &[usize]| !blocks.is_empty() && blocks.iter().all(|&block| panics[block]);
        let is_found =
            |&block: &usize| !panics[block] && (all(&next[block]) || all(&before[block]));
        let found: Vec<usize> = (0..blocks.len()).filter(is_found).collect();
        if found.is_empty() {
            return panics;
        }
        for block in found {
            panics[block] = true;
        }
    }
}

/// The blocks that each may follow.
fn before(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut before = vec![Vec::new(); next.len()];
    for (block, next) in next.iter().enumerate() {
        next.iter().for_each(|&next| before[next].push(block));
    }
    before
}
