//! Clusters of blocks: positions and the barrier in random shapes, plans and graphs, and what is refused.
#![allow(missing_docs)]

#[path = "../../common/mod.rs"]
mod common;
#[path = "../../device_code/mod.rs"]
mod device_code;

use common::Random;
use oxwarp::prelude::*;
use oxwarp::view::UnsafeSlice;
use oxwarp::{Checks, Dim3, Error, target};

type Shape = [Dim3; 3];

/// A device that has clusters, if there is one: the others say that they have none.
fn gpu() -> Option<Gpu> {
    let gpu = Gpu::new().unwrap();
    if gpu.is_simulator() || gpu.compute_capability() >= Some((9, 0)) {
        return Some(gpu);
    }
    let mut out = gpu.zeros::<[u32; 18]>(64).unwrap();
    let launched = places.grid(2).block(32).cluster(2).launch(&mut out);
    assert!(matches!(launched, Err(Error::NoClusters { .. })));
    None
}

fn triple(of: Dim3) -> (u32, u32, u32) {
    (of.x, of.y, of.z)
}

/// Grids, clusters and blocks.
fn shapes(seed: u64) -> Vec<Shape> {
    let mut random = Random::new(seed);
    let mut up_to = |most: u64| 1 + (random.bits() % most) as u32;
    let mut shapes = Vec::new();
    while shapes.len() < 40 {
        let (x, y, z) = (up_to(8), up_to(4), up_to(4));
        let cluster = Dim3 { x, y, z };
        let (x, y, z) = (x * up_to(5), y * up_to(3), z * up_to(2));
        let grid = Dim3 { x, y, z };
        let (x, y, z) = (up_to(40), up_to(3), up_to(2));
        if cluster.count() <= 8 {
            shapes.push([grid, cluster, Dim3 { x, y, z }]);
        }
    }
    shapes
}

/// The block at this place of a grid, x fastest.
fn block_at(number: u32, grid: Dim3) -> Dim3 {
    Dim3 {
        x: number % grid.x,
        y: number / grid.x % grid.y,
        z: number / grid.x / grid.y,
    }
}

/// A block's cluster, its place in that, and the clusters of the grid.
fn parts(block: Dim3, [grid, cluster, _]: Shape) -> [Dim3; 3] {
    let each = |of: fn(u32, u32) -> u32, dim: Dim3| Dim3 {
        x: of(dim.x, cluster.x),
        y: of(dim.y, cluster.y),
        z: of(dim.z, cluster.z),
    };
    let quotient: fn(u32, u32) -> u32 = |a, b| a / b;
    [
        each(quotient, block),
        each(|a, b| a % b, block),
        each(quotient, grid),
    ]
}

#[kernel]
fn places(mut out: DisjointSlice<[u32; 18]>) {
    if target::sm() < 90 {
        return;
    }
    let positions = [
        cluster::cluster_index(),
        cluster::dim_clusters(),
        cluster::block_index(),
        cluster::dim_blocks(),
    ];
    let mut values = [0; 18];
    for (place, of) in positions.into_iter().enumerate() {
        values[3 * place] = of.x;
        values[3 * place + 1] = of.y;
        values[3 * place + 2] = of.z;
    }
    values[12] = cluster::cluster_rank() as u32;
    values[13] = cluster::num_clusters() as u32;
    values[14] = cluster::block_rank();
    values[15] = cluster::num_blocks();
    values[16] = cluster::thread_rank() as u32;
    values[17] = cluster::num_threads() as u32;
    if let Some(out) = out.get_mut(thread::index()) {
        *out = values;
    }
}

/// What the thread of this number must see.
fn expected_places(number: u32, shape: Shape) -> [u32; 18] {
    let [grid, cluster, block] = shape;
    let threads = block.count() as u32;
    let [index, inside, clusters] = parts(block_at(number / threads, grid), shape);
    let rank = inside.linear_in(cluster) as u32;
    let mut values = [0; 18];
    for (place, of) in [index, clusters, inside, cluster].into_iter().enumerate() {
        values[3 * place..][..3].copy_from_slice(&[of.x, of.y, of.z]);
    }
    values[12..].copy_from_slice(&[
        index.linear_in(clusters) as u32,
        clusters.count() as u32,
        rank,
        cluster.count() as u32,
        rank * threads + number % threads,
        cluster.count() as u32 * threads,
    ]);
    values
}

