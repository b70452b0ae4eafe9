//! The barrier of the whole grid: cooperative launches, made because the kernel needs them, and what is refused.
#![allow(missing_docs)]

mod common;
mod device_code;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use common::Random;
use oxwarp::__private::{DeviceCode, inventory};
use oxwarp::Error;
use oxwarp::prelude::*;

/// A scan by doubling steps: every step reads what other blocks wrote in the one before.
#[kernel]
fn scan(a: &[AtomicU32], b: &[AtomicU32]) {
    let n = a.len();
    let (mut from, mut to) = (a, b);
    let mut reach = 1;
    while reach < n {
        for i in thread::grid_stride(n) {
            let before = if *i >= reach {
                from[*i - reach].load(Relaxed)
            } else {
                0
            };
            to[*i].store(from[*i].load(Relaxed).wrapping_add(before), Relaxed);
        }
        grid::sync();
        (from, to) = (to, from);
        reach *= 2;
    }
}

fn scanned(x: &[u32]) -> Vec<u32> {
    let mut sum = 0_u32;
    x.iter()
        .map(|&x| {
            sum = sum.wrapping_add(x);
            sum
        })
        .collect()
}

#[test]
fn blocks_see_what_others_wrote_before() {
    let gpu = Gpu::new().unwrap();
    // The number of steps is odd or even, so that the result is in `b` or in `a`.
    for (n, blocks, threads) in [
        (1000, 4, 64),
        (5000, 13, 100),
        (3000, 1, 32),
        (700, 16, 256),
        (64, 64, 1),
    ] {
        let x = Random::new(n as u64).below(n, u32::MAX);
        let steps = (n as f64).log2().ceil() as u32;
        let mut a = gpu.to_device(&x).unwrap();
        let mut b = gpu.zeros::<u32>(n).unwrap();
        launch!(scan[blocks, threads](&mut a, &mut b)).unwrap();
        let result = if steps.is_multiple_of(2) { a } else { b };
        assert_eq!(result.to_vec().unwrap(), scanned(&x), "{n} by {blocks}");
    }
}

#[test]
fn launches_follow_each_other() {
    let gpu = Gpu::new().unwrap();
    let x = Random::new(7).below(300, u32::MAX);
    let expected = scanned(&x);
    let results: Vec<_> = (0..20)
        .map(|_| {
            let mut a = gpu.to_device(&x).unwrap();
            let mut b = gpu.zeros::<u32>(300).unwrap();
            launch!(scan[5, 64](&mut a, &mut b)).unwrap();
            b
        })
        .collect();
    for result in results {
        assert_eq!(result.to_vec().unwrap(), expected);
    }
}

#[test]
fn host_threads_launch_on_one_device() {
    let gpu = Gpu::new().unwrap();
    let x = Random::new(8).below(300, u32::MAX);
    let expected = scanned(&x);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let mut a = gpu.to_device(&x).unwrap();
                    let mut b = gpu.zeros::<u32>(300).unwrap();
                    launch!(scan[3, 32](&mut a, &mut b)).unwrap();
                    assert_eq!(b.to_vec().unwrap(), expected);
                }
            });
        }
    });
}

/// Each block has its own shared memory before and after the barrier.
#[kernel]
fn keeps_shared_memory(len: usize, totals: &[AtomicU64], mut out: DisjointSlice<u64>) {
    let own = shared_array![u32; 64];
    let part = shared::dynamic().array::<u32>(len);
    let group = group::grid();
    let t = thread::index_in_block();
    own.set(t, group.rank() as u32);
    part.set(t, 2 * group.rank() as u32);
    sync_threads();
    totals[0].fetch_add(own.get(t).into(), Relaxed);
    group.sync();
    let total = totals[0].load(Relaxed);
    let neighbour = (t + 1) % block::len();
    let sum = u64::from(own.get(neighbour) + part.get(neighbour));
    group.sync();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = total * 1_000_000 + sum * 1000 + group.size() + group.blocks() + group.block_rank();
    }
}

