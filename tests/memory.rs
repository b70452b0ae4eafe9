//! Cache-hinted loads and stores, prefetches, clocks, waiting, and local arrays.
#![allow(missing_docs, clippy::too_many_arguments)]

mod common;
mod device_code;

use common::Random;
use oxwarp::prelude::*;
use oxwarp::vector::{Float2, UChar4, UInt4};
use oxwarp::{memory, time};

macro_rules! copies {
    ($($name:ident $load:ident $store:ident [$($wanted:literal),*];)*) => {$(
        mod $name {
            use super::*;

            #[kernel]
            fn $name(
                a: &[u8], b: &[u16], c: &[f32], d: &[Float2], e: &[UInt4], f: &[[u32; 3]],
                mut out: DisjointSlice<(u8, u16, f32, Float2, UInt4, [u32; 3])>,
                mut words: DisjointSlice<u32>, mut bytes: DisjointSlice<u8>, mut wide: DisjointSlice<UInt4>,
                mut pairs: DisjointSlice<Float2>, mut shorts: DisjointSlice<u16>,
            ) {
                let i = thread::index_1d();
                let Some(out) = out.get_mut(i) else { return };
                memory::prefetch_l1(&a[*i]);
                memory::prefetch_l2(&e[*i]);
                *out = (
                    memory::$load(&a[*i]),
                    memory::$load(&b[*i]),
                    memory::$load(&c[*i]),
                    memory::$load(&d[*i]),
                    memory::$load(&e[*i]),
                    memory::$load(&f[*i]),
                );
                let (byte, short, float, pair, vector, three) = *out;
                if let Some(word) = words.get_mut(i) {
                    memory::$store(word, float.to_bits() ^ three[2]);
                }
                if let Some(place) = bytes.get_mut(i) {
                    memory::$store(place, byte);
                }
                if let Some(place) = wide.get_mut(i) {
                    memory::$store(place, vector);
                }
                if let Some(place) = pairs.get_mut(i) {
                    memory::$store(place, pair);
                }
                if let Some(place) = shorts.get_mut(i) {
                    memory::$store(place, short);
                }
            }

            #[test]
            fn copies() {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(1);
                let n = 300;
                let words = random.below(n, u32::MAX);
                let a: Vec<u8> = words.iter().map(|&x| x as u8).collect();
                let b: Vec<u16> = words.iter().map(|&x| (x >> 8) as u16).collect();
                let c = random.floats(n, -1.0, 1.0);
                let d: Vec<Float2> = c.iter().map(|&x| Float2::new(x, -x)).collect();
                let e: Vec<UInt4> = words.iter().map(|&x| UInt4::new(x, !x, x ^ 7, x | 9)).collect();
                let f: Vec<[u32; 3]> = words.iter().map(|&x| [x, !x, x / 3]).collect();
                let nothing = (0, 0, 0.0, Float2::default(), UInt4::default(), [0; 3]);
                let mut out = gpu.full(n, nothing).unwrap();
                let mut word = gpu.zeros::<u32>(n).unwrap();
                let mut byte = gpu.zeros::<u8>(n).unwrap();
                let mut wide = gpu.zeros::<UInt4>(n).unwrap();
                let mut pair = gpu.zeros::<Float2>(n).unwrap();
                let mut short = gpu.zeros::<u16>(n).unwrap();
                $name
                    .for_each(n)
                    .launch(
                        &gpu.to_device(&a).unwrap(), &gpu.to_device(&b).unwrap(), &gpu.to_device(&c).unwrap(),
                        &gpu.to_device(&d).unwrap(), &gpu.to_device(&e).unwrap(), &gpu.to_device(&f).unwrap(),
                        &mut out, &mut word, &mut byte, &mut wide, &mut pair, &mut short,
                    )
                    .unwrap();
                let expected: Vec<_> = (0..n).map(|i| (a[i], b[i], c[i], d[i], e[i], f[i])).collect();
                assert_eq!(out.to_vec().unwrap(), expected);
                let expected: Vec<u32> = (0..n).map(|i| c[i].to_bits() ^ f[i][2]).collect();
                assert_eq!(word.to_vec().unwrap(), expected);
                assert_eq!(byte.to_vec().unwrap(), a);
                assert_eq!(wide.to_vec().unwrap(), e);
                assert_eq!(pair.to_vec().unwrap(), d);
                assert_eq!(short.to_vec().unwrap(), b);
                device_code::contains(&device_code::of(stringify!($name)), &["prefetch.L1", "prefetch.L2", $($wanted),*]);
            }
        }
    )*};
}

