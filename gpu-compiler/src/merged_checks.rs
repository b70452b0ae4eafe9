//! Checks that follow each other, as one branch.
//!
//! `a[i] * b[i] + c[i]` checks, loads, checks, loads, checks, loads. A branch between two loads keeps the second from being
//! started with the first, and each branch may have to bring the threads of a warp together again. Where only loads and
//! arithmetic are between checks, the later checks are made with the first, in one branch; where it fails, the checks are
//! gone through again in their order, so that the first that fails panics as before. Of checks of one index against
//! several limits (`line[t + 1] + line[t + 2]`), the branch makes the strictest.
//!
//! A store to shared memory may stand between checks too. A thread that then panics has not stored: other threads of the
//! block find what they would find had they come first, which is what a read without a barrier may give anyway.

use std::collections::BTreeSet;

use crate::llvm::{self, Block, Builder, Context, Module, Value, predicate};
use crate::panic_branch::PanicBranch;
use crate::panic_copies::{self, CheckAt};
use crate::speculation::{is_arithmetic, is_plain_load, is_shared_store};

/// The most checks in one branch.
const MOST_CHECKS: usize = 32;

/// Merges the checks of a module.
pub fn merge(context: Context, module: Module) {
    let builder = llvm::create_builder(context);
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        panic_copies::separate(context, function, follow_each_other);
        let mut done = BTreeSet::new();
        for block in llvm::blocks(function) {
            if let Some(chain) = Chain::from(block, &mut done) {
                chain.merge(context, builder, function);
            }
        }
    }
}

/// Whether one of the checks is where another leads.
fn follow_each_other(checks: &[CheckAt]) -> bool {
    let blocks: BTreeSet<Block> = checks.iter().map(|&(block, _)| block).collect();
    checks
        .iter()
        .any(|(_, check)| blocks.contains(&check.passed))
}

/// The check that `block` ends in, if its panic is its own.
fn check_at(block: Block) -> Option<PanicBranch> {
    PanicBranch::at(block).filter(|check| {
        let first = llvm::first_instruction(check.panic);
        let has_phi = first.is_some_and(|first| llvm::is_phi(first).is_some());
        !has_phi && llvm::entered_once(check.panic)
    })
}

/// The condition that is true where the check passes.
fn passes(builder: Builder, check: &PanicBranch) -> Value {
    let condition = llvm::condition(check.branch);
    if check.true_is_panic {
        inverted(builder, condition)
    } else {
        condition
    }
}

/// A comparison's inverse is one too, so that it can be compared with others.
fn inverted(builder: Builder, condition: Value) -> Value {
    let inverse = llvm::is_comparison(condition).and_then(|comparison| {
        let inverse = predicate::inverse(llvm::comparison_predicate(comparison))?;
        let [left, right] = [0, 1].map(|index| llvm::operand(comparison, index));
        Some(at_most_as_below(builder, inverse, left, right))
    });
    inverse.unwrap_or_else(|| llvm::not(builder, condition))
}

/// `left <= c` as `left < c + 1`.
fn at_most_as_below(builder: Builder, predicate: i32, left: Value, right: Value) -> Value {
    if predicate == predicate::ULE
        && llvm::signed_constant(right) != Some(-1)
        && let Some(constant) = llvm::unsigned_constant(right)
    {
        let next = llvm::const_int(llvm::type_of(right), constant + 1, 0);
        return llvm::compare(builder, predicate::ULT, left, next);
    }
    llvm::compare(builder, predicate, left, right)
}

/// Checks of which each is in the block that the one before leads to.
struct Chain {
    checks: Vec<PanicBranch>,
    /// What the later checks, and their panics, need to be computed with the first, in order.
    needed: Vec<Value>,
}

impl Chain {
    /// The chain that begins with the check of `block`, if it has at least two. Its blocks become `done`.
    fn from(block: Block, done: &mut BTreeSet<Block>) -> Option<Self> {
        if done.contains(&block) {
            return None;
        }
        let mut chain = Chain {
            checks: vec![check_at(block)?],
            needed: Vec::new(),
        };
        let mut blocks = BTreeSet::new();
        while chain.checks.len() < MOST_CHECKS {
            let next = chain.checks.last()?.passed;
            let Some(check) = check_at(next).filter(|_| llvm::entered_once(next)) else {
                break;
            };
            if blocks.contains(&next) || !only_loads_and_arithmetic(next, check.branch) {
                break;
            }
            blocks.insert(next);
            let Some(needed) = needed(&check, &blocks, &chain.needed) else {
                break;
            };
            chain.needed = needed;
            chain.checks.push(check);
            done.insert(next);
        }
        (chain.checks.len() > 1).then_some(chain)
    }

