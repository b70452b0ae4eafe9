//! Asynchronous copies to shared memory: every size, groups, zeros at the end, and what is refused.
#![allow(missing_docs)]

#[path = "../../common/mod.rs"]
mod common;
#[path = "../../device_code/mod.rs"]
mod device_code;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use common::Random;
use oxwarp::prelude::*;
use oxwarp::shared::SharedLayout;
use oxwarp::{Checks, async_copy};

const TILE: usize = 128;

/// Copies each block's tile through a shared array in reverse, `N` elements a copy.
fn reversed<T: bytemuck::AnyBitPattern, const N: usize>(x: &[T]) -> T {
    let tile = shared_array![T; TILE];
    let t = thread::index_in_block();
    let first = *block::index() * TILE;
    if t < TILE / N {
        tile.copy_async::<N>(N * t, x, first + N * t);
    }
    async_copy::wait_all();
    sync_threads();
    tile.get(TILE - 1 - t)
}

macro_rules! sizes {
    ($($name:ident: $count:literal of $element:ty, $random:expr;)*) => {$(
        mod $name {
            use super::*;

            #[kernel]
            fn $name(x: &[$element], mut out: DisjointSlice<$element>) {
                let i = thread::index_1d();
                let value = reversed::<$element, $count>(x);
                if let Some(out) = out.get_mut(i) {
                    *out = value;
                }
            }

            #[test]
            fn is_copied() {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(3);
                let x: Vec<$element> = (0..3 * TILE).map(|_| $random(&mut random)).collect();
                let expected: Vec<$element> =
                    x.chunks(TILE).flat_map(|tile| tile.iter().rev()).copied().collect();
                let x = gpu.to_device(&x).unwrap();
                let mut out = gpu.zeros::<$element>(3 * TILE).unwrap();
                launch!($name[3, TILE](&x, &mut out)).unwrap();
                assert_eq!(out.to_vec().unwrap(), expected);
            }
        }
    )*};
}

sizes! {
    four_bytes: 1 of f32, |random: &mut Random| random.between(-1.0, 1.0) as f32;
    four_bytes_of_halves: 2 of u16, |random: &mut Random| random.bits() as u16;
    eight_bytes: 1 of u64, Random::bits;
    eight_bytes_of_bytes: 8 of u8, |random: &mut Random| random.bits() as u8;
    sixteen_bytes: 4 of f32, |random: &mut Random| random.between(-1.0, 1.0) as f32;
    sixteen_bytes_of_doubles: 2 of f64, |random: &mut Random| random.between(-1.0, 1.0);
    sixteen_bytes_of_vectors: 1 of [u32; 4], |random: &mut Random| [0; 4].map(|_: u32| random.bits() as u32);
}

/// Sums `x` tile by tile; the next two tiles are on their way meanwhile. The last tile ends in zeros.
#[kernel]
fn pipelined_sum(x: &[u32], out: &[AtomicU32]) {
    let mut parts = shared::dynamic();
    let tiles = parts.array_2d::<u32>(3, TILE);
    let (t, blocks) = (thread::index_in_block(), thread::grid_dim_x() as usize);
    let tile_of = |round: usize| *block::index() + round * blocks;
    let fetch = |round: usize| {
        if tile_of(round) * TILE < x.len() {
            for i in (4 * t..TILE).step_by(4 * block::len()) {
                tiles.copy_async_or_zero::<4>((round % 3, i), x, tile_of(round) * TILE + i);
            }
        }
        async_copy::commit_group();
    };
    fetch(0);
    fetch(1);
    let (mut sum, mut round) = (0_u32, 0);
    while tile_of(round) * TILE < x.len() {
        fetch(round + 2);
        async_copy::wait_group::<2>();
        sync_threads();
        for i in (t..TILE).step_by(block::len()) {
            sum = sum.wrapping_add(tiles.get((round % 3, TILE - 1 - i)));
        }
        sync_threads();
        round += 1;
    }
    out[0].fetch_add(sum, Relaxed);
}

#[test]
fn a_pipeline_of_three_tiles() {
    let gpu = Gpu::new().unwrap();
    for len in [5 * TILE, 1000, 3, TILE * 40 + 1] {
        let x = Random::new(len as u64).below(len, u32::MAX);
        let expected = x.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
        let x = gpu.to_device(&x).unwrap();
        let bytes = SharedLayout::new().array::<[u32; TILE]>(3).bytes();
        for (blocks, threads) in [(1, 32), (3, 16), (2, 64)] {
            let mut out = gpu.zeros::<u32>(1).unwrap();
            launch!(pipelined_sum[blocks, threads, shared = bytes](&x, &mut out)).unwrap();
            assert_eq!(
                out.to_vec().unwrap(),
                [expected],
                "{len} in {blocks} by {threads}"
            );
        }
    }
}

/// Rows of two and three dimensions, and elements beyond the source.
#[kernel]
fn rows(x: &[u32], mut out: DisjointSlice<[u32; 2]>) {
    let (two, three) = (shared_array![u32; 4, 8], shared_array![u32; 2, 2, 8]);
    let t = thread::index_in_block();
    two.copy_async_or_zero::<2>((t / 4, t % 4 * 2), x, 2 * t);
    three.copy_async::<2>((t / 8, t / 4 % 2, t % 4 * 2), x, 2 * (t % 8));
    async_copy::commit_group();
    async_copy::wait_group::<0>();
    sync_threads();
    for i in [2 * t, 2 * t + 1] {
        let pair = [
            two.get((i / 8, i % 8)),
            three.get((i / 16, i / 8 % 2, i % 8)),
        ];
        if i % 2 == 1
            && let Some(out) = out.get_mut(thread::index_1d())
        {
            *out = pair;
        }
    }
}

