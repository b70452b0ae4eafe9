//! `a[i]` with an index of the library reads what `a[*i]` reads: the same elements, the same panic at the same place, and
//! the same instructions.
//!
//! Each kernel of [`kernels`] is there twice, once in each spelling.
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use ndarray::{Array2, Array3};
use oxwarp::prelude::*;
use oxwarp::report::{KernelReport, Position};
use oxwarp::vector::Float4;
use oxwarp::{Error, KernelPanic, memory};

mod common;

use common::Random;

const WEIGHTS: [f32; 64] = {
    let mut weights = [0.0; 64];
    let mut k = 0;
    while k < 64 {
        weights[k] = (k * k % 37) as f32;
        k += 1;
    }
    weights
};

constant! {
    static TABLE: [u32; 64] = [9; 64];
}

/// The kernels, with this before each index in brackets: nothing, or a star.
macro_rules! kernels {
    ($spelling:ident $($star:tt)?) => {
        mod $spelling {
            use super::*;

            #[kernel]
            pub fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
                let i = thread::index_1d();
                if let Some(c) = c.get_mut(i) {
                    *c = a[$($star)? i] + b[$($star)? i];
                }
            }

            #[kernel]
            pub fn axpy(factor: f32, x: &[f32], mut y: DisjointSlice<f32>) {
                for (i, y) in y.grid_stride_mut() {
                    *y += factor * x[$($star)? i];
                }
            }

            /// The check of `b` is taken out of the loop.
            #[kernel]
            pub fn dot(a: &[f32], b: &[f32], mut partial: DisjointSlice<f32>) {
                let mut sum = 0.0;
                for i in thread::grid_stride(a.len()) {
                    sum += a[$($star)? i] * b[$($star)? i];
                }
                if let Some(partial) = partial.get_mut(thread::index_1d()) {
                    *partial = sum;
                }
            }

            #[kernel]
            pub fn wide(x: &[Float4], mut y: DisjointSlice<f32>) {
                let i = thread::index_1d();
                if let Some(y) = y.get_mut(i) {
                    let [a, b, c, d] = x[$($star)? i].to_array();
                    *y = (a + b) * (c - d);
                }
            }

            #[kernel]
            pub fn rows_of_eight(x: &[[f32; 8]], mut y: DisjointSlice<f32>) {
                let i = thread::index_1d();
                if let Some(y) = y.get_mut(i) {
                    *y = x[$($star)? i].iter().sum::<f32>() + memory::ldcs(&x[$($star)? i])[3];
                }
            }

            /// A constant and a static that are arrays, and an array of the thread's own.
            #[kernel]
            pub fn arrays(k: u32, mut y: DisjointSlice<f32>) {
                let i = thread::index_1d();
                if let Some(y) = y.get_mut(i) {
                    let own = [k, k + 1, k + 2, k + 3].map(|k| [k; 16]);
                    *y = WEIGHTS[$($star)? i] + (TABLE[$($star)? i] + own.as_flattened()[$($star)? i]) as f32;
                }
            }

            #[kernel]
            pub fn gather(x: &[f32], from: &[u32], mut y: DisjointSlice<f32>) {
                let i = thread::index_1d();
                if let Some(y) = y.get_mut(i) {
                    *y = x[from[$($star)? i] as usize];
                }
            }

            #[kernel]
            pub fn count(x: &[u32], counts: &[AtomicU32], of_blocks: &[AtomicU32]) {
                for i in thread::grid_stride(x.len()) {
                    counts[$($star)? i].fetch_add(x[$($star)? i], Relaxed);
                    of_blocks[$($star)? block::index()].fetch_add(1, Relaxed);
                }
            }

            /// By warps and blocks.
            #[kernel]
            pub fn owners(a: &[f32], b: &[f32], mut y: DisjointSlice<f32>) {
                let i = thread::index_1d();
                let x = a[$($star)? warp::index()] - b[$($star)? block::index()];
                if let Some(y) = y.get_mut(i) {
                    *y = x;
                }
            }

            #[kernel]
            pub fn reverse(x: &[f32], mut y: DisjointSlice<f32>) {
                let (i, t) = (thread::index_1d(), thread::index_in_block());
                let part = shared_array![f32; 64];
                part.set(t, x[$($star)? i]);
                sync_threads();
                if let Some(y) = y.get_mut(i) {
                    *y = part.get(block::len() - 1 - t);
                }
            }

            #[kernel]
            pub fn vector(n: usize, mut y: DisjointSlice<f32>) {
                let i = thread::index_1d();
                let squares: Vec<f32> = (0..n).map(|k| (k * k) as f32).collect();
                if let Some(y) = y.get_mut(i) {
                    *y = squares[$($star)? i];
                }
            }

            #[kernel]
            pub fn view_1(a: ArrayView1<f32, Strided>, mut c: DisjointSlice<f32>) {
                let i = thread::index_1d();
                if let Some(c) = c.get_mut(i) {
                    *c = a[$($star)? i] - a.get($($star)? i).copied().unwrap_or(0.0) / 2.0;
                }
            }

            /// The transposed access names row and column.
            #[kernel]
            pub fn view_2(a: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
                let i = thread::index_2d();
                if let Some(c) = c.get_mut(i) {
                    *c = a[$($star)? i] * a[(i.col(), i.row())];
                }
            }

            #[kernel]
            pub fn stride_2(a: ArrayView2<f32>, b: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
                for (i, c) in c.grid_stride_mut() {
                    *c += a[$($star)? i] * b[$($star)? i];
                }
            }

            #[kernel]
            pub fn view_3(a: ArrayView3<f32, Strided>, mut c: DisjointSlice<f32, ThreadIndex3d>) {
                let i = thread::index_3d();
                if let Some(c) = c.get_mut(i) {
                    *c = 2.0 * a[$($star)? i];
                }
            }

            #[kernel]
            pub fn of_block_2(a: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
                let i = thread::index_2d();
                let x = a[$($star)? block::index_2d()];
                if let Some(c) = c.get_mut(i) {
                    *c = x;
                }
            }

            /// Random numbers, 200 in 4 blocks of 64 threads; matrices of 20 x 20, cubes of 5 x 6 x 7.
            #[test]
            fn reads_the_elements_of_its_numbers() -> oxwarp::Result<()> {
                let gpu = Gpu::new()?;
                let random = &mut Random::new(7);
                let (a, b) = (random.floats(200, -1.0, 1.0), random.floats(200, -1.0, 1.0));
                let expect = |of: &dyn Fn(usize) -> f32| (0..200).map(of).collect::<Vec<f32>>();
                let (on_a, on_b) = (gpu.to_device(&a)?, gpu.to_device(&b)?);
                let mut y = gpu.zeros::<f32>(200)?;
                launch!(add[4, 64](&on_a, &on_b, &mut y))?;
                assert_eq!(y.to_vec()?, expect(&|i| a[i] + b[i]));
                launch!(axpy[1, 64](0.5, &on_a, &mut y))?;
                assert_close(&y.to_vec()?, &expect(&|i| a[i] + b[i] + 0.5 * a[i]));
                launch!(view_1[4, 64](on_a.view(), &mut y))?;
                assert_eq!(y.to_vec()?, expect(&|i| a[i] / 2.0));
                launch!(vector[4, 64](200, &mut y))?;
                assert_eq!(y.to_vec()?, expect(&|i| (i * i) as f32));
                launch!(owners[4, 64](&on_a, &on_b, &mut y))?;
                assert_eq!(y.to_vec()?, expect(&|i| a[i / 32] - b[i / 64]));
                let from: Vec<u32> = (0..200).map(|_| random.bits() as u32 % 200).collect();
                launch!(gather[4, 64](&on_a, &gpu.to_device(&from)?, &mut y))?;
                assert_eq!(y.to_vec()?, expect(&|i| a[from[i] as usize]));

                let mut y = gpu.zeros::<f32>(192)?;
                launch!(reverse[3, 64](&on_a, &mut y))?;
                assert_eq!(y.to_vec()?, expect(&|i| a[(i / 64 * 64 + 63 - i % 64).min(199)])[..192]);
                let mut y = gpu.zeros::<f32>(64)?;
                launch!(arrays[1, 64](100, &mut y))?;
                assert_eq!(y.to_vec()?, expect(&|i| WEIGHTS[i % 64] + (109 + i / 16) as f32)[..64]);
                launch!(dot[1, 64](&on_a, &on_b, &mut y))?;
                let products = |t: usize| (t..200).step_by(64).map(|i| a[i] * b[i]).sum();
                assert_close(&y.to_vec()?, &expect(&products)[..64]);
                let x: Vec<[f32; 8]> = a.as_chunks().0.to_vec();
                let mut y = gpu.zeros::<f32>(25)?;
                launch!(rows_of_eight[1, 64](&gpu.to_device(&x)?, &mut y))?;
                let sums: Vec<f32> = x.iter().map(|x| x.iter().sum::<f32>() + x[3]).collect();
                assert_close(&y.to_vec()?, &sums);
                let x: Vec<Float4> = a.as_chunks().0.iter().map(|&x| Float4::from(x)).collect();
                let mut y = gpu.zeros::<f32>(50)?;
                launch!(wide[1, 64](&gpu.to_device(&x)?, &mut y))?;
                let sums: Vec<f32> = x.iter().map(|x| (x.x + x.y) * (x.z - x.w)).collect();
                assert_close(&y.to_vec()?, &sums);
                let mut counts = gpu.to_device(&[1u32; 200])?;
                let mut of_blocks = gpu.zeros::<u32>(3)?;
                launch!(count[3, 64](&gpu.to_device(&from)?, &mut counts, &mut of_blocks))?;
                assert!(counts.to_vec()?.iter().zip(&from).all(|(count, from)| *count == 1 + from));
                assert_eq!(of_blocks.to_vec()?, [72, 64, 64]);

                let a = Array2::from_shape_vec((20, 20), random.floats(400, -1.0, 1.0)).unwrap();
                let on_a = gpu.to_device(&a)?;
                let mut c = gpu.zeros_nd::<f32, _>((20, 20))?;
                launch!(view_2[(2, 3), (16, 8)](&on_a, &mut c))?;
                assert_eq!(c.to_host()?, &a * &a.t());
                launch!(stride_2[1, (16, 8)](&on_a, &on_a, &mut c))?;
                assert_close(c.to_host()?.as_slice().unwrap(), (&a * &a.t() + &a * &a).as_slice().unwrap());
                launch!(of_block_2[(2, 3), (16, 8)](&on_a, &mut c))?;
                assert_eq!(c.to_host()?, Array2::from_shape_fn((20, 20), |(row, col)| a[(row / 8, col / 16)]));
                let a = Array3::from_shape_vec((5, 6, 7), random.floats(210, -1.0, 1.0)).unwrap();
                let mut c = gpu.zeros_nd::<f32, _>((5, 6, 7))?;
                launch!(view_3[1, (7, 6, 5)](gpu.to_device(&a)?.view(), &mut c))?;
                assert_eq!(c.to_host()?, 2.0 * a);
                Ok(())
            }
        }
    };
}

