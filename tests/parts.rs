//! A program's kernels are loaded apart from each other, each when it is first launched; but those that share a variable are
//! loaded together, so that there is one of it.
//!
//! Which parts there are, and what is in them, is seen in the PTX, without a GPU. On one it is seen that kernels of several
//! modules of a stream work together: statics, constants, panics, text that is printed, the barrier of a grid.
#![allow(missing_docs)]

mod common;
mod device_code;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use common::{Random, printed};
use oxwarp::__private::{DeviceCode, Image, inventory};
use oxwarp::prelude::*;
use oxwarp::report::kernel_name;
use oxwarp::{Error, KernelPanic, Result, device_link};

const LEN: usize = 500;

static TOTAL: AtomicU32 = AtomicU32::new(7);

#[kernel]
fn add_to_total(x: &[u32]) {
    if let Some(x) = x.get(*thread::index_1d()) {
        TOTAL.fetch_add(*x, Relaxed);
    }
}

#[kernel]
fn read_total(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = TOTAL.load(Relaxed);
    }
}

constant! {
    static FACTOR: u32 = 3;
    static OFFSET: u32 = 5;
}

#[kernel]
fn scale(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i].wrapping_mul(*FACTOR);
    }
}

#[kernel]
fn scale_and_shift(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i].wrapping_mul(*FACTOR).wrapping_add(*OFFSET);
    }
}

#[kernel]
fn shift(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i].wrapping_add(*OFFSET);
    }
}

#[device_link("tests/linked/count.ptx")]
unsafe extern "C" {
    /// The sum of `by` of all calls before.
    safe fn count_call(by: u32) -> u32 {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        CALLS.fetch_add(by, Relaxed)
    }
}

#[kernel]
fn count_one_each(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = count_call(1);
    }
}

#[kernel]
fn count_none_each(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = count_call(0);
    }
}

#[kernel]
fn double(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = y.wrapping_mul(2);
    }
}

#[kernel]
fn take(x: &[u32], at: u32, mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = x[at as usize]; // TAKE
    }
}

#[kernel]
fn explain(at: u32, mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        assert!(at != 9, "no {at}, please"); // EXPLAIN
        *y = at;
    }
}

#[kernel]
fn say(what: u32) {
    println!("say {what}");
}

#[kernel]
fn tell(what: u32) {
    println!("tell {what}");
}

/// The sum of all, in each.
#[kernel]
fn sum_of_all(x: &[AtomicU32], sums: &[AtomicU32]) {
    for i in thread::grid_stride(x.len()) {
        sums[0].fetch_add(x[*i].load(Relaxed), Relaxed);
    }
    grid::sync();
    for i in thread::grid_stride(x.len()) {
        x[*i].store(sums[0].load(Relaxed), Relaxed);
    }
}

fn image() -> &'static Image {
    let code = inventory::iter::<DeviceCode>
        .into_iter()
        .find(|code| code.crate_name == "parts")
        .expect("this crate has device code");
    &code.images[0]
}

/// The PTX of each part.
fn texts() -> Vec<String> {
    let parts = image().parts();
    (0..parts.len()).map(|part| parts.text(part)).collect()
}

/// The names of the kernels in a text.
fn kernels(ptx: &str) -> Vec<&str> {
    let symbols = ptx.split(".entry ").skip(1);
    symbols
        .map(|rest| kernel_name(rest.split('(').next().unwrap()))
        .collect()
}

/// The PTX of the part with this kernel.
fn part(kernel: &str) -> String {
    let mut texts = texts().into_iter();
    let found = texts.find(|text| kernels(text).contains(&kernel));
    found.unwrap_or_else(|| panic!("no part has `{kernel}`"))
}

