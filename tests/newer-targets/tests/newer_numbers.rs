//! Numbers where the target has an instruction that the default one lacks: the same results, by that instruction.
#![allow(missing_docs)]

#[path = "../../common/mod.rs"]
mod common;
#[path = "../../device_code/mod.rs"]
mod device_code;
#[path = "../../conversions/fp8.rs"]
mod fp8;

use common::Random;
use oxwarp::atomic::{AtomicBf16, AtomicBf16x2, AtomicScope, AtomicU128, Device, System};
use oxwarp::half::{Bf16, Bf16x2, F16, F16x2};
use oxwarp::prelude::*;
use oxwarp::target;

macro_rules! reductions {
    ($($name:ident: $number:ident;)*) => {$(
        mod $name {
            use super::*;

            /// Over a warp, over some lanes by a mask, and over tiles.
            #[kernel]
            fn $name(x: &[$number], mask: u32, mut out: DisjointSlice<[$number; 12]>) {
                let i = thread::index_1d();
                let (x, all) = (x[*i], group::warp());
                let tile = group::tile::<8>();
                let mut result = [
                    all.reduce_add(x),
                    all.reduce_min(x),
                    all.reduce_max(x),
                    all.reduce_and(x),
                    all.reduce_or(x),
                    all.reduce_xor(x),
                    tile.reduce_add(x),
                    tile.reduce_max(x),
                    0,
                    0,
                    0,
                    0,
                ];
                if mask & warp::lanemask_eq() != 0 {
                    let few = [
                        warp::reduce_add(mask, x),
                        warp::reduce_min(mask, x),
                        warp::reduce_max(mask, x),
                        warp::reduce_xor(mask, x),
                    ];
                    result[8..].copy_from_slice(&few);
                }
                if let Some(out) = out.get_mut(i) {
                    *out = result;
                }
            }

            #[test]
            fn reductions() {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(21);
                let x: Vec<$number> = (0..128).map(|_| random.bits() as $number).collect();
                let mask = random.bits() as u32 | 0x10;
                let mut out = gpu.zeros::<[$number; 12]>(128).unwrap();
                launch!($name[2, 64](&gpu.to_device(&x).unwrap(), mask, &mut out)).unwrap();
                for (i, out) in out.to_vec().unwrap().into_iter().enumerate() {
                    let warp = &x[i / 32 * 32..][..32];
                    let tile = &x[i / 8 * 8..][..8];
                    let few: Vec<$number> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| warp[lane]).collect();
                    let sum = |x: &[$number]| x.iter().fold(0, |sum: $number, &x| sum.wrapping_add(x));
                    let (min, max) = (|x: &[$number]| *x.iter().min().unwrap(), |x: &[$number]| *x.iter().max().unwrap());
                    let xor = |x: &[$number]| x.iter().fold(0, |all, &x| all ^ x);
                    let (and, or) = (warp.iter().fold(!0, |all, &x| all & x), warp.iter().fold(0, |all, &x| all | x));
                    let mut expected = vec![sum(warp), min(warp), max(warp), and, or, xor(warp), sum(tile), max(tile)];
                    if mask >> (i % 32) & 1 == 1 {
                        expected.extend([sum(&few), min(&few), max(&few), xor(&few)]);
                    } else {
                        expected.extend([0; 4]);
                    }
                    assert_eq!(out.to_vec(), expected, "{i} of {mask:x}");
                }
            }
        }
    )*};
}

reductions! {
    of_i8: i8;
    of_u16: u16;
    of_i32: i32;
    of_u32: u32;
    of_i64: i64;
}

#[test]
fn reductions_are_one_instruction() {
    let wanted = [
        "add.s32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32",
    ];
    let code = device_code::of("of_i32");
    device_code::contains(
        &code,
        &wanted
            .map(|operation| format!("redux.sync.{operation}"))
            .each_ref()
            .map(String::as_str),
    );
    assert!(!code.contains("shfl.sync"), "{code}");
    device_code::contains(
        &device_code::of("of_u32"),
        &["redux.sync.min.u32", "redux.sync.max.u32"],
    );
    device_code::contains(&device_code::of("of_i64"), &["shfl.sync"]);
}

#[kernel]
fn bfloats(x: &[Bf16], single: &[AtomicBf16], pair: &[AtomicBf16x2]) {
    for i in thread::grid_stride(x.len()) {
        single[0].scoped(Device).fetch_add(x[*i]);
        pair[0].scoped(System).fetch_add(Bf16x2::splat(x[*i]));
    }
}

#[test]
fn bfloats_add() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<f32> = Random::new(22)
        .below(200, 3)
        .iter()
        .map(|&x| x as f32 - 1.0)
        .collect();
    let device: Vec<Bf16> = x.iter().map(|&x| Bf16::from_f32(x)).collect();
    let mut single = gpu.zeros::<Bf16>(1).unwrap();
    let mut pair = gpu.zeros::<Bf16x2>(1).unwrap();
    launch!(bfloats[2, 32](&gpu.to_device(&device).unwrap(), &mut single, &mut pair)).unwrap();
    let sum = Bf16::from_f32(x.iter().sum());
    assert_eq!(single.to_vec().unwrap(), [sum]);
    assert_eq!(pair.to_vec().unwrap(), [Bf16x2::splat(sum)]);
    let wanted = [
        "red.relaxed.gpu.global.add.noftz.bf16 ",
        "red.relaxed.sys.global.add.noftz.bf16x2 ",
    ];
    device_code::contains(&device_code::of_target("bfloats", 90), &wanted);
    assert!(!device_code::of("bfloats").contains("noftz"));
}

