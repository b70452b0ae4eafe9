//! Constant memory: statics that kernels read and the host fills; and plain constants and statics of the source, whose
//! values are those of the build.
#![allow(missing_docs, clippy::type_complexity)]

mod common;
mod device_code;

use common::Random;
use oxwarp::prelude::*;

/// A record with gaps between its fields.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Record {
    tag: u8,
    weight: f64,
    on: bool,
    at: [i16; 3],
}

const RECORD: Record = Record {
    tag: 7,
    weight: -0.5,
    on: true,
    at: [1, -2, 3],
};

constant! {
    /// One dimension.
    static LINE: [f64; 5] = [10.8, 54.0, 16.2, 64.8, 162.0];
    static EMPTY: [f32; 0] = [];
    static BYTES_AND_NUMBERS: ([u8; 3], f64) = ([1, 2, 3], 0.25);
    static ROWS: [[i32; 4]; 3] = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]];
    static PLANES: [[[f32; 2]; 3]; 4] = [[[0.0; 2]; 3]; 4];
    static RECORDS: [Record; 2] = [RECORD; 2];
    static NUMBER: u32 = 5;
    static TABLE: [f32; 32] = [0.0; 32];
    static LARGE: [u16; 20_000] = [0; 20_000];
}

#[kernel]
fn read_all(
    mut line: DisjointSlice<f64>,
    mut rows: DisjointSlice<i32>,
    mut planes: DisjointSlice<f32>,
    mut records: DisjointSlice<Record>,
    mut sums: DisjointSlice<f64>,
) {
    let i = thread::index_1d();
    if let Some(out) = line.get_mut(i) {
        *out = LINE[*i];
    }
    if let Some(out) = rows.get_mut(i) {
        *out = ROWS[*i / 4][*i % 4];
    }
    if let Some(out) = planes.get_mut(i) {
        *out = PLANES[*i / 6][*i / 2 % 3][*i % 2];
    }
    if let Some(out) = records.get_mut(i) {
        *out = RECORDS[*i];
    }
    if let Some(out) = sums.get_mut(i) {
        let (bytes, number) = *BYTES_AND_NUMBERS;
        *out = EMPTY.len() as f64 + f64::from(bytes[*i % 3]) + number + f64::from(*NUMBER);
    }
}

/// What the kernel reads on this device.
fn read(gpu: &Gpu) -> (Vec<f64>, Vec<i32>, Vec<f32>, Vec<Record>, Vec<f64>) {
    let mut line = gpu.zeros::<f64>(5).unwrap();
    let mut rows = gpu.zeros::<i32>(12).unwrap();
    let mut planes = gpu.zeros::<f32>(24).unwrap();
    let mut records = gpu.full(2, Record { tag: 0, ..RECORD }).unwrap();
    let mut sums = gpu.zeros::<f64>(3).unwrap();
    launch!(read_all[1, 32](&mut line, &mut rows, &mut planes, &mut records, &mut sums)).unwrap();
    let all = (
        line.to_vec(),
        rows.to_vec(),
        planes.to_vec(),
        records.to_vec(),
        sums.to_vec(),
    );
    (
        all.0.unwrap(),
        all.1.unwrap(),
        all.2.unwrap(),
        all.3.unwrap(),
        all.4.unwrap(),
    )
}

