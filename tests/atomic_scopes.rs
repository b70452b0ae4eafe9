//! Atomics with a scope, with CUDA's own operations, of small integers, and in shared memory.
#![allow(missing_docs)]

mod common;
mod device_code;

use std::sync::atomic::{
    AtomicBool, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize, Ordering::*, fence,
};

use common::Random;
use oxwarp::atomic::{
    self, AtomicBf16, AtomicBf16x2, AtomicF16, AtomicF16x2, AtomicScope, Block, Device, Scope,
    System,
};
use oxwarp::half::{Bf16, Bf16x2, F16, F16x2};
use oxwarp::prelude::*;

macro_rules! integers {
    ($($name:ident: $atomic:ident $int:ident;)*) => {$(
        mod $name {
            use super::*;

            #[kernel]
            fn fold<S: Scope>(x: &[$int], cells: &[$atomic], scope: PhantomScope<S>) {
                let scope = scope.0;
                for i in thread::grid_stride(x.len()) {
                    let x = x[*i];
                    cells[0].scoped(scope).fetch_add(x, Relaxed);
                    cells[1].scoped(scope).fetch_sub(x, AcqRel);
                    cells[2].scoped(scope).fetch_and(x | 0x0f, SeqCst);
                    cells[3].scoped(scope).fetch_or(x & 0x7ff, Acquire);
                    cells[4].scoped(scope).fetch_xor(x, Release);
                    cells[5].scoped(scope).fetch_min(x, Relaxed);
                    cells[6].scoped(scope).fetch_max(x, Relaxed);
                    let count = cells[7].scoped(scope);
                    let mut old = count.load(Acquire);
                    while let Err(seen) = count.compare_exchange(old, old + 1, AcqRel, Acquire) {
                        old = seen;
                    }
                }
            }

            fn folds_with<S: Scope + 'static>(scope: S, blocks: u32) {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(3);
                let host: Vec<$int> = (0..1001).map(|_| random.bits() as $int).collect();
                let x = gpu.to_device(&host).unwrap();
                let start = [0, 0, -1i64 as $int, 0, 0, $int::MAX, $int::MIN, 0];
                let mut cells = gpu.to_device(&start).unwrap();
                launch!(fold[blocks, 64](&x, &mut cells, PhantomScope(scope))).unwrap();
                let sum = host.iter().fold(0 as $int, |sum, &x| sum.wrapping_add(x));
                let expected = vec![
                    sum,
                    (0 as $int).wrapping_sub(sum),
                    host.iter().fold(-1i64 as $int, |all, &x| all & (x | 0x0f)),
                    host.iter().fold(0, |all, &x| all | (x & 0x7ff)),
                    host.iter().fold(0, |all, &x| all ^ x),
                    *host.iter().min().unwrap(),
                    *host.iter().max().unwrap(),
                    1001,
                ];
                assert_eq!(cells.to_vec().unwrap(), expected);
            }

            #[test]
            fn every_operation_in_every_scope() {
                folds_with(Block, 1);
                folds_with(Device, 5);
                folds_with(System, 5);
            }
        }
    )*};
}

#[derive(Clone, Copy)]
struct PhantomScope<S>(S);

integers! {
    u32: AtomicU32 u32;
    i32: AtomicI32 i32;
    u64: AtomicU64 u64;
    i64: AtomicI64 i64;
    u16: AtomicU16 u16;
    i16: AtomicI16 i16;
    usize: AtomicUsize usize;
    isize: AtomicIsize isize;
}

#[kernel]
fn inc_dec(limits: &[u32], up: &[AtomicU32], down: &[AtomicU32], mut old: DisjointSlice<[u32; 2]>) {
    let i = thread::index_1d();
    let Some(old) = old.get_mut(i) else { return };
    let limit = limits[*i];
    *old = [
        up[*i].scoped(Device).fetch_inc(limit, Relaxed),
        down[*i].scoped(Device).fetch_dec(limit, Relaxed),
    ];
}

