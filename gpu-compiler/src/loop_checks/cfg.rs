//! Blocks, dominators and natural loops of a function.

use std::collections::{BTreeMap, BTreeSet};

use crate::llvm::{self, Block, FUNCTION_INDEX, Value};

/// A function's control flow.
pub struct Cfg {
    /// Reachable blocks in reverse post-order: a block comes after those that dominate it.
    blocks: Vec<Block>,
    order: BTreeMap<Block, usize>,
    predecessors: BTreeMap<Block, Vec<Block>>,
    /// The immediate dominator of each block, as a place in `blocks`; the entry's is itself.
    dominators: Vec<usize>,
    /// The loops by their headers.
    loops: BTreeMap<Block, Loop>,
}

/// A natural loop with one entry edge and one back edge.
pub struct Loop {
    /// The only block outside that leads into the loop.
    pub preheader: Block,
    /// Where the loop begins.
    pub header: Block,
    /// The block that leads back to the header.
    pub latch: Block,
    blocks: BTreeSet<Block>,
}

/// The successors of a block.
pub fn successors(block: Block) -> Vec<Block> {
    let Some(terminator) = llvm::terminator(block) else {
        return Vec::new();
    };
    (0..llvm::successor_count(terminator))
        .map(|index| llvm::successor(terminator, index))
        .collect()
}

impl Cfg {
    /// Reads a function that has a body.
    pub fn of(function: Value) -> Self {
        let blocks = reverse_post_order(function);
        let order: BTreeMap<Block, usize> = blocks
            .iter()
            .enumerate()
            .map(|(place, &block)| (block, place))
            .collect();
        let mut predecessors: BTreeMap<Block, Vec<Block>> = BTreeMap::new();
        for &block in &blocks {
            for successor in successors(block) {
                predecessors.entry(successor).or_default().push(block);
            }
        }
        let mut cfg = Cfg {
            dominators: vec![0; blocks.len()],
            blocks,
            order,
            predecessors,
            loops: BTreeMap::new(),
        };
        cfg.find_dominators();
        let loops = cfg.blocks.iter().filter_map(|&header| cfg.loop_at(header));
        cfg.loops = loops.map(|found| (found.header, found)).collect();
        cfg
    }

    /// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
    fn find_dominators(&mut self) {
        let unknown = usize::MAX;
        self.dominators = vec![unknown; self.blocks.len()];
        self.dominators[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for place in 1..self.blocks.len() {
                let known = self
                    .predecessors_of(self.blocks[place])
                    .filter_map(|block| {
                        let place = self.order[&block];
                        (self.dominators[place] != unknown).then_some(place)
                    });
                let dominator = known
                    .reduce(|a, b| self.common_dominator(a, b))
                    .unwrap_or(0);
                if self.dominators[place] != dominator {
                    self.dominators[place] = dominator;
                    changed = true;
                }
            }
        }
    }

