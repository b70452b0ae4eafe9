//! Clusters: positions, the barrier of a cluster's blocks, and its wrong use.

mod common;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use common::{dim, launch_1d, launch_in_clusters, random};
use gpu_sim::{Checks, Dim3, Fault, SyncFault};
use gpu_std::{block, cluster, grid, sync_threads, thread};

/// Random grids, clusters and blocks.
fn shapes() -> Vec<[Dim3; 3]> {
    let numbers = random(200 * 9);
    let of = |number: &u32, most: u32| 1 + number % most;
    let shapes = numbers.chunks(9).map(|n| {
        let cluster = dim(of(&n[0], 4), of(&n[1], 3), of(&n[2], 2));
        let (x, y, z) = (of(&n[3], 4), of(&n[4], 3), of(&n[5], 2));
        let grid = dim(cluster.x * x, cluster.y * y, cluster.z * z);
        [grid, cluster, dim(of(&n[6], 9), of(&n[7], 2), of(&n[8], 2))]
    });
    shapes
        .filter(|[_, cluster, _]| cluster.count() <= 8)
        .collect()
}

#[test]
fn positions_in_random_shapes() {
    for [grid, cluster, block] in shapes() {
        let seen = Mutex::new(BTreeSet::new());
        let launched = launch_in_clusters([grid, cluster, block], Checks::default(), || {
            let (of, at) = (cluster::cluster_index(), cluster::block_index());
            assert_eq!(cluster::dim_blocks(), cluster);
            assert_eq!(u64::from(cluster::num_blocks()), cluster.count());
            let clusters = cluster::dim_clusters();
            assert_eq!(clusters.x * cluster.x, grid.x);
            assert_eq!(clusters.y * cluster.y, grid.y);
            assert_eq!(clusters.z * cluster.z, grid.z);
            let here = dim(
                of.x * cluster.x + at.x,
                of.y * cluster.y + at.y,
                of.z * cluster.z + at.z,
            );
            assert_eq!(thread::block_idx(), here);
            assert_eq!(u64::from(cluster::block_rank()), at.linear_in(cluster));
            assert_eq!(cluster::cluster_rank(), of.linear_in(clusters));
            let place = (cluster::cluster_rank(), cluster::thread_rank());
            assert!(seen.lock().unwrap().insert(place));
        });
        assert_eq!(launched, Ok(()));
        let threads = (cluster.count() * block.count()) as usize;
        let clusters = grid.count() / cluster.count();
        let all = (0..clusters).flat_map(|rank| (0..threads).map(move |thread| (rank, thread)));
        assert!(all.eq(seen.into_inner().unwrap()));
    }
}

#[test]
fn a_launch_without_clusters_has_one_block_in_each() {
    let launched = launch_1d(5, 4, || {
        assert_eq!(cluster::dim_blocks(), dim(1, 1, 1));
        assert_eq!(cluster::block_rank(), 0);
        assert_eq!(cluster::cluster_index(), thread::block_idx());
        assert_eq!(cluster::num_clusters(), 5);
        cluster::sync();
    });
    assert_eq!(launched, Ok(()));
}

/// Each block adds to its place, and after the barrier reads those of its cluster, again and again.
fn passes_on(shape: [Dim3; 3], checks: Checks) {
    let [grid, cluster, block] = shape;
    let places: Vec<AtomicU32> = (0..grid.count()).map(|_| AtomicU32::new(0)).collect();
    let launched = launch_in_clusters(shape, checks, || {
        let first = (cluster::cluster_rank() * u64::from(cluster::num_blocks())) as usize;
        let places = &places[first..][..cluster.count() as usize];
        for round in 1..4 {
            places[cluster::block_rank() as usize].fetch_add(1, Relaxed);
            cluster::sync();
            for place in places {
                assert_eq!(place.load(Relaxed), round * block.count() as u32);
            }
            cluster::sync();
        }
    });
    assert_eq!(launched, Ok(()), "{shape:?}");
    let all = 3 * block.count() as u32;
    assert!(places.iter().all(|place| place.load(Relaxed) == all));
}

