//! Bitonic sort of tiles of 2048 keys, each by a block in shared memory.

use oxwarp::prelude::*;
use oxwarp::vector::UInt2;

use super::case::{arguments, launch_either, with_unchecked};
use super::random::Random;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

const BLOCK: usize = 1024;
const TILE: usize = 2 * BLOCK;

with_unchecked! {
    bitonic_sort_unchecked:
    #[kernel(launch_bounds(1024))]
    fn bitonic_sort(keys: &[UInt2], mut sorted: DisjointSlice<UInt2>) {
        let tile = shared_array![u32; TILE];
        let i = thread::index_1d();
        let t = thread::thread_idx_x();
        let two = 2 * t as usize;
        tile.set(two, keys[*i].x);
        tile.set(two + 1, keys[*i].y);
        let mut size = 2;
        while size <= TILE as u32 {
            let mut distance = size / 2;
            while distance > 0 {
                sync_threads();
                let low = 2 * t - (t & (distance - 1));
                let high = low + distance;
                let (a, b) = (tile.get(low as usize), tile.get(high as usize));
                let is_ascending = low & size == 0;
                if (a > b) == is_ascending {
                    tile.set(low as usize, b);
                    tile.set(high as usize, a);
                }
                distance /= 2;
            }
            size *= 2;
        }
        sync_threads();
        if let Some(sorted) = sorted.get_mut(i) {
            *sorted = UInt2::new(tile.get(two), tile.get(two + 1));
        }
    }
}

pub const BITONIC: Entry = Entry {
    name: "bitonic_sort",
    kernels: &["bitonic_sort"],
    index_bits: 32,
    source: Source {
        name: "bitonic.cu",
        text: include_str!("bitonic.cu"),
        fast_math: false,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    let tiles: usize = size.pick(1 << 14, 2);
    let mut random = Random::new(1);
    let mut key = || random.bits() as u32;
    let keys: Vec<UInt2> = (0..tiles * BLOCK)
        .map(|_| UInt2::new(key(), key()))
        .collect();
    let keys_gpu = gpu.to_device(&keys)?;
    let sorted = gpu.zeros::<UInt2>(tiles * BLOCK)?;
    let twin = Twin::new("bitonic_sort", tiles, BLOCK, arguments![keys_gpu, sorted]);
    let mut wanted = bytemuck::cast_slice::<_, u32>(&keys).to_vec();
    wanted.chunks_mut(TILE).for_each(<[u32]>::sort_unstable);
    Ok(Case::new(
        Work::Results((tiles * TILE) as f64),
        vec![twin],
        sorted,
        |sorted| sorted.fill(UInt2::splat(0)),
        move |checks, sorted| launch_either!(checks, bitonic_sort / bitonic_sort_unchecked[tiles, BLOCK](&keys_gpu, sorted)),
        move |sorted| {
            let sorted = sorted.to_vec()?;
            let pairs = bytemuck::cast_slice::<_, u32>(&sorted).iter().zip(&wanted);
            let wrong = pairs.into_iter().position(|(a, b)| a != b);
            wrong.map_or(Ok(()), |i| Err(format!("key {i} is wrong").into()))
        },
    ))
}
