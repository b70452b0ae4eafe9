//! What depends on the profile does so on the device as on the host: in a debug build overflow and `debug_assert!`
//! panic, in a release build they do not, and give the same numbers.
//!
//! Each function is called on the host and in a kernel. Either both return the same value, or both panic with the same
//! message; which of the two is what the profile says. `tests/release-profile` runs this file as in a release build.
#![allow(missing_docs, clippy::arithmetic_side_effects)]

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use oxwarp::prelude::*;
use oxwarp::{DeviceCopy, Error};

/// Whether checks of overflow are on: with `debug_assertions`, unless a profile says otherwise.
const CHECKED: bool = cfg!(debug_assertions);

#[kernel]
fn call<I: DeviceCopy, O: DeviceCopy, F: Fn(I) -> O + Copy>(
    f: F,
    input: I,
    mut output: DisjointSlice<O>,
) {
    if let Some(output) = output.get_mut(thread::index_1d()) {
        *output = f(input);
    }
}

/// The value, or the message of a panic.
fn on_the_host<I, O>(f: impl Fn(I) -> O, input: I) -> Result<O, String> {
    catch_unwind(AssertUnwindSafe(|| f(input))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or(panic.downcast_ref::<&str>().map(|text| text.to_string()))
            .expect("the message of a panic is text")
    })
}

/// The same, of a kernel.
fn on_the_device<I, O>(
    gpu: &Gpu,
    f: impl Fn(I) -> O + Copy + 'static,
    input: I,
) -> Result<O, String>
where
    I: DeviceCopy + 'static,
    O: DeviceCopy + Default + 'static,
{
    let mut output = gpu.full(1, O::default()).unwrap();
    let launched = call
        .on(gpu)
        .grid(1)
        .block(1)
        .launch(f, input, &mut output)
        .and_then(|()| output.to_vec());
    match launched {
        Ok(output) => Ok(output[0]),
        Err(Error::KernelPanic(panic)) => Err(panic.message),
        Err(error) => panic!("not a panic of the kernel: {error}"),
    }
}

/// Runs `f` on both sides; with the checks of a debug build it panics with `message`, if there is one.
fn same<I, O>(f: impl Fn(I) -> O + Copy + 'static, input: I, message: Option<&str>)
where
    I: DeviceCopy + 'static,
    O: DeviceCopy + Default + PartialEq + Debug + 'static,
{
    let gpu = Gpu::new().unwrap();
    let host = on_the_host(f, input);
    assert_eq!(on_the_device(&gpu, f, input), host);
    assert_eq!(host.err().as_deref(), message.filter(|_| CHECKED));
    gpu.synchronize().unwrap();
}

macro_rules! overflows {
    ($($name:ident($x:ident: $ty:ty = $value:expr, $harmless:expr) -> $out:ty $body:block => $message:expr;)*) => {$(
        #[test]
        fn $name() {
            fn function($x: $ty) -> $out {
                $body
            }
            same(function, $value, Some($message));
            same(function, $harmless, None);
        }
    )*};
}

overflows! {
    sums(x: u8 = 255, 254) -> u8 { x + 1 } => "attempt to add with overflow";
    differences(x: usize = 2, 3) -> usize { x - 3 } => "attempt to subtract with overflow";
    products(x: i64 = i64::MIN, 5) -> i64 { x * 3 } => "attempt to multiply with overflow";
    wide_products(x: u128 = u128::MAX / 2, 7) -> u128 { x * 5 } => "attempt to multiply with overflow";
    negations(x: i16 = i16::MIN, -1) -> i16 { -x } => "attempt to negate with overflow";
    shifts_to_the_left(x: u32 = 33, 31) -> u32 { 5 << x } => "attempt to shift left with overflow";
    shifts_to_the_right(x: i8 = -1, 7) -> i64 { -99 >> x } => "attempt to shift right with overflow";
    assignments(x: i32 = i32::MAX, 9) -> i32 { let mut y = x; y += 2; y } => "attempt to add with overflow";
    absolute_values(x: i32 = i32::MIN, -5) -> i32 { x.abs() } => "attempt to negate with overflow";
    powers(x: u32 = 12, 9) -> u32 { x.pow(10 - 1) } => "attempt to multiply with overflow";
    sums_of_iterators(x: u8 = 200, 20) -> u8 { [x, 50, 6].iter().sum() } => "attempt to add with overflow";
    products_of_iterators(x: u16 = 300, 3) -> u16 { (x..x + 3).product() } => "attempt to multiply with overflow";
    constants_in_loops(x: u8 = 30, 3) -> u8 { let mut y = 1; for i in 0..x { y += i; } y }
        => "attempt to add with overflow";
    debug_assertions(x: u32 = 4, 3) -> u32 { debug_assert!(x < 4, "x is {x}"); x ^ 1 } => "x is 4";
    debug_equalities(x: u32 = 4, 3) -> u32 { debug_assert_eq!(x, 3); x }
        => "assertion `left == right` failed\n  left: 4\n right: 3";
    branches_on_the_profile(x: u32 = 1, 0) -> u32 { if cfg!(debug_assertions) && x == 1 { panic!("debug") } x }
        => "debug";
}

/// What panics in every build.
#[test]
fn checks_that_stay() {
    let gpu = Gpu::new().unwrap();
    fn quotient(x: i32) -> i32 {
        i32::MIN / x
    }
    fn element(x: usize) -> u32 {
        [1, 2, 3][x.wrapping_sub(1)]
    }
    fn assertion(x: u32) -> u32 {
        assert!(x != 3, "not three");
        x
    }
    assert_eq!(
        on_the_device(&gpu, quotient, 0),
        Err("attempt to divide by zero".into())
    );
    assert_eq!(
        on_the_device(&gpu, quotient, -1),
        Err("attempt to divide with overflow".into())
    );
    assert_eq!(on_the_device(&gpu, quotient, 2), Ok(i32::MIN / 2));
    assert_eq!(
        on_the_device(&gpu, element, 0),
        Err(format!(
            "index out of bounds: the len is 3 but the index is {}",
            usize::MAX
        ))
    );
    assert_eq!(on_the_device(&gpu, element, 3), Ok(3));
    assert_eq!(on_the_device(&gpu, assertion, 3), Err("not three".into()));
}
