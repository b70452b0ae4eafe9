//! The inclusive scan (running sum) of an array, in three launches: the sum of each tile of 8192, the running sums of
//! these, and the scan of each tile from there.

use oxwarp::prelude::*;
use oxwarp::vector::UInt4;

use super::case::{arguments, launch_either, with_unchecked};
use super::random::Random;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

/// Threads of a block that has a tile, and its vectors: four a thread.
const BLOCK: usize = 512;
const TILE: usize = 4 * BLOCK;
/// Vectors of a warp in a tile.
const OF_WARP: usize = 128;
/// Threads of the block that scans the sums, four a thread.
const SUMS_BLOCK: usize = 1024;

/// The running sum over the warp, up to and with this lane.
#[inline]
fn warp_scan(own: u32) -> u32 {
    let lane = warp::lane_id();
    let mut sum = own;
    let mut delta = 1;
    while delta < 32 {
        let below = warp::shuffle_up(warp::FULL_MASK, sum, delta);
        if lane >= delta {
            sum += below;
        }
        delta *= 2;
    }
    sum
}

/// What a lane of the warp has.
#[inline]
fn of_lane(value: u32, lane: u32) -> u32 {
    warp::shuffle_idx(warp::FULL_MASK, value, lane)
}

/// The sum over the warps of the block before this one, and over all.
#[inline]
fn scan_of_warps(of_warp: u32) -> (u32, u32) {
    let sums = shared_array![u32; 32];
    let t = thread::thread_idx_x();
    let (warp, lane) = (t / 32, t % 32);
    // Earlier sums may still be read.
    sync_threads();
    if lane == 0 {
        sums.set(warp as usize, of_warp);
    }
    sync_threads();
    let warps = thread::block_dim_x() / 32;
    let inclusive = warp_scan(if lane < warps {
        sums.get(lane as usize)
    } else {
        0
    });
    (of_lane(inclusive, warp) - of_warp, of_lane(inclusive, 31))
}

with_unchecked! {
    scan_sums_unchecked:
    #[kernel(block(BLOCK))]
    fn scan_sums(x: &[UInt4], mut sums: DisjointSlice<u32, BlockIndex>) {
        let (tile, t) = (block::index_1d(), thread::index_in_block());
        let own = [0, 1, 2, 3].map(|k| x.get(*tile * TILE + k * BLOCK + t).map_or(0, |x| x.sum()));
        let of_warp = of_lane(warp_scan(own.into_iter().sum()), 31);
        let (_, all) = scan_of_warps(of_warp);
        if let Some(sum) = sums.get_mut(tile) {
            *sum = all;
        }
    }
}

with_unchecked! {
    scan_offsets_unchecked:
    /// Makes each sum that of the tiles before; one block, for a multiple of its threads.
    #[kernel(block(SUMS_BLOCK))]
    fn scan_offsets(mut sums: DisjointChunks<u32, 4>) {
        let mut before = 0;
        for i in thread::grid_stride(sums.len()) {
            if let Some(sums) = sums.get_mut(i) {
                let [x, y, z, w] = *sums;
                let own = x + y + z + w;
                let inclusive = warp_scan(own);
                let (of_warps, all) = scan_of_warps(of_lane(inclusive, 31));
                let a = before + of_warps + inclusive - own;
                *sums = [a, a + x, a + x + y, a + x + y + z];
                before += all;
            }
        }
    }
}

with_unchecked! {
    scan_tiles_unchecked:
    #[kernel(block(BLOCK))]
    fn scan_tiles(x: &[UInt4], offsets: &[u32], mut y: DisjointChunks<UInt4, OF_WARP, WarpIndex>) {
        let (warp, lane) = (warp::index_1d(), warp::lane_id() as usize);
        let (x, _) = x.as_chunks::<OF_WARP>();
        let x = [0, 32, 64, 96].map(|k| x.get(*warp).map_or(UInt4::default(), |x| x[k + lane]));
        let mut of_warp = 0;
        let before = x.map(|x| {
            let inclusive = warp_scan(x.sum());
            let before = of_warp + inclusive - x.sum();
            of_warp += of_lane(inclusive, 31);
            before
        });
        let (of_warps, _) = scan_of_warps(of_warp);
        let offset = offsets[*block::index()] + of_warps;
        if let Some(mut y) = y.get_mut(warp) {
            for (y, (x, before)) in y.iter_mut().zip(x.into_iter().zip(before)) {
                let a = offset + before + x.x;
                let b = a + x.y;
                let c = b + x.z;
                *y = UInt4::new(a, b, c, c + x.w);
            }
        }
    }
}

pub const SCAN: Entry = Entry {
    name: "scan",
    kernels: &["scan_tiles", "scan_sums", "scan_offsets"],
    index_bits: 64,
    source: Source {
        name: "scan.cu",
        text: include_str!("scan.cu"),
        fast_math: false,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let n: usize = OF_WARP * size.pick(1 << 17, 20);
    let mut random = Random::new(1);
    let mut number = || random.below(16) as u32;
    let x: Vec<UInt4> = (0..n)
        .map(|_| UInt4::new(number(), number(), number(), number()))
        .collect();
    let x_gpu = gpu.to_device(&x)?;
    let grid = n.div_ceil(TILE);
    let padded = grid.next_multiple_of(4 * SUMS_BLOCK);
    let (sums, y) = (gpu.zeros::<u32>(padded)?, gpu.zeros::<UInt4>(n)?);
    let twin = vec![
        Twin::new("scan_sums", grid, BLOCK, arguments![x_gpu, sums, n]),
        Twin::new("scan_offsets", 1, SUMS_BLOCK, arguments![sums, padded / 4]),
        Twin::new(
            "scan_tiles",
            grid,
            BLOCK,
            arguments![x_gpu, sums, y, n / OF_WARP],
        ),
    ];
    Ok(Case::new(
        Work::Bytes(48.0 * n as f64),
        twin,
        (sums, y),
        |(sums, y)| {
            sums.fill(0)?;
            y.fill(UInt4::splat(0))
        },
        move |checks, (sums, y)| {
            launch_either!(checks, scan_sums / scan_sums_unchecked[grid, BLOCK](&x_gpu, &mut *sums))?;
            launch_either!(checks, scan_offsets / scan_offsets_unchecked[1, SUMS_BLOCK](&mut *sums))?;
            launch_either!(checks, scan_tiles / scan_tiles_unchecked[grid, BLOCK](&x_gpu, &*sums, y))
        },
        move |(_, y)| {
            let mut sum = 0;
            let y = y.to_vec()?;
            let pairs = y
                .iter()
                .flat_map(|y| y.to_array())
                .zip(x.iter().flat_map(|x| x.to_array()));
            let wrong = pairs.into_iter().position(|(y, x)| {
                sum += x;
                y != sum
            });
            wrong.map_or(Ok(()), |i| Err(format!("element {i} is wrong").into()))
        },
    ))
}
