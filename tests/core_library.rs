//! What kernels use of core and alloc beyond arithmetic: comparison and sorting of slices, iterators, bytes of text,
//! the heap, trait objects.
#![allow(missing_docs)]

mod common;

use std::collections::BTreeMap;

use common::Random;
use oxwarp::prelude::*;

#[kernel]
fn compare(x: &[u32], y: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let n = *i % 9;
        let arrays = [x[0], x[1], x[2], n as u32] == [y[0], y[1], y[2], 8];
        let prefix = x[..n] == y[..n];
        let order = x[..n].cmp(&y[..n]) as i8;
        *out = u32::from(arrays) * 100 + u32::from(prefix) * 10 + (order + 1) as u32;
    }
}

#[test]
fn slices_and_arrays_compare() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[1u32, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    let y = gpu.to_device(&[1u32, 2, 3, 4, 50, 6, 7, 8, 9]).unwrap();
    let mut out = gpu.zeros::<u32>(9).unwrap();
    launch!(compare[1, 32](&x, &y, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [11, 11, 11, 11, 11, 0, 0, 0, 100]);
}

#[kernel]
fn bytes(text: &[u8], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let is_key = text == b"oxwarp kernel";
        let starts = text.starts_with(b"oxwarp");
        let found = text
            .windows(6)
            .position(|window| window == b"kernel")
            .unwrap_or(99);
        let is_text = core::str::from_utf8(text).is_ok_and(|text| text.ends_with("kernel"));
        *out =
            u32::from(is_key) + 2 * u32::from(starts) + 4 * u32::from(is_text) + 8 * found as u32;
    }
}

#[test]
fn bytes_are_searched_and_compared() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(2).unwrap();
    for (text, expected) in [
        ("oxwarp kernel", 7 + 8 * 7),
        ("oxwarp", 2 + 8 * 99),
        ("a kernel", 4 + 8 * 2),
    ] {
        let text = gpu.to_device(text.as_bytes()).unwrap();
        launch!(bytes[1, 2](&text, &mut out)).unwrap();
        assert_eq!(out.to_vec().unwrap(), [expected; 2]);
    }
}

/// Each thread sorts a row of its own.
#[kernel]
fn sort_rows(x: &[u32], mut out: DisjointSlice<[u32; 40]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        out.copy_from_slice(&x[*i * 40..][..40]);
        out.sort_unstable_by(|a, b| b.cmp(a));
    }
}

#[test]
fn rows_are_sorted() {
    let gpu = Gpu::new().unwrap();
    let host = Random::new(6).below(40 * 33, 1000);
    let x = gpu.to_device(&host).unwrap();
    let mut out = gpu.full(33, [0u32; 40]).unwrap();
    launch!(sort_rows[2, 32](&x, &mut out)).unwrap();
    for (row, sorted) in host.chunks(40).zip(out.to_vec().unwrap()) {
        let mut expected = row.to_vec();
        expected.sort_by(|a, b| b.cmp(a));
        assert_eq!(sorted[..], expected);
    }
}

/// One number of the order of some.
fn order(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.fold(0, |sum, x| sum.rotate_left(5) ^ x)
}

/// The orders that stable sorts make of `x`, for keys of several widths; the keys repeat.
fn stable_orders(x: &[u32]) -> [u32; 5] {
    let mut by_key: Vec<(u32, u32)> = x.iter().map(|&x| (x % 10, x)).collect();
    by_key.sort_by_key(|pair| pair.0);
    let mut pairs: Vec<(u8, u16)> = x.iter().map(|&x| (x as u8 % 4, x as u16)).collect();
    pairs.sort();
    let mut wide: Vec<i64> = x.iter().map(|&x| (i64::from(x) - 500) << 30).collect();
    wide.sort_by(|a, b| b.cmp(a));
    let mut floats: Vec<f32> = x.iter().map(|&x| x as f32 - 500.0).collect();
    floats.sort_by(f32::total_cmp);
    let map: BTreeMap<u16, u32> = x.iter().map(|&x| (x as u16 % 50, x)).collect();
    [
        order(by_key.into_iter().map(|(_, x)| x)),
        order(
            pairs
                .into_iter()
                .map(|(key, x)| u32::from(key) << 16 | u32::from(x)),
        ),
        order(wide.into_iter().map(|x| (x >> 30) as u32)),
        order(floats.into_iter().map(f32::to_bits)),
        order(map.into_values()),
    ]
}

