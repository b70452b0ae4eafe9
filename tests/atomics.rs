//! `core::sync::atomic` and the floating-point atomics: every operation, with contention.
#![allow(missing_docs)]

mod common;

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering::*};

use common::Random;
use oxwarp::prelude::*;

macro_rules! integer_atomics {
    ($($name:ident: $atomic:ident $int:ident;)*) => {$(
        mod $name {
            use super::*;

            /// One cell for each operation.
            #[kernel]
            fn fold(x: &[$int], cells: &[$atomic]) {
                for i in thread::grid_stride(x.len()) {
                    let x = x[*i];
                    cells[0].fetch_add(x, Relaxed);
                    cells[1].fetch_sub(x, Relaxed);
                    cells[2].fetch_and(x | 0x0f, AcqRel);
                    cells[3].fetch_or(x & 0x7ff, Acquire);
                    cells[4].fetch_xor(x, Release);
                    cells[5].fetch_min(x, Relaxed);
                    cells[6].fetch_max(x, Relaxed);
                    cells[7].fetch_nand(x & 1, SeqCst);
                }
            }

            #[test]
            fn operations() {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(3);
                let host: Vec<$int> = (0..1001).map(|_| random.bits() as $int).collect();
                let x = gpu.to_device(&host).unwrap();
                let start = [0, 0, -1i64 as $int, 0, 0, $int::MAX, $int::MIN, 0];
                let mut cells = gpu.to_device(&start).unwrap();
                launch!(fold[5, 64](&x, &mut cells)).unwrap();
                let cells = cells.to_vec().unwrap();
                let sum = host.iter().fold(0 as $int, |sum, &x| sum.wrapping_add(x));
                assert_eq!(cells[0], sum);
                assert_eq!(cells[1], (0 as $int).wrapping_sub(sum));
                assert_eq!(cells[2], host.iter().fold(-1i64 as $int, |all, &x| all & (x | 0x0f)));
                assert_eq!(cells[3], host.iter().fold(0, |all, &x| all | (x & 0x7ff)));
                assert_eq!(cells[4], host.iter().fold(0, |all, &x| all ^ x));
                assert_eq!(cells[5], *host.iter().min().unwrap());
                assert_eq!(cells[6], *host.iter().max().unwrap());
                // A nand with 0 or 1 leaves all ones, or all ones but the lowest bit.
                assert_eq!(cells[7] | 1, -1i64 as $int);
            }

            /// Tickets from an exchange loop, one winner of all, chains of swaps.
            #[kernel]
            fn exchange(cells: &[$atomic], mut tickets: DisjointSlice<$int>, failures: &[$atomic]) {
                let i = thread::index_1d();
                let mut seen = cells[0].load(Relaxed);
                while let Err(now) = cells[0].compare_exchange_weak(seen, seen + 1, AcqRel, Relaxed) {
                    seen = now;
                }
                if let Some(ticket) = tickets.get_mut(i) {
                    *ticket = seen;
                }
                match cells[1].compare_exchange(0, *i as $int + 1, SeqCst, SeqCst) {
                    Ok(_) => {
                        failures[0].fetch_add(1, Relaxed);
                    }
                    Err(found) => failures[1].store(found, Relaxed),
                }
                // What each swap takes out was put in once.
                let taken = cells[2].swap(*i as $int + 1, AcqRel);
                cells[3].fetch_add(taken, Relaxed);
                if cells[4].fetch_update(Relaxed, Relaxed, |x| (x < 100).then_some(x + 1)).is_err() {
                    failures[2].fetch_add(1, Relaxed);
                }
            }

            #[test]
            fn exchanges() {
                let gpu = Gpu::new().unwrap();
                let threads = 7 * 64;
                let mut cells = gpu.zeros::<$int>(5).unwrap();
                let mut failures = gpu.zeros::<$int>(3).unwrap();
                let mut tickets = gpu.zeros::<$int>(threads).unwrap();
                launch!(exchange[7, 64](&mut cells, &mut tickets, &mut failures)).unwrap();
                let mut tickets = tickets.to_vec().unwrap();
                tickets.sort();
                let threads = threads as $int;
                assert_eq!(tickets, (0..threads).collect::<Vec<_>>());
                let (cells, failures) = (cells.to_vec().unwrap(), failures.to_vec().unwrap());
                assert_eq!(cells[0], threads);
                assert!((1..=threads).contains(&cells[1]));
                assert_eq!(failures[0], 1);
                assert_eq!(failures[1], cells[1]);
                assert_eq!(cells[3] + cells[2], (1..=threads).sum::<$int>());
                assert_eq!(cells[4], 100);
                assert_eq!(failures[2], threads - 100);
            }
        }
    )*};
}

integer_atomics! {
    u32: AtomicU32 u32;
    i32: AtomicI32 i32;
    u64: AtomicU64 u64;
    i64: AtomicI64 i64;
}

macro_rules! float_atomics {
    ($($name:ident: $atomic:ident $float:ident;)*) => {$(
        mod $name {
            use super::*;

            #[kernel]
            fn fold(x: &[$float], cells: &[$atomic]) {
                for i in thread::grid_stride(x.len()) {
                    let x = x[*i];
                    cells[0].fetch_add(x);
                    cells[1].fetch_sub(x);
                    cells[2].fetch_min(x);
                    cells[3].fetch_max(x);
                    cells[4].update(|old| if old < 63.0 { old + 1.0 } else { 0.0 });
                    if cells[5].swap(x) == 0.5 {
                        cells[6].store(cells[6].load() + 1.0);
                    }
                }
            }

            /// Whole numbers, whose sums are exact in any order.
            #[test]
            fn operations() {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(4);
                let host: Vec<$float> = (0..1001).map(|_| (random.bits() % 2001) as $float - 1000.0).collect();
                let x = gpu.to_device(&host).unwrap();
                let mut cells = gpu.to_device(&[0.0, 0.0, 1e6, -1e6, 0.0, 0.5, 0.0 as $float]).unwrap();
                launch!(fold[3, 96](&x, &mut cells)).unwrap();
                let cells = cells.to_vec().unwrap();
                let sum: $float = host.iter().sum();
                assert_eq!(cells[0], sum);
                assert_eq!(cells[1], -sum);
                assert_eq!(cells[2], host.iter().copied().fold(1e6, $float::min));
                assert_eq!(cells[3], host.iter().copied().fold(-1e6, $float::max));
                assert_eq!(cells[4], (1001 % 64) as $float);
                assert!(host.contains(&cells[5]));
                assert_eq!(cells[6], 1.0);
            }
        }
    )*};
}

float_atomics! {
    f32: AtomicF32 f32;
    f64: AtomicF64 f64;
}

#[kernel]
fn histogram(x: &[u32], bins: &[AtomicU32]) {
    for i in thread::grid_stride(x.len()) {
        bins[x[*i] as usize].fetch_add(1, Relaxed);
    }
}

#[test]
fn a_histogram_counts_everything() {
    let gpu = Gpu::new().unwrap();
    let host = Random::new(5).below(100_000, 37);
    let x = gpu.to_device(&host).unwrap();
    let mut bins = gpu.zeros::<u32>(37).unwrap();
    launch!(histogram[20, 128](&x, &mut bins)).unwrap();
    let mut expected = vec![0u32; 37];
    host.iter().for_each(|&x| expected[x as usize] += 1);
    assert_eq!(bins.to_vec().unwrap(), expected);
}
