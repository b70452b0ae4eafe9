//! Loops in LLVM's own notation, and which of their copies keep their checks.

use crate::llvm::{self, Value};
use crate::notation::parse;

use super::cfg::Cfg;
use super::checks::Check;

const DECLARATIONS: &str = "
    @memory = global i64 0
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
    declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
    declare void @panic(i64, i64) noreturn
";

/// Compiles the body of a kernel with the parameters `%a`, `%b`, `%n`, `%s` (all uniform); `checked(INDEX, LENGTH)` is a check.
/// Gives for each innermost loop how many checks are left in it, and how many barriers the kernel has.
fn versioned(body: &str) -> (Vec<usize>, usize) {
    compiled(body, true)
}

fn compiled(body: &str, split: bool) -> (Vec<usize>, usize) {
    let kernel = kernel(body, split);
    let cfg = Cfg::of(kernel);
    let innermost = cfg.loops().into_iter().filter(|a_loop| {
        !cfg.loops()
            .iter()
            .any(|other| other.header != a_loop.header && a_loop.contains(other.header))
    });
    let mut checks: Vec<usize> = innermost
        .map(|a_loop| a_loop.blocks().filter_map(Check::at).count())
        .collect();
    checks.sort();
    let barriers = llvm::instructions(kernel)
        .into_iter()
        .filter(|&i| llvm::is_call_site(i))
        .filter(|&call| llvm::name(llvm::called_value(call)).contains("barrier"))
        .count();
    (checks, barriers)
}

/// The kernel, compiled.
fn kernel(body: &str, split: bool) -> Value {
    let text = format!(
        "{DECLARATIONS}
        define ptx_kernel void @kernel(ptr byval([4 x i64]) %parameters) {{
        entry:
            %a = load i64, ptr %parameters
            %at.b = getelementptr inbounds i8, ptr %parameters, i64 8
            %b = load i64, ptr %at.b
            %at.n = getelementptr inbounds i8, ptr %parameters, i64 16
            %n = load i64, ptr %at.n
            %at.s = getelementptr inbounds i8, ptr %parameters, i64 24
            %s = load i64, ptr %at.s
            %tid.32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            %tid = zext i32 %tid.32 to i64
            br label %start
        {body}
        exit:
            ret void
        }}"
    );
    let (context, module) = parse(&text);
    super::simplify(module).unwrap();
    if split {
        super::version(context, module, true).unwrap();
    }
    crate::optimise::verify(module).unwrap();
    crate::optimise::run_passes(module, "function(loop-simplify)", None).unwrap();
    llvm::function(module, "kernel").unwrap()
}

/// A loop of `%k` from 0 to `%n`, around `inside`, which computes `%index`, and a check of that against `%a`.
fn counted(inside: &str, after: &str) -> String {
    format!(
        "start:
            %some = icmp ne i64 %n, 0
            br i1 %some, label %loop, label %exit
        loop:
            %k = phi i64 [ 0, %start ], [ %next, %latch ]
            {inside}
            %in = icmp ult i64 %index, %a
            br i1 %in, label %good, label %bad
        bad:
            call void @panic(i64 %index, i64 %a)
            unreachable
        good:
            store volatile i64 %index, ptr @memory
            br label %latch
        latch:
            {after}
            %next = add i64 %k, 1
            %more = icmp ult i64 %next, %n
            br i1 %more, label %loop, label %exit"
    )
}

const BARRIER: &str = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";

#[test]
fn an_index_with_a_stride_of_run_time() {
    let body = counted(
        "%far = mul i64 %k, %s
         %index = add i64 %far, %tid",
        "",
    );
    assert_eq!(versioned(&body), (vec![0, 1], 0));
}

#[test]
fn nothing_is_copied_where_the_switch_is_off() {
    let body = counted("%index = add i64 %k, %tid", BARRIER);
    assert_eq!(compiled(&body, false), (vec![1], 1));
}

#[test]
fn an_index_that_falls() {
    let body = counted(
        "%last = sub i64 %n, 1
         %index = sub i64 %last, %k",
        "",
    );
    assert_eq!(versioned(&body), (vec![0, 1], 0));
}

#[test]
fn an_index_that_nothing_is_known_of_keeps_its_check() {
    let body = counted("%index = load volatile i64, ptr @memory", "");
    assert_eq!(versioned(&body), (vec![1], 0));
}

