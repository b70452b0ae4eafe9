//! The inclusive scan (running sum) of an array, in three launches: the sum of each tile of 4096, the running sums of
//! these, and the scan of each tile from there.

use oxwarp::prelude::*;
use oxwarp::vector::UInt4;

use super::case::{arguments, launch_either, with_unchecked};
use super::random::Random;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const BLOCK: usize = 1024;

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

/// The sum over the threads of the block before this one, and over all.
#[inline]
fn block_scan(own: u32) -> (u32, u32) {
    let sums = shared_array![u32; 32];
    let t = thread::thread_idx_x() as usize;
    let (warp, lane) = (t / 32, t % 32);
    let inclusive = warp_scan(own);
    if lane == 31 {
        sums.set(warp, inclusive);
    }
    sync_threads();
    if warp == 0 {
        let of_warps = warp_scan(sums.get(lane));
        sums.set(lane, of_warps);
    }
    sync_threads();
    let before = if warp > 0 { sums.get(warp - 1) } else { 0 };
    let all = sums.get(31);
    // The next scan of the block writes the sums.
    sync_threads();
    (before + inclusive - own, all)
}

with_unchecked! {
    scan_sums_unchecked:
    #[kernel(launch_bounds(1024))]
    fn scan_sums(x: &[UInt4], mut sums: DisjointSlice<u32, BlockIndex>) {
        let own = x.get(*thread::index_1d()).map_or(0, |x| x.sum());
        let (_, all) = block_scan(own);
        if let Some(sum) = sums.get_mut(block::index()) {
            *sum = all;
        }
    }
}

with_unchecked! {
    scan_offsets_unchecked:
    /// Makes each sum that of the tiles before; one block, for a multiple of its threads.
    #[kernel(launch_bounds(1024))]
    fn scan_offsets(mut sums: DisjointSlice<u32>) {
        let mut before = 0;
        for i in thread::grid_stride(sums.len()) {
            if let Some(sum) = sums.get_mut(i) {
                let (in_block, all) = block_scan(*sum);
                *sum = before + in_block;
                before += all;
            }
        }
    }
}

with_unchecked! {
    scan_tiles_unchecked:
    #[kernel(launch_bounds(1024))]
    fn scan_tiles(x: &[UInt4], offsets: &[u32], mut y: DisjointSlice<UInt4>) {
        let i = thread::index_1d();
        let own = x.get(*i).copied().unwrap_or_default();
        let (before, _) = block_scan(own.sum());
        if let Some(y) = y.get_mut(i) {
            let a = offsets[*block::index()] + before + own.x;
            let b = a + own.y;
            let c = b + own.z;
            *y = UInt4::new(a, b, c, c + own.w);
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
    let n: usize = size.pick(1 << 24, 2500);
    let mut random = Random::new(1);
    let mut number = || random.below(16) as u32;
    let x: Vec<UInt4> = (0..n)
        .map(|_| UInt4::new(number(), number(), number(), number()))
        .collect();
    let x_gpu = gpu.to_device(&x)?;
    let grid = n.div_ceil(BLOCK);
    let padded = grid.next_multiple_of(BLOCK);
    let (sums, y) = (gpu.zeros::<u32>(padded)?, gpu.zeros::<UInt4>(n)?);
    let twin = vec![
        Twin::new("scan_sums", grid, BLOCK, arguments![x_gpu, sums, n]),
        Twin::new("scan_offsets", 1, BLOCK, arguments![sums, padded]),
        Twin::new("scan_tiles", grid, BLOCK, arguments![x_gpu, sums, y, n]),
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
            launch_either!(checks, scan_offsets / scan_offsets_unchecked[1, BLOCK](&mut *sums))?;
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
