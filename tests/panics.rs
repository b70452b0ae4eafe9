//! A panic in a kernel is an error of the next wait, with message, place, block and thread; the next launch works.
#![allow(missing_docs)]

use std::iter;

use oxwarp::prelude::*;
use oxwarp::{Dim3, Error, KernelPanic};

/// Runs a launch that panics, and a good one after it on the same device.
fn panic_of(launch: impl FnOnce(&Gpu) -> oxwarp::Result<()>) -> KernelPanic {
    let gpu = Gpu::new().unwrap();
    launch(&gpu).unwrap();
    let error = gpu.synchronize().unwrap_err();
    let text = error.to_string();
    let Error::KernelPanic(panic) = error else {
        panic!("not a kernel panic: {text}");
    };
    let place = format!(
        "kernel `{}` panicked at {}:{}:{} in block",
        panic.kernel.unwrap(),
        panic.file,
        panic.line,
        panic.column
    );
    assert!(text.starts_with(&place), "{text}");
    assert!(text.ends_with(&panic.message), "{text}");
    assert!(panic.file.ends_with("panics.rs"), "{text}");
    gpu.synchronize().unwrap();
    let mut y = gpu.zeros::<u32>(100).unwrap();
    launch!(good[1, 128](&mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), (0..100).collect::<Vec<u32>>());
    *panic
}

#[kernel]
fn good(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = *i as u32;
    }
}

fn at(x: u32, y: u32, z: u32) -> Dim3 {
    Dim3 { x, y, z }
}

/// A kernel in which thread 5 of block 2 panics.
macro_rules! one_thread_panics {
    ($($name:ident($($parameter:ident: $ty:ty = $value:expr),*) $body:block => $message:expr;)*) => {$(
        #[test]
        fn $name() {
            #[allow(unused_braces)]
            #[kernel]
            fn kernel($($parameter: $ty,)* mut y: DisjointSlice<u32>) {
                let i = thread::index_1d();
                let result: u32 = if *i == 37 { $body } else { 1 };
                if let Some(y) = y.get_mut(i) {
                    *y = result;
                }
            }
            let panic = panic_of(|gpu| {
                let mut y = gpu.zeros::<u32>(64)?;
                launch!(kernel[4, 16]($($value,)* &mut y))
            });
            assert_eq!(panic.message, $message);
            assert_eq!((panic.block, panic.thread), (at(2, 0, 0), at(5, 0, 0)));
        }
    )*};
}

one_thread_panics! {
    unwrap(x: Option<u32> = None) { x.unwrap() } => "called `Option::unwrap()` on a `None` value";
    expect(x: Option<u32> = None) { x.expect("a weight") } => "a weight";
    unwrap_result(x: Result<u32, u8> = Err(7)) { x.unwrap() } => "called `Result::unwrap()` on an `Err` value: 7";
    expect_result(x: Result<u32, u8> = Err(7)) { x.expect("a number") } => "a number: 7";
    plain_message() { panic!("no more seats") } => "no more seats";
    message_of_all_letters() { panic!("kein \"Platz\"\n\tfür {{}} \\ // it's") } => "kein \"Platz\"\n\tfür {} \\ // it's";
    formatted_message(x: f32 = 1.5, n: u32 = 3) { panic!("{x} of {n:03} at {:?}", (n, "é")) }
        => "1.5 of 003 at (3, \"é\")";
    assertion(x: u32 = 4) { assert!(x < 4, "x is {x}"); x } => "x is 4";
    plain_assertion(x: u32 = 4) { assert!(x < 4); x } => "assertion failed: x < 4";
    unreachable_code(x: u32 = 4) { if x == 4 { unreachable!() } else { x } } => "internal error: entered unreachable code";
    to_do(x: u32 = 4) { if x == 4 { todo!("later") } else { x } } => "not yet implemented: later";
    division(x: u32 = 0) { 5 / x } => "attempt to divide by zero";
    remainder(x: u32 = 0) { 5 % x } => "attempt to calculate the remainder with a divisor of zero";
    division_overflow(x: i32 = -1) { (i32::MIN / x) as u32 } => "attempt to divide with overflow";
    slice_range(from: usize = 3) { [1u32, 2][from..][0] } => "range start index 3 out of range for slice of length 2";
    slice_order(from: usize = 2, to: usize = 1) { [1u32, 2, 3][from..to][0] } => "slice index starts at 2 but ends at 1";
    copy_lengths(n: usize = 2) { let mut to = [0u32; 3]; to.copy_from_slice(&[1; 3][..n]); to[0] }
        => "copy_from_slice: source slice length (2) does not match destination slice length (3)";
    borrowed_cell(n: u32 = 2) { let cell = core::cell::RefCell::new(n); let _guard = cell.borrow_mut(); *cell.borrow() }
        => "RefCell already mutably borrowed";
}