    fn merge(&self, context: Context, builder: Builder, function: Value) {
        let first = &self.checks[0];
        llvm::position_before(builder, first.branch);
        for &value in &self.needed {
            llvm::remove_from_block(value);
            llvm::insert(builder, value);
        }
        let passes: Vec<Value> = self
            .checks
            .iter()
            .map(|check| passes(builder, check))
            .collect();
        // Not `and`: what a later check compares may be undefined where an earlier one fails.
        let no = llvm::const_int(llvm::type_of(passes[0]), 0, 0);
        let all = strictest(&passes)
            .into_iter()
            .reduce(|all, passes| llvm::select(builder, all, passes, no))
            .expect("a chain has checks");
        let which = self.which(context, builder, function, &passes);
        llvm::position_before(builder, first.branch);
        llvm::conditional(builder, all, first.passed, which);
        llvm::erase(first.branch);
        for check in &self.checks[1..] {
            llvm::position_before(builder, check.branch);
            llvm::build_branch(builder, check.passed);
            llvm::erase(check.branch);
        }
    }

    /// Blocks that go through the checks and end in the panic of the first that fails.
    fn which(
        &self,
        context: Context,
        builder: Builder,
        function: Value,
        passes: &[Value],
    ) -> Block {
        let (last, earlier) = self.checks.split_last().expect("a chain has checks");
        let mut next = last.panic;
        for (check, &passes) in earlier.iter().zip(passes).rev() {
            let block = llvm::append(context, function);
            llvm::position_at_end(builder, block);
            llvm::conditional(builder, passes, next, check.panic);
            next = block;
        }
        next
    }
}

/// Whether a check after the instructions of a block may be made before them.
fn only_loads_and_arithmetic(block: Block, end: Value) -> bool {
    llvm::block_instructions(block)
        .into_iter()
        .filter(|&instruction| instruction != end)
        .all(|instruction| {
            is_arithmetic(instruction) || is_plain_load(instruction) || is_shared_store(instruction)
        })
}

/// Conditions that imply all, in order: of those that hold one value below constants, the strictest, where the first is. A
/// later condition may be of a value that is undefined where the first fails.
fn strictest(passes: &[Value]) -> Vec<Value> {
    let limits: Vec<Option<(Value, u64)>> = passes.iter().map(|&passes| limit(passes)).collect();
    let of = |index: usize| limits[index].map(|(value, _)| value);
    let is_first = |&index: &usize| of(index).is_none() || (0..index).all(|i| of(i) != of(index));
    let strictest_like = |first: usize| {
        let alike = (first..passes.len()).filter(|&index| of(index) == of(first));
        alike.min_by_key(|&index| limits[index].map(|(_, limit)| limit))
    };
    (0..passes.len())
        .filter(is_first)
        .filter_map(|first| match of(first) {
            Some(_) => strictest_like(first),
            None => Some(first),
        })
        .map(|index| passes[index])
        .collect()
}

/// The value that a condition holds below a constant, and the constant.
fn limit(condition: Value) -> Option<(Value, u64)> {
    let comparison = llvm::is_comparison(condition)?;
    let constant = llvm::unsigned_constant(llvm::operand(comparison, 1))?;
    (llvm::comparison_predicate(comparison) == predicate::ULT)
        .then(|| (llvm::operand(comparison, 0), constant))
}

/// `known` and what else `check` and its panic take from `blocks`; `None` if a load is among it.
fn needed(check: &PanicBranch, blocks: &BTreeSet<Block>, known: &[Value]) -> Option<Vec<Value>> {
    let mut needed = known.to_vec();
    let mut panic = llvm::block_instructions(check.panic).into_iter();
    collect(llvm::condition(check.branch), blocks, &mut needed)?;
    panic.try_for_each(|instruction| {
        llvm::operands(instruction).try_for_each(|operand| collect(operand, blocks, &mut needed))
    })?;
    Some(needed)
}

