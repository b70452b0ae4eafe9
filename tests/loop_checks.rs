//! Bounds checks that are taken out of loops still panic, with the same index, and leave a copy of the loop without them.
#![allow(missing_docs)]

use oxwarp::__private::{DeviceCode, inventory};
use oxwarp::{Error, prelude::*};

/// The sum of `n` elements, `stride` apart. Wrapping, so that a debug build checks no arithmetic in the loop.
#[kernel]
fn strided_sum(a: &[f32], n: usize, stride: usize, mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[k.wrapping_mul(stride).wrapping_add(1)];
        }
        *out = sum;
    }
}

fn sum(len: usize, n: usize, stride: usize) -> oxwarp::Result<f32> {
    let gpu = Gpu::new()?;
    let a: Vec<f32> = (0..len).map(|i| i as f32).collect();
    let a = gpu.to_device(&a)?;
    let mut out = gpu.zeros::<f32>(1)?;
    launch!(strided_sum[1, 1](&a, n, stride, &mut out))?;
    Ok(out.to_vec()?[0])
}

#[test]
fn in_bounds_is_the_sum() {
    assert_eq!(
        sum(100, 33, 3).unwrap(),
        (0..33).map(|k| (3 * k + 1) as f32).sum()
    );
    assert_eq!(sum(100, 0, 3).unwrap(), 0.0);
    // The last index is the last element.
    assert_eq!(
        sum(98, 33, 3).unwrap(),
        (0..33).map(|k| (3 * k + 1) as f32).sum()
    );
}

#[test]
fn the_first_index_out_of_bounds_panics() {
    for (len, n, stride, index) in [
        (97, 33, 3, 97),
        (10, 1000, 1, 10),
        (4, 7, 2, 5),
        (0, 1, 1, 1),
    ] {
        let error = sum(len, n, stride).unwrap_err();
        let Error::KernelPanic(panic) = error else {
            panic!("{error}")
        };
        assert_eq!(
            panic.message,
            format!("index out of bounds: the len is {len} but the index is {index}")
        );
        assert_eq!(panic.line, 13);
    }
}

/// One load in the source; the copy without checks is unrolled.
#[test]
fn a_copy_without_checks_is_unrolled() {
    let code = inventory::iter::<DeviceCode>().find(|code| code.crate_name == "loop_checks");
    let ptx = code.unwrap().images[0].ptx.to_str().unwrap();
    let body = ptx.split(".entry strided_sum_").nth(1).unwrap();
    let body = body.split("\n}").next().unwrap();
    let sums = body
        .lines()
        .filter(|line| line.contains("add.rn.f32") || line.contains("add.f32"));
    assert!(sums.count() >= 4, "{body}");
}

/// The sum of a block's numbers, in an array for 64 threads: its loop holds a barrier.
#[kernel]
fn sum_of_64(x: &[f32], mut out: DisjointSlice<f32, BlockIndex>) {
    let sums = shared_array![f32; 64];
    let t = thread::index_in_block();
    if t < sums.len() {
        sums.set(t, x[*thread::index_1d()]);
    }
    sync_threads();
    let mut stride = block::len() / 2;
    while stride > 0 {
        if t < stride {
            sums.set(t, sums.get(t) + sums.get(t + stride));
        }
        sync_threads();
        stride /= 2;
    }
    if let Some(out) = out.get_mut(block::index()) {
        *out = sums.get(0);
    }
}

/// The line above that reads beyond the stride.
const SUM_LINE: u32 = line!() - 11;

#[test]
fn a_loop_with_a_barrier_sums_where_its_array_is_long_enough() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<f32> = (0..192).map(|i| i as f32).collect();
    let x = gpu.to_device(&x).unwrap();
    let mut out = gpu.zeros::<f32>(3).unwrap();
    launch!(sum_of_64[3, 64](&x, &mut out)).unwrap();
    let sum = |from: u32| (from..from + 64).map(|i| i as f32).sum::<f32>();
    assert_eq!(out.to_vec().unwrap(), [sum(0), sum(64), sum(128)]);
}

#[test]
fn a_loop_with_a_barrier_panics_at_its_line_where_a_block_is_too_large() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&vec![1.0f32; 128]).unwrap();
    let mut out = gpu.zeros::<f32>(1).unwrap();
    let result = launch!(sum_of_64[1, 128](&x, &mut out)).and_then(|()| gpu.synchronize());
    let Err(Error::KernelPanic(panic)) = result else {
        panic!("{result:?}")
    };
    let thread = panic.thread.x;
    let message = format!(
        "index out of bounds: the len is 64 but the index is {}",
        thread + 64
    );
    assert_eq!((panic.message.as_str(), panic.line), (&*message, SUM_LINE));
}

/// Both copies of the loop are there: with the barrier before it, three.
#[test]
fn the_barrier_is_in_both_copies() {
    let codes = inventory::iter::<DeviceCode>.into_iter();
    let ptx: Vec<&str> = codes
        .filter(|code| code.crate_name == "loop_checks")
        .flat_map(|code| code.images)
        .map(|image| image.ptx.to_str().unwrap())
        .collect();
    for ptx in ptx {
        let start = ptx.find(".entry sum_of_64").expect("the kernel");
        let body = &ptx[start..start + ptx[start..].find("\n}").unwrap()];
        assert_eq!(body.matches("bar.sync").count(), 3, "{body}");
    }
}