#[cfg(debug_assertions)]
one_thread_panics! {
    addition(x: u32 = u32::MAX) { x + 1 } => "attempt to add with overflow";
    subtraction(x: u8 = 0) { (x - 1).into() } => "attempt to subtract with overflow";
    multiplication(x: i64 = i64::MAX) { (x * 2) as u32 } => "attempt to multiply with overflow";
    negation(x: i16 = i16::MIN) { (-x) as u32 } => "attempt to negate with overflow";
    left_shift(x: u32 = 32) { 1 << x } => "attempt to shift left with overflow";
    right_shift(x: u32 = 40) { 1 >> x } => "attempt to shift right with overflow";
    array_product(x: u128 = u128::MAX) { (x * x) as u32 } => "attempt to multiply with overflow";
}

#[kernel]
fn beyond(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i + 1];
    }
}

/// The line of a panic below counts from here.
const BEYOND: u32 = line!() - 5;

#[test]
fn an_index_out_of_bounds_has_its_place_and_thread() {
    let panic = panic_of(|gpu| {
        let x = gpu.to_device(&[7u32; 100])?;
        let mut y = gpu.zeros::<u32>(100)?;
        launch!(beyond[4, 32](&x, &mut y))
    });
    assert_eq!(
        panic.message,
        "index out of bounds: the len is 100 but the index is 100"
    );
    assert_eq!((panic.line, panic.column), (BEYOND, 14));
    assert_eq!((panic.block, panic.thread), (at(3, 0, 0), at(3, 0, 0)));
}

#[test]
fn an_index_out_of_bounds_of_an_empty_slice() {
    let panic = panic_of(|gpu| {
        let x = gpu.to_device(&[0u32; 0])?;
        let mut y = gpu.zeros::<u32>(1)?;
        launch!(beyond[1, 1](&x, &mut y))
    });
    assert_eq!(
        panic.message,
        "index out of bounds: the len is 0 but the index is 1"
    );
}

#[inline(never)]
fn helper(x: u32) -> u32 {
    assert!(x != 3, "three");
    x
}

const HELPER: u32 = line!() - 4;

#[track_caller]
fn tracked(x: u32) -> u32 {
    if x == 3 { panic!("tracked") } else { x }
}

#[kernel]
fn calls(which: u32, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let x = *i as u32;
        *y = match which {
            0 => helper(x),
            _ => tracked(x),
        };
    }
}

const TRACKED: u32 = line!() - 5;

#[test]
fn a_panic_in_a_helper_is_at_the_helpers_line() {
    let panic = panic_of(|gpu| launch!(calls[1, 8](0, &mut gpu.zeros::<u32>(8)?)));
    assert_eq!(
        (panic.message.as_str(), panic.line, panic.column),
        ("three", HELPER, 5)
    );
    assert_eq!(panic.thread, at(3, 0, 0));
}

#[test]
fn a_panic_in_a_tracked_function_is_at_the_callers_line() {
    let panic = panic_of(|gpu| launch!(calls[1, 8](1, &mut gpu.zeros::<u32>(8)?)));
    assert_eq!(
        (panic.message.as_str(), panic.line, panic.column),
        ("tracked", TRACKED, 18)
    );
}

/// All threads but those that panicked pass the barrier.
#[kernel]
fn before_a_barrier(mut y: DisjointSlice<u32, ThreadIndex2d>) {
    let t = thread::thread_idx();
    if t.y == 2 && t.x == 1 {
        panic!("before the barrier");
    }
    sync_threads();
    if let Some(y) = y.get_mut(thread::index_2d()) {
        *y = 1;
    }
}

#[test]
fn threads_at_a_barrier_go_on_without_one_that_panicked() {
    let panic = panic_of(
        |gpu| launch!(before_a_barrier[(1, 1), (8, 4)](&mut gpu.zeros_nd::<u32, _>((4, 8))?)),
    );
    assert_eq!(
        (panic.message.as_str(), panic.thread),
        ("before the barrier", at(1, 2, 0))
    );
}

#[kernel]
fn three_dimensions() {
    let (block, thread) = (thread::block_idx(), thread::thread_idx());
    if (block.x, block.y, block.z) == (1, 0, 2) && (thread.x, thread.y, thread.z) == (0, 3, 1) {
        panic!("here");
    }
}

