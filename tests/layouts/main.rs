//! Types of random layouts cross a launch unchanged: by value, in slices and back, each field compared on both sides.
//!
//! `types.rs` holds the types, which [`generate`] makes from a seed: structures and enums of each `repr` and alignments to
//! 16, nested in each other, in arrays, tuples, `Option` and `Result`.
#![allow(missing_docs, clippy::all)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../device_code/mod.rs"]
mod device_code;
mod generate;
mod leaves;
#[macro_use]
mod declare;
#[rustfmt::skip]
mod types;

use std::fmt::Debug;
use std::path::Path;

use common::Random;
use leaves::{Leaves, Value};
use oxwarp::DeviceCopy;
use oxwarp::prelude::*;

/// Each of four threads takes a value to pieces, and gives it back whole: two come as parameters, with others of odd
/// sizes around them, and two in a slice.
#[kernel]
fn take_apart<T: Value + DeviceCopy>(
    before: u8,
    first: T,
    between: u16,
    second: T,
    after: u8,
    rest: &[T],
    mut whole: DisjointSlice<T>,
    mut parts: DisjointSlice<Leaves>,
) {
    let i = thread::index_1d();
    let value = match *i {
        0 => first,
        1 => second,
        n => rest[n - 2],
    };
    if let Some(whole) = whole.get_mut(i) {
        *whole = value;
    }
    if let Some(parts) = parts.get_mut(i) {
        *parts = Leaves::of(&(before, value, between, after));
    }
}

/// Launches it with random values.
fn crosses<T: Value + DeviceCopy + PartialEq + Debug + 'static>() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(size_of::<T>() as u64);
    for _ in 0..3 {
        let values: [T; 4] = std::array::from_fn(|_| T::random(&mut random));
        let [first, second, rest @ ..] = values;
        let (before, between, after) = (0xa5, 0xbeef, 0x3c);
        let rest = gpu.to_device(&rest).unwrap();
        let mut whole = gpu.full(4, first).unwrap();
        let mut parts = gpu.full(4, Leaves::default()).unwrap();
        take_apart
            .on(&gpu)
            .grid(1)
            .block(4)
            .launch(
                before, first, between, second, after, &rest, &mut whole, &mut parts,
            )
            .unwrap();
        for (i, parts) in parts.to_vec().unwrap().iter().enumerate() {
            let expected = Leaves::of(&(before, values[i], between, after));
            assert_eq!(*parts, expected, "of value {i}, {:?}", values[i]);
        }
        assert_eq!(whole.to_vec().unwrap(), values);
    }
}

#[test]
fn the_types_are_those_of_the_seed() {
    let wanted = generate::types();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layouts/types.rs");
    if std::env::var("OXWARP_BLESS").is_ok_and(|value| value == "1") {
        std::fs::write(&path, &wanted).unwrap();
    }
    assert_eq!(
        include_str!("types.rs"),
        wanted,
        "OXWARP_BLESS=1 writes the file anew"
    );
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles_for_its_target();
}
