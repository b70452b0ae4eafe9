//! For each step a kernel in LLVM's own notation, whose code shows whether the step was taken.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::{Step, Steps};
use crate::linked::Linked;
use crate::notation::parse;
use crate::one_kernel::{self, Compiled, Crate};
use crate::parts::Whole;
use crate::records::{Choices, Kernel};
use crate::request::Request;
use crate::target::Target;
use crate::{llvm, retarget};

/// A function of core that formats text, and another that asks to be inlined.
const FORMATS: [&str; 2] = [
    "_RNvNtCsgEmfK2I1SDS_4core3fmt5write",
    "_RNvNtCsgEmfK2I1SDS_4core3fmt5inner",
];
/// `gpu_std::kernel::read_only_parameter`.
const READ_ONLY: &str = "_RNvNtCsgEmfK2I1SDS_7gpu_std6kernel19read_only_parameter";

/// A kernel's body, and what in its PTX shows a step.
struct Case {
    body: String,
    sign: Sign,
    /// How many signs there are with the step, and without it.
    counts: [usize; 2],
}

enum Sign {
    Word(&'static str),
    /// The word before the first barrier.
    BeforeBarrier(&'static str),
    /// A branch before the first load from global memory that is not volatile.
    BranchToLoad,
}

impl Sign {
    fn count(&self, ptx: &str) -> usize {
        match self {
            Sign::Word(word) => ptx.matches(word).count(),
            Sign::BeforeBarrier(word) => {
                let before = ptx.split("bar.sync").next().unwrap_or_default();
                before.matches(word).count()
            }
            Sign::BranchToLoad => {
                let before = ptx.split("ld.global.b32").next().unwrap_or_default();
                before.matches("\t@").count()
            }
        }
    }
}

#[test]
fn each_step_has_its_switch() {
    for &step in Step::ALL {
        let Case { body, sign, counts } = case(step);
        let [with, without] = [&[][..], &[step.name()]].map(|skipped| {
            let steps = Steps::without(skipped.iter().copied()).unwrap();
            ptx(&body, step == Step::BlockShape, &steps)
        });
        let found = [&with, &without].map(|ptx| sign.count(ptx));
        let name = step.name();
        assert_eq!(
            found, counts,
            "{name}: with it\n{with}\nwithout it\n{without}"
        );
    }
}

/// With the others skipped too, each kernel compiles.
#[test]
fn no_step_needs_another() {
    for &step in Step::ALL {
        let others = Step::ALL.iter().filter(|&&other| other != step);
        let alone = Steps::without(others.map(|step| step.name())).unwrap();
        for steps in [alone, Steps::without(["all"]).unwrap()] {
            ptx(&case(step).body, step == Step::BlockShape, &steps);
        }
    }
}

fn case(step: Step) -> Case {
    let [formats, inner] = FORMATS;
    let ahead = checked("%index = add i64 %k, 3");
    let (body, sign, counts) = match step {
        Step::SmallFormatting => (calls(formats), Sign::Word(".extern .func _R"), [1, 0]),
        Step::LaunchDimensions => (
            stores("call void @gpu.launch.dimensions(i32 1)", "tid.y"),
            Sign::Word("%tid.y"),
            [0, 1],
        ),
        Step::BlockShape => (stores("", "ntid.x"), Sign::Word("%ntid.x"), [0, 1]),
        Step::NarrowCounters => (HALVED.into(), Sign::Word("shr.u64"), [0, 2]),
        // Eight of an unrolled copy and one that is left, beside the one with the check.
        Step::LoopVersions => (
            counted(&ahead, ""),
            Sign::Word("st.volatile.global"),
            [10, 1],
        ),
        // In two of the three copies of the inner loop, one address and not two goes on by eight elements.
        Step::WideIndices => (rows(), Sign::Word(", 32;\n"), [3, 5]),
        Step::Strides => (counted(STRIDED, ""), Sign::Word("mul.lo.s64"), [0, 1]),
        Step::ReadOnlyLoads => (read_only(), Sign::Word("ld.global.nc"), [1, 0]),
        Step::ShortCopies => (COPY.into(), Sign::Word(".v4."), [2, 0]),
        Step::ShortComparisons => (LEFT.into(), Sign::Word("sub.s64"), [0, 1]),
        Step::MergedChecks => (TWO_CHECKS.into(), Sign::BranchToLoad, [1, 2]),
        Step::NestedLoads => (NESTED.into(), Sign::BranchToLoad, [1, 2]),
        Step::SpecialCases => (counted(QUOTIENTS, ""), Sign::Word("rcp.approx.ftz"), [4, 0]),
        Step::MatrixRows => (ELEMENT.into(), Sign::Word("mad.lo.s64"), [1, 0]),
        // 2.0, which is stored after the loop.
        Step::LoopEnds => (
            counted(&ahead, "store volatile float 2.0, ptr %y"),
            Sign::Word(", 1073741824;"),
            [2, 1],
        ),
        Step::PanicExits => (
            one_check(),
            Sign::Word("call.uni oxwarp_panic_index"),
            [1, 0],
        ),
        Step::PanicRejoins => (WAITS.into(), Sign::BeforeBarrier("fma.rn.f32"), [1, 0]),
        // What is added to at each trip.
        Step::PlainIndices => (TWO_ARRAYS.into(), Sign::Word("add.s64"), [3, 4]),
        Step::AtomicReductions => (ATOMIC.into(), Sign::Word("red.shared"), [1, 0]),
        Step::RolledFormatting => (calls(inner), Sign::Word(".pragma \"nounroll\""), [3, 1]),
        Step::WideProducts => (OFFSET.into(), Sign::Word("shl.b64"), [0, 1]),
        Step::SplitLengths => (TWO_LENGTHS.into(), Sign::Word("min.u64"), [0, 1]),
        Step::FallThrough => (one_check(), Sign::Word("bra.uni"), [0, 1]),
    };
    Case { body, sign, counts }
}

/// The PTX of a kernel that is compiled with these steps. It has two arrays, two numbers of 64 bits and one of 32.
fn ptx(body: &str, has_shape: bool, steps: &Steps) -> String {
    let shape = if has_shape {
        "\"nvvm.reqntid\"=\"16,1,1\""
    } else {
        ""
    };
    let [formats, inner] = FORMATS;
    let (context, module) = parse(&format!(
        "{DECLARATIONS}
        declare void @{READ_ONLY}(ptr readonly)
        define internal void @{formats}(ptr %x, i64 %n) noinline {LOOP}
        define internal void @{inner}(ptr %x, i64 %n) noinline inlinehint {LOOP}
        define ptx_kernel void @k(ptr %x, ptr %y, i64 %i, i64 %n, i32 %m) {shape} {{
        entry:
            {body}
        }}"
    ));
    let target = Target::DEFAULT;
    let machine = retarget::machine(target, target.isa()).unwrap();
    retarget::learn_data_layout(machine);
    retarget::set_target(module);
    let kernel = kernel(llvm::function(module, "k").unwrap());
    let linked = Linked::read(module).unwrap();
    let whole = Whole::of(context, module, std::slice::from_ref(&kernel), steps).unwrap();
    let kernel = kernel.with(());
    let request = Request {
        steps: steps.clone(),
        ..Request::from_arguments([] as [OsString; 0]).unwrap()
    };
    let panics = "core::panicking::panic_bounds_check".to_owned();
    let of = Crate {
        request: &request,
        replacements: &BTreeMap::from([(panics, "panic".to_owned())]),
        linked: &linked,
    };
    match one_kernel::compile(&whole.kernel(&kernel).unwrap(), &kernel, &of).unwrap() {
        Compiled::Images(images) => images[0].ptx.clone(),
        wrong => panic!("{wrong:?}"),
    }
}

fn kernel(function: llvm::Value) -> Kernel {
    Kernel {
        id: 1,
        name: "k".into(),
        module_path: String::new(),
        file: "a.rs".into(),
        line: 7,
        choices: Choices {
            fma: true,
            fast_math: false,
            unchecked: false,
        },
        takes_pointers: true,
        views: Vec::new(),
        function,
        symbol: "k".into(),
        entry: "entry".into(),
    }
}

const DECLARATIONS: &str = r#"
    @file = private constant [4 x i8] c"a.rs"
    @place = private constant <{ ptr, [16 x i8] }> <{ ptr @file, [16 x i8] c"\04\00\00\00\00\00\00\00\07\00\00\00\05\00\00\00" }>
    @tile = internal addrspace(3) global [64 x float] undef, align 4
    declare void @panic(i64, i64, ptr) noreturn cold "oxwarp.shared"
    declare void @gpu.launch.dimensions(i32)
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
    declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
    declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)"#;

const LOOP: &str = "{
    entry:
        br label %loop
    loop:
        %k = phi i64 [ 0, %entry ], [ %next, %loop ]
        store volatile i64 %k, ptr %x
        %next = add i64 %k, 1
        %more = icmp ult i64 %next, %n
        br i1 %more, label %loop, label %exit
    exit:
        ret void
    }";

