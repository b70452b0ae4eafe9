//! Indices of loops, as all that their loops add to.
//!
//! The back end's strength reduction makes of `x[i]` a pointer that goes on with `i`. A loop that goes on while `i < n` by a
//! stride of run time needs `i` all the same. A GPU computes an address of it in two instructions, as many as it takes to
//! add to a pointer; the pointers only cost registers, two each and two for their stride. So where an index is compared
//! and otherwise only says which element of an array, the loop's counter is the result of `llvm.annotation`, which LLVM's
//! analysis of loops does not look through, and which is no instruction in the end.
//!
//! An index that is multiplied, or added to what is known outside the loop (`x[row + i]`), is left to the reduction, which
//! saves instructions there; and so is one that is compared for being equal, since a pointer can take its place.

use crate::llvm::{self, Builder, Context, Module, Value, opcode, predicate};
use crate::loop_checks::cfg::Cfg;

const ANNOTATION: &str = "llvm.annotation";

/// Keeps the indices of a module's loops, in a module for the back end.
pub fn keep(context: Context, module: Module) {
    let builder = llvm::create_builder(context);
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        let cfg = Cfg::of(function);
        let phis: Vec<Value> = cfg.blocks().flat_map(llvm::phis).collect();
        for phi in phis {
            if is_index(&cfg, phi) {
                hide(context, module, builder, phi);
            }
        }
    }
}

/// Whether a phi is a counter that is compared and makes addresses, and does nothing else in its loop.
fn is_index(cfg: &Cfg, phi: Value) -> bool {
    let Some(next) = next(cfg, phi) else {
        return false;
    };
    let needs_no_other = |user: Value| is_order(user) || ends_the_thread(user);
    let mut makes_addresses = false;
    let is_plain = llvm::users(phi).into_iter().all(|user| {
        let is_address = makes_address(cfg, phi, phi, user);
        makes_addresses |= is_address;
        user == next || is_address || needs_no_other(user)
    });
    let mut of_next = llvm::users(next).into_iter();
    is_plain && makes_addresses && of_next.all(|user| user == phi || needs_no_other(user))
}

/// What an integer is at the next trip, if that is a sum of it and of what stays.
fn next(cfg: &Cfg, phi: Value) -> Option<Value> {
    let is_next = |&sum: &Value| {
        let (left, right) = (llvm::operand(sum, 0), llvm::operand(sum, 1));
        let other = if left == phi { right } else { left };
        (left == phi || right == phi) && stays(cfg, phi, other)
    };
    let sums = llvm::edges(phi)
        .into_iter()
        .filter_map(|(value, _)| llvm::is_instruction(value))
        .filter(|&value| llvm::opcode(value) == opcode::ADD);
    sums.into_iter().find(is_next)
}

/// Whether `user` makes of `index`, which is the phi or an extension of it, the address of an element of what stays.
fn makes_address(cfg: &Cfg, phi: Value, index: Value, user: Value) -> bool {
    if [opcode::ZEXT, opcode::SEXT].contains(&llvm::opcode(user)) {
        let mut users = llvm::users(user).into_iter();
        return users.all(|address| makes_address(cfg, phi, user, address));
    }
    let is_known = |place| llvm::signed_constant(place).is_some();
    llvm::is_gep(user).is_some()
        && stays(cfg, phi, llvm::operand(user, 0))
        && llvm::operands(user)
            .skip(1)
            .all(|place| place == index || is_known(place))
}

/// Whether an instruction says which of two integers is smaller.
fn is_order(instruction: Value) -> bool {
    llvm::is_comparison(instruction).is_some_and(|comparison| {
        ![predicate::EQ, predicate::NE].contains(&llvm::comparison_predicate(comparison))
    })
}

/// Whether an instruction is on the way out of a thread that panics.
fn ends_the_thread(instruction: Value) -> bool {
    let end = llvm::terminator(llvm::instruction_block(instruction));
    end.is_some_and(|end| llvm::opcode(end) == opcode::UNREACHABLE)
}

/// Whether a value is known before the loop that a phi is of.
fn stays(cfg: &Cfg, phi: Value, value: Value) -> bool {
    let header = llvm::instruction_block(phi);
    llvm::is_instruction(value).is_none_or(|instruction| {
        let block = llvm::instruction_block(instruction);
        block != header && cfg.dominates(block, header)
    })
}

