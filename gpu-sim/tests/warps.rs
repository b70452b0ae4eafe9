//! Warps: what lanes get from each other, in blocks of every size and under divergence.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use common::{dim, launch, launch_1d, random};
use gpu_std::group::{self, LaneGroup};
use gpu_std::warp::{self, FULL_MASK, Source};
use gpu_std::{sync_threads, thread};

/// What `kernel` returns in each thread of one block.
fn results<T: Copy + Default + Send>(threads: u32, kernel: impl Fn() -> T + Sync) -> Vec<T> {
    let results = Mutex::new(vec![T::default(); threads as usize]);
    launch_1d(1, threads, || {
        let result = kernel();
        results.lock().unwrap()[thread::index_in_block()] = result;
    })
    .unwrap();
    results.into_inner().unwrap()
}

#[test]
fn lanes_and_warps_number_a_block_of_three_dimensions() {
    launch(dim(2, 1, 1), dim(5, 7, 3), || {
        let t = thread::index_in_block() as u32;
        let lane = t % 32;
        assert_eq!((warp::lane_id(), warp::warp_id()), (lane, t / 32));
        assert_eq!(warp::lanemask_eq(), 1 << lane);
        assert_eq!(warp::lanemask_lt(), (1 << lane) - 1);
        assert_eq!(warp::lanemask_le(), warp::lanemask_lt() | 1 << lane);
        assert_eq!(warp::lanemask_gt(), !warp::lanemask_le());
        assert_eq!(warp::lanemask_ge(), !warp::lanemask_lt());
    })
    .unwrap();
}

#[test]
fn shuffles_of_every_size_and_with_padding() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Padded(u8, u64, u16);
    launch_1d(1, 96, || {
        let (t, lane) = (thread::index_in_block(), warp::lane_id() as usize);
        let source = t - lane + (lane + 1) % 32;
        let of = |t: usize| Padded(t as u8, (t as u64) << 40 | 5, !(t as u16));
        let next = Source::Lane(lane as u32 + 1);
        let padded = warp::shuffle_uninit(FULL_MASK, of(t), next);
        // SAFETY: the lanes of the warp call together.
        assert_eq!(unsafe { padded.assume_init() }, of(source));
        let bytes = |t: usize| [t as u8; 13];
        assert_eq!(
            warp::shuffle_idx(FULL_MASK, bytes(t), lane as u32 + 1),
            bytes(source)
        );
        assert_eq!(warp::shuffle_xor(FULL_MASK, t as u16, 1), (t ^ 1) as u16);
        warp::shuffle_idx(FULL_MASK, [0_u32; 0], 0);
    })
    .unwrap();
}

#[test]
fn a_mask_of_some_lanes_leaves_the_others_alone() {
    let got = results(64, || {
        let lane = warp::lane_id();
        if lane.is_multiple_of(3) {
            let mask = (0..32).step_by(3).fold(0, |mask, lane| mask | 1 << lane);
            warp::reduce_add(mask, lane)
        } else {
            lane
        }
    });
    let of_threes: u32 = (0..32).step_by(3).sum();
    for (t, got) in (0..).zip(got) {
        let lane = t % 32;
        assert_eq!(got, if lane % 3 == 0 { of_threes } else { lane });
    }
}

#[test]
fn lanes_that_returned_do_not_take_part() {
    let sums = AtomicU32::new(0);
    launch_1d(3, 70, || {
        let t = thread::index_in_block() as u32;
        if t.is_multiple_of(5) {
            return;
        }
        let warp = group::lanes(FULL_MASK);
        assert!(warp.all(true) && !warp.any(false));
        let sum = warp.reduce_add(t);
        if warp.rank() == 0 {
            sums.fetch_add(sum, Ordering::Relaxed);
        }
    })
    .unwrap();
    let right: u32 = (0..70).filter(|t| t % 5 != 0).sum();
    assert_eq!(sums.load(Ordering::Relaxed), 3 * right);
}