#[test]
fn block_and_thread_in_three_dimensions() {
    let panic = panic_of(|gpu| {
        three_dimensions
            .on(gpu)
            .grid((2, 2, 3))
            .block((2, 4, 2))
            .launch()
    });
    assert_eq!((panic.block, panic.thread), (at(1, 0, 2), at(0, 3, 1)));
}

#[kernel]
fn long_message(n: u32) {
    let text = "0123456789abcdef";
    panic!("{n}: {text}{text}{text}{text}{text}{text}{text}{text}{text}{text}{text}{text}");
}

#[test]
fn of_many_panics_one_is_reported_whole() {
    let panic = panic_of(|gpu| long_message.on(gpu).grid(64).block(256).launch(9));
    assert_eq!(
        panic.message,
        format!("9: {}", "0123456789abcdef".repeat(12))
    );
}

#[test]
fn a_panic_comes_out_of_reads_and_copies_too() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[7u32; 4]).unwrap();
    let mut y = gpu.zeros::<u32>(4).unwrap();
    let is_panic = |error: Error| matches!(error, Error::KernelPanic(_));
    launch!(beyond[1, 4](&x, &mut y)).unwrap();
    assert!(is_panic(y.to_vec().unwrap_err()));
    // A copy to the device need not wait for the kernel before it, so it may be one of the next that tells.
    launch!(beyond[1, 4](&x, &mut y)).unwrap();
    let error = iter::repeat_with(|| y.copy_from(&[1; 4])).find_map(Result::err);
    assert!(error.is_some_and(is_panic));
    launch!(beyond[1, 4](&x, &mut y)).unwrap();
    let error = iter::repeat_with(|| gpu.to_device(&[1; 4])).find_map(Result::err);
    assert!(error.is_some_and(is_panic));
    assert!(y.to_vec().is_ok());
}

#[test]
fn a_panic_is_the_error_of_its_own_device_only() {
    let (gpu, other) = (Gpu::new().unwrap(), Gpu::new().unwrap());
    let x = gpu.to_device(&[7u32; 4]).unwrap();
    let mut y = gpu.zeros::<u32>(4).unwrap();
    launch!(beyond[1, 4](&x, &mut y)).unwrap();
    other.synchronize().unwrap();
    let mut z = other.zeros::<u32>(4).unwrap();
    launch!(good[1, 4](&mut z)).unwrap();
    assert_eq!(z.to_vec().unwrap(), [0, 1, 2, 3]);
    gpu.synchronize().unwrap_err();
}

#[kernel]
fn first_to_panic(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i + 1];
    }
}

#[kernel]
fn second_to_panic(x: &[u32], n: Result<u32, i8>, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i] + n.unwrap();
    }
}

#[test]
fn the_kernel_that_panicked_first_is_named() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[1u32; 64]).unwrap();
    let mut y = gpu.zeros::<u32>(64).unwrap();
    // What comes after the panic is refused, or was queued before the panic was known.
    let name = |queued: oxwarp::Result<()>| match queued.and_then(|()| gpu.synchronize()) {
        Err(Error::KernelPanic(panic)) => panic.kernel,
        other => panic!("{other:?}"),
    };
    for _ in 0..3 {
        let queued = launch!(first_to_panic[1, 64](&x, &mut y))
            .and_then(|()| launch!(second_to_panic[1, 64](&x, Err(-1), &mut y)));
        assert_eq!(name(queued), Some("first_to_panic"));
        let queued = launch!(second_to_panic[1, 64](&x, Ok(1), &mut y))
            .and_then(|()| launch!(second_to_panic[1, 64](&x, Err(-1), &mut y)))
            .and_then(|()| launch!(first_to_panic[1, 64](&x, &mut y)));
        assert_eq!(name(queued), Some("second_to_panic"));
    }
}

#[test]
fn a_message_is_whole_up_to_4096_bytes() {
    #[kernel]
    fn kernel(n: usize) {
        panic!("{:>n$}|{0:>n$}", 1);
    }
    let gpu = Gpu::new().unwrap();
    let message = |n: usize| {
        kernel.on(&gpu).grid(1).block(1).launch(n).unwrap();
        gpu.synchronize()
            .unwrap_err()
            .to_string()
            .split_once(":\n")
            .unwrap()
            .1
            .to_owned()
    };
    let whole = |n: usize| format!("{:>n$}|{0:>n$}", 1);
    assert_eq!(message(2000), whole(2000));
    if gpu.is_simulator() {
        assert_eq!(message(3000), whole(3000));
    } else {
        assert_eq!(
            message(3000),
            format!("{}... (6001 bytes in all)", &whole(3000)[..4096])
        );
    }
}
