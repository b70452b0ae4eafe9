//! Loads under two conditions, one within the other, before the outer one's block.
//!
//! The threads at the edge of a block load what lies beyond it: `if t < 16 { line[t + 256] = if i + 256 < n { x[i + 256] }
//! else { 0.0 } }`. The driver's compiler makes a single condition part of the load and starts it with the loads around it.
//! Of two it makes branches, between which such a load waits for those before, and all of the block with it, at the barrier.
//! So the load is made under both conditions together, and then the rest of the outer block under its own:
//!
//! ```text
//! if outer {                          x = if outer && inner { load } else { 0 }
//!     x = if inner { load } else { 0 }     if outer {
//!     store x                    =>       store x
//! }                                   }
//! ```
//!
//! Only arithmetic may come before the inner condition, and little of it, since threads that do not pass the outer one
//! compute it too. It is done last: LLVM's passes would nest the branches again.

use crate::llvm::{self, Block, Builder, Context, Module, Value};
use crate::speculation::{is_arithmetic, is_plain_load};

/// The most instructions that are made before the outer condition.
const MOST_ARITHMETIC: usize = 12;

/// Takes nested loads of a module out of the outer condition's block.
pub fn take_out(context: Context, module: Module) {
    let builder = llvm::create_builder(context);
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        for block in llvm::blocks(function) {
            if let Some(nest) = Nest::at(block) {
                nest.take_out(context, builder, function);
            }
        }
    }
}

/// A branch, and what it does where it is taken.
#[derive(Clone, Copy)]
struct Choice {
    branch: Value,
    taken: Block,
    other: Block,
    is_taken_if_true: bool,
}

/// `if outer { ..; if inner { loads }; .. }`
struct Nest {
    start: Block,
    outer: Choice,
    inner: Choice,
}

impl Choice {
    /// The branch that `block` ends in, as one to a block that is entered from nowhere else.
    fn at(block: Block) -> impl Iterator<Item = Choice> {
        let branch = llvm::conditional_branch(block);
        let choice = move |is_taken_if_true: bool| {
            let branch = branch?;
            let (taken, other) = (
                usize::from(!is_taken_if_true),
                usize::from(is_taken_if_true),
            );
            let [taken, other] = [taken, other].map(|index| llvm::successor(branch, index as u32));
            let enters = llvm::entered_once(taken) && llvm::phis(taken).is_empty();
            enters.then_some(Choice {
                branch,
                taken,
                other,
                is_taken_if_true,
            })
        };
        [true, false].into_iter().filter_map(choice)
    }

    fn condition(&self, builder: Builder) -> Value {
        let condition = llvm::condition(self.branch);
        if self.is_taken_if_true {
            condition
        } else {
            llvm::not(builder, condition)
        }
    }
}

impl Nest {
    fn at(start: Block) -> Option<Self> {
        let nests = Choice::at(start).flat_map(|outer| {
            Choice::at(outer.taken).map(move |inner| Nest {
                start,
                outer,
                inner,
            })
        });
        nests.into_iter().find(Nest::can_be_taken_out)
    }

    fn can_be_taken_out(&self) -> bool {
        let Nest {
            start,
            outer,
            inner,
        } = self;
        let before = body(outer.taken);
        let loads = body(inner.taken);
        // After the loads, and where there are none, the rest of the outer block begins.
        let goes_on = llvm::terminator(inner.taken).is_some_and(|end| {
            llvm::successor_count(end) == 1 && llvm::successor(end, 0) == inner.other
        });
        goes_on
            && llvm::users(llvm::block_value(inner.other)).len() == 2
            && inner.other != outer.other
            && ![outer.other, inner.other].contains(start)
            && before.len() <= MOST_ARITHMETIC
            && before.into_iter().all(is_arithmetic)
            && loads.iter().any(|&i| is_far_load(i))
            && loads
                .into_iter()
                .all(|i| is_plain_load(i) || is_arithmetic(i))
    }

    fn take_out(&self, context: Context, builder: Builder, function: Value) {
        let Nest {
            start,
            outer,
            inner,
        } = self;
        for instruction in body(outer.taken) {
            llvm::position_before(builder, outer.branch);
            llvm::remove_from_block(instruction);
            llvm::insert(builder, instruction);
        }
        llvm::position_before(builder, outer.branch);
        let (enters, loads) = (outer.condition(builder), inner.condition(builder));
        // Not `and`: the inner condition may be undefined where the outer one does not hold.
        let no = llvm::const_int(llvm::type_of(enters), 0, 0);
        let both = llvm::select(builder, enters, loads, no);
        let middle = llvm::append(context, function);
        llvm::conditional(builder, both, inner.taken, middle);
        self.move_phis(builder, middle);
        llvm::position_at_end(builder, middle);
        llvm::conditional(builder, enters, inner.other, outer.other);
        llvm::replace_edges(builder, outer.other, *start, middle);
        llvm::erase(outer.branch);
        let end = llvm::terminator(inner.taken).expect("a block ends");
        llvm::position_before(builder, end);
        llvm::build_branch(builder, middle);
        llvm::erase(end);
        // Nothing leads to the outer block any more.
        llvm::erase(inner.branch);
        llvm::position_at_end(builder, outer.taken);
        llvm::build_unreachable(builder);
    }

