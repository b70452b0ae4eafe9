//! What follows a loop, once for each of its copies.
//!
//! Both copies of a loop lead to the same code. The driver's compiler then keeps what they hand over in the same registers
//! in both, with moves at the end of each trip, and orders the instructions of the fast copy around those moves. A matrix
//! product with 64 sums a thread lost 4 % of its time to that. So the fast copy, which cannot panic, gets its own end:
//! a copy of the blocks from its exits to the function's return.
//!
//! It is done last, since LLVM's own passes would join the ends again.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::llvm::{self, Block, Builder, Context, Module, Value, opcode};
use crate::optimise::run_passes;

use super::cfg::{Cfg, is_convergent, successors};

/// The longest end that is copied, in instructions.
const LONGEST: usize = 512;

/// Gives loops ends of their own in a module that is optimised.
pub fn divide(context: Context, module: Module) -> Result<(), Error> {
    let builder = llvm::create_builder(context);
    let mut copied = false;
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        // A copied end is entered from one loop alone, so that each loop is found once.
        while let Some(end) = End::find(function) {
            end.copy(context, builder, function);
            copied = true;
        }
    }
    if copied {
        // Blocks that only the loop led to are left.
        run_passes(module, "function(simplifycfg)", None)?;
    }
    Ok(())
}

/// What follows a loop that cannot panic, where one that can leads there too.
struct End {
    /// The loop.
    cycle: BTreeSet<Block>,
    /// The blocks from its exits on.
    blocks: Vec<Block>,
}

impl End {
    fn find(function: Value) -> Option<Self> {
        let cfg = Cfg::of(function);
        let returning = returning(&cfg);
        let cycles = cfg.cycles();
        let can_panic = |cycle: &&BTreeSet<Block>| exits(cycle).any(|to| !returning.contains(&to));
        let (slow, fast): (Vec<_>, Vec<_>) = cycles.iter().partition(can_panic);
        fast.into_iter().find_map(|cycle| {
            let end = reached(exits(cycle), &BTreeSet::new());
            let leads_here = |slow: &&BTreeSet<Block>| {
                let shared = &reached(exits(slow), cycle) & &end;
                !shared.is_disjoint(&returning)
            };
            let repeats = cycles.iter().any(|other| !other.is_disjoint(&end));
            let is_copied =
                !repeats && may_be_copied(&end & &returning) && slow.iter().any(leads_here);
            is_copied.then(|| End {
                cycle: cycle.clone(),
                blocks: cfg.blocks().filter(|block| end.contains(block)).collect(),
            })
        })
    }

    fn copy(&self, context: Context, builder: Builder, function: Value) {
        let mut copies = Copies::default();
        for &block in &self.blocks {
            copies.blocks.insert(block, llvm::append(context, function));
        }
        let old = self.blocks.iter().copied();
        let old: Vec<Value> = old.flat_map(llvm::block_instructions).collect();
        for &instruction in &old {
            copies.add(builder, instruction);
        }
        let phis: Vec<Value> = old.into_iter().filter_map(llvm::is_phi).collect();
        for &phi in &phis {
            self.enter_copy(&copies, phi);
        }
        for &copied in copies.values.values() {
            copies.take_operands(copied);
        }
        for &block in &self.cycle {
            copies.take_operands(llvm::terminator(block).expect("a block ends"));
        }
        for phi in phis {
            self.leave(builder, phi);
        }
    }

    /// Gives the copy of a phi its edges: from the loop and from other copies.
    fn enter_copy(&self, copies: &Copies, phi: Value) {
        for (value, from) in llvm::edges(phi) {
            let from_copy = copies.blocks.get(&from).copied();
            if let Some(from) = from_copy.or(self.cycle.contains(&from).then_some(from)) {
                llvm::add_incoming_edge(copies.values[&phi], value, from);
            }
        }
    }

    /// Takes away a phi's edges from the loop.
    fn leave(&self, builder: Builder, phi: Value) {
        llvm::position_before(builder, phi);
        let rest = llvm::phi(builder, llvm::type_of(phi));
        for (value, from) in llvm::edges(phi) {
            if !self.cycle.contains(&from) {
                llvm::add_incoming_edge(rest, value, from);
            }
        }
        llvm::replace_instruction(phi, rest);
    }
}

/// What stands for what in the copy.
#[derive(Default)]
struct Copies {
    blocks: BTreeMap<Block, Block>,
    values: BTreeMap<Value, Value>,
}

impl Copies {
    /// Copies an instruction to the end of its block's copy; a phi without its edges.
    fn add(&mut self, builder: Builder, instruction: Value) {
        let block = llvm::instruction_block(instruction);
        llvm::position_at_end(builder, self.blocks[&block]);
        let copied = match llvm::is_phi(instruction) {
            Some(phi) => llvm::phi(builder, llvm::type_of(phi)),
            None => {
                let copied = llvm::clone_instruction(instruction);
                llvm::insert(builder, copied);
                copied
            }
        };
        self.values.insert(instruction, copied);
    }

    /// Makes an instruction refer to copies where there are some.
    fn take_operands(&self, user: Value) {
        for index in 0..llvm::operand_count(user) as u32 {
            let operand = llvm::operand(user, index);
            let block = llvm::is_block(operand) != 0;
            let copied = if block {
                let copied = self.blocks.get(&llvm::value_block(operand));
                copied.map(|&block| llvm::block_value(block))
            } else {
                self.values.get(&operand).copied()
            };
            if let Some(copied) = copied {
                llvm::set_operand(user, index, copied);
            }
        }
    }
}

