//! The Rust kernels' device code, looked at without a GPU: instructions, and the checks that are left in loops.
//!
//! In: the PTX of this program. Out: for a kernel its text, the instructions in it, and how many branches to a panic leave a
//! loop. A check in the fast copy of a loop costs time in every trip; one in the slow copy, which the compiler keeps for
//! the case that a check before the loop does not hold, costs none. So both are counted apart.
//!
//! A branch goes to a panic if every way from its target passes a call of a function that does not return, or a use of the
//! panic slot. A loop is a set of blocks that
//! reach each other and have one entry; loops inside it are found when the entry is left out. A loop with checks is a slow
//! copy if another loop, beside it, has accesses of memory at the same places of the source, and fewer checks.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;

use oxwarp::__private::{DeviceCode, inventory};

/// What PTX says where a panic is recorded.
const PANIC_SLOT: &str = "[oxwarp_panic_slot]";

/// This program's device code.
pub fn device_code() -> &'static DeviceCode {
    let mut codes = inventory::iter::<DeviceCode>.into_iter();
    codes
        .find(|code| code.crate_name == "cuda_c")
        .expect("the kernels are of this crate")
}

/// The PTX for the highest target that a device of this compute capability (90 for 9.0) runs.
pub fn image(compute_capability: u32) -> Option<&'static CStr> {
    let images = device_code().images.iter();
    let runs = images.filter(|image| image.target <= compute_capability);
    runs.max_by_key(|image| image.target).map(|image| image.ptx)
}

/// The target of that PTX.
pub fn target(compute_capability: u32) -> u32 {
    let targets = device_code().images.iter().map(|image| image.target);
    targets
        .filter(|&target| target <= compute_capability)
        .max()
        .unwrap_or(0)
}

/// A kernel's name in the PTX: its own and the 32 digits of its instance.
pub fn symbol(kernel: &str) -> Option<&'static CStr> {
    let kernels = device_code().kernels.iter();
    kernels.map(|compiled| compiled.symbol).find(|symbol| {
        let instance = symbol
            .to_str()
            .ok()
            .and_then(|symbol| symbol.strip_prefix(kernel));
        instance.is_some_and(|rest| rest.starts_with('_') && rest.len() == 33)
    })
}

/// The PTX of one kernel, from its name to the brace that closes its body.
pub fn text(kernel: &str) -> Option<&'static str> {
    let ptx = image(u32::MAX)?.to_str().ok()?;
    let entry = format!(".entry {}(", symbol(kernel)?.to_str().ok()?);
    let start = ptx.find(&entry)?;
    let end = start + ptx[start..].find("\n}")?;
    Some(&ptx[start..end + 2])
}

/// A kernel in the PTX of a source in CUDA C.
pub fn twin_text<'a>(ptx: &'a str, kernel: &str) -> &'a str {
    let start = ptx.find(&format!(".entry {kernel}(")).unwrap_or(0);
    let end = ptx[start..]
        .find("\n}")
        .map_or(ptx.len(), |end| start + end + 2);
    &ptx[start..end]
}

/// The functions of this program's PTX that do not return.
pub fn panics() -> BTreeSet<&'static str> {
    let ptx = image(u32::MAX)
        .and_then(|ptx| ptx.to_str().ok())
        .unwrap_or_default();
    let headers = ptx.match_indices(".noreturn").filter_map(|(end, _)| {
        let start = ptx[..end].rfind(".func ")? + ".func ".len();
        ptx[start..end].split(['(', '\n']).next().map(str::trim)
    });
    headers.collect()
}

/// What is counted in a kernel's PTX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Instructions, the panics' among them.
    pub instructions: usize,
    /// Branches to a panic out of a loop that is no slow copy.
    pub checks_in_loops: usize,
    /// Branches to a panic out of a slow copy.
    pub checks_in_slow_copies: usize,
}

impl Code {
    /// Counts in the text of a kernel, which may call `panics`.
    pub fn of(text: &str, panics: &BTreeSet<&str>) -> Self {
        let blocks = blocks(text, panics);
        let instructions = blocks.iter().map(|block| block.instructions).sum();
        let graph = Graph::of(&blocks);
        let mut loops = Vec::new();
        graph.loops(&(0..blocks.len()).collect(), &mut loops);
        let mut code = Code {
            instructions,
            ..Code::default()
        };
        for a_loop in &loops {
            // Of a nest, each check counts once, in the innermost loop that has it.
            let inner: BTreeSet<usize> = loops
                .iter()
                .filter(|inner| inner.len() < a_loop.len() && inner.is_subset(a_loop))
                .flatten()
                .copied()
                .collect();
            let own: BTreeSet<usize> = a_loop.difference(&inner).copied().collect();
            let checks = graph.checks(&own);
            let beside = loops.iter().filter(|other| other.is_disjoint(a_loop));
            let places = places(&blocks, a_loop);
            let is_slow_copy = beside.into_iter().any(|other| {
                self::places(&blocks, other) == places && graph.checks(other) < graph.checks(a_loop)
            });
            if is_slow_copy {
                code.checks_in_slow_copies += checks;
            } else {
                code.checks_in_loops += checks;
            }
        }
        code
    }
}

/// Instructions without a branch between them.
#[derive(Debug, Default)]
struct Block<'a> {
    labels: Vec<&'a str>,
    targets: Vec<&'a str>,
    instructions: usize,
    falls_through: bool,
    panics: bool,
    /// The places of the source that have an access of memory here.
    accesses: BTreeSet<&'a str>,
}