fn calls(function: &str) -> String {
    format!(
        "call void @{function}(ptr %x, i64 %n)
        ret void"
    )
}

/// Stores a special register, after `before`.
fn stores(before: &str, register: &str) -> String {
    format!(
        "{before}
        %value = call i32 @llvm.nvvm.read.ptx.sreg.{register}()
        store i32 %value, ptr %x
        ret void"
    )
}

/// A loop of `%k` from 0 to `%n` around `inside`, and `after` behind it.
fn counted(inside: &str, after: &str) -> String {
    format!(
        "%some = icmp ne i64 %n, 0
        br i1 %some, label %loop, label %exit
    loop:
        %k = phi i64 [ 0, %entry ], [ %next, %latch ]
        {inside}
        br label %latch
    latch:
        %next = add nuw i64 %k, 1
        %more = icmp ult i64 %next, %n
        br i1 %more, label %loop, label %exit
    exit:
        {after}
        ret void"
    )
}

/// Computes `%index`, checks that it is below `%i`, and stores there.
fn checked(index: &str) -> String {
    format!(
        "{index}
        %in = icmp ult i64 %index, %i
        br i1 %in, label %good, label %bad
    bad:
        call void @panic(i64 %index, i64 %i, ptr @place)
        unreachable
    good:
        %at = getelementptr inbounds float, ptr %x, i64 %index
        store volatile float 1.0, ptr %at"
    )
}

