//! What is counted in a kernel, where its checks stand, and the table.

use std::collections::BTreeMap;

use super::*;
use crate::checks::Place;

/// A nest with a check in the inner loop; two copies of a loop of which one has a check; a check before them.
const PTX: &str = "
.version 7.0
.target sm_80
.func panic_bounds_check(.param .b64 a)
.noreturn;
.func core_panic(.param .b64 a)
.noreturn;
.global .align 1 .b8 text[4] = {110, 111, 116, 33};
.global .align 1 .b8 name[4] = {97, 46, 114, 115};
.global .align 8 .u64 inner[3] = {generic(name), 4, 21474836491};
.global .align 8 .u64 slow[3] = {generic(name), 4, 21474836492};
.global .align 8 .u64 first[3] = {generic(name), 4, 21474836489};
.visible .entry kernel_0(
)
{
	.reg .b32 	%r<3>;
	ld.param.b64 	%rd1, [kernel_0_param_0];
	@%p9 bra 	$FIRST;
	mov.b32 	%r1, 0;
$OUTER:
	mov.b32 	%r2, 0;
	bar.sync 	0;
$INNER:
	setp.ge.u32 	%p1, %r2, %r9;
	@%p1 bra 	$PANIC;
	fma.rn.f32 	%r2, %r2, %r3, %r4;
	setp.lt.u32 	%p2, %r2, 9;
	@%p2 bra 	$INNER;
	add.s32 	%r1, %r1, 1;
	{ // callseq 0, 0
	call.uni 	_ZN5twice17h0123456789abcdefE, (param0);
	} // callseq 0
	setp.lt.u32 	%p3, %r1, 9;
	@%p3 bra 	$OUTER;
	setp.lt.u32 	%p4, %r1, %r8;
	@%p4 bra 	$FAST;
$SLOW:
	setp.ge.u32 	%p5, %r1, %r8;
	@%p5 bra 	$PANIC_SLOW;
	.loc 1 20 9
	ld.global.nc.v4.b32 	{%r3, %r4, %r5, %r6}, [%rd1];
	@%p6 bra 	$SLOW;
	ret;
$FAST:
	.loc 1 20 9
	ld.global.nc.v4.b32 	{%r3, %r4, %r5, %r6}, [%rd1];
	@%p7 bra 	$FAST;
	ret;
$PANIC:
	mov.b64 	%rd4, inner;
	call.uni 	panic_bounds_check, (param0);
	exit;
$PANIC_SLOW:
	mov.b64 	%rd4, slow;
	call.uni 	panic_bounds_check, (param0);
	exit;
$FIRST:
	mov.b64 	%rd3, text;
	mov.b64 	%rd4, first;
	st.param.b64 	[param1], 4;
	call.uni 	core_panic, (param0);
	exit;
}
.func _ZN5twice17h0123456789abcdefE(
)
{
	@%p1 bra 	$PANIC;
	atom.relaxed.cta.shared.add.u32 	%r1, [%rd1], %r2;
	st.shared.b16 	[%rd1], %rs1;
	ret;
$PANIC:
	st.b32 	[%rd9], 1;
	call.uni 	panic_bounds_check, (param0);
	exit;
}
";

fn code() -> Code {
    Code::of(&Module::parse(PTX), "kernel_0").unwrap()
}

#[test]
fn instructions_by_kind_those_of_called_functions_too() {
    let code = code();
    assert_eq!(
        (code.instructions, code.fma, code.barriers, code.loops),
        (35, 1, 1, 4)
    );
    assert_eq!(code.calls, BTreeMap::from([("twice".to_owned(), 1)]));
    assert_eq!(code.atomics, BTreeMap::from([(Space::Shared, 1)]));
    let access = |direction, space, bytes| Access {
        direction,
        space,
        bytes,
    };
    let wanted = [
        (access(Direction::Load, Space::ReadOnly, 16), 2),
        (access(Direction::Load, Space::Parameter, 8), 1),
        (access(Direction::Store, Space::Shared, 2), 1),
    ];
    assert_eq!(code.accesses, BTreeMap::from(wanted));
    assert_eq!(code.bytes(Direction::Load, Space::ReadOnly), 32);
    assert_eq!(Code::of(&Module::parse(PTX), "kernel_1"), None);
}