/// Puts a number of which LLVM knows nothing in a phi's place.
fn hide(context: Context, module: Module, builder: Builder, phi: Value) {
    let instructions = llvm::block_instructions(llvm::instruction_block(phi));
    let mut after = instructions.into_iter();
    let first = after.find(|&instruction| llvm::is_phi(instruction).is_none());
    llvm::position_before(builder, first.expect("a block ends"));
    let users = llvm::users(phi);
    let hidden = annotation(context, module, builder, phi);
    for user in users {
        for place in 0..llvm::operand_count(user) as u32 {
            if llvm::operand(user, place) == phi {
                llvm::set_operand(user, place, hidden);
            }
        }
    }
}

/// A call whose result is `number`. The three other arguments say what it is annotated with: nothing.
fn annotation(context: Context, module: Module, builder: Builder, number: Value) -> Value {
    let types = [llvm::type_of(number), llvm::pointer_type(context, 0)];
    let id = llvm::lookup_intrinsic_id(ANNOTATION.as_ptr().cast(), ANNOTATION.len());
    // SAFETY: two types are read.
    let function = unsafe { llvm::intrinsic_declaration(module, id, types.as_ptr(), types.len()) };
    let nothing = llvm::const_null(types[1]);
    let line = llvm::const_int(llvm::i32_type(context), 0, 0);
    let arguments = [number, nothing, nothing, line];
    llvm::call(builder, llvm::value_type(function), function, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;
    use crate::optimise;

    /// How many phis LLVM's strength reduction leaves in a loop that goes on by `step` from `%i` to `%next` while `more`,
    /// and `uses` its index.
    fn counters(step: &str, more: &str, uses: &str) -> usize {
        let (context, module) = parse(&format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            define void @f(ptr %x, ptr %y, i64 %first, i64 %n, i64 %stride, i64 %row) {{
            entry:
                %start = add nuw i64 %first, %row
                br label %loop
            loop:
                %i = phi i64 [ %start, %entry ], [ %next, %goes.on ]
                {uses}
                br label %goes.on
            goes.on:
                %next = add nuw i64 %i, {step}
                %more = icmp {more}
                br i1 %more, label %loop, label %exit
            exit:
                ret void
            }}"
        ));
        keep(context, module);
        let function = llvm::function(module, "f").unwrap();
        optimise::run_function_passes(function, "loop-simplify,lcssa,loop(loop-reduce)").unwrap();
        optimise::verify(module).unwrap();
        let instructions = llvm::instructions(function).into_iter();
        let phis = instructions.filter_map(llvm::is_phi);
        phis.filter(|&phi| llvm::edges(phi).len() == 2).count()
    }

    const WHILE_BELOW: &str = "ult i64 %next, %n";
    const TWO_ARRAYS: &str = "%from = getelementptr inbounds [4 x float], ptr %x, i64 %i
        %to = getelementptr inbounds float, ptr %y, i64 %i
        %value = load float, ptr %from
        store float %value, ptr %to";

    #[test]
    fn an_index_is_all_that_is_added_to() {
        assert_eq!(counters("%stride", WHILE_BELOW, TWO_ARRAYS), 1);
        assert_eq!(counters("512", WHILE_BELOW, TWO_ARRAYS), 1);
    }

    #[test]
    fn an_index_that_a_panic_tells_of_is_all_that_is_added_to() {
        let checked = format!(
            "%inside = icmp ult i64 %i, %row
                br i1 %inside, label %good, label %bad
            bad:
                call void asm sideeffect \"\", \"l\"(i64 %i)
                unreachable
            good:
                {TWO_ARRAYS}"
        );
        assert_eq!(counters("%stride", WHILE_BELOW, &checked), 1);
    }

    #[test]
    fn what_is_made_of_an_index_and_of_what_stays_is_added_to() {
        for uses in [
            "%j = add i64 %i, %row
             %to = getelementptr inbounds float, ptr %y, i64 %j
             store float 0.0, ptr %to",
            "%j = mul i64 %i, %row
             %to = getelementptr inbounds float, ptr %y, i64 %j
             store float 0.0, ptr %to",
        ] {
            assert_eq!(counters("%stride", WHILE_BELOW, uses), 2, "{uses}");
        }
    }

    #[test]
    fn an_index_that_is_compared_for_being_equal_is_left_to_the_reduction() {
        assert_eq!(counters("%stride", "ne i64 %next, %n", TWO_ARRAYS), 3);
    }
}
