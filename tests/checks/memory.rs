//! Mistakes with the device's memory, through raw pointers and plain references too.

use oxwarp::prelude::*;

use crate::{Case, right, wrong};

pub const CASES: &[Case] = &[
    right("pointer_inside", |gpu| {
        let mut x = gpu.zeros::<u32>(1000)?;
        // SAFETY: the pointer is that of 1000 elements, each of which one thread writes.
        unsafe { launch_at(gpu, 4, x.device_ptr(), 1000) }?;
        gpu.synchronize()?;
        x.fill(1)
    }),
    wrong(
        "pointer_beyond_the_end",
        |gpu| {
            let x = gpu.zeros::<u32>(1024)?;
            // SAFETY: none: the last threads write beyond the array, which is what is to be found.
            unsafe { launch_at(gpu, 5, x.device_ptr(), 1025) }?;
            gpu.synchronize()
        },
        &[
            "kernel `writes_through_pointer`: byte 4096 from the start of an array of 4096 bytes is accessed: beyond its end",
            "block (4, 0, 0), thread (0, 0, 0) writes it in `",
            "`bounds`",
        ],
    ),
    wrong(
        "index_that_nothing_checks",
        |gpu| {
            let x = gpu.to_device(&vec![1.0f32; 256])?;
            let mut out = gpu.zeros::<f32>(256)?;
            launch!(reads_neighbour[1, 256](x.view(), &mut out))?;
            gpu.synchronize()
        },
        &[
            "byte 1024 from the start of an array of 1024 bytes is accessed: beyond its end",
            "thread (255, 0, 0) reads it",
        ],
    ),
    wrong(
        "array_that_was_freed",
        |gpu| {
            let x = gpu.zeros::<u32>(1000)?;
            let address = x.device_ptr();
            drop(x);
            // SAFETY: none: the array is gone, which is what is to be found.
            unsafe { launch_at(gpu, 4, address, 1000) }
        },
        &[
            "byte 0 of an array of 4000 bytes is accessed, which was freed",
            "`bounds`",
        ],
    ),
    wrong(
        "accumulator_in_memory_that_nothing_wrote",
        |gpu| {
            let x = gpu.to_device(&vec![1.0f32; 300])?;
            // SAFETY: none: the kernel adds to elements that nothing wrote, which is what is to be found.
            let mut sums = unsafe { gpu.uninit::<f32, _>(300) }?;
            launch!(accumulates[2, 256](&x, &mut sums))?;
            gpu.synchronize()
        },
        &[
            "byte 0 of an array of 1200 bytes is read, but nothing has written it",
            "thread (0, 0, 0) reads it",
            "`init`",
        ],
    ),
    right("memory_that_a_kernel_writes_first", |gpu| {
        // SAFETY: the first kernel writes all elements.
        let mut x = unsafe { gpu.uninit::<f32, _>(100_000) }?;
        launch!(sets[400, 256](&mut x))?;
        let y = gpu.to_device(&vec![1.0f32; 100_000])?;
        launch!(accumulates[400, 256](&y, &mut x))?;
        assert!(x.to_vec()?.iter().all(|&x| x == 3.0));
        Ok(())
    }),
    wrong(
        "array_that_nothing_wrote",
        |gpu| {
            // SAFETY: none, as above.
            let x = unsafe { gpu.uninit::<f32, _>(100) }?;
            launch!(accumulates[1, 100](&x, &mut gpu.zeros::<f32>(100)?))?;
            gpu.synchronize()
        },
        &["byte 0 of an array of 400 bytes is read, but nothing has written it"],
    ),
];

/// # Safety
///
/// The address is that of `len` elements, which nothing else accesses.
unsafe fn launch_at(gpu: &Gpu, blocks: u32, address: u64, len: usize) -> oxwarp::Result<()> {
    let launch = writes_through_pointer().on(gpu).grid(blocks).block(256);
    // SAFETY: as the caller promises.
    unsafe { launch.launch(address as *mut u32, len) }
}

/// # Safety
///
/// `to` points to `len` elements, which nothing else accesses.
#[kernel]
unsafe fn writes_through_pointer(to: *mut u32, len: usize) {
    let i = *thread::index_1d();
    if i < len {
        // SAFETY: as the caller promises.
        unsafe { *to.add(i) = 7 };
    }
}

#[kernel]
fn reads_neighbour(x: ArrayView1<f32>, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        // SAFETY: none for the last thread: that is what is to be found.
        *out = unsafe { *x.uget(*i + 1) };
    }
}

#[kernel]
fn accumulates(x: &[f32], mut sums: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(sum) = sums.get_mut(i) {
        *sum += x[*i];
    }
}

#[kernel]
fn sets(mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = 2.0;
    }
}
