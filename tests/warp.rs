//! Shuffles, votes, matches, lane masks and reductions of a warp.
#![allow(missing_docs)]

mod common;

use std::f64::consts::PI;

use common::Random;
use oxwarp::prelude::*;
use oxwarp::warp::{FULL_MASK, Source, WARP_SIZE};

/// Runs a kernel with one output in `blocks` blocks of `threads`.
macro_rules! run {
    ($gpu:expr, $kernel:ident[$blocks:expr, $threads:expr]($($argument:expr),*) -> $type:ty) => {{
        let mut out = $gpu.zeros::<$type>($blocks * $threads).unwrap();
        launch!($kernel[$blocks, $threads]($($argument,)* &mut out)).unwrap();
        out.to_vec().unwrap()
    }};
}

fn by_lane<T>(f: impl Fn(u32) -> T) -> Vec<T> {
    (0..WARP_SIZE).map(f).collect()
}

#[kernel]
fn lanes(mut out: DisjointSlice<[u32; 7]>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = [
            warp::lane_id(),
            warp::warp_id(),
            warp::lanemask_lt(),
            warp::lanemask_le(),
            warp::lanemask_eq(),
            warp::lanemask_ge(),
            warp::lanemask_gt(),
        ];
    }
}

#[test]
fn lane_numbers_repeat_and_masks_follow() {
    for (i, out) in (0..).zip(run!(Gpu::new().unwrap(), lanes[3, 96]() -> [u32; 7])) {
        let lane = i % 32;
        let below = (1_u64 << lane) as u32 - 1;
        let own = 1 << lane;
        let right = [
            lane,
            i % 96 / 32,
            below,
            below | own,
            own,
            !below,
            !(below | own),
        ];
        assert_eq!(out, right);
    }
    assert_eq!(WARP_SIZE, 32);
}

#[kernel]
fn lane_in_two_dimensions(numbers: &[std::sync::atomic::AtomicU32]) {
    let lane = thread::index_in_block() as u32 % 32;
    let right = lane == warp::lane_id();
    numbers[usize::from(right)].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}

#[test]
fn lanes_follow_the_number_in_a_block_of_three_dimensions() {
    let gpu = Gpu::new().unwrap();
    let mut numbers = gpu.zeros::<u32>(2).unwrap();
    launch!(lane_in_two_dimensions[2, (5, 7, 3)](&mut numbers)).unwrap();
    assert_eq!(numbers.to_vec().unwrap(), [0, 2 * 105]);
}

macro_rules! shuffle_kernels {
    ($($name:ident: $type:ty;)*) => {$(
        #[kernel]
        fn $name(x: &[$type], mut out: DisjointSlice<[$type; 4]>) {
            let i = thread::index_1d();
            let x = x[*i];
            let results = [
                warp::shuffle_idx(FULL_MASK, x, 4),
                warp::shuffle_up(FULL_MASK, x, 4),
                warp::shuffle_down(FULL_MASK, x, 4),
                warp::shuffle_xor(FULL_MASK, x, 16),
            ];
            if let Some(out) = out.get_mut(i) {
                *out = results;
            }
        }
    )*};
}

shuffle_kernels! {
    shuffle_u8: u8;
    shuffle_i32: i32;
    shuffle_i64: i64;
    shuffle_f32: f32;
    shuffle_f64: f64;
    shuffle_bytes: [u8; 13];
    shuffle_wide: [u64; 3];
}

macro_rules! check_shuffles {
    ($kernel:ident, $type:ty, $of:expr) => {{
        let of: fn(u32) -> $type = $of;
        let gpu = Gpu::new().unwrap();
        let x = gpu.to_device(&by_lane(of)).unwrap();
        let out = run!(gpu, $kernel[1, 32](&x) -> [$type; 4]);
        let right = by_lane(|i| [4, if i < 4 { i } else { i - 4 }, if i > 27 { i } else { i + 4 }, i ^ 16].map(of));
        assert_eq!(out, right);
    }};
}

#[test]
fn shuffles_move_values_of_any_size() {
    check_shuffles!(shuffle_u8, u8, |i| 255 - i as u8);
    check_shuffles!(shuffle_i32, i32, |i| i as i32 - 1);
    check_shuffles!(shuffle_i64, i64, |i| (1 << 42) + i as i64);
    check_shuffles!(shuffle_f32, f32, |i| PI as f32 * i as f32);
    check_shuffles!(shuffle_f64, f64, |i| PI * i as f64);
    check_shuffles!(shuffle_bytes, [u8; 13], |i| std::array::from_fn(
        |byte| (i + byte as u32) as u8
    ));
    check_shuffles!(shuffle_wide, [u64; 3], |i| [
        i.into(),
        !u64::from(i),
        1 << i
    ]);
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Point,
    Circle(f64),
    Ring { inner: f32, outer: f32, open: bool },
}