#[test]
fn the_source_gives_the_first_value_and_the_host_the_next() {
    let gpu = Gpu::new().unwrap();
    let (line, rows, planes, records, sums) = read(&gpu);
    assert_eq!(line, [10.8, 54.0, 16.2, 64.8, 162.0]);
    assert_eq!(rows, (1..=12).collect::<Vec<i32>>());
    assert_eq!(planes, [0.0; 24]);
    assert_eq!(records, [RECORD; 2]);
    assert_eq!(sums, [6.25, 7.25, 8.25]);

    let other = Record {
        tag: 9,
        weight: 3.5,
        on: false,
        at: [-1, 0, 1],
    };
    let mut cubes = [[[0.0; 2]; 3]; 4];
    cubes
        .as_flattened_mut()
        .as_flattened_mut()
        .iter_mut()
        .enumerate()
        .for_each(|(i, x)| *x = i as f32);
    gpu.set_constant(&LINE, &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    gpu.set_constant(&ROWS, &[[-1; 4], [-2; 4], [-3; 4]])
        .unwrap();
    gpu.set_constant(&PLANES, &cubes).unwrap();
    gpu.set_constant(&RECORDS, &[RECORD, other]).unwrap();
    gpu.set_constant(&BYTES_AND_NUMBERS, &([4, 5, 6], 0.5))
        .unwrap();
    gpu.set_constant(&EMPTY, &[]).unwrap();
    gpu.set_constant(&NUMBER, &100).unwrap();
    let (line, rows, planes, records, sums) = read(&gpu);
    assert_eq!(line, [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(rows, [-1, -1, -1, -1, -2, -2, -2, -2, -3, -3, -3, -3]);
    assert_eq!(planes, (0..24).map(|i| i as f32).collect::<Vec<f32>>());
    assert_eq!(records, [RECORD, other]);
    assert_eq!(sums, [104.5, 105.5, 106.5]);

    let next = Gpu::new().unwrap();
    assert_eq!(
        read(&next).0,
        [10.8, 54.0, 16.2, 64.8, 162.0],
        "each device has its own values"
    );
    assert_eq!(LINE[1], 54.0, "host code reads the source's");
}

#[kernel]
fn copy_table(mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = TABLE[*i];
    }
}

#[test]
fn random_numbers_come_back_and_a_launch_sees_what_was_set_before_it() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(1);
    let mut outs = Vec::new();
    for _ in 0..10 {
        let values: [f32; 32] = random.floats(32, -1.0, 1.0).try_into().unwrap();
        gpu.set_constant(&TABLE, &values).unwrap();
        let mut out = gpu.zeros::<f32>(32).unwrap();
        launch!(copy_table[1, 32](&mut out)).unwrap();
        outs.push((out, values));
    }
    for (out, values) in outs {
        assert_eq!(out.to_vec().unwrap(), values);
    }
}

/// Through a function that is not told which constant it reads.
#[inline(never)]
fn sum_of(x: &[u16], from: usize) -> u32 {
    x.iter()
        .skip(from)
        .step_by(100)
        .map(|&x| u32::from(x))
        .sum()
}

#[kernel]
fn sums_of_large(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = sum_of(&*LARGE, *i);
    }
}

#[test]
fn most_of_constant_memory_and_a_reference_to_it() {
    let gpu = Gpu::new().unwrap();
    let values = Random::new(2).below(20_000, 1 << 16);
    let values: Vec<u16> = values.into_iter().map(|x| x as u16).collect();
    gpu.set_constant(&LARGE, values.as_slice().try_into().unwrap())
        .unwrap();
    let mut out = gpu.zeros::<u32>(100).unwrap();
    launch!(sums_of_large[1, 100](&mut out)).unwrap();
    let expected: Vec<u32> = (0..100).map(|from| sum_of(&values, from)).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// An index out of bounds is a panic as everywhere.
#[kernel]
fn beyond(i: usize, mut out: DisjointSlice<f64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = LINE[i];
    }
}

#[test]
fn indices_are_checked() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<f64>(1).unwrap();
    launch!(beyond[1, 1](5, &mut out)).unwrap();
    let error = out.to_vec().unwrap_err().to_string();
    assert!(
        error.ends_with("index out of bounds: the len is 5 but the index is 5"),
        "{error}"
    );
}

const FROZEN: [f64; 5] = [10.8, 54.0, 16.2, 64.8, 162.0];
static STATIC: [u32; 6] = [3, 1, 4, 1, 5, 9];
static WORDS: [&str; 3] = ["one", "three", "fourteen"];

#[kernel]
fn frozen(mut out: DisjointSlice<(f64, u32, usize)>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = (FROZEN[*i % 5], STATIC[*i % 6], WORDS[*i % 3].len());
    }
}

#[test]
fn plain_constants_and_statics_are_those_of_the_source() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.full(64, (0.0, 0, 0)).unwrap();
    launch!(frozen[2, 32](&mut out)).unwrap();
    let expected: Vec<_> = (0..64)
        .map(|i| (FROZEN[i % 5], STATIC[i % 6], WORDS[i % 3].len()))
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

#[test]
fn a_panic_before_comes_out_of_setting() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<f64>(1).unwrap();
    launch!(beyond[1, 1](7, &mut out)).unwrap();
    gpu.synchronize().unwrap_err();
    gpu.set_constant(&NUMBER, &2).unwrap();
}

#[test]
fn host_threads_set_and_launch_at_the_same_time() {
    let gpu = Gpu::new().unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let gpu = gpu.clone();
            scope.spawn(move || {
                for _ in 0..20 {
                    gpu.set_constant(&TABLE, &[number as f32; 32]).unwrap();
                    let mut out = gpu.zeros::<f32>(32).unwrap();
                    launch!(copy_table[1, 32](&mut out)).unwrap();
                    let out = out.to_vec().unwrap();
                    assert!(
                        out.iter().all(|&x| x == out[0]),
                        "a launch sees whole values: {out:?}"
                    );
                }
            });
        }
    });
}

#[test]
fn constants_are_read_as_constants() {
    let code = device_code::of("read_all");
    for wanted in ["ld.const.b64", "ld.const.b32"] {
        assert!(
            code.contains(wanted) || code.contains(&wanted.replace('b', "f")),
            "no {wanted} in\n{code}"
        );
    }
    device_code::contains(
        &device_code::all(),
        &[".visible .const .align 16 .b8 constant_"],
    );
    device_code::assembles();
}
