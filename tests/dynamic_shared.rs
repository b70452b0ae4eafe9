//! Dynamic shared memory: typed parts of run-time length, above 48 KiB without more, and what is refused.
#![allow(missing_docs)]

mod common;
mod device_code;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use common::Random;
use oxwarp::Error;
use oxwarp::prelude::*;
use oxwarp::shared::SharedLayout;

/// Numba's `sync` test: one part, so many elements as the launch says.
#[kernel]
fn doubled(n: usize, mut out: DisjointSlice<f32>) {
    let part = shared::dynamic().array::<f32>(n);
    let t = thread::index_in_block();
    if t == 0 {
        (0..n).for_each(|i| part.set(i, 2.0 * i as f32));
    }
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = part.get(t);
    }
}

#[test]
fn one_part() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<f32>(50).unwrap();
    launch!(doubled[1, 50, shared = 200](50, &mut out)).unwrap();
    let expected: Vec<f32> = (0..50).map(|i| 2.0 * i as f32).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(16))]
struct Body {
    position: [f32; 3],
    mass: f32,
}

// SAFETY: four floats without padding.
unsafe impl bytemuck::Zeroable for Body {}
// SAFETY: as above; any bits are a float.
unsafe impl bytemuck::Pod for Body {}

/// Parts of five types and lengths, which must not overlap: all are written before any is read.
#[kernel]
fn five_parts(bytes: &[u8], n: usize, mut out: DisjointSlice<[u64; 5]>) {
    let mut parts = shared::dynamic();
    let a = parts.array::<u8>(n);
    let b = parts.array::<f32>(n + 1);
    let c = parts.array::<Body>(n / 2 + 1);
    let d = parts.atomics::<AtomicU32>(n + 3);
    let e = parts.array::<u64>(n);
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    d.fill(7);
    a.set(t, bytes[*i]);
    b.set(t, *i as f32 + 0.5);
    if t <= n / 2 {
        let body = Body {
            position: [*i as f32; 3],
            mass: t as f32,
        };
        c.set(t, body);
    }
    e.set(n - 1 - t, u64::MAX - *i as u64);
    sync_threads();
    d.at(t / 2).fetch_add(u32::from(a.get(t)), Relaxed);
    sync_threads();
    let next = (t + 1) % n;
    let body = c.get(t / 2);
    let sum = [
        a.get(next).into(),
        b.get(next) as u64,
        (body.position[2] * 1000.0 + body.mass) as u64,
        d.at(next).load(Relaxed).into(),
        u64::MAX - e.get(next),
    ];
    if let Some(out) = out.get_mut(i) {
        *out = sum;
    }
}

#[test]
fn parts_do_not_overlap_and_are_aligned() {
    let gpu = Gpu::new().unwrap();
    for n in [64_usize, 33, 1, 256] {
        let blocks = 3;
        let bytes: Vec<u8> = Random::new(n as u64)
            .below(n * blocks, 256)
            .iter()
            .map(|&x| x as u8)
            .collect();
        let layout = SharedLayout::new()
            .array::<u8>(n)
            .array::<f32>(n + 1)
            .array::<Body>(n / 2 + 1)
            .atomics::<AtomicU32>(n + 3)
            .array::<u64>(n);
        let x = gpu.to_device(&bytes).unwrap();
        let mut out = gpu.zeros::<[u64; 5]>(n * blocks).unwrap();
        launch!(five_parts[blocks, n, shared = layout.bytes()](&x, n, &mut out)).unwrap();
        for (i, found) in out.to_vec().unwrap().into_iter().enumerate() {
            let (first, t) = (i / n * n, i % n);
            let next = (t + 1) % n;
            let pair = bytes[first..first + n].chunks(2).nth(next);
            let expected = [
                bytes[first + next].into(),
                (first + next) as u64,
                ((first + t / 2) * 1000 + t / 2) as u64,
                7 + pair.map_or(0, |pair| pair.iter().map(|&x| u64::from(x)).sum()),
                (first + n - 1 - next) as u64,
            ];
            assert_eq!(found, expected, "thread {i} of {n}");
        }
    }
}

/// A part beside a static array.
#[kernel]
fn static_and_dynamic(n: usize, mut out: DisjointSlice<u32>) {
    let fixed = shared_array![u32; 100];
    let part = shared::dynamic().array::<u32>(n);
    let t = thread::index_in_block();
    for i in (t..n).step_by(block::len()) {
        part.set(i, i as u32);
    }
    fixed.set(t % 100, 1_000_000);
    sync_threads();
    let mut sum = fixed.get(t % 100);
    for i in (t..n).step_by(block::len()) {
        sum = sum.wrapping_add(part.get(n - 1 - i));
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = sum;
    }
}

/// The sum that each thread of `static_and_dynamic` gets.
fn sums(n: u32, threads: u32) -> Vec<u32> {
    let of = |t: u32| {
        (t..n)
            .step_by(threads as usize)
            .fold(1_000_000_u32, |sum, i| sum.wrapping_add(n - 1 - i))
    };
    (0..threads).map(of).collect()
}