#[test]
fn inc_and_dec_wrap_and_return_the_old_value() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(5);
    let n = 500;
    let limits = random.below(n, 10);
    let mut start = random.below(n, 12);
    start[..3].copy_from_slice(&[0, u32::MAX, u32::MAX - 1]);
    let (mut up, mut down) = (
        gpu.to_device(&start).unwrap(),
        gpu.to_device(&start).unwrap(),
    );
    let mut old = gpu.zeros::<[u32; 2]>(n).unwrap();
    let device_limits = gpu.to_device(&limits).unwrap();
    inc_dec
        .for_each(n)
        .launch(&device_limits, &mut up, &mut down, &mut old)
        .unwrap();
    let pairs = || start.iter().zip(&limits);
    let inc: Vec<u32> = pairs()
        .map(|(&old, &c)| if old >= c { 0 } else { old + 1 })
        .collect();
    let dec: Vec<u32> = pairs()
        .map(|(&old, &c)| if old == 0 || old > c { c } else { old - 1 })
        .collect();
    assert_eq!(up.to_vec().unwrap(), inc);
    assert_eq!(down.to_vec().unwrap(), dec);
    assert_eq!(
        old.to_vec().unwrap(),
        start.iter().map(|&x| [x, x]).collect::<Vec<_>>()
    );
    let code = device_code::of("inc_dec");
    device_code::contains(&code, &["atom.global.inc.u32", "atom.global.dec.u32"]);
}

#[kernel]
fn float_scopes(x: &[f32], singles: &[AtomicF32], doubles: &[AtomicF64]) {
    for i in thread::grid_stride(x.len()) {
        let x = x[*i];
        singles[0].scoped(Device).fetch_add(x);
        singles[1].scoped(Device).fetch_sub(x);
        singles[2].scoped(Device).fetch_min(x);
        singles[3].scoped(Device).fetch_max(x);
        doubles[0].scoped(Device).fetch_add(x.into());
        doubles[1].scoped(Device).fetch_max(x.into());
    }
}

#[test]
fn floats_with_a_scope_pass_over_nan() {
    let gpu = Gpu::new().unwrap();
    // Small integers: their sum is exact in any order.
    let mut x: Vec<f32> = Random::new(7)
        .below(1000, 1000)
        .iter()
        .map(|&x| x as f32 - 500.0)
        .collect();
    let sum: f32 = x.iter().sum();
    let (min, max) = x
        .iter()
        .fold((f32::MAX, f32::MIN), |(a, b), &x| (a.min(x), b.max(x)));
    let start = [0.0, 0.0, f32::NAN, f32::NAN];
    let mut singles = gpu.to_device(&start).unwrap();
    let mut doubles = gpu.to_device(&[0.0, f64::NAN]).unwrap();
    let device = gpu.to_device(&x).unwrap();
    launch!(float_scopes[4, 64](&device, &mut singles, &mut doubles)).unwrap();
    assert_eq!(singles.to_vec().unwrap(), [sum, -sum, min, max]);
    assert_eq!(doubles.to_vec().unwrap(), [f64::from(sum), f64::from(max)]);
    x[500] = f32::NAN;
    let mut singles = gpu.to_device(&[0.0, 0.0, f32::MAX, f32::MIN]).unwrap();
    let device = gpu.to_device(&x).unwrap();
    launch!(float_scopes[4, 64](&device, &mut singles, &mut doubles)).unwrap();
    let (min, max) = x
        .iter()
        .fold((f32::MAX, f32::MIN), |(a, b), &x| (a.min(x), b.max(x)));
    assert_eq!(singles.to_vec().unwrap()[2..], [min, max]);
    let code = device_code::of("float_scopes");
    device_code::contains(&code, &["red.global.add.f32", "red.global.add.f64"]);
}

