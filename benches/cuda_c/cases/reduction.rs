//! Sums with warp shuffles: one a block, of a whole array in two launches, and the scalar product in the same way; and the
//! scalar product of each block with a tree in shared memory, as introductions to CUDA have it.

use oxwarp::prelude::*;
use oxwarp::unroll;
use oxwarp::vector::Float4;

use super::case::{arguments, close, launch_either, with_unchecked};
use super::random::{components, floats, vectors};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

/// The sum over a one-dimensional block of whole warps, in the threads of its first warp.
#[inline]
fn block_sum(own: f32) -> f32 {
    let sums = shared_array![f32; 32];
    let t = thread::thread_idx_x();
    let (warp, lane) = (t / 32, t % 32);
    let of_warp = warp_reduce(own, |a, b| a + b);
    if lane == 0 {
        sums.set(warp as usize, of_warp);
    }
    sync_threads();
    if warp > 0 {
        return 0.0;
    }
    let warps = thread::block_dim_x() / 32;
    let partial = if lane < warps {
        sums.get(lane as usize)
    } else {
        0.0
    };
    warp_reduce(partial, |a, b| a + b)
}

/// What `combine` makes of the numbers of a one-dimensional block of whole warps, in all its threads.
#[inline]
pub(super) fn block_reduce_for_all(
    own: f32,
    identity: f32,
    combine: impl Fn(f32, f32) -> f32,
) -> f32 {
    let partial = shared_array![f32; 32];
    let t = thread::thread_idx_x();
    let (warp, lane) = (t / 32, t % 32);
    let of_warp = warp_reduce(own, &combine);
    // An earlier result may still be read.
    sync_threads();
    if lane == 0 {
        partial.set(warp as usize, of_warp);
    }
    sync_threads();
    let warps = thread::block_dim_x() / 32;
    let partial = if lane < warps {
        partial.get(lane as usize)
    } else {
        identity
    };
    warp_reduce(partial, combine)
}

/// The same for a warp.
#[inline]
pub(super) fn warp_reduce(own: f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let mut result = own;
    let mut lanes = 16;
    while lanes > 0 {
        result = combine(result, warp::shuffle_xor(warp::FULL_MASK, result, lanes));
        lanes /= 2;
    }
    result
}

with_unchecked! {
    block_reduce_unchecked:
    #[kernel(launch_bounds(256))]
    fn block_reduce(x: &[Float4], mut partial: DisjointSlice<f32, BlockIndex>) {
        let own = x.get(*thread::index_1d()).map_or(0.0, |x| x.sum());
        let sum = block_sum(own);
        if let Some(partial) = partial.get_mut(block::index()) {
            *partial = sum;
        }
    }
}

with_unchecked! {
    sum_blocks_unchecked:
    #[kernel]
    fn sum_blocks(x: &[Float4], mut partial: DisjointSlice<f32, BlockIndex>) {
        let mut own = 0.0;
        for i in thread::grid_stride(x.len()) {
            own += x[*i].sum();
        }
        let sum = block_sum(own);
        if let Some(partial) = partial.get_mut(block::index()) {
            *partial = sum;
        }
    }
}

with_unchecked! {
    sum_partials_unchecked:
    #[kernel]
    fn sum_partials(partial: &[f32], mut total: DisjointSlice<f32, BlockIndex>) {
        let mut own = 0.0;
        for i in thread::grid_stride(partial.len()) {
            own += partial[*i];
        }
        let sum = block_sum(own);
        if let Some(total) = total.get_mut(block::index()) {
            *total = sum;
        }
    }
}

with_unchecked! {
    dot_blocks_unchecked:
    #[kernel]
    fn dot_blocks(a: &[Float4], b: &[Float4], mut partial: DisjointSlice<f32, BlockIndex>) {
        let mut own = 0.0;
        for i in thread::grid_stride(a.len()) {
            own += a[*i].dot(b[*i]);
        }
        let sum = block_sum(own);
        if let Some(partial) = partial.get_mut(block::index()) {
            *partial = sum;
        }
    }
}

with_unchecked! {
    dot_tree_unchecked:
    /// A thread adds four products before the tree.
    #[kernel(block(BLOCK))]
    fn dot_tree(a: &[f32], b: &[f32], mut partial: DisjointSlice<f32, BlockIndex>) {
        let sums = shared_array![f32; BLOCK];
        let t = thread::index_in_block();
        let mut own = 0.0;
        for k in (0..TILE).step_by(BLOCK) {
            unroll::full();
            let i = *block::index() * TILE + k + t;
            if let (Some(a), Some(b)) = (a.get(i), b.get(i)) {
                own += a * b;
            }
        }
        sums.set(t, own);
        sync_threads();
        let mut stride = BLOCK / 2;
        while stride > 0 {
            if t < stride {
                sums.set(t, sums.get(t) + sums.get(t + stride));
            }
            sync_threads();
            stride /= 2;
        }
        if let Some(partial) = partial.get_mut(block::index()) {
            *partial = sums.get(0);
        }
    }
}

const SOURCE: Source = Source {
    name: "reduction.cu",
    text: include_str!("reduction.cu"),
    fast_math: false,
};
const BLOCK: usize = 256;
/// Numbers of a block in `dot_tree`.
const TILE: usize = 4 * BLOCK;
/// Of the first launch of the whole sum: eight on each multiprocessor of a large GPU.
const SUM_BLOCKS: usize = 1024;

pub const BLOCK_REDUCE: Entry = Entry {
    name: "block_reduce",
    kernels: &["block_reduce"],
    index_bits: 64,
    source: SOURCE,
    build: block_case,
};