kernels!(by_index);
kernels!(by_number *);

/// Sums are of another order, or in one instruction with a product.
fn assert_close(actual: &[f32], expected: &[f32]) {
    assert_eq!(actual.len(), expected.len());
    for (actual, expected) in actual.iter().zip(expected) {
        assert!((actual - expected).abs() < 1e-5, "{actual} {expected}");
    }
}

/// How often the kernel has each operation, and the branches and comparisons, which LLVM turns around where it lays out
/// the blocks otherwise.
fn operations(report: &KernelReport) -> (BTreeMap<&str, usize>, usize) {
    let (mut operations, mut branches) = (BTreeMap::new(), 0);
    let (_, body) = report.ptx().split_once('{').unwrap();
    for line in body.lines().map(str::trim) {
        let predicated = line.starts_with('@');
        let mut words = line.split_whitespace().skip(predicated.into());
        let Some(operation) = words.next() else {
            continue;
        };
        if ["bra", "setp"].contains(&operation.split('.').next().unwrap()) {
            branches += 1;
        } else if operation.starts_with(|c: char| c.is_ascii_lowercase()) {
            *operations.entry(operation).or_default() += 1;
        }
    }
    (operations, branches)
}

#[test]
fn both_spellings_are_the_same_instructions() -> oxwarp::Result<()> {
    macro_rules! compare {
        ($($kernel:ident)*) => {$({
            let (index, number) = (by_index::$kernel.explain()?, by_number::$kernel.explain()?);
            let [(operations, branches), of_number] = [&index, &number].map(operations);
            assert!(operations.contains_key("ld.param.b64"), "{}", index.ptx());
            let texts = || format!("{}\n{}", index.ptx(), number.ptx());
            assert_eq!(operations, of_number.0, "{}", texts());
            assert!(branches <= of_number.1, "{}", texts());
            for position in [Position::Loop, Position::Straight, Position::SlowCopy] {
                let checks = |report: &KernelReport| report.code().checks_at(position).count();
                assert_eq!(checks(&index), checks(&number), "{index}\n{number}");
            }
        })*};
    }
    compare! {
        add axpy dot wide rows_of_eight arrays gather count owners reverse vector view_1 view_2
        stride_2 view_3 of_block_2
    }
    Ok(())
}