macro_rules! halves {
    ($($name:ident: $half:ident $atomic:ident, pairs $pair:ident $atomic_pair:ident;)*) => {$(
        mod $name {
            use super::*;

            #[kernel]
            fn sums<S: Scope>(x: &[$half], singles: &[$atomic], pairs: &[$atomic_pair], scope: PhantomScope<S>) {
                let (single, pair) = (shared_atomics![$atomic; 2], shared_atomics![$atomic_pair; 1]);
                let zero = $half::from_f32(0.0);
                single.fill(zero);
                pair.fill($pair::splat(zero));
                sync_threads();
                for i in thread::grid_stride(x.len()) {
                    let x = x[*i];
                    singles[0].scoped(scope.0).fetch_add(x);
                    singles[1].scoped(scope.0).fetch_sub(x);
                    singles[2].scoped(scope.0).fetch_min(x);
                    singles[3].scoped(scope.0).fetch_max(x);
                    pairs[0].scoped(scope.0).fetch_add($pair::new(x, -x));
                    single.at(0).fetch_add(x);
                    pair.at(0).fetch_sub($pair::new(x, -x));
                }
                sync_threads();
                if thread::index_in_block() == 0 {
                    singles[4].fetch_add(single.at(0).load());
                    pairs[1].fetch_sub(pair.at(0).swap($pair::splat(zero)));
                    if singles[5].swap($half::ONE) == zero {
                        singles[6].update(|old| old + $half::ONE);
                    }
                    pairs[2].store($pair::splat($half::ONE));
                }
            }

            fn sums_with<S: Scope + 'static>(scope: S, blocks: u32) {
                let gpu = Gpu::new().unwrap();
                // Every partial sum is a whole number that the type holds.
                let x: Vec<f32> = Random::new(15).below(600, 3).iter().map(|&x| x as f32 - 1.0).collect();
                let sum: f32 = x.iter().sum();
                let host: Vec<$half> = x.iter().map(|&x| $half::from_f32(x)).collect();
                let start = [0.0, 0.0, f32::NAN, f32::NAN, 0.0, 0.0, 0.0].map($half::from_f32);
                let mut singles = gpu.to_device(&start).unwrap();
                let mut pairs = gpu.zeros::<$pair>(3).unwrap();
                let device = gpu.to_device(&host).unwrap();
                launch!(sums[blocks, 64](&device, &mut singles, &mut pairs, PhantomScope(scope))).unwrap();
                let singles: Vec<f32> = singles.to_vec().unwrap().iter().map(|x| x.to_f32()).collect();
                assert_eq!(singles, [sum, -sum, -1.0, 1.0, sum, 1.0, 1.0]);
                let pairs = pairs.to_vec().unwrap().into_iter().map(|pair| [pair.lo().to_f32(), pair.hi().to_f32()]);
                assert_eq!(pairs.collect::<Vec<_>>(), [[sum, -sum], [sum, -sum], [1.0, 1.0]]);
            }

            #[test]
            fn sums_in_every_scope() {
                sums_with(Block, 1);
                sums_with(Device, 5);
                sums_with(System, 5);
            }
        }
    )*};
}

halves! {
    f16: F16 AtomicF16, pairs F16x2 AtomicF16x2;
    bf16: Bf16 AtomicBf16, pairs Bf16x2 AtomicBf16x2;
}

#[kernel]
fn half_instructions(
    x: &[F16],
    y: &[AtomicF16],
    pairs: &[AtomicF16x2],
    mut old: DisjointSlice<F16>,
) {
    let (in_shared, x) = (shared_atomics![AtomicF16; 2], x[0]);
    y[0].scoped(Device).fetch_add(x);
    pairs[0].scoped(Block).fetch_add(F16x2::splat(x));
    in_shared.at(1).fetch_add(x);
    if let Some(old) = old.get_mut(thread::index_1d()) {
        *old = y[1].fetch_add(x);
    }
}

#[test]
fn halves_add_in_one_instruction() {
    let wanted = [
        "red.relaxed.gpu.global.add.noftz.f16 ",
        "red.relaxed.cta.global.add.noftz.f16x2 ",
        "red.relaxed.cta.shared.add.noftz.f16 ",
        "atom.relaxed.sys.global.add.noftz.f16 ",
    ];
    device_code::contains(&device_code::of("half_instructions"), &wanted);
}

#[kernel]
fn small(x: &[u8], bytes: &[AtomicU8], words: &[AtomicU16], seen: &[AtomicBool]) {
    for i in thread::grid_stride(x.len()) {
        bytes[usize::from(x[*i] % 8)].fetch_add(1, Relaxed);
        words[usize::from(x[*i] % 4)].fetch_max(u16::from(x[*i]), Relaxed);
        if x[*i] > 250 {
            seen[0].store(true, Relaxed);
        }
        seen[1].fetch_or(x[*i] == 7, SeqCst);
    }
}

#[test]
fn bytes_words_and_booleans() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<u8> = Random::new(9)
        .below(1000, 256)
        .iter()
        .map(|&x| x as u8)
        .collect();
    let mut bytes = gpu.zeros::<u8>(8).unwrap();
    let mut words = gpu.zeros::<u16>(4).unwrap();
    let mut seen = gpu.to_device(&[false, false]).unwrap();
    let device = gpu.to_device(&x).unwrap();
    launch!(small[4, 64](&device, &mut bytes, &mut words, &mut seen)).unwrap();
    let mut counts = [0u8; 8];
    let mut greatest = [0u16; 4];
    for &x in &x {
        counts[usize::from(x % 8)] += 1;
        let greatest = &mut greatest[usize::from(x % 4)];
        *greatest = u16::from(x).max(*greatest);
    }
    assert_eq!(bytes.to_vec().unwrap(), counts);
    assert_eq!(words.to_vec().unwrap(), greatest);
    assert_eq!(
        seen.to_vec().unwrap(),
        [x.iter().any(|&x| x > 250), x.contains(&7)]
    );
}

