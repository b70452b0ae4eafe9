//! Launches of hand-written kernels on the simulator: argument types, shapes, threads, panics.
#![allow(missing_docs)]

mod common;
mod kernel;

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use common::random;
use gpu_std::atomic::AtomicF32;
use gpu_std::disjoint::{BlockIndex, ThreadIndex2d};
use gpu_std::{DisjointSlice, block, shared_array, sync_threads, thread};
use host_runtime::{DeviceArray, Error, Gpu, Kernel, Result, launch};
use kernel::kernel;
use ndarray::{Array2, Ix2};

kernel! {
    fn add(a: &'static [f32], b: &'static [f32], c: DisjointSlice<f32>) {
        let i = thread::index_1d();
        if let Some(c) = c.get_mut(i) {
            *c = a[*i] + b[*i];
        }
    }
}

kernel! {
    fn scale(x: DisjointSlice<f32, ThreadIndex2d>; factor: f32) {
        let i = thread::index_2d();
        if let Some(x) = x.get_mut(i) {
            *x *= factor;
        }
    }
}

kernel! {
    fn block_sums(x: &'static [u32], sums: DisjointSlice<u32, BlockIndex>) {
        let part = shared_array![u32; 64];
        let t = thread::index_in_block();
        part.set(t, x[*thread::index_1d()]);
        sync_threads();
        if let Some(sum) = sums.get_mut(block::index()) {
            *sum = (0..block::len()).map(|t| part.get(t)).sum();
        }
    }
}

kernel! {
    fn count(hits: &'static [AtomicU32], sum: &'static [AtomicF32], least: &'static [AtomicI64]) {
        let i = *thread::index_1d();
        hits[i % hits.len()].fetch_add(1, Ordering::Relaxed);
        sum[0].fetch_add(0.5);
        least[0].fetch_min(-(i as i64), Ordering::Relaxed);
    }
}

kernel! {
    fn large_shared(x: DisjointSlice<u8>) {
        let big = shared_array![u8; 49_153];
        if let Some(x) = x.get_mut(thread::index_1d()) {
            *x = big.get(*x as usize);
        }
    }
}

kernel! {
    fn nothing(;) {}
}

kernel! {
    fn fail(;message_of: u32) {
        if thread::block_idx_x() == 1 && thread::thread_idx_x() == 2 {
            panic!("number {message_of}");
        }
    }
}

fn numbers(gpu: &Gpu, len: usize) -> Result<[DeviceArray<f32>; 3]> {
    Ok([
        gpu.to_device(&random(len))?,
        gpu.full(len, 2.0)?,
        gpu.zeros(len)?,
    ])
}

#[test]
fn builder_macro_and_for_each_do_the_same() -> Result<()> {
    let gpu = Gpu::cpu();
    let [a, b, mut c] = numbers(&gpu, 1000)?;
    let wanted: Vec<_> = a.to_vec()?.iter().map(|a| a + 2.0).collect();

    add.for_each(c.len()).launch(&a, &b, &mut c)?;
    assert_eq!(c.to_vec()?, wanted);
    c.fill(0.0)?;
    add.grid(8).block(128).launch(&a, &b, &mut c)?;
    assert_eq!(c.to_vec()?, wanted);
    c.fill(0.0)?;
    launch!(add[8u32, 128usize](&a, &b, &mut c))?;
    assert_eq!(c.to_vec()?, wanted);
    c.fill(0.0)?;
    launch!(self::add[(8, 1), [128, 1, 1]](&a, &b, &mut c,))?;
    assert_eq!(c.to_vec()?, wanted);
    Ok(())
}

#[test]
fn element_types_are_inferred_from_either_side() -> Result<()> {
    let gpu = Gpu::cpu();
    let a = gpu.full(10, 1.0)?;
    let b = gpu.full(10, 2.0)?;
    let mut c = gpu.full(10, 0.0)?;
    add.for_each(10).launch(&a, &b, &mut c)?;
    assert_eq!(c.to_vec()?, [3.0f32; 10]);

    fn length<T: 'static>(x: impl host_runtime::__private::KernelArg<&'static [T]>) -> usize {
        let raw = x.raw(&mut host_runtime::__private::Arguments::new());
        raw.shape * size_of::<T>()
    }
    assert_eq!(length(&c), 40);
    assert_eq!(length(&gpu.full((2, 3), 1u16)?), 12);
    Ok(())
}