copies! {
    streaming ldcs stcs ["ld.global.cs.u8", "ld.global.cs.u16", "ld.global.cs.u32", "ld.global.cs.u64",
        "ld.global.cs.v2.u64", "st.global.cs.u8", "st.global.cs.u16", "st.global.cs.u32", "st.global.cs.u64",
        "st.global.cs.v2.u64"];
    at_all_levels ldca stwb ["ld.global.ca.u32", "st.global.wb.u32"];
    at_level_2 ldcg stcg ["ld.global.cg.u32", "st.global.cg.u32"];
    last_use ldlu stwt ["ld.global.lu.u32", "st.global.wt.u32"];
    volatile ldcv stwt ["ld.global.cv.u32", "st.global.wt.u32"];
}

/// A reference to what is not in global memory.
#[kernel]
fn local_arrays(x: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let mut counts = [0u32; 100];
    for &x in x {
        counts[(x as usize + *i) % 100] += 1;
    }
    let at = counts[*i % 100] as usize;
    memory::stcs(&mut counts[at], 1000);
    *out = memory::ldcs(&counts[(*i + at) % 100]) + memory::ldcs(&counts[at]);
}

#[test]
fn local_memory_is_read_and_written_without_hints() {
    let gpu = Gpu::new().unwrap();
    let x = Random::new(2).below(500, 1000);
    let mut out = gpu.zeros::<u32>(200).unwrap();
    local_arrays
        .for_each(200)
        .launch(&gpu.to_device(&x).unwrap(), &mut out)
        .unwrap();
    let expected: Vec<u32> = (0..200)
        .map(|i| {
            let mut counts = [0u32; 100];
            x.iter().for_each(|&x| counts[(x as usize + i) % 100] += 1);
            let at = counts[i % 100] as usize;
            counts[at] = 1000;
            counts[(i + at) % 100] + counts[at]
        })
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
    let code = device_code::of("local_arrays");
    device_code::contains(&code, &[".local"]);
}

#[kernel]
fn bytes_as_pixels(x: &[UChar4], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let pixel = memory::ldcs(&x[*i]);
        *out = pixel.to_array().map(u32::from).iter().sum();
    }
}

#[test]
fn small_vectors_take_hints() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<UChar4> = (0..=255).map(|x| UChar4::new(x, !x, x / 2, 1)).collect();
    let mut out = gpu.zeros::<u32>(256).unwrap();
    bytes_as_pixels
        .for_each(256)
        .launch(&gpu.to_device(&x).unwrap(), &mut out)
        .unwrap();
    assert_eq!(
        out.to_vec().unwrap(),
        (0..256).map(|x| 255 + x / 2 + 1).collect::<Vec<u32>>()
    );
}

#[kernel]
fn clocks(mut out: DisjointSlice<[u64; 3]>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let (cycles, cycles64, nanoseconds) =
            (time::clock(), time::clock64(), time::global_timer());
        time::nanosleep(100);
        *out = [
            u64::from(time::clock().wrapping_sub(cycles)),
            time::clock64() - cycles64,
            time::global_timer() - nanoseconds,
        ];
    }
}

#[test]
fn clocks_go_forward() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<[u64; 3]>(64).unwrap();
    clocks.for_each(64).launch(&mut out).unwrap();
    let second = 1 << 31;
    assert!(
        out.to_vec()
            .unwrap()
            .iter()
            .flatten()
            .all(|&time| time < second)
    );
    let wanted = ["%clock;", "%clock64;", "%globaltimer;", "nanosleep.u32"];
    device_code::contains(&device_code::of("clocks"), &wanted);
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles();
}