    fn common_dominator(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if a > b {
                a = self.dominators[a];
            } else {
                b = self.dominators[b];
            }
        }
        a
    }

    /// The blocks that lead to `block`, once for each edge.
    pub fn predecessors_of(&self, block: Block) -> impl Iterator<Item = Block> {
        self.predecessors.get(&block).into_iter().flatten().copied()
    }

    /// Whether every path to `block` goes through `by`.
    pub fn dominates(&self, by: Block, block: Block) -> bool {
        let (Some(&by), Some(&block)) = (self.order.get(&by), self.order.get(&block)) else {
            return false;
        };
        let mut at = block;
        while at > by {
            at = self.dominators[at];
        }
        at == by
    }

    /// The blocks that can be reached.
    pub fn blocks(&self) -> impl Iterator<Item = Block> {
        self.blocks.iter().copied()
    }

    /// The loop that begins at `header`. Known are the loops that have one entry edge and one back edge, which
    /// `loop-simplify` sees to.
    pub fn loop_of_header(&self, header: Block) -> Option<&Loop> {
        self.loops.get(&header)
    }

    /// The loops, those around others first.
    pub fn loops(&self) -> Vec<&Loop> {
        self.blocks
            .iter()
            .filter_map(|header| self.loops.get(header))
            .collect()
    }

    /// The blocks of the cycles that are in no other, in whatever form.
    pub fn cycles(&self) -> Vec<BTreeSet<Block>> {
        let mut cycles: Vec<BTreeSet<Block>> = Vec::new();
        for &header in &self.blocks {
            let around = |cycle: &BTreeSet<Block>| cycle.contains(&header);
            let back = self
                .predecessors_of(header)
                .filter(|&block| self.dominates(header, block));
            let back: Vec<Block> = back.collect();
            if !back.is_empty() && !cycles.iter().any(around) {
                cycles.push(self.cycle(header, back));
            }
        }
        cycles
    }

    /// The blocks on the ways from `header` to it by the edges back from `open`.
    fn cycle(&self, header: Block, mut open: Vec<Block>) -> BTreeSet<Block> {
        let mut blocks = BTreeSet::from([header]);
        while let Some(block) = open.pop() {
            if blocks.insert(block) {
                open.extend(self.predecessors_of(block));
            }
        }
        blocks
    }

    /// The block that every path to `block` goes through last.
    pub fn immediate_dominator(&self, block: Block) -> Option<Block> {
        let &place = self.order.get(&block)?;
        (place > 0).then(|| self.blocks[self.dominators[place]])
    }

    /// From how many edges a block is entered.
    pub fn predecessor_count(&self, block: Block) -> usize {
        self.predecessors_of(block).count()
    }

    fn loop_at(&self, header: Block) -> Option<Loop> {
        let (back, entering): (Vec<Block>, Vec<Block>) = self
            .predecessors_of(header)
            .partition(|&block| self.dominates(header, block));
        let ([latch], [preheader]) = (&*back, &*entering) else {
            return None;
        };
        if successors(*preheader).len() != 1 {
            return None;
        }
        let blocks = self.cycle(header, vec![*latch]);
        Some(Loop {
            preheader: *preheader,
            header,
            latch: *latch,
            blocks,
        })
    }
}

impl Loop {
    /// The blocks of the loop.
    pub fn blocks(&self) -> impl Iterator<Item = Block> {
        self.blocks.iter().copied()
    }

    /// Whether the block is in the loop.
    pub fn contains(&self, block: Block) -> bool {
        self.blocks.contains(&block)
    }

    /// Whether a value is the same at every trip: it is computed outside.
    pub fn is_invariant(&self, value: Value) -> bool {
        llvm::is_instruction(value)
            .is_none_or(|instruction| !self.contains(llvm::instruction_block(instruction)))
    }

    /// The barriers and the like inside: what LLVM refuses to copy.
    pub fn convergent_calls(&self) -> Vec<Value> {
        let instructions = self.blocks().flat_map(llvm::block_instructions);
        instructions.filter(|&i| is_convergent(i)).collect()
    }
}

/// Whether an instruction is a barrier or the like: a call that the threads of a warp make together.
pub fn is_convergent(instruction: Value) -> bool {
    let convergent = llvm::attribute("convergent");
    let of_function = |callee| llvm::enum_attribute(callee, FUNCTION_INDEX, convergent).is_some();
    llvm::is_call_site(instruction)
        && (llvm::call_enum_attribute(instruction, FUNCTION_INDEX, convergent).is_some()
            || llvm::is_function(llvm::called_value(instruction)).is_some_and(of_function))
}

fn reverse_post_order(function: Value) -> Vec<Block> {
    let Some(entry) = llvm::first_block(function) else {
        return Vec::new();
    };
    let mut finished = Vec::new();
    let mut seen = BTreeSet::from([entry]);
    let mut open = vec![(entry, successors(entry))];
    while let Some((block, rest)) = open.last_mut() {
        match rest.pop() {
            Some(next) if seen.insert(next) => open.push((next, successors(next))),
            Some(_) => {}
            None => {
                finished.push(*block);
                open.pop();
            }
        }
    }
    finished.reverse();
    finished
}
