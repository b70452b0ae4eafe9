//! Launches that cannot be are error values that name the limit and the given number.
#![allow(missing_docs)]

use oxwarp::Error;
use oxwarp::prelude::*;

#[kernel]
fn one(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = 1;
    }
}

#[kernel]
fn two(mut y: DisjointSlice<u32, ThreadIndex2d>) {
    if let Some(y) = y.get_mut(thread::index_2d()) {
        *y = 1;
    }
}

#[kernel]
fn any(y: &[u32]) {
    let _ = y;
}

#[kernel]
fn waits(y: &[u32]) {
    let _ = y;
    grid::sync();
}

/// 64 KiB of static shared memory.
#[kernel]
fn large_shared(mut y: DisjointSlice<u32>) {
    let a = shared_array![u32; 10000];
    let b = shared_array![[u32; 2]; 3192];
    let t = thread::index_in_block();
    a.set(t, 1);
    b.set(t, [2, 3]);
    sync_threads();
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = a.get(t) + b.get(t)[1];
    }
}

/// Exactly the limit.
#[kernel]
fn most_shared(mut y: DisjointSlice<u32>) {
    let a = shared_array![u32; 48 * 256];
    let t = thread::index_in_block();
    a.set(48 * 256 - 1 - t, 4);
    sync_threads();
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = a.get(48 * 256 - 1 - t);
    }
}

/// The texts of an error, in order.
fn check(result: oxwarp::Result<()>, texts: &[&str]) {
    let error = result.unwrap_err().to_string();
    for text in texts {
        assert!(error.contains(text), "no `{text}` in: {error}");
    }
}

#[test]
fn shapes_out_of_range_name_number_and_limit() {
    let gpu = Gpu::new().unwrap();
    let y = gpu.zeros::<u32>(8).unwrap();
    check(
        launch!(any[0, 32](&y)),
        &[
            "kernel `any`",
            "(0, 1, 1)",
            "0 blocks along x",
            "1 to 2147483647",
        ],
    );
    check(
        launch!(any[(1, 0), 32](&y)),
        &["0 blocks along y", "1 to 65535"],
    );
    check(
        launch!(any[1, 0](&y)),
        &["kernel `any`", "0 threads along x", "1 to 1024"],
    );
    check(
        launch!(any[1, (1, 1, 0)](&y)),
        &["0 threads along z", "1 to 64"],
    );
    check(
        launch!(any[1, 1025](&y)),
        &["1025 threads along x", "1 to 1024"],
    );
    check(
        launch!(any[1, (33, 32)](&y)),
        &["(33, 32, 1)", "1056 threads", "1024"],
    );
    check(
        launch!(any[1, (1, 1, 65)](&y)),
        &["65 threads along z", "1 to 64"],
    );
    check(
        launch!(any[(1, 70000), 1](&y)),
        &["70000 blocks along y", "1 to 65535"],
    );
    check(
        launch!(any[(1, 1, 65536), 1](&y)),
        &["65536 blocks along z", "1 to 65535"],
    );
    check(
        launch!(any[1u64 << 31, 1](&y)),
        &["2147483648 blocks along x"],
    );
    check(launch!(any[-1, 1](&y)), &["-1 blocks along x"]);
    check(
        any.grid(1).launch(&y),
        &["without a block size", "`.block(...)`", "for_each"],
    );
    check(
        any.on(&gpu).block(1).launch(&y),
        &["without a grid size", "`.grid(...)`"],
    );
    check(any.for_each(-5).launch(&y), &["for_each(-5)"]);
    check(
        any.for_each(5).block((8, 8)).launch(&y),
        &["one dimension", "(8, 8, 1)"],
    );
    // The limits themselves are allowed, and nothing above left an error behind.
    launch!(any[(1, 65535), 1](&y)).unwrap();
    launch!(any[1, (16, 1, 64)](&y)).unwrap();
    gpu.synchronize().unwrap();
}