/// Bytes of shared memory of a block, from the message of a launch that asks for far too many.
fn most_bytes(gpu: &Gpu) -> u32 {
    let mut out = gpu.zeros::<u32>(1).unwrap();
    match launch!(static_and_dynamic[1, 1, shared = 1 << 30](1, &mut out)) {
        Err(Error::DynamicSharedMemory {
            static_bytes,
            limit,
            given,
            ..
        }) => {
            assert_eq!((static_bytes, given), (400, 1 << 30));
            limit
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn as_much_as_the_device_has() {
    let gpu = Gpu::new().unwrap();
    let limit = most_bytes(&gpu);
    assert!(limit >= 64 << 10, "{limit}");
    // 512 bytes are the static array and the padding behind it.
    for bytes in [400, 48 << 10, 60 << 10, limit - 512] {
        let n = bytes / 4;
        let mut out = gpu.zeros::<u32>(128).unwrap();
        launch!(static_and_dynamic[1, 128, shared = bytes](n as usize, &mut out)).unwrap();
        assert_eq!(out.to_vec().unwrap(), sums(n, 128), "{bytes} bytes");
    }
}

#[test]
fn more_than_the_device_has_is_an_error_with_the_numbers() {
    let gpu = Gpu::new().unwrap();
    let limit = most_bytes(&gpu);
    let mut out = gpu.zeros::<u32>(1).unwrap();
    for bytes in [i64::from(limit) - 384, i64::from(limit), 1 << 40, -1] {
        let error = launch!(static_and_dynamic[1, 1, shared = bytes](1, &mut out)).unwrap_err();
        let text = error.to_string();
        for part in [
            "kernel `static_and_dynamic`",
            &format!("{bytes} bytes of dynamic"),
            "400 bytes of static",
            &format!("{limit} bytes for both"),
        ] {
            assert!(text.contains(part), "no `{part}` in: {text}");
        }
    }
    gpu.synchronize().unwrap();
}

/// A matrix product whose tiles have a size that the launch chooses, with a column of padding.
#[kernel]
fn matmul(a: &[f32], b: &[f32], n: usize, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let tile = thread::block_dim_x() as usize;
    let mut parts = shared::dynamic();
    let to_a = parts.array_2d::<f32>(tile, tile);
    let to_b = parts.array_2d::<f32>(tile, tile + 1);
    let i = thread::index_2d();
    let (row, col) = (
        thread::thread_idx_y() as usize,
        thread::thread_idx_x() as usize,
    );
    let element = |x: &[f32], row: usize, col: usize| {
        if row < n && col < n {
            x[row * n + col]
        } else {
            0.0
        }
    };
    let mut sum = 0.0;
    for first in (0..n).step_by(tile) {
        to_a.set((row, col), element(a, i.row(), first + col));
        to_b.set((row, col), element(b, first + row, i.col()));
        sync_threads();
        for k in 0..tile {
            sum += to_a.get((row, k)) * to_b.get((k, col));
        }
        sync_threads();
    }
    if let Some(c) = c.get_mut(i) {
        *c = sum;
    }
}

#[test]
fn tiles_of_a_size_that_the_launch_chooses() {
    let gpu = Gpu::new().unwrap();
    let n = 37;
    let matrix = |seed| {
        let values = Random::new(seed).below(n * n, 7);
        ndarray::Array2::from_shape_fn((n, n), |(row, col)| values[row * n + col] as f32 - 3.0)
    };
    let (a, b) = (matrix(1), matrix(2));
    let (on_a, on_b) = (gpu.to_device(&a).unwrap(), gpu.to_device(&b).unwrap());
    for tile in [4_usize, 7, 16] {
        let layout = SharedLayout::new()
            .array::<f32>(tile * tile)
            .array::<f32>(tile * (tile + 1));
        let blocks = n.div_ceil(tile);
        let mut c = gpu.zeros_nd::<f32, _>((n, n)).unwrap();
        launch!(
            matmul[(blocks, blocks), (tile, tile), shared = layout.bytes()](&on_a, &on_b, n, &mut c)
        )
        .unwrap();
        assert_eq!(c.to_host().unwrap(), a.dot(&b), "{tile}");
    }
}

#[kernel]
fn beyond_rows(row: usize, col: usize, mut out: DisjointSlice<u32>) {
    let part = shared::dynamic().array_2d::<u32>(3, 5);
    part.set((row, col), 8);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = part.get((row, col)) + (part.rows() * part.cols()) as u32;
    }
}

#[test]
fn both_indices_are_checked() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    launch!(beyond_rows[1, 1, shared = 60](2, 4, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [23]);
    for (row, col, text) in [
        (3, 0, "the len is 3 but the index is 3"),
        (0, 5, "the len is 5 but the index is 5"),
    ] {
        launch!(beyond_rows[1, 1, shared = 60](row, col, &mut out)).unwrap();
        let error = gpu.synchronize().unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    launch!(beyond_rows[1, 1, shared = 59](0, 0, &mut out)).unwrap();
    let error = gpu.synchronize().unwrap_err().to_string();
    assert!(
        error.contains("need 60 bytes, but the launch has 59"),
        "{error}"
    );
}

#[kernel]
fn asks_for(n: usize, m: usize, mut out: DisjointSlice<u32>) {
    let mut parts = shared::dynamic();
    let a = parts.array::<u32>(n);
    let b = parts.array::<u64>(m);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = (a.len() + b.len() + parts.remaining()) as u32;
    }
}

#[test]
fn parts_larger_than_the_launch_are_a_panic_with_both_numbers() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(4).unwrap();
    launch!(asks_for[1, 4, shared = 1024](10, 20, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [30 + 1024 - 200; 4]);
    let huge = usize::MAX / 8;
    for (bytes, n, m, wanted) in [
        (1024, 256, 1, 1032),
        (0, 1, 0, 4),
        (1024, 255, 1, 1032),
        (1024, huge, 1, huge * 4),
        (1024, 0, usize::MAX, usize::MAX),
    ] {
        launch!(asks_for[1, 4, shared = bytes](n, m, &mut out)).unwrap();
        let error = gpu.synchronize().unwrap_err().to_string();
        for part in [
            format!("need {wanted} bytes, but the launch has {bytes}"),
            "dynamic_shared.rs".into(),
            "shared_bytes".into(),
        ] {
            assert!(error.contains(&part), "no `{part}` in: {error}");
        }
    }
    launch!(asks_for[1, 4, shared = 1016](1, 126, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [127; 4]);
}

#[kernel]
fn beyond(index: usize, mut out: DisjointSlice<u32>) {
    let part = shared::dynamic().array::<u32>(10);
    part.set(index, 5);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = part.get(index);
    }
}

#[test]
fn an_index_beyond_a_part_is_an_error() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    launch!(beyond[1, 1, shared = 80](9, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [5]);
    launch!(beyond[1, 1, shared = 80](10, &mut out)).unwrap();
    let error = gpu.synchronize().unwrap_err().to_string();
    assert!(
        error.contains("the len is 10 but the index is 10"),
        "{error}"
    );
    assert!(error.contains("dynamic_shared.rs"), "{error}");
}

/// Threads that ask twice get the same memory again, as another type if they like.
#[kernel]
fn asks_twice(mut out: DisjointSlice<u32>) {
    let floats = shared::dynamic().array::<f32>(64);
    let t = thread::index_in_block();
    floats.set(t, t as f32);
    sync_threads();
    let bits = shared::dynamic().array::<u32>(64);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = bits.get(63 - t);
    }
}

#[test]
fn asking_twice_gives_the_same_memory() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(64).unwrap();
    launch!(asks_twice[1, 64, shared = 256](&mut out)).unwrap();
    let expected: Vec<u32> = (0..64).map(|t| (63.0 - t as f32).to_bits()).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// A histogram of any number of bins: a generic helper that is given its part.
fn count_into<T: Copy + Into<u32>>(
    bins: oxwarp::shared_atomics::SharedAtomicSlice<AtomicU32>,
    x: &[T],
) {
    for i in thread::grid_stride(x.len()) {
        bins.at(x[*i].into() as usize).fetch_add(1, Relaxed);
    }
}

#[kernel]
fn histogram(x: &[u16], counts: &[AtomicU32]) {
    let bins = shared::dynamic().atomics::<AtomicU32>(counts.len());
    bins.fill(0);
    sync_threads();
    count_into(bins, x);
    sync_threads();
    for bin in (thread::index_in_block()..bins.len()).step_by(block::len()) {
        counts[bin].fetch_add(bins.at(bin).load(Relaxed), Relaxed);
    }
}

#[test]
fn a_histogram_of_run_time_size() {
    let gpu = Gpu::new().unwrap();
    for bins in [1_u32, 100, 3000] {
        let x: Vec<u16> = Random::new(bins.into())
            .below(5000, bins)
            .iter()
            .map(|&x| x as u16)
            .collect();
        let mut expected = vec![0_u32; bins as usize];
        x.iter().for_each(|&x| expected[usize::from(x)] += 1);
        let x = gpu.to_device(&x).unwrap();
        let mut counts = gpu.zeros::<u32>(bins as usize).unwrap();
        let bytes = SharedLayout::new()
            .atomics::<AtomicU32>(bins as usize)
            .bytes();
        launch!(histogram[4, 128, shared = bytes](&x, &mut counts)).unwrap();
        assert_eq!(counts.to_vec().unwrap(), expected);
    }
}

#[test]
fn the_ptx() {
    let code = device_code::of("doubled");
    device_code::contains(
        &code,
        &[
            "%dynamic_smem_size",
            "oxwarp_dynamic_shared",
            "st.shared",
            "ld.shared",
        ],
    );
    device_code::contains(
        &device_code::of("histogram"),
        &["shared.add.u32", "oxwarp_dynamic_shared"],
    );
    device_code::contains(
        &device_code::all(),
        &[".extern .shared .align 128 .b8 oxwarp_dynamic_shared[]"],
    );
    device_code::assembles();
}