#[test]
fn a_remainder_is_below_its_divisor() {
    let body = counted(
        "%x = load volatile i64, ptr @memory
         %index = urem i64 %x, %b",
        "",
    );
    assert_eq!(versioned(&body), (vec![0, 1], 0));
}

/// `2 * x - (x & mask)` is never below zero, whatever the mask.
#[test]
fn what_is_taken_away_is_a_part_of_what_it_is_taken_from() {
    let body = counted(
        "%mask = load volatile i64, ptr @memory
         %part = and i64 %k, %mask
         %twice = shl i64 %k, 1
         %index = sub i64 %twice, %part",
        "",
    );
    assert_eq!(versioned(&body), (vec![0, 1], 0));
}

#[test]
fn a_difference_that_nothing_keeps_above_zero_keeps_its_check() {
    let body = counted(
        "%x = load volatile i64, ptr @memory
         %part = urem i64 %x, %b
         %index = sub i64 %k, %part",
        "",
    );
    assert_eq!(versioned(&body), (vec![1], 0));
}

#[test]
fn a_guard_bounds_what_nothing_else_does() {
    let body = "
        start:
            %some = icmp ne i64 %n, 0
            br i1 %some, label %loop, label %exit
        loop:
            %k = phi i64 [ 0, %start ], [ %next, %latch ]
            %x = load volatile i64, ptr @memory
            %small = icmp ult i64 %x, %s
            br i1 %small, label %inside, label %latch
        inside:
            %in = icmp ult i64 %x, %a
            br i1 %in, label %good, label %bad
        bad:
            call void @panic(i64 %x, i64 %a)
            unreachable
        good:
            store volatile i64 %x, ptr @memory
            br label %latch
        latch:
            %next = add i64 %k, 1
            %more = icmp ult i64 %next, %n
            br i1 %more, label %loop, label %exit";
    assert_eq!(versioned(body), (vec![0, 1], 0));
}

/// `a[k] + b[k]`: the condition compares the last index with each length, and the first check says nothing that it lacks.
#[test]
fn a_check_bounds_no_index_that_has_a_bound() {
    let body = counted(
        "%both = icmp ult i64 %k, %b
         br i1 %both, label %second, label %worse
     worse:
         call void @panic(i64 %k, i64 %b)
         unreachable
     second:
         %index = add i64 %k, 0",
        "",
    );
    let kernel = kernel(&body, true);
    let minima = llvm::instructions(kernel)
        .into_iter()
        .filter(|&i| llvm::is_call_site(i))
        .filter(|&call| llvm::name(llvm::called_value(call)).starts_with("llvm.u"));
    assert_eq!(minima.count(), 0, "no minimum of what the index may be");
    assert_eq!(versioned(&body), (vec![0, 2], 0));
}

/// What `(0..n).step_by(32)` is: the index and a count of what is left are two values.
#[test]
fn an_index_beside_a_counter_that_falls_to_zero() {
    let body = "
        start:
            %some = icmp ne i64 %n, 0
            br i1 %some, label %loop, label %exit
        loop:
            %left = phi i64 [ %n, %start ], [ %fewer, %good ]
            %k = phi i64 [ 0, %start ], [ %next, %good ]
            %next = add i64 %k, 32
            %index = add i64 %k, %tid
            %in = icmp ult i64 %index, %a
            br i1 %in, label %good, label %bad
        bad:
            call void @panic(i64 %index, i64 %a)
            unreachable
        good:
            store volatile i64 %index, ptr @memory
            %fewer = add i64 %left, -1
            %done = icmp eq i64 %fewer, 0
            br i1 %done, label %exit, label %loop";
    assert_eq!(versioned(body), (vec![0, 1], 0));
}

/// One less than zero is not zero: the loop goes on for as long as there are numbers, and `%left` with it.
#[test]
fn a_counter_that_begins_at_zero_does_not_fall_to_it() {
    let body = "
        start:
            br label %loop
        loop:
            %left = phi i64 [ 0, %start ], [ %fewer, %good ]
            %in = icmp ult i64 %left, %a
            br i1 %in, label %good, label %bad
        bad:
            call void @panic(i64 %left, i64 %a)
            unreachable
        good:
            store volatile i64 %left, ptr @memory
            %fewer = add i64 %left, -1
            %done = icmp eq i64 %fewer, 0
            br i1 %done, label %exit, label %loop";
    assert_eq!(versioned(body), (vec![1], 0));
}

