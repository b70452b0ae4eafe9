//! What a kernel chooses for itself: `#[kernel(...)]`.
//!
//! The results are the same on both back ends within what the option allows; what the option changes is seen in the PTX.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use oxwarp::prelude::*;
use oxwarp::{Error, unroll};

mod common;
mod device_code;

use common::Random;

/// A helper that kernels with different options share.
#[inline(never)]
fn shared(a: f32, x: f32, y: f32) -> f32 {
    (a * x + y) / (x - 2.5)
}

#[kernel]
fn plain(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = shared(a, x[*i], *y);
    }
}

#[kernel(fma = false)]
fn uncontracted(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = shared(a, x[*i], *y);
    }
}

#[kernel(fast_math)]
fn fast(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = shared(a, x[*i], *y);
    }
}

#[kernel(fast_math, fma = false)]
fn fast_uncontracted(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = shared(a, x[*i], *y);
    }
}

#[test]
fn a_choice_is_the_kernels_own() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(5);
    let (x, y) = (
        random.floats(1000, -2.0, 2.0),
        random.floats(1000, -1.0, 1.0),
    );
    let x_device = gpu.to_device(&x)?;
    let expected: Vec<f32> = x.iter().zip(&y).map(|(&x, &y)| shared(1.7, x, y)).collect();
    let run = |launch: &dyn Fn(&mut DeviceArray<f32>) -> oxwarp::Result<()>| {
        let mut out = gpu.to_device(&y)?;
        launch(&mut out)?;
        out.to_vec()
    };
    let exact = run(&|y| uncontracted.for_each(1000usize).launch(1.7, &x_device, y))?;
    assert_eq!(exact, expected);
    for result in [
        run(&|y| plain.for_each(1000usize).launch(1.7, &x_device, y))?,
        run(&|y| fast.for_each(1000usize).launch(1.7, &x_device, y))?,
        run(&|y| {
            fast_uncontracted
                .for_each(1000usize)
                .launch(1.7, &x_device, y)
        })?,
    ] {
        for (result, expected) in result.iter().zip(&expected) {
            assert!((result - expected).abs() <= 1e-5, "{result} {expected}");
        }
    }
    Ok(())
}

#[test]
fn a_choice_does_not_change_the_helpers_of_other_kernels() {
    let of = |name| device_code::of(name) + &device_code::called_by(name);
    let (plain, uncontracted) = (of("plain"), of("uncontracted"));
    for code in [&plain, &uncontracted] {
        // Copies keep the lines of the source and what is known of slices.
        device_code::contains(code, &[".loc", "ld.global.nc"]);
    }
    device_code::contains(&plain, &["fma.rn.f32", "div.rn.f32"]);
    device_code::contains(&uncontracted, &["mul.rn.f32", "add.rn.f32", "div.rn.f32"]);
    assert!(!uncontracted.contains("fma."), "{uncontracted}");
    let (fast, fast_uncontracted) = (of("fast"), of("fast_uncontracted"));
    device_code::contains(&fast, &["fma.rn.ftz.f32", "div.approx.ftz.f32"]);
    device_code::contains(&fast_uncontracted, &["mul.rn.ftz.f32", "add.rn.ftz.f32"]);
    assert!(!fast_uncontracted.contains("fma."), "{fast_uncontracted}");
    device_code::assembles();
}

static COUNTER: AtomicU32 = AtomicU32::new(5);

#[inline(never)]
fn count() -> u32 {
    COUNTER.fetch_add(1, Relaxed)
}

#[kernel]
fn counts() {
    count();
}

#[kernel(fast_math)]
fn counts_fast(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = count();
    }
}

#[test]
fn a_static_of_kernels_with_different_choices_is_one() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut y = gpu.zeros::<u32>(1)?;
    counts.on(&gpu).grid(1).block(32).launch()?;
    launch!(counts_fast[1, 1](&mut y))?;
    assert_eq!(y.to_vec()?, [37]);
    let ptx = device_code::module_of("counts");
    let definitions = ptx
        .lines()
        .filter(|line| line.contains(".global .align") && line.contains("COUNTER"));
    assert_eq!(definitions.count(), 1);
    Ok(())
}

macro_rules! functions {
    ($($accurate:ident $fast:ident: |$x:ident| $value:expr;)*) => {$(
        #[kernel]
        fn $accurate(x: &[f32], mut y: DisjointSlice<f32>) {
            let i = thread::index_1d();
            if let Some(y) = y.get_mut(i) {
                let $x = x[*i];
                *y = $value;
            }
        }

        #[kernel(fast_math = true)]
        fn $fast(x: &[f32], mut y: DisjointSlice<f32>) {
            let i = thread::index_1d();
            if let Some(y) = y.get_mut(i) {
                let $x = x[*i];
                *y = $value;
            }
        }
    )*};
}

