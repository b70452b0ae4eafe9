//! The checks that are left in a function: branches to a panic.
//!
//! In: a function's flow and loops. Out: each branch from a block that goes on to one that does not, with what it checks,
//! its place in the source, and where it stands. The place and the message are read from what the panic is called with: a
//! constant `core::panic::Location`, and a constant text.
//!
//! A check in the fast copy of a loop costs time in every trip; one in the slow copy, which the compiler keeps for
//! the case that a check before the loop does not hold, costs none. A loop with checks is a slow copy if another loop,
//! beside it, has accesses of memory at the same lines of the source, and fewer checks.

use std::collections::BTreeSet;
use std::fmt;

use crate::flow::Flow;
use crate::module::Module;

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, as rustc names it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

impl fmt::Display for Place {
    /// A file of Rust's own library is `library/core/src/...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_rust = self
            .file
            .strip_prefix("/rustc/")
            .and_then(|rest| rest.split_once('/'));
        let file = of_rust.map_or(self.file.as_str(), |(_, file)| file);
        write!(f, "{file}:{}:{}", self.line, self.column)
    }
}

/// Where a check stands, from the cheapest to the dearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// In the copy of a loop that runs only where a check before the loop does not hold.
    SlowCopy,
    /// In no loop.
    Straight,
    /// In a loop: it is made in every trip.
    Loop,
}

/// A branch to a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Where it stands.
    pub position: Position,
    /// What panics, as far as it is known, and where: more than one if checks were merged into one branch.
    pub panics: BTreeSet<(Option<Place>, String)>,
}

/// The checks of a function.
pub fn checks(flow: &Flow, loops: &[BTreeSet<usize>], module: &Module) -> Vec<Check> {
    let position = positions(flow, loops);
    let mut checks = Vec::new();
    for (block, next) in flow
        .next
        .iter()
        .enumerate()
        .filter(|&(block, _)| !flow.panics[block])
    {
        for &target in next.iter().filter(|&&target| flow.panics[target]) {
            checks.push(Check {
                position: position[block],
                panics: panics(flow, target, module),
            });
        }
    }
    checks
}

/// Where each block stands: the innermost loop decides.
fn positions(flow: &Flow, loops: &[BTreeSet<usize>]) -> Vec<Position> {
    let mut positions = vec![Position::Straight; flow.blocks.len()];
    for a_loop in loops {
        let beside = loops.iter().filter(|other| other.is_disjoint(a_loop));
        let (places, count) = (places(flow, a_loop), count(flow, a_loop));
        let mut faster = beside.filter(|other| {
            self::count(flow, other) < count && self::places(flow, other) == places
        });
        let position = if faster.next().is_some() {
            Position::SlowCopy
        } else {
            Position::Loop
        };
        let is_inner =
            |other: &&BTreeSet<usize>| other.len() < a_loop.len() && other.is_subset(a_loop);
        let inner: BTreeSet<usize> = loops.iter().filter(is_inner).flatten().copied().collect();
        for &block in a_loop.difference(&inner) {
            positions[block] = position;
        }
    }
    positions
}

fn count(flow: &Flow, blocks: &BTreeSet<usize>) -> usize {
    let targets = blocks.iter().flat_map(|&block| &flow.next[block]);
    targets.filter(|&&target| flow.panics[target]).count()
}

fn places<'a>(flow: &Flow<'a>, blocks: &BTreeSet<usize>) -> BTreeSet<&'a str> {
    blocks
        .iter()
        .flat_map(|&block| flow.blocks[block].accesses.iter().copied())
        .collect()
}

/// The panics that a block leads to.
fn panics(flow: &Flow, target: usize, module: &Module) -> BTreeSet<(Option<Place>, String)> {
    let (mut seen, mut open) = (BTreeSet::from([target]), vec![target]);
    let mut panics = BTreeSet::new();
    while let Some(block) = open.pop() {
        let calls = flow.blocks[block]
            .instructions
            .iter()
            .filter_map(|instruction| instruction.callee());
        if let Some(callee) = calls
            .into_iter()
            .find(|callee| module.never_returns(callee))
        {
            panics.extend(panic(flow, block, callee, module));
            continue;
        }
        open.extend(flow.next[block].iter().filter(|&&next| seen.insert(next)));
    }
    panics
}

/// The panics of a block that calls `callee`, which does not return: one for each place among its operands.
fn panic(flow: &Flow, block: usize, callee: &str, module: &Module) -> Vec<(Option<Place>, String)> {
    let operands = || {
        let instructions = flow.blocks[block].instructions.iter();
        let moves = instructions.filter(|instruction| matches!(instruction.kind(), "mov" | "selp"));
        moves.flat_map(|instruction| instruction.operands.split(',').skip(1).map(str::trim))
    };
    let message = message(flow, block, callee, module);
    let places: Vec<Place> = operands()
        .filter_map(|operand| module.place(operand))
        .collect();
    if places.is_empty() {
        return vec![(None, message)];
    }
    places
        .into_iter()
        .map(|place| (Some(place), message.clone()))
        .collect()
}

/// What a panic says, or the name of the function that panics.
fn message(flow: &Flow, block: usize, callee: &str, module: &Module) -> String {
    if callee.contains("panic_bounds_check") {
        return "index out of bounds".to_owned();
    }
    let instructions = &flow.blocks[block].instructions;
    let text = instructions.iter().find_map(|instruction| {
        let constant = instruction.operands.split(',').nth(1)?.trim();
        let len = instructions.iter().find_map(|store| {
            let is_length =
                store.operation.starts_with("st.param") && store.operands.starts_with("[param1]");
            is_length
                .then(|| store.operands.split(',').nth(1)?.trim().parse().ok())
                .flatten()
        })?;
        (instruction.kind() == "mov")
            .then(|| module.text(constant, len))
            .flatten()
    });
    text.unwrap_or_else(|| crate::code::readable(callee))
}