fn blocks<'a>(text: &'a str, panics: &BTreeSet<&str>) -> Vec<Block<'a>> {
    let start = || Block {
        falls_through: true,
        ..Block::default()
    };
    let mut blocks = vec![start()];
    let mut place = "";
    let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let body = text.split_once('{').map_or("", |(_, body)| body);
    for line in body
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim())
    {
        let last = blocks.last_mut().expect("there is one");
        if let Some((label, rest)) = line
            .split_once(':')
            .filter(|(label, _)| label.starts_with('$'))
        {
            if let Some(list) = rest.trim().strip_prefix(".branchtargets") {
                let targets = list.trim_end_matches(';').split(',').map(str::trim);
                tables.insert(label, targets.collect());
                continue;
            }
            if last.instructions > 0 || !last.falls_through {
                blocks.push(start());
            }
            blocks.last_mut().expect("there is one").labels.push(label);
            continue;
        }
        if let Some(of_source) = line.strip_prefix(".loc") {
            place = of_source.split(',').next().unwrap_or_default().trim();
        }
        if line.starts_with(['.', '{', '}']) || line.is_empty() {
            continue;
        }
        last.instructions += 1;
        last.panics |= line.contains(PANIC_SLOT);
        let is_conditional = line.starts_with('@');
        let mut words = line.trim_end_matches(';').split_whitespace();
        let operation = words
            .find(|word| !word.starts_with('@'))
            .unwrap_or_default();
        let accesses = [
            "ld.global",
            "ld.shared",
            "st.global",
            "st.shared",
            "ld.const",
            "atom",
            "red",
        ];
        if accesses.iter().any(|access| operation.starts_with(access)) {
            last.accesses.insert(place);
        }
        let kind = operation.split('.').next();
        last.panics |= kind == Some("call")
            && words
                .clone()
                .any(|word| panics.contains(word.trim_end_matches(',')));
        match kind {
            Some("bra") => last.targets.extend(words.next()),
            Some("brx") => last.targets.extend(words.last()),
            Some("ret" | "exit" | "trap") => {}
            _ => continue,
        }
        last.falls_through = is_conditional;
        blocks.push(start());
    }
    for block in &mut blocks {
        let table = block.targets.first().and_then(|label| tables.get(label));
        if let Some(table) = table {
            block.targets.clone_from(table);
        }
    }
    blocks
}

fn places<'a>(blocks: &[Block<'a>], of: &BTreeSet<usize>) -> BTreeSet<&'a str> {
    of.iter()
        .flat_map(|&block| blocks[block].accesses.iter().copied())
        .collect()
}

/// The flow between blocks.
struct Graph {
    next: Vec<Vec<usize>>,
    /// Whether every way from a block records a panic.
    panics: Vec<bool>,
}

impl Graph {
    fn of(blocks: &[Block]) -> Self {
        let labels: BTreeMap<&str, usize> = blocks
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
                let after = (block.falls_through && index + 1 < blocks.len()).then_some(index + 1);
                targets.chain(after).collect()
            })
            .collect();
        let mut panics: Vec<bool> = blocks.iter().map(|block| block.panics).collect();
        loop {
            let found = (0..blocks.len()).find(|&block| {
                !panics[block]
                    && !next[block].is_empty()
                    && next[block].iter().all(|&next| panics[next])
            });
            let Some(found) = found else { break };
            panics[found] = true;
        }
        Graph { next, panics }
    }

    /// Branches from `blocks` to a panic.
    fn checks(&self, blocks: &BTreeSet<usize>) -> usize {
        let targets = blocks.iter().flat_map(|&block| &self.next[block]);
        targets.filter(|&&target| self.panics[target]).count()
    }

    /// The loops among `blocks`, outer before inner.
    fn loops(&self, blocks: &BTreeSet<usize>, found: &mut Vec<BTreeSet<usize>>) {
        for component in self.components(blocks) {
            let entry = *component.first().expect("a component has a block");
            let loops_to_itself = self.next[entry].contains(&entry);
            if component.len() == 1 && !loops_to_itself {
                continue;
            }
            let entries = component
                .iter()
                .filter(|&block| self.is_entered(*block, &component));
            let inner = entries.fold(component.clone(), |mut inner, entry| {
                inner.remove(entry);
                inner
            });
            found.push(component);
            self.loops(&inner, found);
        }
    }

    fn is_entered(&self, block: usize, component: &BTreeSet<usize>) -> bool {
        let before = (0..self.next.len()).filter(|&from| self.next[from].contains(&block));
        before.into_iter().any(|from| !component.contains(&from))
    }

    /// The sets of blocks that reach each other, within `blocks`.
    fn components(&self, blocks: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
        let reach: BTreeMap<usize, BTreeSet<usize>> = blocks
            .iter()
            .map(|&block| (block, self.reached(block, blocks)))
            .collect();
        let mut left = blocks.clone();
        let mut components = Vec::new();
        while let Some(first) = left.pop_first() {
            let mutual =
                |&&other: &&usize| reach[&first].contains(&other) && reach[&other].contains(&first);
            let mut component: BTreeSet<usize> = left.iter().filter(mutual).copied().collect();
            left.retain(|block| !component.contains(block));
            component.insert(first);
            components.push(component);
        }
        components
    }

    fn reached(&self, from: usize, within: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            let next = self.next[block].iter().filter(|next| within.contains(next));
            open.extend(next.filter(|&&next| reached.insert(next)));
        }
        reached
    }
}