#[test]
fn reductions_and_scans_of_tiles_and_lanes_keep_the_order_of_the_lanes() {
    // Composition of affine functions x -> a x + b: associative, but the order matters.
    fn then(f: [u32; 2], g: [u32; 2]) -> [u32; 2] {
        [
            f[0].wrapping_mul(g[0]),
            f[1].wrapping_mul(g[0]).wrapping_add(g[1]),
        ]
    }
    let data: Vec<[u32; 2]> = random(256).chunks(2).map(|x| [x[0], x[1]]).collect();
    let of = |lanes: &[usize]| lanes.iter().map(|&t| data[t]).reduce(then).unwrap();
    fn check<G: LaneGroup>(
        group: G,
        data: &[[u32; 2]],
        of: impl Fn(&[usize]) -> [u32; 2],
        then: fn([u32; 2], [u32; 2]) -> [u32; 2],
    ) {
        let t = thread::index_in_block();
        let first = t - t % 32;
        let lanes: Vec<usize> = (0..32)
            .filter(|lane| group.mask() & 1 << lane != 0)
            .map(|lane| first + lane)
            .collect();
        let rank = group.rank() as usize;
        assert_eq!((lanes[rank], lanes.len()), (t, group.size() as usize));
        assert_eq!(group.reduce(data[t], then), of(&lanes));
        assert_eq!(group.inclusive_scan(data[t], then), of(&lanes[..=rank]));
        let before = group.exclusive_scan(data[t], [1, 0], then);
        let right = if rank == 0 {
            [1, 0]
        } else {
            of(&lanes[..rank])
        };
        assert_eq!(before, right);
        for other in 0..group.size() {
            assert_eq!(
                group.shuffle_idx(data[t], other),
                data[lanes[other as usize]]
            );
            let up = if rank >= other as usize {
                rank - other as usize
            } else {
                rank
            };
            assert_eq!(group.shuffle_up(data[t], other), data[lanes[up]]);
            let down = rank + other as usize;
            let down = if down < lanes.len() { down } else { rank };
            assert_eq!(group.shuffle_down(data[t], other), data[lanes[down]]);
        }
    }
    launch_1d(1, 128, || {
        let t = thread::index_in_block();
        check(group::tile::<1>(), &data, of, then);
        check(group::tile::<2>(), &data, of, then);
        check(group::tile::<4>(), &data, of, then);
        check(group::tile::<8>(), &data, of, then);
        check(group::tile::<16>(), &data, of, then);
        check(group::warp(), &data, of, then);
        let warp = group::lanes(FULL_MASK);
        check(warp, &data, of, then);
        check(warp.partition(t.is_multiple_of(3)), &data, of, then);
        check(warp.labeled_partition(t as u32 % 5), &data, of, then);
        if t % 7 > 2 {
            check(group::coalesced(), &data, of, then);
        }
    })
    .unwrap();
}

#[test]
fn named_operations_of_numbers() {
    launch_1d(1, 32, || {
        let warp = group::warp();
        let lane = warp::lane_id();
        assert_eq!(warp.reduce_add(1_u64 << lane), u64::from(u32::MAX));
        assert_eq!(warp.reduce_add(i8::MAX), i8::MAX.wrapping_mul(32));
        assert_eq!(warp.reduce_min(lane as i32 - 16), -16);
        assert_eq!(warp.reduce_max(-(lane as f64)), 0.0);
        assert_eq!(warp.reduce_max(if lane == 3 { f32::NAN } else { 1.0 }), 1.0);
        assert_eq!(warp.reduce_and(!(1_u32 << lane)), 0);
        assert_eq!(warp.reduce_or(1_u32 << lane), u32::MAX);
        assert_eq!(warp.reduce_xor(lane), 0);
        assert_eq!(warp.inclusive_add(1_u32), lane + 1);
        assert_eq!(warp.exclusive_add(1_u32), lane);
        assert_eq!(
            warp.exclusive_min(lane),
            if lane == 0 { u32::MAX } else { 0 }
        );
        assert_eq!(
            warp.exclusive_max(lane as i32),
            if lane == 0 { i32::MIN } else { lane as i32 - 1 }
        );
        assert_eq!(warp.exclusive_or(1_u32 << lane), warp::lanemask_lt());
        assert_eq!(warp.exclusive_and(lane), if lane == 0 { !0 } else { 0 });
        assert_eq!(warp.inclusive_xor(1_u32), (lane + 1) % 2);
        assert_eq!(warp.exclusive_xor(1_u32), lane % 2);
        assert_eq!(warp.inclusive_min(-(lane as f32)), -(lane as f32));
        assert_eq!(warp.inclusive_max(lane), lane);
        assert_eq!(warp.inclusive_or(1_u32 << lane), warp::lanemask_le());
        assert_eq!(warp.inclusive_and(!lane), !(0..=lane).fold(0, |a, b| a | b));
    })
    .unwrap();
}

#[test]
fn warps_and_the_block_meet_in_turn() {
    let order = AtomicU32::new(0);
    launch_1d(2, 96, || {
        for round in 0..20 {
            let lane = warp::lane_id();
            assert_eq!(
                warp::shuffle_idx(FULL_MASK, lane + round, round % 32),
                round % 32 + round
            );
            sync_threads();
            if warp::warp_id() == 1 {
                assert_eq!(warp::ballot(FULL_MASK, lane > 15), 0xFFFF_0000);
                warp::sync_warp(FULL_MASK);
            }
            order.fetch_add(1, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!(order.load(Ordering::Relaxed), 2 * 96 * 20);
}

#[test]
fn a_destructor_may_use_the_warp_while_a_panic_unwinds() {
    struct Votes;
    impl Drop for Votes {
        fn drop(&mut self) {
            warp::ballot(FULL_MASK, true);
            warp::shuffle_idx(FULL_MASK, 1_u8, 9);
            warp::match_any(FULL_MASK, 1_u64);
            warp::active_mask();
        }
    }
    let panic = common::panic_of(launch_1d(1, 32, || {
        let _votes = Votes;
        assert!(thread::index_in_block() != 2, "unwinds over a vote");
    }));
    assert_eq!(panic.message, "unwinds over a vote");
}
