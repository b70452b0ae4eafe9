//! Simulated threads per second, without and with barriers (`vector_add`, and a `dot` with nine barriers a block), without
//! and with checks.
//!
//! Run by `cargo bench -p gpu-sim`. Prints the best of several launches.

use std::hint::black_box;
use std::time::Instant;

use gpu_sim::{Checks, Dim3, Launch};
use gpu_std::disjoint::BlockIndex;
use gpu_std::kernel::{KernelParam, RawView};
use gpu_std::view::Extents;
use gpu_std::{DisjointSlice, block, shared_array, sync_threads, thread};

const BLOCK: u32 = 256;
const THREADS: usize = 1 << 22;
const REPEATS: usize = 10;

type View = RawView<f32, usize>;

fn vector_add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = a[*i] + b[*i];
    }
}

fn dot(a: &[f32], b: &[f32], mut partial: DisjointSlice<f32, BlockIndex>) {
    let temp = shared_array![f32; BLOCK as usize];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    temp.set(t, if *i < a.len() { a[*i] * b[*i] } else { 0.0 });
    sync_threads();
    let mut stride = block::len() / 2;
    while stride > 0 {
        if t < stride {
            temp.set(t, temp.get(t) + temp.get(t + stride));
        }
        sync_threads();
        stride /= 2;
    }
    if let Some(sum) = partial.get_mut(block::index()) {
        *sum = temp.get(0);
    }
}

/// The view with the strides of standard order, which are nothing.
fn standard(view: View) -> RawView<f32, Extents<usize, ()>> {
    RawView {
        pointer: view.pointer,
        shape: Extents {
            shape: view.shape,
            strides: (),
        },
    }
}

unsafe fn vector_add_entry(params: *const u8) {
    // SAFETY: `time` passes three views.
    unsafe {
        let [a, b, c] = *params.cast::<[View; 3]>();
        vector_add(
            KernelParam::from_raw(a),
            KernelParam::from_raw(b),
            KernelParam::from_raw(standard(c)),
        );
    }
}

unsafe fn dot_entry(params: *const u8) {
    // SAFETY: `time` passes three views.
    unsafe {
        let [a, b, partial] = *params.cast::<[View; 3]>();
        dot(
            KernelParam::from_raw(a),
            KernelParam::from_raw(b),
            KernelParam::from_raw(standard(partial)),
        );
    }
}

fn time(name: &str, checks: Checks, entry: unsafe fn(*const u8), arrays: [&mut [f32]; 3]) {
    let views = arrays.map(|array| View {
        pointer: array.as_mut_ptr(),
        shape: array.len(),
    });
    let launch = Launch {
        grid: Dim3 {
            x: THREADS as u32 / BLOCK,
            y: 1,
            z: 1,
        },
        block: Dim3 {
            x: BLOCK,
            y: 1,
            z: 1,
        },
        cluster: Dim3 { x: 1, y: 1, z: 1 },
        entry,
        params: (&raw const views).cast(),
        shared_limit: 48 << 10,
        dynamic_shared: 0,
        in_order: false,
        checks,
        constants: std::ptr::null(),
    };
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        // SAFETY: the views are live, and each thread writes its own elements.
        unsafe { gpu_sim::run(&launch) }.expect("the launch succeeds");
        best = best.min(start.elapsed().as_secs_f64());
    }
    let rate = THREADS as f64 / best / 1e6;
    println!("{name}: {rate:.1} million threads/s ({:.2} ms)", best * 1e3);
}

fn main() {
    let mut a = vec![1.5_f32; THREADS];
    let mut b = vec![2.0_f32; THREADS];
    let mut c = vec![0.0_f32; THREADS];
    let mut partial = vec![0.0_f32; THREADS / BLOCK as usize];
    let off = Checks::default();
    let on = Checks {
        race: true,
        init: true,
        ..off
    };
    for (checks, with) in [(off, ""), (on, " with checks")] {
        let name = |kernel| format!("{kernel}{with}");
        let arrays = [&mut a, &mut b, &mut c].map(Vec::as_mut_slice);
        time(&name("vector_add"), checks, vector_add_entry, arrays);
        assert!(c.iter().all(|&c| c == 3.5));
        let arrays = [&mut a, &mut b, &mut partial].map(Vec::as_mut_slice);
        time(&name("dot"), checks, dot_entry, arrays);
        assert!(partial.iter().all(|&sum| sum == 3.0 * BLOCK as f32));
    }
    black_box((c, partial));
}