#[kernel]
fn histogram(x: &[u32], counts: &[AtomicU32]) {
    let bins = shared_atomics![AtomicU32; 32];
    bins.fill(0);
    sync_threads();
    for i in thread::grid_stride(x.len()) {
        bins.at(x[*i] as usize).fetch_add(1, Relaxed);
    }
    sync_threads();
    for bin in (thread::index_in_block()..bins.len()).step_by(block::len()) {
        counts[bin]
            .scoped(Device)
            .fetch_add(bins.at(bin).load(Relaxed), Relaxed);
    }
}

#[test]
fn a_shared_histogram_counts_everything_once() {
    let gpu = Gpu::new().unwrap();
    let x = Random::new(11).below(10_000, 32);
    let mut expected = vec![0u32; 32];
    x.iter().for_each(|&x| expected[x as usize] += 1);
    let device = gpu.to_device(&x).unwrap();
    for (grid, block) in [(1, 32), (7, 96), (3, 17)] {
        let mut counts = gpu.zeros::<u32>(32).unwrap();
        launch!(histogram[grid, block](&device, &mut counts)).unwrap();
        assert_eq!(
            counts.to_vec().unwrap(),
            expected,
            "{grid} blocks of {block}"
        );
    }
    let code = device_code::of("histogram");
    device_code::contains(
        &code,
        &["red.relaxed.cta.shared.add.u32", "red.global.add.u32"],
    );
}

#[kernel]
fn shared_sums(x: &[f64], sums: &[AtomicF64]) {
    let sum = shared_atomics![AtomicF64; 1];
    sum.fill(0.0);
    sync_threads();
    for i in thread::grid_stride(x.len()) {
        sum.at(0).fetch_add(x[*i]);
    }
    sync_threads();
    if thread::index_in_block() == 0 {
        sums[0].fetch_add(sum.at(0).load());
    }
}

#[test]
fn shared_doubles_add() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<f64> = Random::new(13)
        .below(1000, 100)
        .iter()
        .map(|&x| x.into())
        .collect();
    let mut sums = gpu.zeros::<f64>(1).unwrap();
    launch!(shared_sums[3, 64](&gpu.to_device(&x).unwrap(), &mut sums)).unwrap();
    assert_eq!(sums.to_vec().unwrap(), [x.iter().sum::<f64>()]);
    device_code::contains(
        &device_code::of("shared_sums"),
        &["red.relaxed.cta.shared.add.f64"],
    );
}

#[kernel]
fn shared_index(at: &[u32], mut out: DisjointSlice<u32>) {
    let bins = shared_atomics![AtomicU32; 4];
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = bins.at(at[0] as usize).load(Relaxed);
    }
}

#[test]
fn an_index_out_of_a_shared_array_panics() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    let at = gpu.to_device(&[4u32]).unwrap();
    let launched = launch!(shared_index[1, 1](&at, &mut out)).and_then(|()| gpu.synchronize());
    let error = launched.unwrap_err().to_string();
    assert!(error.contains("the len is 4 but the index is 4"), "{error}");
}

#[kernel]
fn fences(x: &[AtomicU32]) {
    x[0].store(1, Relaxed);
    fence(SeqCst);
    x[1].store(2, Relaxed);
    atomic::fence(Block, AcqRel);
    x[0].store(3, Relaxed);
    atomic::fence(Device, SeqCst);
    x[1].store(4, Release);
    atomic::fence(System, SeqCst);
    x[0].store(5, SeqCst);
}

#[test]
fn fences_compile_to_fences() {
    let gpu = Gpu::new().unwrap();
    let mut x = gpu.zeros::<u32>(2).unwrap();
    launch!(fences[1, 1](&mut x)).unwrap();
    assert_eq!(x.to_vec().unwrap(), [5, 4]);
    let code = device_code::of("fences");
    device_code::contains(
        &code,
        &["fence.sc.sys", "fence.acq_rel.cta", "fence.sc.gpu"],
    );
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles();
}