#[kernel]
fn beyond_by_index(a: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let x = 1.0 + a[i];
    if let Some(c) = c.get_mut(i) {
        *c = x;
    }
}

#[kernel]
fn beyond_by_number(a: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let x = 1.0 + a[*i];
    if let Some(c) = c.get_mut(i) {
        *c = x;
    }
}

/// The line of `a[*i]` above, and how far it is from that of `a[i]`.
const LINE: u32 = line!() - 7;
const APART: u32 = 9;

#[kernel]
fn beyond_an_array(mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let x = WEIGHTS[i];
    if let Some(c) = c.get_mut(i) {
        *c = x;
    }
}

#[kernel]
fn beyond_a_vector(mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let x = vec![1.0; 10 + c.len()][i];
    if let Some(c) = c.get_mut(i) {
        *c = x;
    }
}

#[kernel]
fn beyond_a_view(a: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let i = thread::index_2d();
    let x = a[i];
    if let Some(c) = c.get_mut(i) {
        *c = x;
    }
}

#[kernel]
fn beyond_by_block(a: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let x = a[block::index()];
    if let Some(c) = c.get_mut(i) {
        *c = x;
    }
}

/// The lines of the four above.
const FURTHER: [u32; 4] = {
    let last = line!() - 8;
    [last - 27, last - 18, last - 9, last]
};

