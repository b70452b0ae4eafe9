//! Mistakes with shared memory: missing barriers, elements that nothing wrote, parts that overlap.

use oxwarp::prelude::*;
use oxwarp::shared::SharedLayout;

use crate::{Case, right, wrong};

pub const CASES: &[Case] = &[
    right("reduction", |gpu| {
        let mut out = gpu.zeros::<u32>(2)?;
        launch!(reduction[2, 256](true, &mut out))?;
        assert_eq!(out.to_vec()?, [32640; 2]);
        Ok(())
    }),
    wrong(
        "reduction_without_barrier",
        |gpu| {
            let mut out = gpu.zeros::<u32>(2)?;
            launch!(reduction[1, 256](false, &mut out))
        },
        &[
            "kernel `reduction`: data race on element 1 (of 4 bytes) of a shared array of 1024 bytes",
            "no barrier",
            "block (0, 0, 0), thread (0, 0, 0) has read it at",
            "block (0, 0, 0), thread (1, 0, 0) writes it at",
            "at tests/checks/shared.rs:",
            "`race`",
        ],
    ),
    right("stencil", |gpu| {
        let mut out = gpu.zeros::<u32>(64)?;
        launch!(stencil[1, 64](0, &mut out))
    }),
    wrong(
        "stencil_off_by_one_halo",
        |gpu| {
            let mut out = gpu.zeros::<u32>(64)?;
            launch!(stencil[1, 64](1, &mut out))
        },
        &[
            "element 65 (of 4 bytes) of a shared array of 264 bytes is read, but nothing",
            "thread (63, 0, 0) reads it",
            "`init`",
        ],
    ),
    right(
        "stencil_in_two_arrays",
        |gpu| launch!(stencil_in_place[1, 64](&mut gpu.zeros::<u32>(64)?, true)),
    ),
    wrong(
        "stencil_in_place",
        |gpu| launch!(stencil_in_place[1, 64](&mut gpu.zeros::<u32>(64)?, false)),
        &["data race", "has written it", "reads it"],
    ),
    right(
        "two_dynamic_arrays",
        |gpu| launch!(two_dynamic_arrays[1, 64, shared = 512](false, &mut gpu.zeros::<f32>(64)?)),
    ),
    wrong(
        "two_dynamic_arrays_in_one_place",
        |gpu| launch!(two_dynamic_arrays[1, 64, shared = 512](true, &mut gpu.zeros::<f32>(64)?)),
        &[
            "data race on element",
            "of the 512 bytes of dynamic shared memory",
        ],
    ),
    wrong(
        "plain_histogram",
        |gpu| launch!(plain_histogram[1, 64](&mut gpu.zeros::<u32>(8)?)),
        &[
            "data race on element 0 (of 4 bytes) of a shared array of 32 bytes",
            "`race`",
        ],
    ),
    right(
        "own_elements_without_barrier",
        |gpu| launch!(own_elements[2, 64](&mut gpu.zeros::<u32>(128)?)),
    ),
    right(
        "bytes_and_words",
        |gpu| launch!(bytes_and_words[1, 64, shared = 256](&mut gpu.zeros::<u32>(64)?)),
    ),
    wrong(
        "reads_before_it_writes",
        |gpu| launch!(reads_before_it_writes[1, 1](&mut gpu.zeros::<u32>(1)?)),
        &[
            "element 3 (of 4 bytes) of a shared array of 16 bytes is read, but nothing in this block has written it",
        ],
    ),
    wrong(
        "relies_on_the_block_before",
        |gpu| launch!(relies_on_the_block_before[2, 32](&mut gpu.zeros::<u32>(64)?)),
        &["nothing in this block has written it", "block (1, 0, 0)"],
    ),
];

#[kernel]
fn reduction(with_barrier: bool, mut out: DisjointSlice<u32, BlockIndex>) {
    let sums = shared_array![u32; 256];
    let t = thread::index_in_block();
    sums.set(t, t as u32);
    let mut stride = block::len() / 2;
    while stride > 0 {
        if with_barrier {
            sync_threads();
        }
        if t < stride {
            sums.set(t, sums.get(t) + sums.get(t + stride));
        }
        stride /= 2;
    }
    if let Some(out) = out.get_mut(block::index()) {
        *out = sums.get(0);
    }
}

/// `missing` is how many elements of the halo at the right nobody loads.
#[kernel]
fn stencil(missing: usize, mut out: DisjointSlice<u32>) {
    let tile = shared_array![u32; 66];
    let t = thread::index_in_block();
    tile.set(t + 1, t as u32);
    if t == 0 {
        tile.set(0, 0);
    }
    if t == block::len() - 1 && missing == 0 {
        tile.set(t + 2, 0);
    }
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = tile.get(t) + tile.get(t + 1) + tile.get(t + 2);
    }
}

#[kernel]
fn stencil_in_place(mut out: DisjointSlice<u32>, two_arrays: bool) {
    let (a, b) = (shared_array![u32; 64], shared_array![u32; 64]);
    let to = if two_arrays { b } else { a };
    let t = thread::index_in_block();
    a.set(t, t as u32);
    sync_threads();
    let left = if t > 0 { a.get(t - 1) } else { 0 };
    to.set(t, left + a.get(t));
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = to.get(63 - t);
    }
}

#[kernel]
fn two_dynamic_arrays(twice: bool, mut out: DisjointSlice<f32>) {
    let n = block::len();
    let mut parts = shared::dynamic();
    let values = parts.array::<f32>(n);
    if twice {
        parts = shared::dynamic();
    }
    let weights = parts.array::<f32>(n);
    let t = thread::index_in_block();
    values.set(t, t as f32);
    weights.set(n - 1 - t, 0.5);
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = values.get(t) * weights.get(t);
    }
}

#[kernel]
fn plain_histogram(mut out: DisjointSlice<u32>) {
    let bins = shared_array![u32; 8];
    let t = thread::index_in_block();
    if t < 8 {
        bins.set(t, 0);
    }
    sync_threads();
    let bin = t % 8;
    bins.set(bin, bins.get(bin) + 1);
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = bins.get(t);
    }
}

#[kernel]
fn own_elements(mut out: DisjointSlice<u32>) {
    let array = shared_array![[u32; 3]; 64];
    let t = thread::index_in_block();
    for round in 0..3 {
        array.set(t, [round; 3]);
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(t)[1];
    }
}

/// The same bytes, first of one type and then of others.
#[kernel]
fn bytes_and_words(mut out: DisjointSlice<u32>) {
    let t = thread::index_in_block();
    let words = shared::dynamic().array::<u32>(64);
    words.set(t, t as u32);
    sync_threads();
    let bytes = shared::dynamic().array::<u8>(256);
    let sum = (0..4)
        .map(|byte| u32::from(bytes.get(4 * (63 - t) + byte)))
        .sum::<u32>();
    sync_threads();
    for byte in 0..4 {
        bytes.set(t + 64 * byte, 1);
    }
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = sum + words.get(t);
    }
    assert!(SharedLayout::new().array::<u8>(256).bytes() == 256);
}

#[kernel]
fn reads_before_it_writes(mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 4];
    for i in 0..3 {
        array.set(i, 1);
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = (0..4).map(|i| array.get(i)).sum();
    }
}

#[kernel]
fn relies_on_the_block_before(mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 32];
    let t = thread::index_in_block();
    if thread::block_idx().x == 0 {
        array.set(t, 1);
    }
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(t);
    }
}