fn one_check() -> String {
    format!(
        "{}
        ret void",
        checked("%index = add i64 %n, 3")
    )
}

/// Rows and columns of an array, with an index of 32 bits.
fn rows() -> String {
    let element = checked("%index = zext i32 %sum to i64");
    format!(
        "%columns = trunc i64 %n to i32
        %some = icmp ne i32 %m, 0
        br i1 %some, label %row, label %end
    row:
        %j = phi i32 [ 0, %entry ], [ %then, %exit ]
        %base = mul i32 %j, %m
        br label %loop
    loop:
        %k = phi i32 [ 0, %row ], [ %next, %good ]
        %sum = add i32 %base, %k
        {element}
        %next = add nuw i32 %k, 1
        %more = icmp ult i32 %next, %columns
        br i1 %more, label %loop, label %exit
    exit:
        %then = add nuw i32 %j, 1
        %again = icmp ult i32 %then, %m
        br i1 %again, label %row, label %end
    end:
        ret void"
    )
}

fn read_only() -> String {
    format!(
        "call void @{READ_ONLY}(ptr %x)
        %v = load float, ptr %x
        store float %v, ptr %y
        ret void"
    )
}

const HALVED: &str = "%start = zext i32 %m to i64
        br label %loop
    loop:
        %k = phi i64 [ %start, %entry ], [ %next, %loop ]
        store volatile i64 %k, ptr %x
        %next = lshr i64 %k, 1
        %done = icmp eq i64 %next, 0
        br i1 %done, label %exit, label %loop
    exit:
        ret void";

const STRIDED: &str = "%far = mul nuw i64 %k, %i
        %at = getelementptr inbounds float, ptr %x, i64 %far
        store float 0.0, ptr %at";

const COPY: &str =
    "call void @llvm.memcpy.p0.p0.i64(ptr align 16 %x, ptr align 16 %y, i64 16, i1 false)
        ret void";

const LEFT: &str = "%wide = zext i32 %m to i64
        %left = sub nuw i64 %wide, %i
        %some = icmp ugt i64 %left, 16
        %v = select i1 %some, float 1.0, float 2.0
        store float %v, ptr %x
        ret void";