#[test]
fn two_dimensions_and_a_value() -> Result<()> {
    let gpu = Gpu::cpu();
    let matrix = Array2::from_shape_vec((20, 20), random(400)).unwrap();
    let mut there: DeviceArray<f32, Ix2> = gpu.to_device(&matrix)?;
    scale.grid((2, 3)).block((16, 8)).launch(&mut there, 3.0)?;
    assert_eq!(there.to_host()?, matrix.mapv(|x| x * 3.0));
    Ok(())
}

#[test]
fn shared_memory_and_one_writer_a_block() -> Result<()> {
    let gpu = Gpu::cpu();
    let x = gpu.to_device(&(0..256).collect::<Vec<u32>>())?;
    let mut sums = gpu.zeros::<u32>(4)?;
    launch!(block_sums[4, 64](&x, &mut sums))?;
    let wanted: Vec<u32> = (0..4)
        .map(|block| (block * 64..(block + 1) * 64).sum())
        .collect();
    assert_eq!(sums.to_vec()?, wanted);
    Ok(())
}

#[test]
fn atomics_are_plain_arrays_on_the_host() -> Result<()> {
    let gpu = Gpu::cpu();
    let mut hits = gpu.zeros::<u32>(3)?;
    let mut sum = gpu.zeros::<f32>(1)?;
    let mut least = gpu.zeros_nd::<i64, _>((1, 1))?;
    launch!(count[3, 32](&mut hits, &mut sum, &mut least))?;
    assert_eq!(hits.to_vec()?, [32; 3]);
    assert_eq!(sum.to_vec()?, [48.0]);
    assert_eq!(least.to_vec()?, [-95]);
    Ok(())
}

#[test]
fn launches_from_many_host_threads() {
    let gpu = Gpu::cpu();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let gpu = gpu.clone();
            scope.spawn(move || {
                let x = gpu.full(500, thread as f32).unwrap();
                let mut y = gpu.zeros::<f32>(500).unwrap();
                for _ in 0..20 {
                    add.for_each(500).launch(&x, &x, &mut y).unwrap();
                    assert_eq!(y.to_vec().unwrap(), vec![2.0 * thread as f32; 500]);
                }
            });
        }
    });
}

#[test]
fn buffers_may_be_dropped_after_the_launch_and_outlive_their_handle() -> Result<()> {
    let mut kept = Vec::new();
    for round in 0..50 {
        let gpu = Gpu::cpu();
        let [a, b, mut c] = numbers(&gpu, 100 + round)?;
        add.for_each(c.len()).launch(&a, &b, &mut c)?;
        drop((a, b, gpu));
        kept.push(c);
    }
    for c in kept {
        let first = random(1)[0] + 2.0;
        assert_eq!(c.to_vec()?[0], first);
    }
    Ok(())
}

#[test]
fn a_panic_comes_out_of_the_next_wait_and_the_next_launch_works() -> Result<()> {
    let gpu = Gpu::cpu();
    let [a, _, mut c] = numbers(&gpu, 1000)?;
    let short = gpu.full(5, 1.0f32)?;
    add.grid(1).block(8).launch(&a, &short, &mut c)?;
    let error = c.to_host().unwrap_err();
    let Error::KernelPanic(panic) = &error else {
        panic!("{error}");
    };
    assert_eq!(panic.kernel, Some("add"));
    assert_eq!(
        (panic.block.x, panic.line > 0, panic.column > 0),
        (0, true, true)
    );
    assert!(panic.thread.x >= 5, "{}", panic.thread);
    assert!(panic.file.ends_with("launches.rs"), "{}", panic.file);
    let start = format!(
        "kernel `add` panicked at {}:{}:{} in block (0, 0, 0), thread ({}, 0, 0):\n",
        panic.file, panic.line, panic.column, panic.thread.x
    );
    let message = format!(
        "index out of bounds: the len is 5 but the index is {}",
        panic.thread.x
    );
    assert_eq!(error.to_string(), start + &message);

    gpu.synchronize()?;
    let b = gpu.full(1000, 2.0)?;
    add.for_each(1000).launch(&a, &b, &mut c)?;
    assert_eq!(c.to_vec()?[0], random(1)[0] + 2.0);
    Ok(())
}