#[test]
fn shared_memory_stays_with_its_block() {
    let gpu = Gpu::new().unwrap();
    let (blocks, threads) = (9_u64, 64_u64);
    let mut totals = gpu.zeros::<u64>(1).unwrap();
    let mut out = gpu.zeros::<u64>((blocks * threads) as usize).unwrap();
    launch!(keeps_shared_memory[blocks, threads, shared = 256](64, &mut totals, &mut out)).unwrap();
    let n = blocks * threads;
    let expected: Vec<u64> = (0..n)
        .map(|i| {
            let neighbour = i / threads * threads + (i + 1) % threads;
            n * (n - 1) / 2 * 1_000_000 + 3 * neighbour * 1000 + n + blocks + i / threads
        })
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// Blocks and threads of three dimensions: the rank is unique.
#[kernel]
fn ranks(seen: &[AtomicU32]) {
    seen[grid::index() as usize].fetch_add(1, Relaxed);
    grid::sync();
    let all = (0..grid::len() as usize).all(|i| seen[i].load(Relaxed) == 1);
    grid::sync();
    if all {
        seen[grid::index() as usize].store(7, Relaxed);
    }
}

#[test]
fn every_dimension_takes_part() {
    let gpu = Gpu::new().unwrap();
    let mut seen = gpu.zeros::<u32>(2 * 3 * 2 * 4 * 2 * 3).unwrap();
    launch!(ranks[(2, 3, 2), (4, 2, 3)](&mut seen)).unwrap();
    assert_eq!(seen.to_vec().unwrap(), vec![7; 288]);
}

#[kernel]
fn no_barrier(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = grid::len() as u32;
    }
}