functions! {
    sin_accurate sin_fast: |x| x.sin();
    cos_accurate cos_fast: |x| x.cos();
    tan_accurate tan_fast: |x| x.tan();
    tanh_accurate tanh_fast: |x| x.tanh();
    exp_accurate exp_fast: |x| x.exp();
    exp2_accurate exp2_fast: |x| x.exp2();
    ln_accurate ln_fast: |x| x.ln();
    log2_accurate log2_fast: |x| x.log2();
    log10_accurate log10_fast: |x| x.log10();
    pow_accurate pow_fast: |x| x.powf(1.5);
    sqrt_accurate sqrt_fast: |x| x.sqrt();
    recip_accurate recip_fast: |x| 1.0 / x;
    nan_accurate nan_fast: |x| if (x * 1e38 * 1e38 * 0.0).is_nan() { 1.0 } else { 0.0 };
}

#[test]
fn fast_functions_are_the_hardwares() {
    for (name, instructions) in [
        ("sin_fast", &["sin.approx.ftz.f32"][..]),
        ("cos_fast", &["cos.approx.ftz.f32"]),
        (
            "tan_fast",
            &[
                "sin.approx.ftz.f32",
                "cos.approx.ftz.f32",
                "div.approx.ftz.f32",
            ],
        ),
        ("tanh_fast", &["tanh.approx.f32"]),
        ("exp_fast", &["ex2.approx.ftz.f32"]),
        ("exp2_fast", &["ex2.approx.ftz.f32"]),
        ("ln_fast", &["lg2.approx.ftz.f32"]),
        ("log2_fast", &["lg2.approx.ftz.f32"]),
        ("log10_fast", &["lg2.approx.ftz.f32"]),
        ("pow_fast", &["lg2.approx.ftz.f32", "ex2.approx.ftz.f32"]),
        ("sqrt_fast", &["sqrt.approx.ftz.f32"]),
        ("recip_fast", &["rcp.approx.ftz.f32"]),
    ] {
        device_code::contains(&device_code::of(name), instructions);
    }
    for (name, instruction) in [
        ("sqrt_accurate", "sqrt.rn.f32"),
        ("recip_accurate", "rcp.rn.f32"),
    ] {
        device_code::contains(&device_code::of(name), &[instruction]);
    }
    // CUDA's libdevice flushes where it knows that it may.
    assert!(!device_code::of("sqrt_accurate").contains(".ftz"));
    for name in [
        "sin_accurate",
        "tanh_accurate",
        "pow_accurate",
        "sqrt_accurate",
    ] {
        let code = device_code::of(name);
        for approximate in ["sin.approx", "tanh.approx", "sqrt.approx"] {
            assert!(!code.contains(approximate), "{approximate} in\n{code}");
        }
    }
}

#[test]
fn fast_functions_are_near_the_accurate_ones() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let x = Random::new(9).floats(1000, 0.1, 1.4);
    let device = gpu.to_device(&x)?;
    let mut y = gpu.zeros::<f32>(x.len())?;
    macro_rules! check {
        ($($kernel:ident: |$x:ident| $value:expr;)*) => {$(
            $kernel.for_each(x.len()).launch(&device, &mut y)?;
            for (&$x, y) in x.iter().zip(y.to_vec()?) {
                let expected: f32 = $value;
                let error = (y - expected).abs() / expected.abs().max(1.0);
                assert!(error < 1e-3, "{}({}): {y}, not {expected}", stringify!($kernel), $x);
            }
        )*};
    }
    check! {
        sin_fast: |x| x.sin();
        cos_fast: |x| x.cos();
        tan_fast: |x| x.tan();
        tanh_fast: |x| x.tanh();
        exp_fast: |x| x.exp();
        exp2_fast: |x| x.exp2();
        ln_fast: |x| x.ln();
        log2_fast: |x| x.log2();
        log10_fast: |x| x.log10();
        pow_fast: |x| x.powf(1.5);
        sqrt_fast: |x| x.sqrt();
        recip_fast: |x| 1.0 / x;
        nan_fast: |_x| 1.0;
        sin_accurate: |x| x.sin();
    }
    Ok(())
}

const BOUND: usize = 128;

#[kernel(launch_bounds(256))]
fn bounded(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y += 1;
    }
}

#[kernel(launch_bounds(BOUND, 4), max_registers = 64)]
fn bounded_by_constant(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y += 2;
    }
}

