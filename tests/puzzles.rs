//! The sixteen puzzles of `docs/tutorial.md` on random data against the CPU, and that the tutorial shows what runs here.
//!
//! `cargo test --test puzzles map` runs one. The tutorial's code is that of `examples/puzzles` and of this file.
#![allow(missing_docs)]

mod common;
#[path = "../examples/puzzles/mod.rs"]
mod puzzles;

use common::Random;
use ndarray::{Array1, Array2, Axis, s};
use oxwarp::Result;
use oxwarp::prelude::*;
use puzzles::axis_sum::axis_sum;
use puzzles::blocks::blocks;
use puzzles::blocks_2d::blocks_2d;
use puzzles::broadcast::broadcast;
use puzzles::convolution::convolution;
use puzzles::dot::dot;
use puzzles::guard::guard;
use puzzles::histogram::histogram;
use puzzles::map::map;
use puzzles::map_2d::map_2d;
use puzzles::matmul::matmul;
use puzzles::pooling::pooling;
use puzzles::prefix_sum::prefix_sum;
use puzzles::shared::shared;
use puzzles::transpose::transpose;
use puzzles::zip::zip;

/// Whole numbers, so that every order of additions gives the same sum.
fn random(seed: u64, len: usize) -> Array1<f32> {
    let numbers = Random::new(seed).below(len, 17);
    numbers.into_iter().map(|x| x as f32 - 8.0).collect()
}

fn random_2d(seed: u64, rows: usize, cols: usize) -> Array2<f32> {
    let numbers = random(seed, rows * cols);
    numbers.into_shape_with_order((rows, cols)).unwrap()
}

#[test]
fn map_adds_ten() -> Result<()> {
    let host = random(1, 100);
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&host)?;
    let mut out = gpu.zeros::<f32>(100)?;
    launch!(map[1, 100](&a, &mut out))?;
    assert_eq!(out.to_host()?, host + 10.0);
    Ok(())
}

#[test]
fn zip_adds_arrays() -> Result<()> {
    let (host_a, host_b) = (random(1, 100), random(2, 100));
    let gpu = Gpu::new()?;
    let (a, b) = (gpu.to_device(&host_a)?, gpu.to_device(&host_b)?);
    let mut out = gpu.zeros::<f32>(100)?;
    launch!(zip[1, 100](&a, &b, &mut out))?;
    assert_eq!(out.to_host()?, host_a + host_b);
    Ok(())
}

#[test]
fn guard_leaves_out_threads_beyond_the_end() -> Result<()> {
    let host = random(1, 100);
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&host)?;
    let mut out = gpu.zeros::<f32>(100)?;
    launch!(guard[1, 128](&a, &mut out))?;
    assert_eq!(out.to_host()?, host * 2.0);
    Ok(())
}

/// What `guard` is there against.
#[kernel]
fn unguarded(a: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let doubled = 2.0 * a[i];
    if let Some(out) = out.get_mut(i) {
        *out = doubled;
    }
}

#[test]
fn a_read_without_a_guard_is_an_error_value() -> Result<()> {
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&random(1, 100))?;
    let mut out = gpu.zeros::<f32>(100)?;
    launch!(unguarded[1, 101](&a, &mut out))?;
    let error = gpu.synchronize().unwrap_err();
    let oxwarp::Error::KernelPanic(panic) = error else {
        panic!("{error}");
    };
    assert!(TUTORIAL.contains(&panic.to_string()), "{panic}");
    Ok(())
}

#[test]
fn map_2d_adds_ten() -> Result<()> {
    let host = random_2d(1, 20, 30);
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&host)?;
    let mut out = gpu.zeros_nd::<f32, _>((20, 30))?;
    launch!(map_2d[1, (32, 32)](&a, &mut out))?;
    assert_eq!(out.to_host()?, host + 10.0);
    Ok(())
}

#[test]
fn broadcast_adds_a_column_and_a_row() -> Result<()> {
    let (host_a, host_b) = (random(1, 20), random(2, 30));
    let gpu = Gpu::new()?;
    let (a, b) = (gpu.to_device(&host_a)?, gpu.to_device(&host_b)?);
    let mut out = gpu.zeros_nd::<f32, _>((20, 30))?;
    launch!(broadcast[1, (32, 32)](&a, &b, &mut out))?;
    assert_eq!(out.to_host()?, host_a.insert_axis(Axis(1)) + host_b);
    Ok(())
}