#[test]
fn checks_stand_where_they_are_made_and_name_their_place() {
    let code = code();
    let at = |position| -> Vec<String> {
        let panics = code.checks_at(position).flat_map(|check| &check.panics);
        let text = |(place, what): &(Option<Place>, String)| match place {
            Some(place) => format!("{place} {what}"),
            None => what.clone(),
        };
        panics.map(text).collect()
    };
    // What is called from a loop is in it.
    assert_eq!(
        at(Position::Loop),
        ["a.rs:11:5 index out of bounds", "index out of bounds"]
    );
    assert_eq!(at(Position::SlowCopy), ["a.rs:12:5 index out of bounds"]);
    assert_eq!(at(Position::Straight), ["a.rs:9:5 not!"]);
}

#[test]
fn it_prints_as_a_table() {
    let wanted = "  instructions    35; fma 1; barriers 1; loops 4
  loads           global read-only 2 of 16 bytes; parameter 1 of 8 bytes
  stores          shared 1 of 2 bytes
  atomics         shared 1
  calls           twice 1
  checks in loops 2
                  index out of bounds
                  a.rs:11:5: index out of bounds
  other checks    1 outside of loops, 1 in slow copies of loops
";
    let text = code().to_string();
    assert_eq!(text, wanted);
}

/// Two loops without accesses of memory, of which the first has a check; the second is of line `LINE`.
const WITHOUT_ACCESSES: &str = "
.version 7.0
.target sm_80
.func panics(.param .b64 a)
.noreturn;
.visible .entry kernel_0()
{
$FIRST:
	.loc 1 20 9
	@%p1 bra 	$PANIC;
	add.s32 	%r1, %r1, 1;
	@%p2 bra 	$FIRST;
$SECOND:
	.loc 1 LINE 9
	add.s32 	%r1, %r1, 1;
	@%p3 bra 	$SECOND;
	ret;
$PANIC:
	call.uni 	panics, (param0);
	exit;
}
";

#[test]
fn a_loop_of_other_lines_is_no_copy() {
    let position = |line| {
        let ptx = WITHOUT_ACCESSES.replace("LINE", line);
        let code = Code::of(&Module::parse(&ptx), "kernel_0").unwrap();
        code.checks
            .iter()
            .map(|check| check.position)
            .collect::<Vec<_>>()
    };
    assert_eq!(position("20"), [Position::SlowCopy]);
    assert_eq!(position("30"), [Position::Loop]);
}

/// A panic that is recorded where it happens.
const INLINED: &str = "
.version 7.0
.target sm_80
.global .align 1 .b8 name[4] = {97, 46, 114, 115};
.global .align 1 .b8 text[4] = {110, 111, 116, 33};
.visible .entry kernel_0()
{
	@%p1 bra 	$PANIC;
	ret;
$PANIC:
	ld.global.b64 	%rd9, [oxwarp_panic_slot];
	atom.relaxed.sys.cas.b32 	%r9, [%rd9], 0, 1;
	@%p2 bra 	$LEAVE;
	st.v2.b32 	[%rd1+8], {42, 25};
	mov.b64 	%rd2, name;
	cvta.global.u64 	%rd3, %rd2;
	st.b64 	[%rd1+40], %rd3;
	st.b64 	[%rd1+48], 4;
	mov.b64 	%rd4, text;
	cvta.global.u64 	%rd5, %rd4;
	st.b64 	[%rd1+56], %rd5;
	st.b64 	[%rd1+64], 4;
$LEAVE:
	exit;
}
";

#[test]
fn a_panic_that_is_recorded_in_line_is_read_and_not_counted() {
    let code = Code::of(&Module::parse(INLINED), "kernel_0").unwrap();
    assert!(
        code.accesses.is_empty() && code.atomics.is_empty(),
        "{code}"
    );
    let place = Place {
        file: "a.rs".into(),
        line: 42,
        column: 25,
    };
    assert_eq!(code.checks.len(), 1);
    assert_eq!(
        code.checks[0].panics,
        [(Some(place), "not!".to_owned())].into()
    );
}