/// Where a cycle's edges out of it lead.
fn exits(cycle: &BTreeSet<Block>) -> impl Iterator<Item = Block> {
    let successors = cycle.iter().copied().flat_map(successors);
    successors.filter(|to| !cycle.contains(to))
}

/// The blocks that can be reached from some on ways that do not go through `avoided`.
fn reached(from: impl Iterator<Item = Block>, avoided: &BTreeSet<Block>) -> BTreeSet<Block> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<Block> = from.collect();
    while let Some(block) = open.pop() {
        if !avoided.contains(&block) && reached.insert(block) {
            open.extend(successors(block));
        }
    }
    reached
}

/// The blocks from which the function can return. The others end in a panic.
fn returning(cfg: &Cfg) -> BTreeSet<Block> {
    let mut returning = BTreeSet::new();
    let mut open: Vec<Block> = cfg
        .blocks()
        .filter(|&block| ends_in_return(block))
        .collect();
    while let Some(block) = open.pop() {
        if returning.insert(block) {
            open.extend(cfg.predecessors_of(block));
        }
    }
    returning
}

fn ends_in_return(block: Block) -> bool {
    llvm::terminator(block).is_some_and(|end| llvm::opcode(end) == opcode::RETURN)
}

/// Whether blocks are few, and without a barrier or the like: threads that take different copies of a loop would not meet
/// there.
fn may_be_copied(blocks: BTreeSet<Block>) -> bool {
    let instructions = blocks.into_iter().flat_map(llvm::block_instructions);
    // Phis are no instructions of the device's.
    let instructions = instructions.filter(|&instruction| llvm::is_phi(instruction).is_none());
    let instructions: Vec<Value> = instructions.collect();
    instructions.len() <= LONGEST && !instructions.into_iter().any(is_convergent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    /// What each store to `%p` stores, by the names of what comes to it through phis: after two loops of which the slow one may panic, and `end`.
    fn stored(entry: &str, [after_fast, after_slow]: [&str; 2], end: &str) -> Vec<String> {
        let (context, module) = parse(&format!(
            "declare void @panic() noreturn
            declare void @barrier() convergent
            declare i64 @next(i64)
            define void @f(ptr %p, i64 %n, i1 %holds) {{
            entry:
                {entry}
            to_fast:
                br label %fast
            fast:
                %i = phi i64 [ 0, %to_fast ], [ %fast_sum, %fast ]
                %fast_sum = call i64 @next(i64 %i)
                %again = icmp ult i64 %fast_sum, %n
                br i1 %again, label %fast, label %{after_fast}
            to_slow:
                br label %slow
            slow:
                %j = phi i64 [ 0, %to_slow ], [ %slow_sum, %passed ]
                %fails = icmp uge i64 %j, %n
                br i1 %fails, label %panic, label %passed
            panic:
                call void @panic()
                unreachable
            passed:
                %slow_sum = call i64 @next(i64 %j)
                %more = icmp ult i64 %slow_sum, 99
                br i1 %more, label %slow, label %{after_slow}
            {end}
            }}"
        ));
        divide(context, module).unwrap();
        crate::optimise::verify(module).unwrap();
        let instructions = llvm::instructions(llvm::function(module, "f").unwrap());
        let stores = instructions.into_iter().filter_map(llvm::is_store);
        let stored = |store| sources(llvm::operand(store, 0)).join(", ");
        let mut all: Vec<String> = stores.map(stored).collect();
        all.sort();
        all
    }

    fn sources(value: Value) -> Vec<String> {
        let Some(phi) = llvm::is_phi(value) else {
            return vec![llvm::name(value)];
        };
        let edges = llvm::edges(phi).into_iter();
        let mut names: Vec<String> = edges.flat_map(|(value, _)| sources(value)).collect();
        names.sort();
        names
    }

    const COPIES: &str = "br i1 %holds, label %to_fast, label %to_slow";

    const END: &str = "end:
            %sum = phi i64 [ %fast_sum, %fast ], [ %slow_sum, %passed ]
            store i64 %sum, ptr %p
            ret void";

    #[test]
    fn each_copy_of_a_loop_has_its_own_end() {
        assert_eq!(
            stored(COPIES, ["end", "end"], END),
            ["fast_sum", "slow_sum"]
        );
    }

    #[test]
    fn blocks_and_values_inside_an_end_are_copied_with_it() {
        let end = "end:
            %sum = phi i64 [ %fast_sum, %fast ], [ %slow_sum, %passed ]
            %is_large = icmp ugt i64 %sum, 7
            br i1 %is_large, label %large, label %last
        large:
            %half = call i64 @next(i64 %sum)
            br label %last
        last:
            %result = phi i64 [ %half, %large ], [ %sum, %end ]
            store i64 %result, ptr %p
            ret void";
        assert_eq!(
            stored(COPIES, ["end", "end"], end),
            [", fast_sum", "half, slow_sum"]
        );
    }

    #[test]
    fn threads_in_both_copies_meet_at_one_barrier() {
        let end = END.replace("store", "call void @barrier()\n store");
        assert_eq!(stored(COPIES, ["end", "end"], &end), ["fast_sum, slow_sum"]);
    }

    #[test]
    fn loops_that_follow_each_other_have_one_end() {
        let end = "end:
            store i64 %fast_sum, ptr %p
            ret void";
        let in_turn = ["end", "to_fast"];
        assert_eq!(stored("br label %to_slow", in_turn, end), ["fast_sum"]);
    }
}