#[test]
fn blocks_visit_everything_once() -> Result<()> {
    let host = random(1, 10_000);
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&host)?;
    let mut out = gpu.zeros::<f32>(10_000)?;
    launch!(blocks[4, 128](&a, &mut out))?;
    assert_eq!(out.to_host()?, host + 10.0);
    Ok(())
}

#[test]
fn blocks_2d_apply_a_closure() -> Result<()> {
    let host = random_2d(1, 50, 70);
    let scale = 3.0;
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&host)?;
    let mut out = gpu.zeros_nd::<f32, _>((50, 70))?;
    // 70 columns need 5 blocks of 16 along x, 50 rows need 4 along y.
    launch!(blocks_2d[(5, 4), (16, 16)](move |x| scale * x + 1.0, &a, &mut out))?;
    assert_eq!(out.to_host()?, host * scale + 1.0);
    Ok(())
}

#[test]
fn shared_memory_turns_blocks_around() -> Result<()> {
    use puzzles::shared::BLOCK;
    let host = random(1, 10 * BLOCK);
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&host)?;
    let mut out = gpu.zeros::<f32>(host.len())?;
    launch!(shared[10, BLOCK](&a, &mut out))?;
    let expected = Array1::from_shape_fn(host.len(), |i| {
        host[i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK]
    });
    assert_eq!(out.to_host()?, expected);
    Ok(())
}

#[test]
fn pooling_sums_three() -> Result<()> {
    use puzzles::pooling::BLOCK;
    for len in [1, 2, BLOCK, 1000] {
        let host = random(1, len);
        let gpu = Gpu::new()?;
        let a = gpu.to_device(&host)?;
        let mut out = gpu.zeros::<f32>(len)?;
        pooling.for_each(len).block(BLOCK).launch(&a, &mut out)?;
        let expected = |i: usize| host.slice(s![i.saturating_sub(2)..=i]).sum();
        assert_eq!(
            out.to_host()?,
            Array1::from_shape_fn(len, expected),
            "{len}"
        );
    }
    Ok(())
}

#[test]
fn dot_of_any_length() -> Result<()> {
    use puzzles::dot::BLOCK;
    for len in [1, 127, 10_000] {
        let (host_a, host_b) = (random(1, len), random(2, len));
        let gpu = Gpu::new()?;
        let (a, b) = (gpu.to_device(&host_a)?, gpu.to_device(&host_b)?);
        let mut sums = gpu.zeros::<f32>(8)?;
        launch!(dot[8, BLOCK](&a, &b, &mut sums))?;
        assert_eq!(sums.to_host()?.sum(), host_a.dot(&host_b), "{len}");
    }
    Ok(())
}

#[test]
fn convolution_of_several_widths() -> Result<()> {
    fn check<const N: usize>() -> Result<()> {
        use puzzles::convolution::BLOCK;
        let (host, weights) = (random(1, 1000), random(2, N));
        let gpu = Gpu::new()?;
        let a = gpu.to_device(&host)?;
        let mut out = gpu.zeros::<f32>(1000)?;
        let fixed: [f32; N] = std::array::from_fn(|k| weights[k]);
        let launch = convolution.for_each(1000).block(BLOCK);
        launch.launch(fixed, &a, &mut out)?;
        let expected = Array1::from_shape_fn(1000, |i| {
            let window = host.slice(s![i..(i + N).min(1000)]);
            window.iter().zip(&weights).map(|(x, w)| x * w).sum()
        });
        assert_eq!(out.to_host()?, expected, "{N}");
        Ok(())
    }
    check::<1>()?;
    check::<4>()?;
    check::<129>()
}

#[test]
fn prefix_sum_restarts_in_each_block() -> Result<()> {
    use puzzles::prefix_sum::BLOCK;
    let host = Random::new(1).below(1000, 1 << 20);
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&host)?;
    let mut out = gpu.zeros::<u32>(1000)?;
    prefix_sum
        .for_each(1000)
        .block(BLOCK)
        .launch(&a, &mut out)?;
    let sums = host.chunks(BLOCK).flat_map(|part| {
        part.iter().scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
    });
    assert_eq!(out.to_vec()?, sums.collect::<Vec<u32>>());
    Ok(())
}

#[test]
fn axis_sum_of_rows() -> Result<()> {
    for cols in [1, 32, 1000] {
        let host = random_2d(1, 9, cols);
        let gpu = Gpu::new()?;
        let a = gpu.to_device(&host)?;
        let mut sums = gpu.zeros::<f32>(9)?;
        launch!(axis_sum[9, 32](&a, &mut sums))?;
        assert_eq!(sums.to_host()?, host.sum_axis(Axis(1)), "{cols}");
    }
    Ok(())
}

