//! Panics in loops that hold a barrier go on with the loop, as LLVM's code generator sees it.
//!
//! LLVM moves what a block computes into the next one if that does not always run: no work for nothing where it does not.
//! Behind a check the next block runs unless the thread panics, so nothing is gained; and moved past a barrier, with all
//! that was loaded for it before the barrier, the work of a tile takes more registers than there are. Here the block of a
//! panic ends the thread, and then has a branch that is never taken to where a check that passes goes. Where there is no
//! barrier, fewer values are alive before the check for what is moved behind it.

use crate::llvm::{self, Block, Context, Value};
use crate::loop_checks::cfg::{self, Cfg};
use crate::panic_branch::PanicBranch;
use crate::panic_copies;

/// Gives the panics in such loops of a kernel that branch.
pub fn rejoin(context: Context, kernel: Value) {
    let mut cycles = Cfg::of(kernel).cycles();
    cycles.retain(|cycle| {
        let mut instructions = cycle
            .iter()
            .flat_map(|&block| llvm::block_instructions(block));
        instructions.any(cfg::is_convergent)
    });
    let in_loop = |block: Block| cycles.iter().any(|cycle| cycle.contains(&block));
    panic_copies::separate(context, kernel, |checks| {
        checks.iter().all(|&(block, _)| in_loop(block))
    });
    for block in llvm::blocks(kernel)
        .into_iter()
        .filter(|&block| in_loop(block))
    {
        let own = PanicBranch::at(block).filter(|check| llvm::entered_once(check.panic));
        if let Some(check) = own {
            go_on(context, &check);
        }
    }
}

/// Lets a panic go on where its check does when it passes.
fn go_on(context: Context, check: &PanicBranch) {
    let Some(end) = llvm::terminator(check.panic) else {
        return;
    };
    let builder = llvm::create_builder(context);
    llvm::position_before(builder, end);
    let signature = llvm::signature(llvm::void_type(context), &[]);
    let exit = llvm::inline_assembly(signature, "exit;", "~{memory}", true);
    llvm::call(builder, signature, exit, &[]);
    llvm::build_branch(builder, check.passed);
    llvm::erase(end);
    for phi in llvm::phis(check.passed) {
        llvm::add_incoming_edge(phi, llvm::undef(llvm::type_of(phi)), check.panic);
    }
}

/// PTX without those branches: what follows an exit is never reached.
pub fn drop_branches(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut ended = false;
    for line in ptx.lines() {
        let instruction = line.trim();
        if ended && instruction.starts_with("bra.uni") {
            continue;
        }
        if !instruction.starts_with(['/', '.']) {
            ended = instruction == "exit;";
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit;
    use crate::notation::parse;
    use crate::optimise;
    use crate::retarget;
    use crate::step::Steps;
    use crate::target::Target;

    /// A loop that loads, waits, checks twice with one panic, and uses what it loaded; a check behind it.
    const LOOP: &str = "
        declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
        declare void @panic(i64) noreturn
        define ptx_kernel void @k(ptr addrspace(1) %out, ptr addrspace(3) %tile, i64 %i, i64 %n, i64 %m) {
        entry:
            br label %loop
        loop:
            %k = phi i64 [ 0, %entry ], [ %next, %good ]
            %sum = phi float [ 0.0, %entry ], [ %more, %good ]
            %a = getelementptr float, ptr addrspace(3) %tile, i64 %k
            %x = load float, ptr addrspace(3) %a
            %y = fmul float %x, 3.0
            %z = fadd float %y, %sum
            call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
            %in = icmp ult i64 %k, %n
            br i1 %in, label %second, label %bad
        second:
            %w = phi float [ %z, %loop ]
            %also = icmp ult i64 %i, %m
            br i1 %also, label %good, label %bad
        bad:
            %which = phi i64 [ %k, %loop ], [ %i, %second ]
            call void @panic(i64 %which)
            unreachable
        good:
            %more = fmul float %w, %w
            store float %more, ptr addrspace(3) %tile
            %next = add i64 %k, 1
            %again = icmp ult i64 %next, 100
            br i1 %again, label %loop, label %after
        after:
            %last = icmp ult i64 %m, %i
            br i1 %last, label %done, label %worse
        worse:
            call void @panic(i64 %m)
            unreachable
        done:
            store float %more, ptr addrspace(1) %out
            ret void
        }";

    fn compiled(rejoins: bool) -> String {
        let (context, module) = parse(LOOP);
        let target = Target(75);
        let machine = retarget::machine(target, target.isa()).unwrap();
        retarget::learn_data_layout(machine);
        retarget::set_target(module);
        let kernel = llvm::function(module, "k").unwrap();
        if rejoins {
            rejoin(context, kernel);
            optimise::verify(module).unwrap();
        }
        emit::emit(module, machine, &Steps::default()).unwrap()
    }

    fn place(ptx: &str, what: &str) -> usize {
        ptx.find(what).unwrap_or_else(|| panic!("{what} in\n{ptx}"))
    }

    #[test]
    fn nothing_moves_past_the_barrier_of_a_loop() {
        let (with, without) = (compiled(true), compiled(false));
        let is_before = |ptx: &str| place(ptx, "add.rn.f32") < place(ptx, "bar.sync");
        assert!(is_before(&with), "{with}");
        assert!(!is_before(&without), "LLVM itself leaves it:\n{without}");
    }

    #[test]
    fn each_check_of_a_loop_has_a_panic_of_its_own_that_ends_the_thread() {
        let ptx = compiled(true);
        assert_eq!(ptx.matches("call.uni panic").count(), 3, "{ptx}");
        let mut lines = ptx.lines().map(str::trim);
        while lines.any(|line| line == "exit;") {
            let next = lines
                .clone()
                .find(|line| !line.is_empty() && !line.starts_with(['/', '.']));
            assert!(next.is_none_or(|next| !next.starts_with("bra")), "{ptx}");
        }
    }
}