#[test]
fn clusters_that_cannot_be_name_number_and_limit() {
    let gpu = Gpu::new().unwrap();
    let y = gpu.zeros::<u32>(8).unwrap();
    let (one, none) = (any.on(&gpu).block(32), any.on(&gpu).block(32).cluster(1));
    check(
        one.clone().grid(4).cluster(0).launch(&y),
        &["kernel `any`", "(0, 1, 1)", "0 blocks along x", "1 to 8"],
    );
    check(
        one.clone().grid(4).cluster((1, -2)).launch(&y),
        &["(1, -2, 1)", "-2 blocks along y", "1 to 8"],
    );
    check(
        one.clone().grid(9).cluster(9).launch(&y),
        &["9 blocks along x", "1 to 8"],
    );
    check(
        one.clone().grid((4, 4)).cluster((4, 4)).launch(&y),
        &["kernel `any`", "a cluster of (4, 4, 1) has 16 blocks", "8"],
    );
    check(
        one.clone().grid((4, 5)).cluster((4, 2)).launch(&y),
        &[
            "kernel `any`",
            "a grid of (4, 5, 1)",
            "clusters of (4, 2, 1)",
            "5 blocks along y",
            "multiple of 2",
        ],
    );
    check(
        one.clone().grid(3).cluster((1, 1, 2)).plan(&y).map(drop),
        &["(3, 1, 1)", "1 blocks along z", "multiple of 2"],
    );
    check(
        waits.on(&gpu).grid(2).block(32).cluster(2).launch(&y),
        if !gpu.is_simulator() && gpu.compute_capability() < Some((9, 0)) {
            &["kernel `waits`", "(2, 1, 1)", "compute capability 9.0"]
        } else {
            &["kernel `waits`", "(2, 1, 1)", "waits for its whole grid"]
        },
    );
    // Clusters of one block are none.
    none.grid(3).launch(&y).unwrap();
    waits
        .on(&gpu)
        .grid(2)
        .block(32)
        .cluster(1)
        .launch(&y)
        .unwrap();
    gpu.synchronize().unwrap();
}

#[test]
fn an_index_is_unique_or_the_launch_is_refused() {
    let gpu = Gpu::new().unwrap();
    let mut y = gpu.zeros::<u32>(8).unwrap();
    let texts = ["kernel `one`", "thread::index_1d()", "with 1 dimension,"];
    check(launch!(one[(1, 2), 8](&mut y)), &texts);
    check(launch!(one[1, (4, 2)](&mut y)), &texts);
    check(launch!(one[1, (4, 1, 2)](&mut y)), &texts);
    let mut y = gpu.zeros_nd::<u32, _>((2, 4)).unwrap();
    check(
        launch!(two[(1, 1, 2), 8](&mut y)),
        &[
            "kernel `two`",
            "thread::index_2d()",
            "with 2 dimensions",
            "(1, 1, 2)",
        ],
    );
    launch!(two[(1, 2), (4, 1)](&mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1; 8]);
}

#[test]
fn too_much_static_shared_memory_is_an_error() {
    let gpu = Gpu::new().unwrap();
    let mut y = gpu.zeros::<u32>(8).unwrap();
    check(
        launch!(large_shared[1, 8](&mut y)),
        &[
            "kernel `large_shared`",
            "65536 bytes of static shared arrays",
            "49152",
            "shared_array!",
        ],
    );
    launch!(most_shared[1, 8](&mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [4; 8]);
}

#[test]
fn arguments_of_two_devices_are_an_error() {
    // Each simulator is a device of its own.
    let (gpu, other) = (Gpu::new().unwrap(), Gpu::cpu());
    let y = other.zeros::<u32>(8).unwrap();
    let result = any.on(&gpu).grid(1).block(1).launch(&y);
    let what_to_do = if gpu.is_simulator() {
        "use clones of one `Gpu`"
    } else {
        "cuda:0) and CPU simulator"
    };
    check(result, &["different devices", what_to_do]);
    any.on(other.clone()).grid(1).block(1).launch(&y).unwrap();
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let error = Gpu::cuda(4711).unwrap_err();
    assert!(
        matches!(error, Error::NoDevice { ordinal: 4711, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("cuda:4711"), "{error}");
    assert!(error.to_string().contains("OXWARP_DEVICE=cpu"), "{error}");
}

#[test]
fn lengths_and_shapes_that_do_not_fit_are_errors() {
    let gpu = Gpu::new().unwrap();
    let mut y = gpu.zeros::<u32>(8).unwrap();
    check(
        y.copy_from(&[1, 2]),
        &["2 elements into a device array of 8"],
    );
    let error = y.into_shape((3, 3)).map(drop);
    check(error, &["8 elements with shape [3, 3]"]);
    check(
        gpu.zeros_nd::<u64, _>((usize::MAX, 1)).map(drop),
        &["larger than the address space"],
    );
}