/// From the largest number, the counter goes to zero and then through all that are below `%n`.
#[test]
fn a_counter_that_wraps_does_not_count() {
    let body = "
        start:
            br label %loop
        loop:
            %k = phi i64 [ -1, %start ], [ %next, %good ]
            %index = phi i64 [ 0, %start ], [ %index.next, %good ]
            %in = icmp ult i64 %index, %a
            br i1 %in, label %good, label %bad
        bad:
            call void @panic(i64 %index, i64 %a)
            unreachable
        good:
            store volatile i64 %index, ptr @memory
            %index.next = add i64 %index, 3
            %next = add i64 %k, 1
            %more = icmp ult i64 %next, %n
            br i1 %more, label %loop, label %exit";
    assert_eq!(versioned(body), (vec![1], 0));
}

/// After a loop that is tested at its head, what it counted has gone one step further than inside. The barrier keeps the
/// test there.
#[test]
fn a_counter_is_at_its_bound_after_the_loop() {
    let body = format!(
        "start:
            br label %outer
        outer:
            %i = phi i64 [ 0, %start ], [ %i.next, %good ]
            br label %loop
        loop:
            %k = phi i64 [ 0, %outer ], [ %next, %inside ]
            %index = phi i64 [ 0, %outer ], [ %index.next, %inside ]
            {BARRIER}
            %more = icmp ult i64 %k, 10
            br i1 %more, label %inside, label %after
        inside:
            store volatile i64 %k, ptr @memory
            %next = add i64 %k, 1
            %index.next = add i64 %index, 3
            br label %loop
        after:
            %in = icmp ult i64 %index, LENGTH
            br i1 %in, label %good, label %bad
        bad:
            call void @panic(i64 %index, i64 30)
            unreachable
        good:
            store volatile i64 %index, ptr @memory
            %i.next = add i64 %i, 1
            %i.more = icmp ult i64 %i.next, %s
            br i1 %i.more, label %outer, label %exit"
    );
    let panics = |length: &str| {
        let kernel = kernel(&body.replace("LENGTH", length), true);
        let mut calls = llvm::instructions(kernel)
            .into_iter()
            .filter(|&i| llvm::is_call_site(i));
        calls.any(|call| llvm::name(llvm::called_value(call)) == "panic")
    };
    assert!(panics("30"));
    assert!(!panics("31"));
}

/// A loop of `%i` from 0 to `%n` around one of `%k`, which goes from 0 to `next` while `more`, around `inside`, which computes
/// `%index`, and a check of that against `%a`.
fn nest(inside: &str, next: &str, more: &str) -> String {
    format!(
        "start:
            %some = icmp ne i64 %n, 0
            br i1 %some, label %outer, label %exit
        outer:
            %i = phi i64 [ 0, %start ], [ %i.next, %outer.latch ]
            br label %loop
        loop:
            %k = phi i64 [ 0, %outer ], [ {next}, %good ]
            {inside}
            %in = icmp ult i64 %index, %a
            br i1 %in, label %good, label %bad
        bad:
            call void @panic(i64 %index, i64 %a)
            unreachable
        good:
            store volatile i64 %index, ptr @memory
            %next = add i64 %k, 1
            %more = icmp {more}
            br i1 %more, label %loop, label %outer.latch
        outer.latch:
            %i.next = add i64 %i, 1
            %i.more = icmp ult i64 %i.next, %n
            br i1 %i.more, label %outer, label %exit"
    )
}

#[test]
fn a_nest_of_loops_has_one_condition_before_it() {
    let body = nest(
        "%row = mul i64 %i, %n
         %index = add i64 %row, %k",
        "%next",
        "ult i64 %next, %n",
    );
    assert_eq!(versioned(&body), (vec![0, 1], 0));
}

#[test]
fn a_loop_with_a_barrier_is_copied_on_a_condition_of_the_block() {
    let body = counted("%index = add i64 %k, %tid", BARRIER);
    assert_eq!(versioned(&body), (vec![0, 1], 2));
}

/// The reduction in a block: what is below the stride adds what is a stride above it.
#[test]
fn halving_strides_with_barriers() {
    let body = format!(
        "start:
            %ntid.32 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
            %half.32 = lshr i32 %ntid.32, 1
            %half = zext i32 %half.32 to i64
            %some = icmp ne i64 %half, 0
            br i1 %some, label %loop, label %exit
        loop:
            %stride = phi i64 [ %half, %start ], [ %next, %latch ]
            %mine = icmp ult i64 %tid, %stride
            br i1 %mine, label %add, label %latch
        add:
            %index = add i64 %tid, %stride
            %in = icmp ult i64 %index, 256
            br i1 %in, label %good, label %bad
        bad:
            call void @panic(i64 %index, i64 256)
            unreachable
        good:
            store volatile i64 %index, ptr @memory
            br label %latch
        latch:
            {BARRIER}
            %next = lshr i64 %stride, 1
            %done = icmp eq i64 %next, 0
            br i1 %done, label %exit, label %loop"
    );
    assert_eq!(versioned(&body), (vec![0, 1], 2));
}