#[test]
fn kernels_are_apart_but_where_they_share_a_variable() {
    let texts = texts();
    let together: BTreeSet<Vec<&str>> = texts
        .iter()
        .map(|text| {
            let mut kernels = kernels(text);
            kernels.sort_unstable();
            kernels
        })
        .collect();
    let expected = [
        &["add_to_total", "read_total"][..],
        &["count_none_each", "count_one_each"],
        &["double"],
        &["explain"],
        &["say"],
        &["scale", "scale_and_shift", "shift"],
        &["sum_of_all"],
        &["take"],
        &["tell"],
    ];
    let expected: BTreeSet<Vec<&str>> = expected.into_iter().map(<[_]>::to_vec).collect();
    assert_eq!(together, expected);
    assert_eq!(texts.len(), expected.len());
}

#[test]
fn a_part_has_what_its_kernels_need_and_no_more() {
    let count = |kernel: &str, what: &str| part(kernel).matches(what).count();
    for (kernel, functions, variables) in [
        ("double", 0, 0),
        // The slot of panics, which each part has, and what they share.
        ("take", 1, 1),
        ("add_to_total", 0, 1),
        ("scale", 1, 3),
        ("count_one_each", 1, 1),
    ] {
        assert_eq!(
            count(kernel, "\n.func ") + count(kernel, "\n.visible .func "),
            functions,
            "{kernel}"
        );
        let visible = ["\n.visible .global ", "\n.visible .const "];
        let found: usize = visible.map(|what| count(kernel, what)).iter().sum();
        assert_eq!(found, variables, "{kernel}:\n{}", part(kernel));
    }
    assert!(count("say", "oxwarp_print_buffer") > 0);
    assert!(count("sum_of_all", "oxwarp_grid_barrier") > 0);
}

#[test]
fn parts_are_of_the_whole_in_its_order() {
    let whole = image().ptx.to_str().unwrap();
    for text in texts() {
        let mut rest = whole.lines();
        for line in text.lines().filter(|line| !line.is_empty()) {
            assert!(rest.any(|other| other == line), "{line}");
        }
    }
}

#[test]
fn ptxas_takes_each() {
    for text in texts() {
        device_code::assemble(image().target, &text);
    }
}

fn random(seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..LEN).map(|_| random.bits() as u32).collect()
}

#[test]
fn a_static_is_one_for_the_kernels_that_share_it() -> Result<()> {
    let gpu = Gpu::new()?;
    let x = random(1);
    let mut y = gpu.zeros::<u32>(3)?;
    let on_device = gpu.to_device(&x)?;
    let mut total = 7_u32;
    for _ in 0..2 {
        add_to_total.for_each(LEN).launch(&on_device)?;
        read_total.for_each(3).launch(&mut y)?;
        total = x.iter().fold(total, |sum, x| sum.wrapping_add(*x));
        assert_eq!(y.to_vec()?, [total; 3]);
    }
    let mut before = gpu.zeros::<u32>(LEN)?;
    count_one_each.for_each(LEN).launch(&mut before)?;
    count_none_each.for_each(3).launch(&mut y)?;
    let mut before = before.to_vec()?;
    before.sort_unstable();
    assert!(before.into_iter().eq(0..LEN as u32));
    assert_eq!(y.to_vec()?, [LEN as u32; 3]);
    Ok(())
}

#[test]
fn a_constant_is_one_for_all_kernels() -> Result<()> {
    let gpu = Gpu::new()?;
    let x = random(2);
    let (on_device, mut y) = (gpu.to_device(&x)?, gpu.zeros::<u32>(LEN)?);
    let expected = |factor: u32, offset: u32| -> Vec<u32> {
        let scaled = x.iter().map(|x| x.wrapping_mul(factor));
        scaled.map(|x| x.wrapping_add(offset)).collect()
    };
    shift.for_each(LEN).launch(&on_device, &mut y)?;
    assert_eq!(y.to_vec()?, expected(1, 5));
    gpu.set_constant(&FACTOR, &0x1234_5677)?;
    scale.for_each(LEN).launch(&on_device, &mut y)?;
    assert_eq!(y.to_vec()?, expected(0x1234_5677, 0));
    gpu.set_constant(&OFFSET, &99)?;
    scale_and_shift.for_each(LEN).launch(&on_device, &mut y)?;
    assert_eq!(y.to_vec()?, expected(0x1234_5677, 99));
    // On another stream none of them is loaded yet.
    let other = gpu.new_stream()?;
    let mut z = gpu.zeros::<u32>(LEN)?;
    scale_and_shift
        .for_each(LEN)
        .on(&other)
        .launch(&on_device, &mut z)?;
    assert_eq!(z.to_vec()?, expected(0x1234_5677, 99));
    Ok(())
}

