//! The checks that are left in a function: branches to a panic.
//!
//! In: a function's flow and loops. Out: each branch from a block that goes on to one that does not, with what it checks,
//! its place in the source, and where it stands.
//!
//! A check in the fast copy of a loop costs time in every trip; one in the slow copy, which the compiler keeps for
//! the case that a check before the loop does not hold, costs none. A loop with checks is a slow copy if another loop,
//! beside it, has accesses of memory at the same lines of the source (or has none either and computes the same lines), and
//! fewer checks.

use std::collections::BTreeSet;
use std::fmt;

use crate::flow::{Block, Flow};
use crate::module::Module;
use crate::panics::panics;

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
        let mut beside = loops.iter().filter(|other| other.is_disjoint(a_loop));
        let position = match beside.any(|other| is_fast_copy(flow, other, a_loop)) {
            true => Position::SlowCopy,
            false => Position::Loop,
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

/// Whether a loop does what `slow` does with fewer checks.
fn is_fast_copy(flow: &Flow, fast: &BTreeSet<usize>, slow: &BTreeSet<usize>) -> bool {
    let accesses = |of| places(flow, of, |block| &block.accesses);
    let lines = |of| places(flow, of, |block| &block.lines);
    if count(flow, fast) >= count(flow, slow) {
        return false;
    }
    let of_slow = accesses(slow);
    match of_slow.is_empty() {
        false => accesses(fast) == of_slow,
        // Only what they compute tells them from other loops.
        true => accesses(fast).is_empty() && lines(fast).is_subset(&lines(slow)),
    }
}

fn count(flow: &Flow, blocks: &BTreeSet<usize>) -> usize {
    let targets = blocks.iter().flat_map(|&block| &flow.next[block]);
    targets.filter(|&&target| flow.panics[target]).count()
}

fn places<'a>(
    flow: &Flow<'a>,
    blocks: &BTreeSet<usize>,
    of: impl for<'b> Fn(&'b Block<'a>) -> &'b BTreeSet<&'a str>,
) -> BTreeSet<&'a str> {
    let blocks = blocks.iter().map(|&block| &flow.blocks[block]);
    blocks.flat_map(|block| of(block).iter().copied()).collect()
}