/// Each thread could have a condition of its own, but then threads would wait at different barriers.
#[test]
fn a_loop_with_a_barrier_is_not_copied_on_a_condition_of_the_thread() {
    let body = counted("%index = add i64 %k, %own", BARRIER).replace(
        "start:",
        "start:
            %own = load volatile i64, ptr @memory",
    );
    assert_eq!(versioned(&body), (vec![1], 1));
}

/// A condition of the thread that the loop has anyway is no reason to copy it either.
#[test]
fn a_copied_loop_with_a_barrier_keeps_its_own_branches() {
    let body = counted(
        "%index = add i64 %k, %tid",
        &format!(
            "%first = icmp eq i64 %tid, 0
            br i1 %first, label %one, label %all
        one:
            store volatile i64 1, ptr @memory
            br label %all
        all:
            {BARRIER}"
        ),
    )
    .replace("[ %next, %latch ]", "[ %next, %all ]");
    assert_eq!(versioned(&body), (vec![0, 1], 2));
}

/// LLVM writes the test of a loop of two trips as `%k == 0`, and then that `%k` is 1 at the second.
#[test]
fn a_loop_of_two_trips() {
    for next in ["%next", "1"] {
        let body = nest("%index = add i64 %i, %k", next, "eq i64 %k, 0");
        assert_eq!(versioned(&body), (vec![0, 1], 0), "{body}");
    }
}

/// `%far` is at most 14, for all that the masks say: that its check passes is no condition of a copy.
#[test]
fn a_check_that_cannot_be_seen_to_pass_is_left_alone() {
    let body = counted(
        "%x = load volatile i64, ptr @memory
         %y = load volatile i64, ptr @memory
         %x.low = and i64 %x, 7
         %y.low = and i64 %y, 7
         %far = add i64 %x.low, %y.low
         %near = icmp ult i64 %far, 5
         br i1 %near, label %second, label %worse
     worse:
         call void @panic(i64 %far, i64 5)
         unreachable
     second:
         %index = add i64 %k, %tid",
        "",
    );
    // The panic of the check that is left is the same in both copies, behind a branch.
    assert_eq!(versioned(&body), (vec![0, 1], 0));
}

/// Of casts and shifts LLVM makes masks, which say less than the value does.
#[test]
fn a_mask_that_keeps_any_index_says_nothing() {
    let body = counted("%index = and i64 %k, 4294967295", "");
    assert_eq!(versioned(&body), (vec![0, 1], 0));
    let in_the_copies = 2;
    assert_eq!(operands(&body, 0xffff_ffff), in_the_copies);
}

/// Of the multiples of 8 below `%b` the largest is `%b - 1` without its lowest bits.
#[test]
fn what_counts_in_steps_stays_a_step_below_its_guard() {
    let body = "
        start:
            br label %loop
        loop:
            %k = phi i64 [ 0, %start ], [ %after, %latch ]
            %after = add i64 %k, 8
            %more = icmp ult i64 %after, %b
            br i1 %more, label %inside, label %latch
        inside:
            %index = lshr i64 %after, 2
            %in = icmp ult i64 %index, %a
            br i1 %in, label %good, label %bad
        bad:
            call void @panic(i64 %index, i64 %a)
            unreachable
        good:
            store volatile i64 %index, ptr @memory
            br label %latch
        latch:
            %again = load volatile i1, ptr @memory
            br i1 %again, label %loop, label %exit";
    assert_eq!(versioned(body), (vec![0, 1], 0));
    let rounded_down = (u64::MAX << 3 >> 2) as i64;
    assert_eq!(operands(body, rounded_down), 1);
}

/// How many operands of a compiled kernel's instructions are this number.
fn operands(body: &str, number: i64) -> usize {
    let kernel = kernel(body, true);
    let instructions = llvm::instructions(kernel).into_iter();
    instructions
        .flat_map(llvm::operands)
        .filter(|&operand| llvm::signed_constant(operand) == Some(number))
        .count()
}