#[kernel(launch_bounds(N))]
fn bounded_by_parameter<const N: u32>(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y += N;
    }
}

#[test]
fn launch_bounds_are_in_the_ptx() {
    let code = device_code::of("bounded");
    device_code::contains(&code, &[".maxntid 256"]);
    assert!(!code.contains(".minnctapersm"), "{code}");
    let code = device_code::of("bounded_by_constant");
    device_code::contains(&code, &[".maxntid 128", ".minnctapersm 4", ".maxnreg 64"]);
    device_code::contains(&device_code::of("bounded_by_parameter"), &[".maxntid 64"]);
}

#[test]
fn a_block_over_the_launch_bounds_is_an_error_that_names_them() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut y = gpu.zeros::<u32>(1000)?;
    let error = launch!(bounded[4, (16, 17)](&mut y)).unwrap_err();
    assert!(
        matches!(
            error,
            Error::LaunchBounds {
                kernel: "bounded",
                bound: 256,
                ..
            }
        ),
        "{error}"
    );
    let text = error.to_string();
    for part in ["(16, 17, 1) is 272 threads", "`launch_bounds(256)`"] {
        assert!(text.contains(part), "{text}");
    }
    launch!(bounded[4, 256](&mut y))?;
    // `for_each` takes a block that the kernel allows.
    bounded_by_constant.for_each(1000usize).launch(&mut y)?;
    bounded_by_parameter
        .for_each(1000usize)
        .launch::<64>(&mut y)?;
    assert_eq!(y.to_vec()?, [67; 1000]);
    Ok(())
}

/// Rows of 16, as a block of 16x4 has them.
#[kernel(block(16, 4))]
fn by_rows(mut y: DisjointSlice<u32>) {
    let line = shared_array![u32; 4, 16];
    let (row, col) = (
        thread::thread_idx_y() as usize,
        thread::thread_idx_x() as usize,
    );
    // The block's own shape says that these are inside.
    line.set((row, col), thread::block_dim_x() * 100 + row as u32);
    sync_threads();
    if let Some(y) = y.get_mut(thread::index()) {
        *y = line.get((3 - row, 15 - col));
    }
}

#[kernel(block(N), launch_bounds(N, 2))]
fn in_blocks_of<const N: u32>(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = thread::block_dim_x() + N;
    }
}

#[test]
fn the_block_is_in_the_ptx_and_a_constant_in_the_code() {
    let code = device_code::of("by_rows");
    device_code::contains(&code, &[".reqntid 16, 4"]);
    for without in [
        "%ntid.x",
        "%ntid.y",
        "%tid.z",
        "oxwarp_panic_index",
        ".maxntid",
    ] {
        assert!(!code.contains(without), "{without}: {code}");
    }
    let code = device_code::of("in_blocks_of");
    device_code::contains(&code, &[".reqntid 64", ".minnctapersm 2"]);
    assert!(!code.contains("%ntid.x"), "{code}");
}

#[test]
fn another_block_than_the_kernels_own_is_an_error_that_names_both() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut y = gpu.zeros::<u32>(128)?;
    for block in [(4, 16), (64, 1), (16, 8)] {
        let error = launch!(by_rows[2, block](&mut y)).unwrap_err();
        assert!(
            matches!(
                error,
                Error::BlockShape {
                    kernel: "by_rows",
                    ..
                }
            ),
            "{error}"
        );
        let text = error.to_string();
        let given = format!("a block of ({}, {}, 1)", block.0, block.1);
        for part in [given.as_str(), "`block(16, 4, 1)`"] {
            assert!(text.contains(part), "{text}");
        }
    }
    let row = |i: usize| 1600 + (3 - i % 64 / 16) as u32;
    let wanted: Vec<u32> = (0..128).map(row).collect();
    launch!(by_rows[2, (16, 4)](&mut y))?;
    assert_eq!(y.to_vec()?, wanted);
    // Who names no block gets the kernel's own.
    y.fill(0)?;
    by_rows.grid(2).launch(&mut y)?;
    assert_eq!(y.to_vec()?, wanted);
    in_blocks_of.for_each(100usize).launch::<64>(&mut y)?;
    assert_eq!(y.to_vec()?, [128; 128]);
    Ok(())
}

