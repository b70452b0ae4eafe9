//! Mistakes with the device's memory, through raw pointers and plain references too.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::AcqRel;

use oxwarp::atomic::{AtomicScope, Device};
use oxwarp::prelude::*;
use oxwarp::view::UnsafeSlice;

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
            "block (4, 0, 0), thread (0, 0, 0) writes it",
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
            "of an array of 4000 bytes is accessed, which was freed",
            "`bounds`",
        ],
    ),
    wrong(
        "accumulator_in_memory_that_nothing_wrote",
        |gpu| {
            let x = gpu.to_device(&vec![1.0f32; 300])?;
            // SAFETY: none: the kernel adds to elements that nothing wrote, which is what is to be found.
            let mut sums = unsafe { gpu.uninit::<f32, _>(300) }?;
            launch!(accumulates[1, 256](&x, &mut sums))?;
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
    right("scatter_by_permutation", |gpu| {
        let to = gpu.to_device(&(0..512).map(|i| i * 5 % 512).collect::<Vec<u32>>())?;
        launch!(scatter[4, 128](&to, &mut gpu.zeros::<u32>(512)?))
    }),
    wrong(
        "scatter_to_one_place",
        |gpu| {
            let to = gpu.to_device(&(0..512).map(|i| i * 4 % 512).collect::<Vec<u32>>())?;
            launch!(scatter[4, 128](&to, &mut gpu.zeros::<u32>(512)?))
        },
        &[
            "data race on an element (of 4 bytes) of the device's memory",
            "has written it at tests/checks/memory.rs:",
            "writes it at tests/checks/memory.rs:",
            "`race`",
        ],
    ),
    right(
        "neighbours_after_a_barrier",
        |gpu| launch!(neighbours[2, 64](true, &mut gpu.zeros::<u32>(128)?)),
    ),
    wrong(
        "neighbours_without_a_barrier",
        |gpu| launch!(neighbours[2, 64](false, &mut gpu.zeros::<u32>(128)?)),
        &[
            "data race on an element (of 4 bytes) of the device's memory",
            "thread (1, 0, 0)",
            "`race`",
        ],
    ),
    wrong(
        "sum_of_the_block_before",
        |gpu| launch!(adds_to_the_block_before[4, 1](&mut gpu.zeros::<u32>(5)?)),
        &["data race on an element", "`race`"],
    ),
    right("last_block_sums", |gpu| {
        let mut sums = gpu.zeros::<u32>(9)?;
        launch!(last_block_sums[8, 32](&mut gpu.zeros::<u32>(1)?, &mut sums))?;
        assert_eq!(sums.to_vec()?[8], 36);
        Ok(())
    }),
    right(
        "after_the_barrier_of_the_grid",
        |gpu| launch!(across_the_grid[4, 32](true, &mut gpu.zeros::<u32>(128)?)),
    ),
    wrong(
        "before_the_barrier_of_the_grid",
        |gpu| launch!(across_the_grid[4, 32](false, &mut gpu.zeros::<u32>(128)?)),
        &["data race on an element"],
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
        *sum += x[i];
    }
}

#[kernel]
fn sets(mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = 2.0;
    }
}

#[kernel]
fn scatter(to: &[u32], out: UnsafeSlice<u32>) {
    let i = *thread::index_1d();
    if i < to.len() {
        // SAFETY: right for a permutation; where it is none, that is what is to be found.
        unsafe { out.set(to[i] as usize, i as u32) };
    }
}

#[kernel]
fn neighbours(with_barrier: bool, x: UnsafeSlice<u32>) {
    let i = *thread::index_1d();
    // SAFETY: right with the barrier; without it, that is what is to be found.
    unsafe {
        x.set(i, i as u32);
        if with_barrier {
            sync_threads();
        }
        let left = if i.is_multiple_of(64) {
            0
        } else {
            x.get(i - 1)
        };
        if with_barrier {
            sync_threads();
        }
        x.set(i, left + 1);
    }
}

#[kernel]
fn adds_to_the_block_before(sums: UnsafeSlice<u32>) {
    let b = *block::index();
    // SAFETY: none: the block before may not have run.
    unsafe { sums.set(b + 1, sums.get(b) + 1) };
}

/// The block that comes last sums what all have written.
#[kernel]
fn last_block_sums(done: &[AtomicU32], sums: UnsafeSlice<u32>) {
    if thread::index_in_block() > 0 {
        return;
    }
    let (b, blocks) = (*block::index(), thread::grid_dim().x);
    // SAFETY: each block writes its own element, and the last one reads them after their counts.
    unsafe { sums.set(b, b as u32 + 1) };
    if done[0].scoped(Device).fetch_add(1, AcqRel) == blocks - 1 {
        // SAFETY: as above.
        unsafe { sums.set(8, (0..8).map(|b| sums.get(b)).sum()) };
    }
}

#[kernel]
fn across_the_grid(with_barrier: bool, x: UnsafeSlice<u32>) {
    let i = *thread::index();
    // SAFETY: right with the barrier; without it, that is what is to be found.
    unsafe {
        x.set(i, i as u32);
        if with_barrier {
            grid::sync();
        }
        let other = x.get(x.len() - 1 - i);
        grid::sync();
        x.set(i, other);
    }
}