#[test]
fn nobody_passes_before_the_cluster_has_come() {
    for shape in shapes() {
        passes_on(shape, Checks::default());
    }
    // More threads than a launch that waits for its whole grid may have.
    passes_on(
        [dim(24, 1, 1), dim(8, 1, 1), dim(1024, 1, 1)],
        Checks::default(),
    );
    for seed in 0..4 {
        let checks = Checks {
            order: Some(seed),
            ..Checks::default()
        };
        passes_on([dim(4, 6, 1), dim(2, 3, 1), dim(8, 1, 1)], checks);
    }
}

#[test]
fn shared_memory_is_each_blocks_own_across_the_barrier() {
    let shape = [dim(8, 2, 1), dim(4, 2, 1), dim(16, 1, 1)];
    let launched = launch_in_clusters(shape, Checks::default(), || {
        let mine = gpu_std::shared_array![u64; 16];
        let t = thread::index_in_block();
        mine.set(t, grid::index());
        cluster::sync();
        let other = mine.get(15 - t);
        assert_eq!(other, *block::index() as u64 * 16 + 15 - t as u64);
    });
    assert_eq!(launched, Ok(()));
}

#[test]
fn threads_that_have_ended_do_not_count() {
    const BLOCKS: u32 = 4096;
    let shape = [dim(BLOCKS, 1, 1), dim(4, 1, 1), dim(2, 1, 1)];
    let threads = BLOCKS * 2;
    // The last block of each cluster, the first, every second cluster, one thread of each block.
    for (case, left) in [threads / 4 * 3, threads / 4 * 3, threads / 2, threads / 2]
        .into_iter()
        .enumerate()
    {
        let (before, after) = (AtomicU32::new(0), AtomicU32::new(0));
        let launched = launch_in_clusters(shape, Checks::default(), || {
            let ends = match case {
                0 => cluster::block_rank() == 3,
                1 => cluster::block_rank() == 0,
                2 => cluster::cluster_rank().is_multiple_of(2),
                _ => thread::index_in_block() == 0,
            };
            before.fetch_add(1, Relaxed);
            if ends {
                return;
            }
            cluster::sync();
            after.fetch_add(1, Relaxed);
            cluster::sync();
            after.fetch_add(1, Relaxed);
        });
        assert_eq!(launched, Ok(()));
        assert_eq!(
            (before.into_inner(), after.into_inner()),
            (threads, 2 * left)
        );
    }
}

fn fault_of(kernel: impl Fn() + Sync) -> SyncFault {
    let shape = [dim(4, 1, 1), dim(2, 1, 1), dim(4, 1, 1)];
    match launch_in_clusters(shape, Checks::default(), kernel) {
        Err(Fault::Synchronisation(fault)) => *fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn threads_of_a_block_that_wait_elsewhere_are_a_fault() {
    let fault = fault_of(|| {
        if thread::index_in_block() == 3 {
            sync_threads();
        } else {
            cluster::sync();
        }
    });
    assert!(fault.message.contains("no thread of the block can go on"));
    let waiting: Vec<_> = fault
        .waiting
        .iter()
        .map(|standing| (standing.operation, standing.threads))
        .collect();
    assert_eq!(waiting, [("cluster::sync", 3), ("sync_threads", 1)]);
    assert!(fault.waiting[0].line > 0);
}

#[test]
fn the_grid_cannot_be_waited_for_in_clusters() {
    let fault = fault_of(|| {
        cluster::sync();
        grid::sync();
    });
    assert!(fault.message.contains("a launch in clusters"));
    assert_eq!(fault.waiting[0].operation, "grid::sync");
    // The next launch works, on the same threads of the host.
    passes_on(
        [dim(8, 1, 1), dim(2, 1, 1), dim(8, 1, 1)],
        Checks::default(),
    );
}

#[test]
fn a_panic_in_one_block_ends_those_that_wait() {
    let shape = [dim(4, 1, 1), dim(4, 1, 1), dim(4, 1, 1)];
    let launched = launch_in_clusters(shape, Checks::default(), || {
        assert!(grid::index() != 13, "thirteen");
        cluster::sync();
        unreachable!("a thread is lost");
    });
    assert_eq!(common::panic_of(launched).message, "thirteen");
}