fn panic_of(launch: oxwarp::Result<()>, gpu: &Gpu) -> KernelPanic {
    match launch.and_then(|()| gpu.synchronize()) {
        Err(Error::KernelPanic(panic)) => *panic,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wrong_index_panics_at_the_line_of_the_kernel() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&[0.5f32; 100])?;
    let mut c = gpu.zeros::<f32>(64)?;
    let message = |len: u32, index: u32| {
        format!("index out of bounds: the len is {len} but the index is {index}")
    };

    let by_index = panic_of(launch!(beyond_by_index[1, 101](&a, &mut c)), &gpu);
    let by_number = panic_of(launch!(beyond_by_number[1, 101](&a, &mut c)), &gpu);
    assert_eq!(by_index.message, message(100, 100));
    assert_eq!(by_number.message, by_index.message);
    assert_eq!((by_index.line, by_number.line), (LINE - APART, LINE));
    assert_eq!((by_index.column, by_number.column), (20, 19));
    assert_eq!(
        (by_index.thread, by_number.thread),
        (by_index.thread, by_index.thread)
    );
    assert_eq!(by_index.thread.x, 100);

    let matrix = gpu.zeros_nd::<f32, _>((4, 5))?;
    let mut c_2 = gpu.zeros_nd::<f32, _>((4, 6))?;
    let panics = [
        (
            panic_of(launch!(beyond_an_array[1, 65](&mut c)), &gpu),
            message(64, 64),
        ),
        (
            panic_of(launch!(beyond_a_vector[1, 75](&mut c)), &gpu),
            message(74, 74),
        ),
        (
            panic_of(launch!(beyond_a_view[1, (6, 1)](&matrix, &mut c_2)), &gpu),
            message(5, 5),
        ),
        (
            panic_of(launch!(beyond_by_block[101, 1](&a, &mut c)), &gpu),
            message(100, 100),
        ),
    ];
    for ((panic, message), line) in panics.iter().zip(FURTHER) {
        assert!(panic.file.ends_with("brackets.rs"), "{panic:?}");
        assert_eq!((&panic.message, panic.line), (message, line));
    }
    Ok(())
}