fn block_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 25, 999);
    let x = vectors(n, 0.0, 1.0, 1);
    let x_gpu = gpu.to_device(&x)?;
    let grid = n.div_ceil(BLOCK);
    let partial = gpu.zeros::<f32>(grid)?;
    let twin = Twin::new("block_reduce", grid, BLOCK, arguments![x_gpu, partial, n]);
    Ok(Case::new(
        Work::Bytes(16.0 * n as f64),
        vec![twin],
        partial,
        |partial| partial.fill(f32::NAN),
        move |checks, partial| launch_either!(checks, block_reduce / block_reduce_unchecked[grid, BLOCK](&x_gpu, partial)),
        move |partial| {
            let wanted = |b| {
                sum(components(&x)
                    .iter()
                    .skip(b * 4 * BLOCK)
                    .take(4 * BLOCK)
                    .copied())
            };
            close(&partial.to_vec()?, 0..grid, 1e-5, wanted)
        },
    ))
}

pub const SUM: Entry = Entry {
    name: "sum",
    kernels: &["sum_blocks", "sum_partials"],
    index_bits: 64,
    source: SOURCE,
    build: sum_case,
};

fn sum_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 25, 9999);
    let blocks = size.pick(SUM_BLOCKS, 3);
    let x = vectors(n, 0.0, 1.0, 2);
    let x_gpu = gpu.to_device(&x)?;
    let (partial, total) = (gpu.zeros::<f32>(blocks)?, gpu.zeros::<f32>(1)?);
    let twin = vec![
        Twin::new("sum_blocks", blocks, BLOCK, arguments![x_gpu, partial, n]),
        Twin::new(
            "sum_partials",
            1,
            SUM_BLOCKS,
            arguments![partial, total, blocks],
        ),
    ];
    Ok(Case::new(
        Work::Bytes(16.0 * n as f64),
        twin,
        (partial, total),
        |(_, total)| total.fill(f32::NAN),
        move |checks, (partial, total)| {
            launch_either!(checks, sum_blocks / sum_blocks_unchecked[blocks, BLOCK](&x_gpu, &mut *partial))?;
            launch_either!(checks, sum_partials / sum_partials_unchecked[1, SUM_BLOCKS](&*partial, total))
        },
        move |(_, total)| {
            close(&total.to_vec()?, 0..1, 1e-5, |_| {
                sum(components(&x).iter().copied())
            })
        },
    ))
}

pub const DOT: Entry = Entry {
    name: "dot",
    kernels: &["dot_blocks", "sum_partials"],
    index_bits: 64,
    source: SOURCE,
    build: dot_case,
};

fn dot_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 24, 9999);
    let blocks = size.pick(SUM_BLOCKS, 3);
    let (a, b) = (vectors(n, 0.0, 1.0, 3), vectors(n, 0.0, 1.0, 4));
    let (a_gpu, b_gpu) = (gpu.to_device(&a)?, gpu.to_device(&b)?);
    let (partial, total) = (gpu.zeros::<f32>(blocks)?, gpu.zeros::<f32>(1)?);
    let twin = vec![
        Twin::new(
            "dot_blocks",
            blocks,
            BLOCK,
            arguments![a_gpu, b_gpu, partial, n],
        ),
        Twin::new(
            "sum_partials",
            1,
            SUM_BLOCKS,
            arguments![partial, total, blocks],
        ),
    ];
    Ok(Case::new(
        Work::Bytes(32.0 * n as f64),
        twin,
        (partial, total),
        |(_, total)| total.fill(f32::NAN),
        move |checks, (partial, total)| {
            launch_either!(checks, dot_blocks / dot_blocks_unchecked[blocks, BLOCK](&a_gpu, &b_gpu, &mut *partial))?;
            launch_either!(checks, sum_partials / sum_partials_unchecked[1, SUM_BLOCKS](&*partial, total))
        },
        move |(_, total)| {
            let products = components(&a)
                .iter()
                .zip(components(&b))
                .map(|(a, b)| a * b);
            close(&total.to_vec()?, 0..1, 1e-5, |_| sum(products.clone()))
        },
    ))
}

pub const DOT_TREE: Entry = Entry {
    name: "dot_tree",
    kernels: &["dot_tree"],
    index_bits: 64,
    source: SOURCE,
    build: dot_tree_case,
};

fn dot_tree_case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = size.pick(1 << 26, 2500);
    let (a, b) = (floats(n, 0.0, 1.0, 3), floats(n, 0.0, 1.0, 4));
    let (a_gpu, b_gpu) = (gpu.to_device(&a)?, gpu.to_device(&b)?);
    let grid = n.div_ceil(TILE);
    let partial = gpu.zeros::<f32>(grid)?;
    let twin = Twin::new(
        "dot_tree",
        grid,
        BLOCK,
        arguments![a_gpu, b_gpu, partial, n],
    );
    Ok(Case::new(
        Work::Bytes(8.0 * n as f64),
        vec![twin],
        partial,
        |partial| partial.fill(f32::NAN),
        move |checks, partial| launch_either!(checks, dot_tree / dot_tree_unchecked[grid, BLOCK](&a_gpu, &b_gpu, partial)),
        move |partial| {
            let products = |b0: usize| {
                a.iter()
                    .zip(&b)
                    .skip(b0 * TILE)
                    .take(TILE)
                    .map(|(a, b)| a * b)
            };
            close(&partial.to_vec()?, 0..grid, 1e-5, |b| sum(products(b)))
        },
    ))
}

fn sum(values: impl Iterator<Item = f32>) -> f64 {
    values.map(f64::from).sum()
}
