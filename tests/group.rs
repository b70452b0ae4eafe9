//! Cooperative groups: the block, tiles of a warp, the lanes of a branch.
#![allow(missing_docs)]

mod common;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use common::Random;
use oxwarp::group::{Lanes, Tile};
use oxwarp::prelude::*;
use oxwarp::warp::FULL_MASK;

#[kernel]
fn block_group(mut out: DisjointSlice<[u32; 5]>) {
    let block = group::block();
    let array = shared_array![u32; 96];
    array.set(block.rank() as usize, block.rank());
    block.sync();
    let mirrored = array.get((block.size() - 1 - block.rank()) as usize);
    let result = [
        block.size(),
        mirrored,
        block.count(block.rank() < 70),
        block.all(block.rank() < 96).into(),
        block.any(block.rank() == 96).into(),
    ];
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = result;
    }
}

#[test]
fn the_block_is_a_group() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<[u32; 5]>(96 * 2).unwrap();
    launch!(block_group[2, 96](&mut out)).unwrap();
    for (i, out) in (0..).zip(out.to_vec().unwrap()) {
        assert_eq!(out, [96, 95 - i % 96, 70, 1, 0]);
    }
}

/// What every group can do, of which the host computes the same.
fn everything(group: impl LaneGroup, x: u32) -> [u32; 16] {
    group.sync();
    [
        group.rank(),
        group.size(),
        group.shuffle_idx(x, group.size() - 1),
        group.shuffle_up(x, 1),
        group.shuffle_down(x, 1),
        group.reduce_add(x),
        group.reduce_min(x),
        group.reduce_max(x),
        group.reduce_xor(x),
        group.inclusive_add(x),
        group.exclusive_add(x),
        group.exclusive_max(x),
        group.count(x.is_multiple_of(2)),
        u32::from(group.all(x > 100)) | u32::from(group.any(x > 4000)) << 1,
        group.match_any(x % 3).count_ones(),
        group.inclusive_scan(x, |_, later| later),
    ]
}

/// The same, for the values of one group.
fn right(x: &[u32]) -> Vec<[u32; 16]> {
    let (last, sum) = (x.len() - 1, |x: &[u32]| {
        x.iter().copied().fold(0, u32::wrapping_add)
    });
    let of = |(rank, &own): (usize, &u32)| {
        [
            rank as u32,
            x.len() as u32,
            x[last],
            x[rank.saturating_sub(1)],
            x[last.min(rank + 1)],
            sum(x),
            *x.iter().min().unwrap(),
            *x.iter().max().unwrap(),
            x.iter().fold(0, |a, b| a ^ b),
            sum(&x[..=rank]),
            sum(&x[..rank]),
            x[..rank].iter().copied().max().unwrap_or(0),
            x.iter().filter(|&x| x % 2 == 0).count() as u32,
            u32::from(x.iter().all(|&x| x > 100)) | u32::from(x.iter().any(|&x| x > 4000)) << 1,
            x.iter().filter(|&x| x % 3 == own % 3).count() as u32,
            own,
        ]
    };
    x.iter().enumerate().map(of).collect()
}

#[kernel]
fn tiles<const N: u32>(x: &[u32], mut out: DisjointSlice<[u32; 16]>) {
    let i = thread::index_1d();
    let tile: Tile<N> = group::tile();
    let mut result = everything(tile, x[*i]);
    // Wrong if the tile's place in the block is.
    result[15] += tile.index() * N + tile.rank() - thread::index_in_block() as u32;
    result[15] += tile.shuffle_xor(x[*i], N / 2) - x[*i ^ (N as usize / 2)];
    result[15] += tile.count_in_block() - block::len() as u32 / N;
    if let Some(out) = out.get_mut(i) {
        *out = result;
    }
}

fn check_tiles<const N: u32>(gpu: &Gpu) {
    let x = Random::new(N.into()).below(192, 5000);
    let mut out = gpu.zeros::<[u32; 16]>(192).unwrap();
    let on_device = gpu.to_device(&x).unwrap();
    tiles()
        .grid(2)
        .block(96)
        .launch::<N>(&on_device, &mut out)
        .unwrap();
    let right: Vec<_> = x.chunks(N as usize).flat_map(right).collect();
    assert_eq!(out.to_vec().unwrap(), right, "tiles of {N}");
}

