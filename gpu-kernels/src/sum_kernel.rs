//! The sum of an array: a kernel that leaves one partial sum a block, and a host function that finishes it.

use bytemuck::AnyBitPattern;
use gpu_macros::kernel;
use gpu_std::disjoint::BlockIndex;
use gpu_std::{DisjointSlice, block, shared_array, sync_threads, thread};
use oxwarp::{DeviceArray, DeviceCopy, Result, launch};

/// The most threads that a block can have, and so the most sums that it combines.
const MOST_THREADS: usize = 1024;

/// Threads of a block in the first launch of [`sum_of`].
const BLOCK: usize = 256;

/// The most blocks of that launch: enough to fill a large GPU, and what one block adds up in the second.
const MOST_BLOCKS: usize = 1024;

/// Adds up `x`, to one partial sum in each block.
///
/// In: an array of any length. Out: `partial[b]`, the sum of the elements that the threads of block `b` met in their
/// grid-stride loops, for every block of a one-dimensional grid; partial sums beyond the end of `partial` are lost,
/// elements of `partial` beyond the grid are not written. Integers wrap around.
///
/// A tree in shared memory adds the threads' sums, so rounding errors grow with the number of elements a thread has,
/// not with the length of the array.
///
/// ```
/// use oxwarp::{Gpu, Kernel, launch};
/// # use gpu_kernels as kernels;
///
/// let gpu = Gpu::cpu();
/// let x = gpu.to_device(&vec![1u32; 1000])?;
/// let mut partial = gpu.zeros::<u32>(2)?;
/// launch!(kernels::sum[2, 250](&x, &mut partial))?;
/// assert_eq!(partial.to_vec()?, [500, 500]);
/// # Ok::<(), oxwarp::Error>(())
/// ```
#[kernel]
pub fn sum<T>(x: &[T], mut partial: DisjointSlice<T, BlockIndex>)
where
    T: Number,
{
    let sums = shared_array![T; MOST_THREADS];
    let t = thread::index_in_block();

    let mut own = T::ZERO;
    for i in thread::grid_stride(x.len()) {
        own = own.plus(x[i]);
    }
    sums.set(t, own);
    sync_threads();

    // The upper half is added to the lower, until one is left; of an odd number the middle one waits.
    let mut left = block::len();
    while left > 1 {
        let half = left.div_ceil(2);
        if t < left / 2 {
            sums.set(t, sums.get(t).plus(sums.get(t + half)));
        }
        sync_threads();
        left = half;
    }
    if let Some(partial) = partial.get_mut(block::index()) {
        *partial = sums.get(0);
    }
}

/// The sum of an array's elements, as a value on the host: launches [`sum`](fn@sum) twice and waits.
///
/// The order of the additions depends on the length only, so every device gives the same bits. Integers wrap around.
///
/// # Errors
///
/// If memory runs out, a kernel panicked since the last wait, or the device fails.
///
/// ```
/// # use gpu_kernels as kernels;
/// let gpu = oxwarp::Gpu::cpu();
/// let x = gpu.to_device(&vec![0.5f64; 1001])?;
/// assert_eq!(kernels::sum_of(&x)?, 500.5);
/// assert_eq!(kernels::sum_of(&gpu.zeros::<i32>(0)?)?, 0);
/// # Ok::<(), oxwarp::Error>(())
/// ```
pub fn sum_of<T: Number>(x: &DeviceArray<T>) -> Result<T> {
    let blocks = x.len().div_ceil(BLOCK).clamp(1, MOST_BLOCKS);
    let mut partial = x.gpu().full(blocks, T::ZERO)?;
    launch!(sum[blocks, BLOCK](x, &mut partial))?;
    let mut whole = x.gpu().full(1, T::ZERO)?;
    launch!(sum[1, MOST_BLOCKS](&partial, &mut whole))?;
    Ok(whole.to_vec()?[0])
}

/// A number that [`sum`](fn@sum) adds up: `f32`, `f64`, `i32`, `u32`, `i64`, `u64`.
pub trait Number: DeviceCopy + AnyBitPattern + sealed::Sealed {}

mod sealed {
    pub trait Sealed: Sized {
        const ZERO: Self;

        fn plus(self, other: Self) -> Self;
    }
}

macro_rules! numbers {
    ($($number:ident $plus:path, $zero:literal;)*) => {$(
        impl Number for $number {}
        impl sealed::Sealed for $number {
            const ZERO: Self = $zero;

            #[inline]
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }
        }
    )*};
}

numbers! {
    f32 core::ops::Add::add, 0.0;
    f64 core::ops::Add::add, 0.0;
    i32 i32::wrapping_add, 0;
    u32 u32::wrapping_add, 0;
    i64 i64::wrapping_add, 0;
    u64 u64::wrapping_add, 0;
}