/// The greatest of all, by an exchange of both halves at once; and how often it was this thread's turn.
#[kernel]
fn wide(x: &[u128], cells: &[AtomicU128], mut out: DisjointSlice<u128>) {
    if target::sm() < 90 {
        return;
    }
    let in_block = shared_atomics![AtomicU128; 1];
    in_block.fill(0);
    sync_threads();
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let x = x[*i];
    cells[0].scoped(Device).update(|old| old.max(x));
    in_block.at(0).update(|old| old + (1 << 70) + 1);
    *out = cells[1].scoped(System).swap(x);
    sync_threads();
    if thread::index_in_block() == 0 {
        let sum = in_block.at(0).load();
        while cells[2].scoped(Device).compare_exchange(0, sum).is_err() {
            cells[2].scoped(Device).store(0);
        }
    }
}

#[test]
fn integers_of_128_bits_are_exchanged() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(23);
    let mut x: Vec<u128> = (0..256)
        .map(|_| u128::from(random.bits()) << 64 | u128::from(random.bits()))
        .collect();
    let mut cells = gpu.zeros::<u128>(3).unwrap();
    let mut out = gpu.zeros::<u128>(256).unwrap();
    launch!(wide[4, 64](&gpu.to_device(&x).unwrap(), &mut cells, &mut out)).unwrap();
    let cells = cells.to_vec().unwrap();
    assert_eq!(cells[0], *x.iter().max().unwrap());
    assert_eq!(cells[2], 64 * ((1 << 70) + 1));
    // Every value that was put in came out again, but for the last; and the first 0.
    let mut taken = out.to_vec().unwrap();
    taken.push(cells[1]);
    x.push(0);
    taken.sort();
    x.sort();
    assert_eq!(taken, x);
    device_code::contains(
        &device_code::of_target("wide", 90),
        &["atom.relaxed.gpu.cas.b128", "atom.relaxed.cta.cas.b128"],
    );
}

#[test]
fn fp8_is_one_instruction() {
    let code = device_code::of_target("narrow", 90);
    device_code::contains(
        &code,
        &[
            "cvt.rn.satfinite.e4m3x2.f32",
            "cvt.rn.satfinite.e4m3x2.f16x2",
        ],
    );
    device_code::contains(
        &device_code::of_target("widen", 90),
        &["cvt.rn.f16x2.e4m3x2"],
    );
    assert!(!device_code::of("narrow").contains("e4m3"));
}

#[kernel]
fn halves(x: &[(F16, Bf16, F16x2, Bf16x2)], mut out: DisjointSlice<(F16, Bf16, F16x2, Bf16x2)>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let (a, b, c, d) = x[*i];
        *out = (
            a.min(F16::ONE).floor(),
            (b * b + b).max(Bf16::ONE),
            c.max(F16x2::splat(a)),
            (d + d.mul_add(d, d)).min(Bf16x2::splat(b)),
        );
    }
}

#[test]
fn halves_are_computed_by_their_own_instructions() {
    let wanted = [
        "min.f16 ",
        "cvt.rmi.f16.f16",
        "max.bf16 ",
        "max.f16x2",
        "fma.rn.bf16x2",
        "min.bf16x2",
    ];
    for target in [80, 90] {
        device_code::contains(&device_code::of_target("halves", target), &wanted);
    }
    let wanted = ["fma.rn.bf16 ", "add.bf16x2"];
    device_code::contains(&device_code::of_target("halves", 90), &wanted);
}

#[kernel]
fn half_sums(x: &[F16], mut out: DisjointSlice<[F16; 2]>) {
    let i = thread::index_1d();
    let all = group::warp();
    let result = [all.reduce_add(x[*i]), all.reduce_max(x[*i])];
    if let Some(out) = out.get_mut(i) {
        *out = result;
    }
}

#[test]
fn warps_reduce_halves() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<f32> = Random::new(24)
        .below(64, 9)
        .iter()
        .map(|&x| x as f32 - 4.0)
        .collect();
    let device: Vec<F16> = x.iter().map(|&x| F16::from_f32(x)).collect();
    let mut out = gpu.zeros::<[F16; 2]>(64).unwrap();
    launch!(half_sums[1, 64](&gpu.to_device(&device).unwrap(), &mut out)).unwrap();
    for (i, out) in out.to_vec().unwrap().into_iter().enumerate() {
        let warp = &x[i / 32 * 32..][..32];
        let expected = [
            warp.iter().sum(),
            warp.iter().copied().fold(f32::MIN, f32::max),
        ];
        assert_eq!(out.map(F16::to_f32), expected);
    }
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles();
}