/// Each thread sorts as many numbers as its index.
#[kernel]
fn stable_sorts(x: &[u32], mut out: DisjointSlice<[u32; 5]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = stable_orders(&x[*i..][..*i]);
    }
}

#[test]
fn stable_sorts_of_all_lengths_keep_the_order_of_equals() {
    let gpu = Gpu::new().unwrap();
    let x = Random::new(7).below(300, 1000);
    let device_x = gpu.to_device(&x).unwrap();
    let mut out = gpu.full(150, [0u32; 5]).unwrap();
    launch!(stable_sorts[5, 32](&device_x, &mut out)).unwrap();
    let expected: Vec<_> = (0..150).map(|i| stable_orders(&x[i..][..i])).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

#[kernel]
fn heap(x: &[u32], mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut odd: Vec<u64> = x
            .iter()
            .filter(|x| *x % 2 == 1)
            .map(|&x| x.into())
            .collect();
        odd.push(*i as u64);
        odd.reverse();
        let boxed: Box<dyn Fn(u64) -> u64> = match *i % 2 {
            0 => Box::new(|x| x + 1),
            _ => Box::new(move |x| x * odd[0]),
        };
        *out = boxed(10);
    }
}

#[test]
fn vectors_and_boxed_closures() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[1u32, 2, 3]).unwrap();
    let mut out = gpu.zeros::<u64>(6).unwrap();
    launch!(heap[1, 32](&x, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [11, 10, 11, 30, 11, 50]);
}

trait Area {
    fn area(&self) -> f32;
}

struct Square(f32);
struct Rectangle(f32, f32);

impl Area for Square {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
}

impl Area for Rectangle {
    fn area(&self) -> f32 {
        self.0 * self.1
    }
}

#[kernel]
fn trait_objects(mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let (square, rectangle) = (Square(*i as f32), Rectangle(2.0, *i as f32));
        let all: [&dyn Area; 3] = [&square, &rectangle, &square];
        *out = all[*i % 3].area() + all.iter().map(|area| area.area()).sum::<f32>();
    }
}

#[test]
fn trait_objects_are_called() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<f32>(7).unwrap();
    launch!(trait_objects[1, 7](&mut out)).unwrap();
    let expected: Vec<f32> = (0..7)
        .map(|i| {
            let (square, rectangle) = ((i * i) as f32, (2 * i) as f32);
            [square, rectangle, square][i % 3] + 2.0 * square + rectangle
        })
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

#[kernel]
fn equal(x: u32, mut out: DisjointSlice<u32>) {
    assert_eq!(x, 5);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = x;
    }
}

#[test]
fn an_equality_that_does_not_hold_shows_both_sides() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(4).unwrap();
    launch!(equal[1, 4](5, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [5; 4]);
    launch!(equal[1, 4](4, &mut out)).unwrap();
    let error = gpu.synchronize().unwrap_err().to_string();
    assert!(
        error.ends_with("assertion `left == right` failed\n  left: 4\n right: 5"),
        "{error}"
    );
}

#[kernel]
fn wide_conversions(x: &[f64], mut out: DisjointSlice<u128>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[*i] as u128;
    }
}

#[test]
fn floats_convert_to_128_bits() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[0.5, -1.0, 1e30, 1e40, f64::NAN]).unwrap();
    let mut out = gpu.zeros::<u128>(5).unwrap();
    launch!(wide_conversions[1, 8](&x, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [0, 0, 1e30 as u128, u128::MAX, 0]);
}