#[test]
fn only_a_kernel_with_a_grid_barrier_is_cooperative() {
    let cooperative = |name: &str| {
        let kernels = inventory::iter::<DeviceCode>
            .into_iter()
            .flat_map(|code| code.kernels);
        let mut of_name = kernels.filter(|kernel| {
            let symbol = kernel.symbol.to_str().unwrap();
            symbol.rsplit_once('_').unwrap().0 == name
        });
        of_name.next().unwrap().cooperative
    };
    assert!(cooperative("scan"));
    assert!(cooperative("ranks"));
    assert!(cooperative("keeps_shared_memory"));
    assert!(!cooperative("no_barrier"));
    // So its grid may have any size.
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    launch!(no_barrier[100_000, 32](&mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [3_200_000]);
}

#[test]
fn the_largest_grid_runs_and_a_larger_one_is_an_error_with_the_numbers() {
    let gpu = Gpu::new().unwrap();
    for block in [(256, 1, 1), (16, 16, 1), (16, 4, 4)] {
        let most = ranks().on(&gpu).max_cooperative_blocks(block).unwrap();
        assert!(most > 0);
        assert_eq!(most, ranks.on(&gpu).max_cooperative_blocks(256).unwrap());
        let mut seen = gpu.zeros::<u32>(256 * most as usize).unwrap();
        match launch!(ranks[most + 1, block](&mut seen)) {
            Err(Error::CooperativeGrid {
                kernel: "ranks",
                blocks,
                threads: 256,
                limit,
                device,
            }) => assert_eq!(
                (blocks, limit, device.as_str()),
                (most + 1, most, device.as_str())
            ),
            other => panic!("{other:?}"),
        }
        let error = launch!(ranks[(most, 2), block](&mut seen))
            .unwrap_err()
            .to_string();
        for part in [
            "kernel `ranks`",
            &format!("the grid has {}", 2 * most),
            &format!("room for {most} of 256 threads"),
            "max_cooperative_blocks",
        ] {
            assert!(error.contains(part), "no `{part}` in: {error}");
        }
        assert_eq!(seen.to_vec().unwrap(), vec![0; 256 * most as usize]);
    }
    let most = scan.on(&gpu).max_cooperative_blocks(256).unwrap() as usize;
    let x = Random::new(1).below(2000, u32::MAX);
    let mut a = gpu.to_device(&x).unwrap();
    let mut b = gpu.zeros::<u32>(2000).unwrap();
    launch!(scan[most, 256](&mut a, &mut b)).unwrap();
    assert_eq!(b.to_vec().unwrap(), scanned(&x));
}

#[test]
fn dynamic_shared_memory_leaves_room_for_fewer_blocks() {
    let gpu = Gpu::new().unwrap();
    let of = |bytes: u32| {
        let kernel = keeps_shared_memory.on(&gpu).shared_bytes(bytes);
        kernel.max_cooperative_blocks(64).unwrap()
    };
    assert!(of(60 << 10) <= of(1024));
    assert!(of(60 << 10) > 0);
    let kernel = keeps_shared_memory.on(&gpu).shared_bytes(1 << 30);
    assert!(matches!(
        kernel.max_cooperative_blocks(64),
        Err(Error::DynamicSharedMemory { .. })
    ));
    assert!(matches!(
        ranks.on(&gpu).max_cooperative_blocks(1025),
        Err(Error::BlockDimension { .. })
    ));
}

/// Threads of some numbers return before the barrier.
#[kernel]
fn some_return(first: u64, last: u64, passed: &[AtomicU32]) {
    let i = grid::index();
    if (first..=last).contains(&i) {
        return;
    }
    grid::sync();
    passed[0].fetch_add(1, Relaxed);
}

#[test]
fn a_barrier_that_some_threads_left_is_an_error() {
    let gpu = Gpu::new().unwrap();
    let mut passed = gpu.zeros::<u32>(1).unwrap();
    // A thread in the middle, the first of a block, a whole block, all but one thread.
    for (first, last) in [(70, 70), (64, 64), (64, 127), (0, 0), (1, 255), (255, 255)] {
        launch!(some_return[4, 64](first, last, &mut passed)).unwrap();
        let error = gpu.synchronize().unwrap_err().to_string();
        assert!(
            error.contains("ended before the grid barrier at which others wait"),
            "{first} to {last}: {error}"
        );
        assert!(error.contains("grid_sync.rs"), "{error}");
    }
    assert_eq!(passed.to_vec().unwrap(), [0]);
    // Everybody may return, and the next launch works.
    launch!(some_return[4, 64](0, 255, &mut passed)).unwrap();
    launch!(some_return[4, 64](256, 256, &mut passed)).unwrap();
    assert_eq!(passed.to_vec().unwrap(), [256]);
}

#[kernel]
fn panics_before_the_barrier(thread: u64, passed: &[AtomicU32]) {
    grid::sync();
    assert!(grid::index() != thread, "the thread of the test");
    grid::sync();
    passed[0].fetch_add(1, Relaxed);
}

#[test]
fn a_panic_does_not_hang_the_others() {
    let gpu = Gpu::new().unwrap();
    let mut passed = gpu.zeros::<u32>(1).unwrap();
    for thread in [0, 31, 100, 128, 255] {
        launch!(panics_before_the_barrier[4, 64](thread, &mut passed)).unwrap();
        match gpu.synchronize() {
            Err(Error::KernelPanic(panic)) => {
                assert_eq!(panic.message, "the thread of the test");
                assert_eq!(
                    (panic.block.x, panic.thread.x),
                    (thread as u32 / 64, thread as u32 % 64)
                );
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(passed.to_vec().unwrap(), [0]);
    launch!(panics_before_the_barrier[4, 64](1000, &mut passed)).unwrap();
    assert_eq!(passed.to_vec().unwrap(), [256]);
}

/// A kernel with other choices than the rest is compiled as a module of its own, with the same barrier.
#[kernel(fma = false)]
fn with_other_choices(cells: &[AtomicU32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    cells[*i].store(*i as u32, Relaxed);
    grid::sync();
    let other = cells[(*i + 33) % cells.len()].load(Relaxed) as f32;
    grid::sync();
    if let Some(out) = out.get_mut(i) {
        *out = other * 0.1 + 1.0;
    }
}

#[test]
fn kernels_with_their_own_choices() {
    let gpu = Gpu::new().unwrap();
    let mut cells = gpu.zeros::<u32>(128).unwrap();
    let mut out = gpu.zeros::<f32>(128).unwrap();
    for _ in 0..3 {
        launch!(with_other_choices[4, 32](&mut cells, &mut out)).unwrap();
        let expected: Vec<f32> = (0..128)
            .map(|i| ((i + 33) % 128) as f32 * 0.1 + 1.0)
            .collect();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}

/// The barrier in a generic helper, with a closure.
fn in_steps(steps: usize, work: impl Fn(usize)) {
    for step in 0..steps {
        work(step);
        grid::sync();
    }
}

#[kernel]
fn generic_steps<F: Fn(usize, u32) -> u32 + Copy>(work: F, cells: &[AtomicU32]) {
    let i = *thread::index_1d();
    in_steps(10, |step| {
        let from = (i + step) % cells.len();
        let value = work(step, cells[from].load(Relaxed));
        grid::sync();
        cells[from].store(value, Relaxed);
    });
}

#[test]
fn generic_kernels_with_a_grid_barrier() {
    let gpu = Gpu::new().unwrap();
    let mut cells = gpu.to_device(&(0..96).collect::<Vec<u32>>()).unwrap();
    let factor = 3;
    launch!(generic_steps[3, 32](move |step, x| x * factor + step as u32, &mut cells)).unwrap();
    let expected: Vec<u32> = (0..96)
        .map(|x| (0..10).fold(x, |x: u32, step| x * 3 + step))
        .collect();
    assert_eq!(cells.to_vec().unwrap(), expected);
}

#[test]
fn the_ptx() {
    let code = device_code::of("ranks");
    device_code::contains(
        &code,
        &[
            "oxwarp_grid_barrier",
            "bar.red.or.pred",
            "ld.acquire.gpu",
            "st.release.gpu",
        ],
    );
    let all = device_code::all();
    let variables = all.matches(".visible .global .align 4 .b8 oxwarp_grid_barrier[12]");
    assert_eq!(variables.count(), 1);
    let without = device_code::of("no_barrier");
    let own = without.split("oxwarp_panic").next().unwrap();
    assert!(
        !own.contains("st.release") && !own.contains("bar."),
        "{own}"
    );
    device_code::assembles();
}