#[test]
fn rows_and_zeros() {
    let gpu = Gpu::new().unwrap();
    for len in [16_usize, 19, 27, 32] {
        let x: Vec<u32> = Random::new(9).below(len, u32::MAX);
        let on_device = gpu.to_device(&x).unwrap();
        let mut out = gpu.zeros::<[u32; 2]>(16).unwrap();
        launch!(rows[1, 16](&on_device, &mut out)).unwrap();
        let expected: Vec<[u32; 2]> = (0..16)
            .map(|t| 2 * t + 1)
            .map(|i| [x.get(i).copied().unwrap_or(0), x[i % 16]])
            .collect();
        assert_eq!(out.to_vec().unwrap(), expected, "{len}");
    }
}

/// A source that is the thread's own is copied too.
#[kernel]
fn from_a_local_array(n: usize, mut out: DisjointSlice<u32>) {
    let array = shared::dynamic().array::<u32>(64);
    let t = thread::index_in_block();
    let own: [u32; 8] = std::array::from_fn(|i| (1000 * t + i) as u32);
    array.copy_async::<1>(t, &own, n);
    async_copy::wait_all();
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(63 - t);
    }
}

#[test]
fn local_memory_is_copied_at_once() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(64).unwrap();
    launch!(from_a_local_array[1, 64, shared = 256](5, &mut out)).unwrap();
    let expected: Vec<u32> = (0..64).map(|t| 1000 * (63 - t) + 5).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

#[kernel]
fn anywhere(to: usize, x: &[u32], from: usize, mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 32];
    array.copy_async::<4>(to, x, from);
    async_copy::wait_all();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(to);
    }
}

#[test]
fn what_does_not_fit_is_a_panic() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&(0..64).collect::<Vec<u32>>()).unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    launch!(anywhere[1, 1](28, &x, 60, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [60]);
    for (to, from, text) in [
        (0, 61, "beyond its source"),
        (0, usize::MAX, "beyond its source"),
        (29, 0, "beyond the shared array"),
        (usize::MAX, 0, "beyond the shared array"),
        (2, 0, "must be multiples of its bytes"),
        (4, 1, "must be multiples of its bytes"),
    ] {
        launch!(anywhere[1, 1](to, &x, from, &mut out)).unwrap();
        let error = gpu.synchronize().unwrap_err().to_string();
        assert!(error.contains(text), "{to} from {from}: {error}");
        assert!(error.contains("async_copy.rs"), "{error}");
    }
}

/// On a GPU the element may have arrived all the same.
#[kernel]
fn does_not_wait(x: &[u32], mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 32];
    array.set(0, 7);
    array.copy_async::<1>(0, x, 0);
    async_copy::commit_group();
    async_copy::wait_group::<1>();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(0);
    }
}

#[test]
fn the_simulator_shows_that_nobody_waited() {
    let gpu = Gpu::cpu_with(Checks::off());
    let x = gpu.to_device(&[99_u32]).unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    launch!(does_not_wait[1, 1](&x, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [7]);
}

#[test]
fn the_ptx() {
    let check =
        |kernel: &str, wanted: &[&str]| device_code::contains(&device_code::of(kernel), wanted);
    check(
        "four_bytes",
        &["cp.async.ca.shared.global", ", 4;", "cp.async.wait_all"],
    );
    check("eight_bytes", &["cp.async.ca.shared.global", ", 8;"]);
    check("sixteen_bytes", &["cp.async.cg.shared.global", ", 16;"]);
    check(
        "pipelined_sum",
        &[
            "cp.async.cg.shared.global",
            "cp.async.commit_group",
            "cp.async.wait_group \t2",
        ],
    );
    // The source is known to be global.
    assert!(!device_code::of("sixteen_bytes").contains("isspacep"));
    device_code::assembles();
}

#[kernel]
fn double_buffer(x: &[u32], waits: bool, mut out: DisjointSlice<u32>) {
    let tiles = shared_array![u32; 2, 64];
    let t = thread::index_in_block();
    let fetch = |tile: usize| {
        if tile < 16 {
            tiles.copy_async::<1>((tile % 2, t), x, tile * 64 + t);
        }
        async_copy::commit_group();
    };
    let mut sum = 0;
    fetch(0);
    for tile in 0..16 {
        fetch(tile + 1);
        if waits {
            async_copy::wait_group::<1>();
        }
        sync_threads();
        for i in 0..64 {
            sum += tiles.get((tile % 2, i));
        }
        sync_threads();
    }
    async_copy::wait_all();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = sum;
    }
}

#[test]
fn a_wait_that_is_missing_is_a_race() {
    let gpu = Gpu::cpu_with(Checks::on());
    let run = |waits| {
        let x = gpu.to_device(&(0..1024).collect::<Vec<u32>>()).unwrap();
        let mut out = gpu.zeros::<u32>(64).unwrap();
        launch!(double_buffer[1, 64](&x, waits, &mut out)).unwrap();
        out.to_vec()
    };
    assert_eq!(run(true).unwrap(), [(0..1024).sum::<u32>(); 64]);
    let error = run(false).unwrap_err().to_string();
    for part in [
        "an asynchronous copy is on its way",
        "has started to copy to it at ",
        file!(),
        "`race`",
    ] {
        assert!(error.contains(part), "{error}");
    }
}