#[test]
fn tiles_of_every_size() {
    let gpu = Gpu::new().unwrap();
    check_tiles::<1>(&gpu);
    check_tiles::<2>(&gpu);
    check_tiles::<4>(&gpu);
    check_tiles::<8>(&gpu);
    check_tiles::<16>(&gpu);
    check_tiles::<32>(&gpu);
}

/// The lanes with equal `x[i] % 4`, found in two ways.
#[kernel]
fn partitions(x: &[u32], labeled: bool, mut out: DisjointSlice<[u32; 16]>) {
    let i = thread::index_1d();
    let x = x[*i];
    let warp = group::lanes(FULL_MASK);
    let part: Lanes = if labeled {
        warp.labeled_partition(x % 4)
    } else {
        warp.partition(x % 4 < 2).partition(x.is_multiple_of(2))
    };
    let result = everything(part, x);
    if let Some(out) = out.get_mut(i) {
        *out = result;
    }
}

#[test]
fn partitions_of_a_warp() {
    let gpu = Gpu::new().unwrap();
    // The last warp has 12 lanes.
    let x = Random::new(1).below(76, 5000);
    let on_device = gpu.to_device(&x).unwrap();
    let mut expected = vec![[0; 16]; 76];
    for first in [0, 32, 64] {
        for part in 0..4 {
            let lanes: Vec<usize> = (first..(first + 32).min(76))
                .filter(|&i| x[i] % 4 == part)
                .collect();
            let values: Vec<u32> = lanes.iter().map(|&i| x[i]).collect();
            for (lane, right) in lanes.into_iter().zip(right(&values)) {
                expected[lane] = right;
            }
        }
    }
    for labeled in [true, false] {
        let mut out = gpu.zeros::<[u32; 16]>(76).unwrap();
        launch!(partitions[1, 76](&on_device, labeled, &mut out)).unwrap();
        assert_eq!(out.to_vec().unwrap(), expected, "labeled: {labeled}");
    }
}

/// The places of the even numbers, in any order; one atomic addition for the lanes of the branch.
#[kernel]
fn compact(x: &[u32], count: &[AtomicU32], even: &[AtomicU32]) {
    for i in thread::grid_stride(x.len()) {
        if x[*i].is_multiple_of(2) {
            let group = group::coalesced();
            let first = if group.rank() == 0 {
                count[0].fetch_add(group.size(), Relaxed)
            } else {
                0
            };
            let place = group.shuffle_idx(first, 0) + group.rank();
            even[place as usize].store(x[*i], Relaxed);
        }
    }
}

#[test]
fn coalesced_lanes_share_an_atomic() {
    let gpu = Gpu::new().unwrap();
    let x = Random::new(9).below(5000, 1000);
    let on_device = gpu.to_device(&x).unwrap();
    let mut count = gpu.zeros::<u32>(1).unwrap();
    let mut even = gpu.zeros::<u32>(5000).unwrap();
    launch!(compact[3, 100](&on_device, &mut count, &mut even)).unwrap();
    let mut right: Vec<u32> = x.into_iter().filter(|x| x % 2 == 0).collect();
    assert_eq!(count.to_vec().unwrap(), [right.len() as u32]);
    let mut even = even.to_vec().unwrap();
    even.truncate(right.len());
    even.sort_unstable();
    right.sort_unstable();
    assert_eq!(even, right);
}

#[kernel]
fn whole_warps() {
    group::warp().sync();
}

#[test]
fn a_block_that_does_not_divide_into_tiles_is_a_panic() {
    let gpu = Gpu::new().unwrap();
    whole_warps().on(&gpu).grid(1).block(40).launch().unwrap();
    let error = gpu.synchronize().unwrap_err().to_string();
    assert!(error.contains("do not divide into tiles"), "{error}");
    assert!(error.contains(file!()), "{error}");
    whole_warps().on(&gpu).grid(2).block(64).launch().unwrap();
    gpu.synchronize().unwrap();
}
