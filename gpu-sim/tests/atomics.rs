//! Atomics of all threads of a launch add up.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};

use common::launch_1d;
use gpu_std::atomic::{AtomicF32, AtomicF64};
use gpu_std::thread;

#[test]
fn integers() {
    let bins: Vec<AtomicU32> = (0..7).map(|_| AtomicU32::new(0)).collect();
    launch_1d(700, 128, || {
        bins[*thread::index_1d() % 7].fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    assert!(
        bins.iter()
            .all(|bin| bin.load(Ordering::Relaxed) == 100 * 128)
    );
}

#[test]
fn floats() {
    let (single, double) = (AtomicF32::new(0.5), AtomicF64::new(0.25));
    launch_1d(100, 100, || {
        let old = single.fetch_add(1.0);
        assert_eq!(old.fract(), 0.5);
        double.fetch_add(*thread::index_1d() as f64);
    })
    .unwrap();
    assert_eq!(single.load(), 10_000.5);
    assert_eq!(double.load(), 49_995_000.25);
}