/// A loop that computes, waits, and checks.
const WAITS: &str = "br label %loop
    loop:
        %k = phi i64 [ 0, %entry ], [ %next, %good ]
        %sum = phi float [ 0.0, %entry ], [ %z, %good ]
        %at = getelementptr float, ptr addrspace(3) @tile, i64 %k
        %v = load float, ptr addrspace(3) %at
        %w = fmul float %v, 3.0
        %z = fadd float %w, %sum
        call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
        %in = icmp ult i64 %k, %i
        br i1 %in, label %good, label %bad
    bad:
        call void @panic(i64 %k, i64 %i, ptr @place)
        unreachable
    good:
        store volatile float %z, ptr %x
        %next = add i64 %k, 1
        %again = load volatile i1, ptr %y
        br i1 %again, label %loop, label %exit
    exit:
        ret void";

const TWO_CHECKS: &str = "%a = icmp ult i64 %i, 9
        br i1 %a, label %one, label %bad
    bad:
        call void @panic(i64 %i, i64 9, ptr @place)
        unreachable
    one:
        %v = load float, ptr %x
        %b = icmp ult i64 %n, 9
        br i1 %b, label %two, label %worse
    worse:
        call void @panic(i64 %n, i64 9, ptr @place)
        unreachable
    two:
        store float %v, ptr %y
        ret void";

const NESTED: &str = "%first = load volatile float, ptr %x
        %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %outer = icmp ult i32 %t, 7
        br i1 %outer, label %edge, label %after
    edge:
        %inner = icmp ult i64 %i, %n
        br i1 %inner, label %loads, label %stores
    loads:
        %at = getelementptr inbounds float, ptr %x, i64 %i
        %loaded = load float, ptr %at
        br label %stores
    stores:
        %value = phi float [ 0.0, %edge ], [ %loaded, %loads ]
        store volatile float %value, ptr addrspace(3) @tile
        br label %after
    after:
        call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
        ret void";

const ELEMENT: &str = "%column = ptrtoint ptr %y to i64
        %first = mul i64 %i, %n
        %row = getelementptr inbounds nuw float, ptr %x, i64 %first
        %at = getelementptr inbounds nuw float, ptr %row, i64 %column
        store float 1.0, ptr %at
        ret void";

const QUOTIENTS: &str = "%v = load volatile float, ptr %x
        %w = load volatile float, ptr %x
        %one = fdiv float %v, %w
        %two = fdiv float %one, %v
        store volatile float %two, ptr %y";

const TWO_ARRAYS: &str = "br label %around
    around:
        call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
        br label %loop
    loop:
        %k = phi i64 [ %i, %around ], [ %next, %loop ]
        %from = getelementptr inbounds float, ptr %x, i64 %k
        %to = getelementptr inbounds float, ptr %y, i64 %k
        %v = load volatile float, ptr %from
        store volatile float %v, ptr %to
        %next = add nuw i64 %k, 512
        %more = icmp ult i64 %next, %n
        br i1 %more, label %loop, label %exit
    exit:
        %seen = load volatile i32, ptr %y
        %again = icmp ne i32 %seen, %m
        br i1 %again, label %around, label %end
    end:
        ret void";

const ATOMIC: &str =
    "%old = atomicrmw add ptr addrspace(3) @tile, i32 1 syncscope(\"device\") monotonic
        ret void";

const OFFSET: &str = "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %narrow = lshr i32 %t, 2
        %wide = zext i32 %narrow to i64
        %sum = add i64 %i, %wide
        %some = icmp ult i64 %sum, %n
        br i1 %some, label %start, label %exit
    start:
        %far = shl nuw nsw i64 %wide, 4
        %at = getelementptr inbounds i8, ptr addrspace(3) @tile, i64 %far
        br label %loop
    loop:
        %k = phi i64 [ %sum, %start ], [ %next, %loop ]
        store volatile i64 %k, ptr addrspace(3) %at
        %next = add nuw i64 %k, %wide
        %more = icmp ult i64 %next, %n
        br i1 %more, label %loop, label %exit
    exit:
        ret void";

const TWO_LENGTHS: &str = "%least = call i64 @llvm.umin.i64(i64 %i, i64 %n)
        %wide = zext i32 %m to i64
        %in = icmp ult i64 %wide, %least
        br i1 %in, label %store, label %exit
    store:
        store float 1.0, ptr %x
        br label %exit
    exit:
        ret void";