#[kernel]
fn shuffle_enum(mut out: DisjointSlice<u32>) {
    let shape = |lane: u32| match lane % 3 {
        0 => Shape::Point,
        1 => Shape::Circle(lane.into()),
        _ => Shape::Ring {
            inner: lane as f32,
            outer: 9.0,
            open: lane.is_multiple_of(2),
        },
    };
    let lane = warp::lane_id();
    let next = warp::shuffle_uninit(FULL_MASK, shape(lane), Source::Xor(1));
    // SAFETY: the block is one warp, all of which comes here.
    let next = unsafe { next.assume_init() };
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = u32::from(next == shape(lane ^ 1));
    }
}

#[test]
fn an_enum_with_padding_can_be_shuffled() {
    assert_eq!(
        run!(Gpu::new().unwrap(), shuffle_enum[1, 32]() -> u32),
        [1; 32]
    );
}

#[kernel]
fn votes(x: &[u32], mut out: DisjointSlice<[u32; 4]>) {
    let i = thread::index_1d();
    let set = x[*i] != 0;
    let votes = [
        warp::vote_all(FULL_MASK, set).into(),
        warp::vote_any(FULL_MASK, set).into(),
        warp::vote_uni(FULL_MASK, set).into(),
        warp::ballot(FULL_MASK, set),
    ];
    if let Some(out) = out.get_mut(i) {
        *out = votes;
    }
}

#[test]
fn votes_over_a_warp() {
    let gpu = Gpu::new().unwrap();
    let cases = [
        (u32::MAX, [1, 1, 1, u32::MAX]),
        (0, [0, 0, 1, 0]),
        (1 << 31, [0, 1, 0, 1 << 31]),
        (0x5555_0001, [0, 1, 0, 0x5555_0001]),
    ];
    for (bits, right) in cases {
        let x = gpu.to_device(&by_lane(|i| bits >> i & 1)).unwrap();
        assert_eq!(run!(gpu, votes[1, 32](&x) -> [u32; 4]), [right; 32]);
    }
}

#[kernel]
fn matches(x: &[u32], mut out: DisjointSlice<[u32; 4]>) {
    let i = thread::index_1d();
    let wide = u64::from(x[*i]) << 33;
    let found = [
        warp::match_any(FULL_MASK, x[*i]),
        warp::match_all(FULL_MASK, x[*i]),
        warp::match_any(FULL_MASK, wide),
        warp::match_all(FULL_MASK, wide),
    ];
    if let Some(out) = out.get_mut(i) {
        *out = found;
    }
}

#[test]
fn matches_find_equal_values() {
    let gpu = Gpu::new().unwrap();
    let check = |x: Vec<u32>| {
        let same = |a: u32| {
            (0..32)
                .filter(|&i| x[i] == a)
                .fold(0, |mask, i| mask | 1_u32 << i)
        };
        let all = if x.iter().all(|&b| b == x[0]) {
            FULL_MASK
        } else {
            0
        };
        let right: Vec<_> = x.iter().map(|&a| [same(a), all, same(a), all]).collect();
        let x = gpu.to_device(&x).unwrap();
        assert_eq!(run!(gpu, matches[1, 32](&x) -> [u32; 4]), right);
    };
    check(vec![7; 32]);
    check(by_lane(|i| i % 5));
    check(by_lane(|i| if i == 31 { 1 } else { 0 }));
}

#[kernel]
fn own_quarter(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let ballot = match *i % 4 {
        0 => warp::ballot(0x1111_1111, true),
        1 => warp::ballot(0x2222_2222, true),
        2 => warp::ballot(0x4444_4444, true),
        _ => warp::ballot(0x8888_8888, true),
    };
    if let Some(out) = out.get_mut(i) {
        *out = ballot;
    }
}

#[test]
fn branches_work_with_their_own_masks() {
    let right = [0x1111_1111, 0x2222_2222, 0x4444_4444, 0x8888_8888].repeat(8);
    assert_eq!(
        run!(Gpu::new().unwrap(), own_quarter[1, 32]() -> u32),
        right
    );
}

#[kernel]
fn active_in_branches(mut out: DisjointSlice<[u32; 2]>) {
    let i = thread::index_1d();
    let whole = warp::active_mask();
    let branch = if *i % 4 == 1 {
        warp::active_mask()
    } else {
        whole
    };
    if let Some(out) = out.get_mut(i) {
        *out = [whole, branch];
    }
}