#[test]
fn every_wait_reports_a_panic_once() -> Result<()> {
    let gpu = Gpu::cpu();
    let mut x = gpu.zeros::<f32>(3)?;
    let empty = gpu.zeros::<f32>(0)?;
    let waits: [&mut dyn FnMut() -> Result<()>; 6] = [
        &mut || gpu.synchronize(),
        &mut || fail.grid(1).block(1).on(&gpu).launch(99),
        &mut || x.copy_from(&[1.0, 2.0, 3.0]),
        &mut || gpu.to_device(&[1]).map(drop),
        &mut || gpu.zeros::<u8>(2)?.to_vec().map(drop),
        &mut || empty.to_host().map(drop),
    ];
    for (number, wait) in waits.into_iter().enumerate() {
        fail.grid(2).block(3).on(&gpu).launch(number as u32)?;
        let error = wait().unwrap_err().to_string();
        assert!(
            error.ends_with(&format!(
                "in block (1, 0, 0), thread (2, 0, 0):\nnumber {number}"
            )),
            "{error}"
        );
        gpu.synchronize()?;
    }
    Ok(())
}

#[test]
fn kernels_without_arrays_run_on_the_chosen_device() -> Result<()> {
    let (one, two) = (Gpu::cpu(), Gpu::cpu());
    launch!(nothing[1, 1]()).or_else(|error| {
        if matches!(error, Error::NotCompiled { .. }) {
            Ok(())
        } else {
            Err(error)
        }
    })?;
    fail.on(&one).grid(2).block(32).launch(1)?;
    two.synchronize()?;
    assert!(one.synchronize().is_err());
    Ok(())
}

/// The text of the error that a launch of `nothing` in this shape gives.
fn refused(grid: impl host_runtime::ToDim, block: impl host_runtime::ToDim) -> String {
    let gpu = Gpu::cpu();
    nothing
        .grid(grid)
        .block(block)
        .on(&gpu)
        .launch()
        .unwrap_err()
        .to_string()
}

#[test]
fn shapes_out_of_the_limits_are_refused_with_the_numbers() {
    let cases = [
        (
            refused(0, 256),
            &["grid of (0, 1, 1)", "0 blocks along x", "1 to 2147483647"][..],
        ),
        (
            refused((1, 0), 256),
            &["grid of (1, 0, 1)", "along y", "1 to 65535"],
        ),
        (
            refused((1, 1, 65_536), 1),
            &["65536 blocks along z", "1 to 65535"],
        ),
        (
            refused(1u64 << 31, 1),
            &["2147483648 blocks along x", "1 to 2147483647"],
        ),
        (
            refused(u64::MAX, 1),
            &["18446744073709551615 blocks along x"],
        ),
        (refused(-4, 1), &["-4 blocks along x"]),
        (
            refused(1, 0),
            &["block of (0, 1, 1)", "0 threads along x", "1 to 1024"],
        ),
        (refused(1, -1), &["-1 threads along x"]),
        (refused(1, (1, 1, 65)), &["65 threads along z", "1 to 64"]),
        (refused(1, 1025), &["1025 threads along x", "1 to 1024"]),
        (
            refused(1, (32, 33)),
            &["block of (32, 33, 1) is 1056 threads", "the most is 1024"],
        ),
        (
            refused(1, usize::MAX),
            &["18446744073709551615 threads along x"],
        ),
    ];
    for (text, parts) in cases {
        assert!(text.contains("kernel `nothing`"), "{text}");
        for part in parts {
            assert!(text.contains(part), "{text}\nlacks: {part}");
        }
    }
}