#[test]
fn positions_in_random_shapes() {
    let Some(gpu) = gpu() else { return };
    for shape in shapes(1) {
        let [grid, cluster, block] = shape;
        let threads = (grid.count() * block.count()) as u32;
        let mut out = gpu.zeros::<[u32; 18]>(threads as usize).unwrap();
        places
            .grid(triple(grid))
            .block(triple(block))
            .cluster(triple(cluster))
            .launch(&mut out)
            .unwrap();
        let expected: Vec<_> = (0..threads).map(|i| expected_places(i, shape)).collect();
        assert_eq!(out.to_vec().unwrap(), expected, "{shape:?}");
    }
}

#[test]
fn without_clusters_each_block_is_one() {
    let Some(gpu) = gpu() else { return };
    let dim = |x| Dim3 { x, y: 1, z: 1 };
    let expected: Vec<_> = (0..6 * 32)
        .map(|i| expected_places(i, [dim(6), dim(1), dim(32)]))
        .collect();
    let mut out = gpu.zeros::<[u32; 18]>(6 * 32).unwrap();
    launch!(places[6, 32](&mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), expected);
    // As many clusters as the items need, and none in half.
    let mut out = gpu.zeros::<[u32; 18]>(8 * 256).unwrap();
    places.for_each(1500).cluster(4).launch(&mut out).unwrap();
    let expected: Vec<_> = (0..8 * 256)
        .map(|i| expected_places(i, [dim(8), dim(4), dim(256)]))
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

fn mixed(number: u32, round: u32) -> u32 {
    (number ^ round.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b)
}

/// Round after round each block writes, and reads what the next one of its cluster wrote.
#[kernel]
fn passes_on(rounds: u32, waits: bool, data: UnsafeSlice<u32>, mut sums: DisjointSlice<u32>) {
    if target::sm() < 90 {
        return;
    }
    let (t, threads) = (thread::index_in_block(), block::len());
    let size = cluster::num_blocks() as usize;
    let first = cluster::cluster_rank() as usize * size;
    let mine = cluster::block_rank() as usize;
    let place = |rank: usize, t: usize| (first + rank) * threads + t;
    let mut sum = 0_u32;
    for round in 0..rounds {
        let number = mixed(place(mine, t) as u32, round);
        // SAFETY: each thread has its own place; barriers of the cluster stand between its readers and writers, or the
        // simulator finds the race.
        unsafe { data.set(place(mine, t), number) };
        if waits {
            cluster::sync();
        }
        // SAFETY: as above.
        let read = unsafe { data.get(place((mine + 1) % size, threads - 1 - t)) };
        sum = sum.wrapping_mul(3).wrapping_add(read);
        cluster::sync();
    }
    if let Some(out) = sums.get_mut(thread::index()) {
        *out = sum;
    }
}

fn expected_sums(rounds: u32, shape: Shape) -> Vec<u32> {
    let [grid, cluster, block] = shape;
    let (threads, size) = (block.count() as u32, cluster.count() as u32);
    let sum = |number: u32| {
        let [index, inside, clusters] = parts(block_at(number / threads, grid), shape);
        let next = (inside.linear_in(cluster) as u32 + 1) % size;
        let first = index.linear_in(clusters) as u32 * size;
        let place = (first + next) * threads + threads - 1 - number % threads;
        let add = |sum: u32, round| sum.wrapping_mul(3).wrapping_add(mixed(place, round));
        (0..rounds).fold(0, add)
    };
    (0..grid.count() as u32 * threads).map(sum).collect()
}

#[test]
fn blocks_see_what_their_cluster_wrote_before_the_barrier() {
    let Some(gpu) = gpu() else { return };
    let dim = |x, y, z| Dim3 { x, y, z };
    let large = [dim(264, 1, 1), dim(8, 1, 1), dim(1024, 1, 1)];
    let last = match gpu.is_simulator() {
        true => [dim(16, 1, 1), large[1], large[2]],
        false => large,
    };
    for shape in shapes(2).into_iter().chain([last]) {
        let [grid, cluster, block] = shape;
        let threads = (grid.count() * block.count()) as usize;
        let mut data = gpu.zeros::<u32>(threads).unwrap();
        let mut sums = gpu.zeros::<u32>(threads).unwrap();
        passes_on
            .grid(triple(grid))
            .block(triple(block))
            .cluster(triple(cluster))
            .launch(5, true, &mut data, &mut sums)
            .unwrap();
        assert_eq!(sums.to_vec().unwrap(), expected_sums(5, shape), "{shape:?}");
    }
}

#[test]
fn a_barrier_that_is_missing_is_a_race() {
    let gpu = Gpu::cpu_with(Checks::on());
    let run = |waits| {
        let mut data = gpu.zeros::<u32>(64).unwrap();
        let mut sums = gpu.zeros::<u32>(64).unwrap();
        let kernel = passes_on.grid(4).block(16).cluster(2);
        kernel.launch(2, waits, &mut data, &mut sums).unwrap();
        gpu.synchronize()
    };
    run(true).unwrap();
    let error = run(false).unwrap_err().to_string();
    for part in ["data race", file!(), "`race`"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn the_largest_cluster_has_eight_blocks() {
    let Some(gpu) = gpu() else { return };
    let mut out = gpu.zeros::<[u32; 18]>(16).unwrap();
    let kernel = places.on(&gpu).block(1);
    let launched = kernel.clone().grid(16).cluster(16).launch(&mut out);
    assert!(matches!(
        launched,
        Err(Error::ClusterDimension { limit: 8, .. })
    ));
    let launched = kernel.clone().grid((4, 4)).cluster((4, 4)).launch(&mut out);
    assert!(matches!(launched, Err(Error::ClusterSize { limit: 8, .. })));
    kernel.grid((2, 2, 4)).cluster(2).launch(&mut out).unwrap();
    gpu.synchronize().unwrap();
}

#[test]
fn plans_and_graphs_keep_their_clusters() {
    let Some(gpu) = gpu() else { return };
    let dim = |x| Dim3 { x, y: 1, z: 1 };
    let shape = |cluster| [dim(8), dim(cluster), dim(64)];
    let zeros = || gpu.zeros::<u32>(8 * 64).unwrap();
    let (mut data, mut sums) = (zeros(), zeros());
    let of = |cluster: u32| passes_on.grid(8).block(64).cluster(cluster);
    let mut plan = of(4).plan(3, true, &mut data, &mut sums).unwrap();
    plan.launch().unwrap();
    assert_eq!(sums.to_vec().unwrap(), expected_sums(3, shape(4)));
    plan.set(of(2).bind(2, true, &mut data, &mut sums)).unwrap();
    plan.launch().unwrap();
    assert_eq!(sums.to_vec().unwrap(), expected_sums(2, shape(2)));

    let capture = gpu.stream().capture(|_| {
        of(8).launch(4, true, &mut data, &mut sums)?;
        plan.launch()
    });
    drop(capture.unwrap());
    let mut graph = gpu
        .stream()
        .capture(|_| of(8).launch(4, true, &mut data, &mut sums))
        .unwrap();
    graph.launch().unwrap();
    assert_eq!(sums.to_vec().unwrap(), expected_sums(4, shape(8)));
    let (node, _) = graph.kernels().next().unwrap();
    // Other arguments are fine, another cluster is not.
    let arguments = passes_on().bind(1, true, &mut data, &mut sums);
    graph.set(node, arguments).unwrap();
    graph.launch().unwrap();
    assert_eq!(sums.to_vec().unwrap(), expected_sums(1, shape(8)));
    let other = of(4).bind(1, true, &mut data, &mut sums);
    let error = graph.set(node, other).unwrap_err();
    assert!(matches!(error, Error::ClusterInGraph { .. }), "{error}");
    assert!(error.to_string().contains("(8, 1, 1)"), "{error}");
    graph.launch().unwrap();
    assert_eq!(sums.to_vec().unwrap(), expected_sums(1, shape(8)));
}

/// The sums of pairs of blocks.
#[kernel(block(32), cluster(2))]
fn pairs(x: &[u32], data: UnsafeSlice<u32>, mut out: DisjointSlice<u32>) {
    if target::sm() < 90 {
        return;
    }
    let i = thread::index_1d();
    // SAFETY: each thread has its own element, and the barrier stands between its writer and its readers.
    unsafe { data.set(*i, x[*i]) };
    cluster::sync();
    let other = *i ^ 32;
    let mine = x[*i];
    if let Some(out) = out.get_mut(i) {
        // SAFETY: as above.
        *out = mine.wrapping_add(unsafe { data.get(other) });
    }
}

#[test]
fn a_kernel_may_say_its_cluster() {
    let code = device_code::of_target("pairs", 90);
    device_code::contains(&code, &[".explicitcluster", ".reqnctapercluster 2, 1, 1"]);
    assert!(!device_code::of_target("pairs", 80).contains("cluster"));
    let Some(gpu) = gpu() else { return };
    let numbers = Random::new(7).below(6 * 32, u32::MAX);
    let x = gpu.to_device(&numbers).unwrap();
    let zeros = || gpu.zeros::<u32>(6 * 32).unwrap();
    let (mut data, mut out) = (zeros(), zeros());
    let sum = |i: usize| numbers[i].wrapping_add(numbers[i ^ 32]);
    let expected: Vec<u32> = (0..6 * 32).map(sum).collect();
    for kernel in [pairs.grid(6), pairs.grid(6).cluster(2), pairs.for_each(161)] {
        out.fill(0).unwrap();
        kernel.launch(&x, &mut data, &mut out).unwrap();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
    let plan = pairs.grid(6).plan(&x, &mut data, &mut out).unwrap();
    let graph = gpu.stream().capture(|_| plan.launch()).unwrap();
    out.fill(0).unwrap();
    graph.launch().unwrap();
    assert_eq!(out.to_vec().unwrap(), expected);
    let other = pairs.grid(6).cluster(3).launch(&x, &mut data, &mut out);
    assert!(matches!(other, Err(Error::ClusterShape { .. })));
    let odd = pairs.grid(5).launch(&x, &mut data, &mut out);
    assert!(matches!(odd, Err(Error::ClusterGrid { blocks: 5, .. })));
    gpu.synchronize().unwrap();
}

#[kernel]
fn one_panics(panics: u32, mut out: DisjointSlice<u32>) {
    if target::sm() < 90 {
        return;
    }
    let i = thread::index_1d();
    assert!(*i != panics as usize, "as asked");
    cluster::sync();
    if let Some(out) = out.get_mut(i) {
        *out = cluster::block_rank() + 1;
    }
}

#[test]
fn a_panic_is_the_error_and_the_cluster_does_not_hang() {
    let Some(gpu) = gpu() else { return };
    let mut out = gpu.zeros::<u32>(8 * 32).unwrap();
    let kernel = || one_panics.grid(8).block(32).cluster(4);
    kernel().launch(37, &mut out).unwrap();
    let error = gpu.synchronize().unwrap_err();
    assert!(
        matches!(&error, Error::KernelPanic(panic) if panic.message.contains("as asked")
            && panic.block.x == 1 && panic.thread.x == 5),
        "{error}"
    );
    kernel().launch(u32::MAX, &mut out).unwrap();
    let expected: Vec<u32> = (0..8 * 32).map(|i| i / 32 % 4 + 1).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

#[test]
fn the_ptx_has_the_barrier_and_the_registers() {
    device_code::contains(
        &device_code::of_target("passes_on", 90),
        &[
            "barrier.cluster.arrive.aligned",
            "barrier.cluster.wait.aligned",
            "%cluster_ctarank",
            "%cluster_nctarank",
            "%clusterid.x",
        ],
    );
    assert!(!device_code::of_target("passes_on", 80).contains("cluster"));
    device_code::assembles();
}