/// The places that the PTX holds for its exits.
#[test]
fn the_exits_of_the_code_name_the_line_of_the_kernel() -> oxwarp::Result<()> {
    for (report, line) in [
        (beyond_by_index.explain()?, LINE - APART),
        (beyond_by_number.explain()?, LINE),
        (beyond_an_array.explain()?, FURTHER[0]),
        (beyond_a_vector.explain()?, FURTHER[1]),
        (beyond_a_view.explain()?, FURTHER[2]),
        (beyond_by_block.explain()?, FURTHER[3]),
    ] {
        let panics = report.code().checks.iter().flat_map(|check| &check.panics);
        let places = panics.filter_map(|panic| panic.0.as_ref());
        let here: Vec<u32> = places
            .filter(|place| place.file.ends_with("brackets.rs"))
            .map(|place| place.line)
            .collect();
        assert!(here.contains(&line), "{here:?} {line}\n{report}");
    }
    Ok(())
}

/// What compiled without indices of the library in brackets still does, and means the same.
#[test]
fn other_indices_are_inferred_as_before() {
    struct Number(usize);
    struct Wrapped(Vec<f32>);
    impl std::ops::Index<Number> for [Wrapped] {
        type Output = Wrapped;
        fn index(&self, index: Number) -> &Wrapped {
            &self[index.0]
        }
    }
    impl<I> std::ops::Index<I> for Wrapped
    where
        [f32]: std::ops::Index<I>,
    {
        type Output = <[f32] as std::ops::Index<I>>::Output;
        fn index(&self, index: I) -> &Self::Output {
            &self.0[..][index]
        }
    }
    fn any<I: std::slice::SliceIndex<[f32]>>(x: &[f32], index: I) -> &I::Output {
        &x[index]
    }

    let x = [1.0f32, 2.0, 4.0, 8.0];
    let (slice, vector) = (&x[..], x.to_vec());
    let k = 2;
    assert_eq!((x[0], slice[k], vector[k + 1]), (1.0, 4.0, 8.0));
    assert_eq!(
        (&x[1..], &slice[..k], &vector[1..=2]),
        (&[2.0, 4.0, 8.0][..], &[1.0, 2.0][..], &[2.0, 4.0][..])
    );
    assert_eq!((0..3).map(|i| slice[i] * vector[i + 1]).sum::<f32>(), 42.0);
    let at = |i| slice[i];
    assert_eq!(at(3), 8.0);
    let mut indices = Vec::new();
    let sum: f32 = indices.iter().map(|&i| x[i]).sum();
    indices.push(Default::default());
    let first = slice[indices[0]];
    indices.push(1usize);
    assert_eq!((sum, first), (0.0, 1.0));
    assert_eq!((any(slice, 1), any(&vector, 2..)), (&2.0, &[4.0, 8.0][..]));
    let wrapped = [Wrapped(vector)];
    assert_eq!((wrapped[Number(0)][k], &wrapped[0][3..]), (4.0, &[8.0][..]));
}