/// The line of this file that ends so.
fn line_of(end: &str) -> u32 {
    let lines = include_str!("parts.rs").lines();
    1 + lines.take_while(|line| !line.ends_with(end)).count() as u32
}

fn panic_of(result: Result<()>) -> (&'static str, u32, String) {
    let Err(Error::KernelPanic(panic)) = result else {
        panic!("not a kernel's panic: {result:?}");
    };
    let KernelPanic {
        kernel,
        line,
        message,
        ..
    } = *panic;
    (kernel.unwrap_or_default(), line, message)
}

#[test]
fn panics_of_each_are_known_and_stop_what_is_first_launched_after_them() -> Result<()> {
    let gpu = Gpu::new()?;
    let x = gpu.to_device(&random(3))?;
    let mut y = gpu.zeros::<u32>(1)?;
    for _ in 0..2 {
        take.for_each(1).launch(&x, LEN as u32 + 4, &mut y)?;
        let (kernel, line, message) = panic_of(gpu.synchronize());
        assert_eq!((kernel, line), ("take", line_of("// TAKE")));
        assert_eq!(
            message,
            "index out of bounds: the len is 500 but the index is 504"
        );
        explain.for_each(1).launch(9, &mut y)?;
        let (kernel, line, message) = panic_of(gpu.synchronize());
        assert_eq!(
            (kernel, line, message.as_str()),
            ("explain", line_of("// EXPLAIN"), "no 9, please")
        );
        explain.for_each(1).launch(8, &mut y)?;
        assert_eq!(y.to_vec()?, [8]);
    }
    Ok(())
}

#[test]
fn all_print_to_one_buffer_in_order() {
    let printed = printed(|gpu| {
        for what in 0..3 {
            say.on(gpu).grid(1).block(1).launch(what).unwrap();
            tell.on(gpu).grid(1).block(1).launch(what).unwrap();
        }
        gpu.synchronize().unwrap();
    });
    let expected = "say 0\ntell 0\nsay 1\ntell 1\nsay 2\ntell 2\n";
    assert_eq!(printed, [expected, ""]);
}

#[test]
fn plans_and_graphs_have_kernels_of_several_parts() -> Result<()> {
    let gpu = Gpu::new()?;
    let x = random(4);
    let sum = x.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
    let (mut on_device, mut sums) = (gpu.to_device(&x)?, gpu.zeros::<u32>(1)?);
    let twice = double.for_each(LEN).bind(&mut on_device).plan()?;
    twice.launch()?;
    twice.launch()?;
    launch!(sum_of_all[4, 64](&mut on_device, &mut sums))?;
    twice.launch()?;
    assert_eq!(on_device.to_vec()?, [sum.wrapping_mul(8); LEN]);

    let other = gpu.new_stream()?;
    let (mut on_other, mut sums) = (gpu.to_device(&x)?, gpu.zeros::<u32>(1)?);
    let graph = other.capture(|stream| {
        sum_of_all
            .grid(4)
            .block(64)
            .on(stream)
            .launch(&mut on_other, &mut sums)?;
        double.for_each(LEN).on(stream).launch(&mut on_other)
    })?;
    graph.launch()?;
    assert_eq!(on_other.to_vec()?, [sum.wrapping_mul(2); LEN]);
    Ok(())
}