macro_rules! many_registers {
    ($($(#[$option:meta])? $name:ident;)*) => {$(
        /// A polynomial of many values that are all kept.
        #[kernel$(($option))?]
        fn $name(x: &[f32], mut y: DisjointSlice<f32>) {
            let i = thread::index_1d();
            let Some(y) = y.get_mut(i) else { return };
            let mut values = [0.0f32; 96];
            let mut j = 0;
            while j < 96 {
                values[j] = x[*i + j];
                j += 1;
            }
            let mut sum = 0.0;
            for j in 0..96 {
                sum = (sum + values[95 - j]) * values[(7 * j + 3) % 96];
            }
            *y = sum;
        }
    )*};
}

many_registers! {
    registers_free;
    #[max_registers = 57] registers_57;
    #[max_registers = 38] registers_38;
}

#[test]
fn registers_are_capped() {
    let Some(free) = device_code::registers("registers_free") else {
        eprintln!("no ptxas on this machine");
        return;
    };
    assert!(free > 57, "{free}");
    for (name, cap) in [("registers_57", 57), ("registers_38", 38)] {
        let used = device_code::registers(name).unwrap();
        assert!(used <= cap, "{name}: {used}");
    }
}

/// Sums what `x` holds at the places in `at`.
fn gathered(x: &[u32], at: &[u32], i: usize) -> u32 {
    let Some(place) = at.get(i).copied() else {
        panic!("no place {i}")
    };
    x[place as usize] + x[x.len() - 1 - i] * 3
}

#[kernel]
fn checked(x: &[u32], at: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    *y.get_mut(i).unwrap() = gathered(x, at, *i);
}

/// # Safety
///
/// There are as many threads as elements, and all places are of elements.
// SAFETY: as the launch promises.
#[kernel(unsafe(unchecked))]
unsafe fn unchecked(x: &[u32], at: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    *y.get_mut(i).unwrap() = gathered(x, at, *i);
}

#[test]
fn checks_go_where_they_are_promised_to_hold() {
    let checks = |code: &str| code.matches("setp.").count();
    let (with, without) = (device_code::of("checked"), device_code::of("unchecked"));
    assert!(checks(&with) >= 4 && with.contains("panic"), "{with}");
    assert!(
        checks(&without) == 0 && !without.contains("panic"),
        "{without}"
    );
}

#[test]
fn the_results_are_the_same_without_checks() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(11);
    let (x, at) = (random.below(512, 1000), random.below(512, 512));
    let (x_device, at_device) = (gpu.to_device(&x)?, gpu.to_device(&at)?);
    let expected: Vec<u32> = (0..512).map(|i| gathered(&x, &at, i)).collect();
    let mut y = gpu.zeros::<u32>(512)?;
    launch!(checked[2, 256](&x_device, &at_device, &mut y))?;
    assert_eq!(y.to_vec()?, expected);
    let mut y = gpu.zeros::<u32>(512)?;
    // SAFETY: there are 512 threads, and 512 elements for places below 512.
    unsafe { launch!(unchecked[2, 256](&x_device, &at_device, &mut y))? };
    assert_eq!(y.to_vec()?, expected);
    // The other kernel's checks are still there.
    launch!(checked[3, 256](&x_device, &at_device, &mut y))?;
    assert!(matches!(gpu.synchronize(), Err(Error::KernelPanic(_))));
    Ok(())
}

macro_rules! sums {
    ($($name:ident: $hint:expr;)*) => {$(
        /// A weighted sum of 64 neighbours.
        #[kernel]
        fn $name(x: &[f32], mut y: DisjointSlice<f32>) {
            let i = *thread::index_1d();
            let mut sum = 0.0f32;
            for x in &x[i..i + 64] {
                $hint;
                sum = sum * 0.5 + x;
            }
            if let Some(y) = y.get_mut(thread::index_1d()) {
                *y = sum;
            }
        }
    )*};
}

sums! {
    unrolled_full: unroll::full();
    unrolled_by_4: unroll::by::<4>();
    unrolled_by_2: unroll::by::<2>();
    unrolled_never: unroll::never();
}

#[kernel]
fn unrolled_while(x: &[f32], mut y: DisjointSlice<f32>) {
    let mut sum = 0.0f32;
    let mut k = 0;
    loop {
        unroll::by::<8>();
        if k == x.len() {
            break;
        }
        sum = sum * 0.5 + x[k];
        k += 1;
    }
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = sum;
    }
}

#[test]
fn loops_are_unrolled_as_asked() {
    let steps = |name: &str| device_code::of(name).matches("fma.rn.f32").count();
    // The first of 64 is an addition.
    assert_eq!(steps("unrolled_full"), 63);
    assert_eq!(steps("unrolled_by_4"), 4);
    assert_eq!(steps("unrolled_by_2"), 2);
    assert_eq!(steps("unrolled_never"), 1);
    device_code::contains(
        &device_code::of("unrolled_never"),
        &[".pragma \"nounroll\""],
    );
    assert!((8..=16).contains(&steps("unrolled_while")));
}