#[test]
fn a_missing_part_of_the_shape_is_named() {
    let gpu = Gpu::cpu();
    let error = nothing.grid(1).on(&gpu).launch().unwrap_err().to_string();
    assert!(error.contains("without a block size"), "{error}");
    let error = nothing.on(&gpu).launch().unwrap_err().to_string();
    assert!(error.contains("without a grid size"), "{error}");
}

#[test]
fn for_each_takes_no_items_and_refuses_negative_ones() -> Result<()> {
    let gpu = Gpu::cpu();
    fail.for_each(0).on(&gpu).launch(1)?;
    gpu.synchronize()?;
    let text = |error: Error| error.to_string();
    let error = text(nothing.for_each(-5).on(&gpu).launch().unwrap_err());
    assert!(
        error.contains("`for_each(-5)`") && error.contains("549755813632"),
        "{error}"
    );
    let error = text(nothing.for_each(1u64 << 60).on(&gpu).launch().unwrap_err());
    assert!(error.contains("for_each(1152921504606846976)"), "{error}");
    let error = text(
        nothing
            .for_each(5)
            .block((8, 8))
            .on(&gpu)
            .launch()
            .unwrap_err(),
    );
    assert!(error.contains("(8, 8, 1)"), "{error}");
    nothing.for_each(5).block(32).on(&gpu).launch()
}

#[test]
fn a_kernel_with_a_one_dimensional_index_is_refused_in_two() -> Result<()> {
    let gpu = Gpu::cpu();
    let [a, b, mut c] = numbers(&gpu, 10)?;
    let launched = add.grid((2, 2)).block(8).launch(&a, &b, &mut c);
    let error = launched.and_then(|()| gpu.synchronize()).unwrap_err();
    assert!(
        matches!(error, Error::TooManyDimensions { supported: 1, .. }),
        "{error}"
    );
    let error = error.to_string();
    assert!(
        error.contains("`add` uses `thread::index_1d()`") && error.contains("a grid of (2, 2, 1)"),
        "{error}"
    );
    let mut x = gpu.zeros_nd::<f32, _>((4, 4))?;
    let launched = scale.grid((1, 1, 2)).block(4).launch(&mut x, 1.0);
    let error = launched.and_then(|()| gpu.synchronize()).unwrap_err();
    assert!(
        matches!(error, Error::TooManyDimensions { supported: 2, .. }),
        "{error}"
    );
    Ok(())
}

#[test]
fn more_shared_memory_than_a_block_has_is_refused() -> Result<()> {
    let gpu = Gpu::cpu();
    let mut x = gpu.zeros::<u8>(4)?;
    let launched = large_shared.for_each(4).launch(&mut x);
    let error = launched
        .and_then(|()| gpu.synchronize())
        .unwrap_err()
        .to_string();
    for part in ["`large_shared`", "49153 bytes", "49152", "simulator"] {
        assert!(error.contains(part), "{error}");
    }
    Ok(())
}

#[test]
fn arrays_of_two_devices_cannot_meet() -> Result<()> {
    let (one, two) = (Gpu::cpu(), Gpu::cpu());
    let [a, b, mut c] = numbers(&one, 10)?;
    let other = two.full(10, 1.0f32)?;
    let error = add.for_each(10).launch(&a, &other, &mut c).unwrap_err();
    assert!(matches!(error, Error::DifferentDevices { .. }), "{error}");
    assert!(
        error.to_string().contains("use clones of one `Gpu`"),
        "{error}"
    );
    let chosen = add
        .for_each(10)
        .on(&two)
        .launch(&a, &b, &mut c)
        .unwrap_err();
    assert!(matches!(chosen, Error::DifferentDevices { .. }), "{chosen}");
    add.for_each(10).on(&one.clone()).launch(&a, &b, &mut c)
}