#[test]
fn matmul_of_any_shape() -> Result<()> {
    use puzzles::matmul::TILE;
    for (rows, inner, cols) in [(5, 23, 7), (16, 16, 16), (40, 50, 60)] {
        let (host_a, host_b) = (random_2d(1, rows, inner), random_2d(2, inner, cols));
        let gpu = Gpu::new()?;
        let (a, b) = (gpu.to_device(&host_a)?, gpu.to_device(&host_b)?);
        let mut c = gpu.zeros_nd::<f32, _>((rows, cols))?;
        let grid = (cols.div_ceil(TILE), rows.div_ceil(TILE));
        launch!(matmul[grid, (TILE, TILE)](&a, &b, &mut c))?;
        assert_eq!(c.to_host()?, host_a.dot(&host_b));
    }
    Ok(())
}

#[test]
fn transpose_of_any_shape() -> Result<()> {
    use puzzles::transpose::TILE;
    for (rows, cols) in [(5, 6), (128, 128), (1025, 100)] {
        let host = random_2d(1, rows, cols);
        let gpu = Gpu::new()?;
        let a = gpu.to_device(&host)?;
        let mut out = gpu.zeros_nd::<f32, _>((cols, rows))?;
        let grid = (rows.div_ceil(TILE), cols.div_ceil(TILE));
        launch!(transpose[grid, (TILE, TILE)](&a, &mut out))?;
        assert_eq!(out.to_host()?, host.t());
    }
    Ok(())
}

#[test]
fn histogram_counts_bytes() -> Result<()> {
    let bytes: Vec<u8> = Random::new(1)
        .below(100_000, 200)
        .into_iter()
        .map(|x| x as u8)
        .collect();
    let gpu = Gpu::new()?;
    let a = gpu.to_device(&bytes)?;
    let mut counts = gpu.zeros::<u32>(256)?;
    launch!(histogram[8, 128](&a, &mut counts))?;
    let mut expected = vec![0; 256];
    bytes
        .iter()
        .for_each(|&byte| expected[usize::from(byte)] += 1);
    assert_eq!(counts.to_vec()?, expected);
    Ok(())
}

const TUTORIAL: &str = include_str!("../docs/tutorial.md");

macro_rules! sources {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../examples/puzzles/", $name)))),*]
    };
}

const SOLUTIONS: [(&str, &str); 16] = sources![
    "01_map.rs" "02_zip.rs" "03_guard.rs" "04_map_2d.rs" "05_broadcast.rs" "06_blocks.rs" "07_blocks_2d.rs"
    "08_shared.rs" "09_pooling.rs" "10_dot.rs" "11_convolution.rs" "12_prefix_sum.rs" "13_axis_sum.rs"
    "14_matmul.rs" "15_transpose.rs" "16_histogram.rs"
];

/// Lines without their indentation, so that a part of a function can be shown on its own.
fn lines(code: &str) -> Vec<&str> {
    code.lines().map(str::trim).collect()
}

/// Each block of Rust in the tutorial stands, line by line, in a tested file, and each solution in the tutorial.
#[test]
fn the_tutorial_shows_the_tested_code() {
    let here = ("puzzles.rs", include_str!("puzzles.rs"));
    let tested: Vec<Vec<&str>> = SOLUTIONS
        .iter()
        .chain([&here])
        .map(|(_, code)| lines(code))
        .collect();
    let shown: Vec<Vec<&str>> = TUTORIAL
        .split("```rust\n")
        .skip(1)
        .map(|rest| lines(rest.split("```").next().unwrap()))
        .collect();
    let stands_in =
        |part: &[&str], whole: &[&str]| whole.windows(part.len()).any(|lines| lines == part);
    for block in &shown {
        assert!(
            tested.iter().any(|code| stands_in(block, code)),
            "no tested file has\n{}",
            block.join("\n")
        );
    }
    for (name, code) in SOLUTIONS {
        let solution = lines(&code[code.find("#[kernel]").unwrap()..]);
        assert!(
            shown.iter().any(|block| stands_in(&solution, block)),
            "the tutorial does not show {name}"
        );
        assert!(
            TUTORIAL.contains(&format!("(../examples/puzzles/{name})")),
            "no link to {name}"
        );
    }
}