/// Adds `value` and what it is computed from, in order.
fn collect(value: Value, blocks: &BTreeSet<Block>, needed: &mut Vec<Value>) -> Option<()> {
    let Some(instruction) = llvm::is_instruction(value) else {
        return Some(());
    };
    if needed.contains(&instruction) || !blocks.contains(&llvm::instruction_block(instruction)) {
        return Some(());
    }
    if !is_arithmetic(instruction) {
        return None;
    }
    for operand in llvm::operands(instruction).collect::<Vec<_>>() {
        collect(operand, blocks, needed)?;
    }
    needed.push(instruction);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    /// Merges the checks of a function with the arguments `%p`, `%i`, `%j`, `%n`, and gives the terminators of its blocks in
    /// order: how many conditions the entry has, and how many branches are conditional.
    fn merged(body: &str) -> (usize, usize) {
        let (context, module) = parse(&format!(
            "@shared = internal addrspace(3) global [64 x i32] undef
            declare void @panic(i64, i64) noreturn
            define void @f(ptr %p, i64 %i, i64 %j, i64 %n) {{
            {body}
            first:
                call void @panic(i64 %i, i64 %n)
                unreachable
            second:
                call void @panic(i64 %j, i64 %n)
                unreachable
            }}"
        ));
        merge(context, module);
        crate::optimise::verify(module).unwrap();
        let function = llvm::function(module, "f").unwrap();
        let blocks = llvm::blocks(function);
        let comparisons = llvm::block_instructions(blocks[0])
            .into_iter()
            .filter(|&instruction| llvm::is_comparison(instruction).is_some());
        let branches = blocks.iter().copied().filter_map(llvm::conditional_branch);
        (comparisons.count(), branches.count())
    }

    fn with_between(between: &str) -> (usize, usize) {
        merged(&format!(
            "entry:
                %a = icmp ult i64 %i, %n
                br i1 %a, label %more, label %first
            more:
                %x = load i32, ptr %p
                {between}
                %b = icmp ult i64 %j, %n
                br i1 %b, label %end, label %second
            end:
                ret void"
        ))
    }

    #[test]
    fn two_checks_become_one_branch_and_one_that_tells_which() {
        assert_eq!(with_between(""), (2, 2));
        assert_eq!(
            with_between("store i32 %x, ptr addrspace(3) @shared"),
            (2, 2)
        );
    }

    /// As LLVM leaves an unrolled loop.
    #[test]
    fn checks_that_share_a_panic_become_one_branch() {
        let shared = "entry:
                %a = icmp ult i64 %i, %n
                br i1 %a, label %more, label %bad
            more:
                %x = load i32, ptr %p
                %b = icmp ult i64 %j, %n
                br i1 %b, label %end, label %bad
            bad:
                %which = phi i64 [ %i, %entry ], [ %j, %more ]
                call void @panic(i64 %which, i64 %n)
                unreachable
            end:
                ret void";
        assert_eq!(merged(shared), (2, 2));
    }

    #[test]
    fn what_others_may_see_stays_between_checks() {
        for between in [
            "store i32 %x, ptr %p",
            "call void @panic(i64 0, i64 0)",
            "%y = load volatile i32, ptr %p",
            "%y = atomicrmw add ptr addrspace(3) @shared, i32 1 monotonic",
        ] {
            assert_eq!(with_between(between), (1, 2), "{between}");
        }
    }

    #[test]
    fn a_check_of_what_was_loaded_stays_behind_the_load() {
        let after_load = "entry:
                %a = icmp ult i64 %i, %n
                br i1 %a, label %more, label %first
            more:
                %x = load i64, ptr %p
                %b = icmp ult i64 %x, %n
                br i1 %b, label %end, label %second
            end:
                ret void";
        assert_eq!(merged(after_load), (1, 2));
    }

    #[test]
    fn of_limits_for_one_index_the_strictest_is_checked() {
        let limits = "entry:
                %a = icmp ugt i64 %i, 40
                br i1 %a, label %first, label %more
            more:
                %x = load i32, ptr %p
                %b = icmp ult i64 %i, 30
                br i1 %b, label %end, label %second
            end:
                ret void";
        // Both limits are compared to tell which panics, and the branch takes the smaller alone.
        assert_eq!(merged(limits), (3, 2));
    }

    /// The comparisons of a function, in order.
    fn comparisons(text: &str) -> Vec<Value> {
        let (_, module) = parse(text);
        let function = llvm::function(module, "f").unwrap();
        let instructions = llvm::instructions(function).into_iter();
        instructions.filter_map(llvm::is_comparison).collect()
    }

    /// What is compared with `%n` may be undefined where `%i` is not below 40.
    #[test]
    fn the_strictest_stands_where_the_first_was() {
        let found = comparisons(
            "define void @f(i64 %i, i64 %j, i64 %n) {
                %a = icmp ult i64 %i, 40
                %b = icmp ult i64 %j, %n
                %c = icmp ult i64 %i, 30
                ret void
            }",
        );
        assert_eq!(strictest(&found), [found[2], found[1]]);
    }

    #[test]
    fn limits_of_more_than_64_bits_are_not_compared() {
        let found = comparisons(
            "define void @f(i128 %i) {
                %a = icmp ult i128 %i, 18446744073709551646
                %b = icmp ult i128 %i, 40
                ret void
            }",
        );
        assert_eq!(strictest(&found), found);
    }
}