#[test]
fn unrolled_loops_give_the_same_sums() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let x = Random::new(21).floats(64 + 100, -1.0, 1.0);
    let sum = |x: &[f32]| x.iter().fold(0.0, |sum: f32, x| sum.mul_add(0.5, *x));
    let expected: Vec<f32> = (0..100).map(|i| sum(&x[i..i + 64])).collect();
    let near = |y: Vec<f32>, expected: &[f32]| {
        for (y, expected) in y.iter().zip(expected) {
            assert!((y - expected).abs() < 1e-4, "{y}, not {expected}");
        }
    };
    let device = gpu.to_device(&x)?;
    let mut y = gpu.zeros::<f32>(100)?;
    macro_rules! check {
        ($($name:ident)*) => {$(
            launch!($name[1, 100](&device, &mut y))?;
            near(y.to_vec()?, &expected);
        )*};
    }
    check!(unrolled_full unrolled_by_4 unrolled_by_2 unrolled_never);
    launch!(unrolled_while[1, 100](&device, &mut y))?;
    near(y.to_vec()?, &[sum(&x); 100]);
    Ok(())
}

/// # Safety
///
/// There are as many threads as elements.
// SAFETY: as the launch promises.
#[kernel(unsafe(unchecked))]
unsafe fn unchecked_heap(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let numbers: Vec<u32> = (0..*i as u32 % 7).map(|k| k * k).collect();
    *y.get_mut(i).unwrap() = numbers.iter().sum();
}

/// That the heap is not full is not the author's to promise.
#[test]
fn a_full_heap_is_checked_all_the_same() -> oxwarp::Result<()> {
    let code = device_code::of("unchecked_heap");
    assert!(
        code.contains("handle_error") && !code.contains("unwrap"),
        "{code}"
    );
    let gpu = Gpu::new()?;
    let mut y = gpu.zeros::<u32>(100)?;
    // SAFETY: there are as many threads as elements.
    unsafe { launch!(unchecked_heap[1, 100](&mut y))? };
    let expected: Vec<u32> = (0..100).map(|i| (0..i % 7).map(|k| k * k).sum()).collect();
    assert_eq!(y.to_vec()?, expected);
    Ok(())
}

trait Layer {
    fn apply_layer(&self, x: f32) -> f32;
}

struct Scale(f32);

impl Layer for Scale {
    #[inline(never)]
    fn apply_layer(&self, x: f32) -> f32 {
        self.0 * x + 0.25
    }
}

struct Bend(f32, f32);

impl Layer for Bend {
    #[inline(never)]
    fn apply_layer(&self, x: f32) -> f32 {
        self.0 * (x * x) + self.1
    }
}

fn layer(kind: u32) -> &'static dyn Layer {
    match kind {
        0 => &Scale(1.3),
        _ => &Bend(0.7, -0.1),
    }
}

#[kernel]
fn layers(kinds: &[u32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = layer(kinds[*i]).apply_layer(*y);
    }
}

#[kernel(fma = false)]
fn layers_uncontracted(kinds: &[u32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = layer(kinds[*i]).apply_layer(*y);
    }
}

/// What is called through a pointer follows the caller's choice too.
#[test]
fn trait_objects_follow_the_kernels_choice() -> oxwarp::Result<()> {
    let functions = device_code::functions("layers", "apply_layer");
    let contracted = functions
        .iter()
        .filter(|function| function.contains("fma.rn"));
    assert_eq!(
        (contracted.count(), functions.len()),
        (2, 4),
        "{functions:?}"
    );

    let gpu = Gpu::new()?;
    let mut random = Random::new(31);
    let (kinds, x) = (random.below(200, 2), random.floats(200, -1.0, 1.0));
    let kinds_device = gpu.to_device(&kinds)?;
    let expected: Vec<f32> = kinds
        .iter()
        .zip(&x)
        .map(|(&kind, &x)| layer(kind).apply_layer(x))
        .collect();
    let mut y = gpu.to_device(&x)?;
    layers_uncontracted
        .for_each(200usize)
        .launch(&kinds_device, &mut y)?;
    assert_eq!(y.to_vec()?, expected);
    let mut y = gpu.to_device(&x)?;
    layers.for_each(200usize).launch(&kinds_device, &mut y)?;
    for (y, expected) in y.to_vec()?.iter().zip(&expected) {
        assert!((y - expected).abs() < 1e-6, "{y}, not {expected}");
    }
    Ok(())
}