#[test]
fn the_active_mask_has_its_own_lane_and_none_of_other_branches() {
    for (i, [whole, branch]) in
        (0..).zip(run!(Gpu::new().unwrap(), active_in_branches[1, 32]() -> [u32; 2]))
    {
        assert_eq!(whole, FULL_MASK);
        assert!(branch & 1 << i != 0);
        if i % 4 == 1 {
            assert_eq!(branch & !0x2222_2222, 0);
        }
    }
}

#[kernel]
fn sum_through_shared_memory(mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 32];
    let t = thread::index_in_block();
    array.set(t, t as u32);
    warp::sync_warp(FULL_MASK);
    let mut reach = 16;
    while reach > 0 {
        // Lanes that leave the branch wait in another place than those in it.
        if t < reach {
            array.set(t, array.get(t) + array.get(t + reach));
            warp::sync_warp(FULL_MASK);
        } else {
            warp::sync_warp(FULL_MASK);
        }
        reach /= 2;
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(0);
    }
}

#[kernel]
fn sum_with_shrinking_masks(mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 32];
    let t = thread::index_in_block();
    array.set(t, t as u32);
    warp::sync_warp(FULL_MASK);
    for reach in [16, 8, 4, 2, 1] {
        if t < reach {
            array.set(t, array.get(t) + array.get(t + reach));
            warp::sync_warp((1 << reach) - 1);
        }
    }
    warp::sync_warp(FULL_MASK);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(0);
    }
}

#[test]
fn sync_warp_makes_writes_visible() {
    assert_eq!(
        run!(Gpu::new().unwrap(), sum_through_shared_memory[1, 32]() -> u32),
        [496; 32]
    );
    assert_eq!(
        run!(Gpu::new().unwrap(), sum_with_shrinking_masks[1, 32]() -> u32),
        [496; 32]
    );
}

#[kernel]
fn reductions(x: &[i32], mut out: DisjointSlice<[i32; 6]>) {
    let i = thread::index_1d();
    let x = x[*i];
    let results = [
        warp::reduce_add(FULL_MASK, x),
        warp::reduce_min(FULL_MASK, x),
        warp::reduce_max(FULL_MASK, x),
        warp::reduce_and(FULL_MASK, x),
        warp::reduce_or(FULL_MASK, x),
        warp::reduce_xor(FULL_MASK, x),
    ];
    if let Some(out) = out.get_mut(i) {
        *out = results;
    }
}

/// Blocks that end in the middle of a warp, too.
#[test]
fn reductions_over_the_lanes_there_are() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(11);
    for threads in [1, 2, 31, 32, 33, 63, 64, 100, 1024] {
        let host: Vec<i32> = (0..threads).map(|_| random.bits() as i32).collect();
        let x = gpu.to_device(&host).unwrap();
        let out = run!(gpu, reductions[1, threads](&x) -> [i32; 6]);
        for (out, x) in out.chunks(32).zip(host.chunks(32)) {
            let fold = |f: fn(i32, i32) -> i32| x.iter().copied().reduce(f).unwrap();
            let right = [
                fold(i32::wrapping_add),
                fold(i32::min),
                fold(i32::max),
                fold(|a, b| a & b),
                fold(|a, b| a | b),
                fold(|a, b| a ^ b),
            ];
            assert!(out.iter().all(|out| *out == right), "{threads} threads");
        }
    }
}

#[kernel]
fn sum_floats(x: &[f64], mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    let sum = warp::reduce_add(FULL_MASK, x[*i]);
    if let Some(out) = out.get_mut(i) {
        *out = sum;
    }
}

#[test]
fn all_lanes_get_the_same_bits_of_a_float_sum() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(5);
    for threads in [32, 27] {
        let host: Vec<f64> = (0..threads).map(|_| random.between(-1.0, 1.0)).collect();
        let x = gpu.to_device(&host).unwrap();
        let out = run!(gpu, sum_floats[1, threads](&x) -> f64);
        let right: f64 = host.iter().sum();
        assert!(out.iter().all(|sum| sum.to_bits() == out[0].to_bits()));
        assert!((out[0] - right).abs() < 1e-13, "{} {right}", out[0]);
    }
}

#[kernel]
fn foreign_mask(mask: u32) {
    warp::sync_warp(mask);
}

#[test]
fn a_mask_without_its_own_lane_is_a_panic() {
    let gpu = Gpu::new().unwrap();
    foreign_mask()
        .on(&gpu)
        .grid(1)
        .block(32)
        .launch(0xFFFF_FFFE)
        .unwrap();
    let error = gpu.synchronize().unwrap_err().to_string();
    assert!(error.contains("lacks the lane that calls it"), "{error}");
    assert!(error.contains(file!()), "{error}");
}
