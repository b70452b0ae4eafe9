//! Mistakes with the lanes of a warp.

use oxwarp::prelude::*;
use oxwarp::warp::FULL_MASK;

use crate::{Case, right, wrong};

pub const CASES: &[Case] = &[
    right("warp_sum", |gpu| {
        let mut out = gpu.zeros::<u32>(64)?;
        launch!(warp_sum[1, 64](true, &mut out))?;
        assert_eq!(out.to_vec()?[0], 496);
        Ok(())
    }),
    wrong(
        "warp_sum_without_sync",
        |gpu| launch!(warp_sum[1, 64](false, &mut gpu.zeros::<u32>(64)?)),
        &[
            "data race on element 1 (of 4 bytes) of a shared array of 256 bytes",
            "thread (1, 0, 0)",
            "`race`",
        ],
    ),
    wrong(
        "shuffle_from_a_lane_that_is_not_there",
        |gpu| launch!(shuffle_down[1, 20](FULL_MASK, &mut gpu.zeros::<u32>(20)?)),
        &["lane 19 reads the value of lane 20, which has ended or does not exist"],
    ),
    wrong(
        "shuffle_from_outside_of_the_mask",
        |gpu| launch!(shuffle_down[1, 32](0xffff, &mut gpu.zeros::<u32>(32)?)),
        &["lane 15 reads the value of lane 16, which is not in the mask 0x0000ffff"],
    ),
    wrong(
        "lanes_of_a_mask_apart",
        |gpu| lanes_apart().on(gpu).grid(1).block(32).launch(),
        &["lanes of the mask 0xffffffff are at different operations of their warp"],
    ),
];

#[kernel]
fn warp_sum(with_sync: bool, mut out: DisjointSlice<u32>) {
    let sums = shared_array![u32; 64];
    let (t, lane) = (thread::index_in_block(), warp::lane_id() as usize);
    sums.set(t, lane as u32);
    let mut stride = 16;
    while stride > 0 {
        if with_sync {
            warp::sync_warp(FULL_MASK);
        }
        if lane < stride {
            sums.set(t, sums.get(t) + sums.get(t + stride));
        }
        stride /= 2;
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = sums.get(t);
    }
}

#[kernel]
fn shuffle_down(mask: u32, mut out: DisjointSlice<u32>) {
    if mask & (1 << warp::lane_id()) == 0 {
        return;
    }
    let x = warp::shuffle_down(mask, warp::lane_id(), 1);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = x;
    }
}

#[kernel]
fn lanes_apart() {
    if warp::lane_id() < 16 {
        warp::ballot(FULL_MASK, true);
    } else {
        warp::vote_any(FULL_MASK, true);
    }
}