    /// What was loaded or not is known in `middle`.
    fn move_phis(&self, builder: Builder, middle: Block) {
        for phi in llvm::phis(self.inner.other) {
            llvm::position_at_end(builder, middle);
            let moved = llvm::phi(builder, llvm::type_of(phi));
            for (value, from) in llvm::edges(phi) {
                let from = if from == self.outer.taken {
                    self.start
                } else {
                    from
                };
                llvm::add_incoming_edge(moved, value, from);
            }
            llvm::replace_instruction(phi, moved);
        }
    }
}

/// Whether an instruction loads from memory that a thread waits long for.
fn is_far_load(instruction: Value) -> bool {
    let is_shared = |load| {
        let of = llvm::type_of(llvm::operand(load, 0));
        llvm::pointer_address_space(of) == llvm::SHARED
    };
    llvm::is_load(instruction).is_some_and(|load| !is_shared(load))
}

/// A block's instructions without the last.
fn body(block: Block) -> Vec<Value> {
    let mut instructions = llvm::block_instructions(block);
    instructions.pop();
    instructions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    /// How many conditional branches are on the way to the load of `load`, and to the store of what it loaded. `inside` is
    /// what comes before the inner condition.
    fn conditions(inside: &str, load: &str) -> [usize; 2] {
        let (context, module) = parse(&format!(
            "@shared = internal addrspace(3) global [64 x float] undef
            define float @f(ptr %x, ptr %y, i64 %i, i64 %n, i1 %outer) {{
            entry:
                br i1 %outer, label %edge, label %after
            edge:
                {inside}
                %inner = icmp ult i64 %i, %n
                br i1 %inner, label %loads, label %stores
            loads:
                {load}
                br label %stores
            stores:
                %value = phi float [ 0.0, %edge ], [ %loaded, %loads ]
                store float %value, ptr addrspace(3) @shared
                br label %after
            after:
                %result = phi float [ 1.0, %entry ], [ %value, %stores ]
                ret float %result
            }}"
        ));
        take_out(context, module);
        crate::optimise::verify(module).unwrap();
        let function = llvm::function(module, "f").unwrap();
        let find = |is: fn(Value) -> Option<Value>| {
            let all = llvm::instructions(function).into_iter();
            llvm::instruction_block(all.filter_map(is).next_back().unwrap())
        };
        [find(llvm::is_load), find(llvm::is_store)].map(|block| branches_to(function, block))
    }

    /// How many conditional branches each way from the entry to a block goes by, at most.
    fn branches_to(function: Value, block: Block) -> usize {
        let blocks = llvm::blocks(function).into_iter();
        let before = blocks.filter_map(|from| {
            let end = llvm::terminator(from)?;
            let leads = (0..llvm::successor_count(end)).any(|i| llvm::successor(end, i) == block);
            let is_choice = usize::from(llvm::conditional_branch(from).is_some());
            leads.then(|| is_choice + branches_to(function, from))
        });
        before.max().unwrap_or(0)
    }

    const LOAD: &str = "%loaded = load float, ptr %x";

    #[test]
    fn a_load_under_two_conditions_is_made_under_both_at_once() {
        assert_eq!(conditions("", LOAD), [1, 2]);
        let arithmetic = "%j = add i64 %i, 7
            %at = getelementptr float, ptr %x, i64 %j";
        assert_eq!(
            conditions(arithmetic, "%loaded = load float, ptr %at"),
            [1, 2]
        );
    }

    #[test]
    fn what_others_may_see_stays_under_its_own_condition() {
        let inside = [
            "store float 2.0, ptr %y",
            "%other = load float, ptr %y",
            "%quotient = udiv i64 7, %i",
        ];
        for inside in inside {
            assert_eq!(conditions(inside, LOAD), [2, 2], "{inside}");
        }
        for load in [
            "%loaded = load volatile float, ptr %x",
            "%loaded = load atomic float, ptr %x monotonic, align 4",
            "%loaded = load float, ptr %x\n store float 2.0, ptr %y",
            "%loaded = load float, ptr addrspace(3) @shared",
        ] {
            assert_eq!(conditions("", load)[0], 2, "{load}");
        }
    }

    #[test]
    fn long_arithmetic_is_left_to_those_that_need_it() {
        let steps = (0..20).map(|i| format!("%a{i} = add i64 %i, {i}\n"));
        assert_eq!(conditions(&steps.collect::<String>(), LOAD), [2, 2]);
    }
}
