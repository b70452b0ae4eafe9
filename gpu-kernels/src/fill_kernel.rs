//! One value everywhere.

use gpu_macros::kernel;
use gpu_std::{DisjointSlice, thread};

/// Writes `value` to every element of `out`.
///
/// In: a value of any `Copy` type. Out: `out`, all of it, whatever the one-dimensional grid.
///
/// ```
/// use oxwarp::{Gpu, Kernel};
/// # use gpu_kernels as kernels;
///
/// let gpu = Gpu::cpu();
/// let mut x = gpu.zeros::<i32>(1000)?;
/// kernels::fill.for_each(x.len()).launch(7, &mut x)?;
/// assert_eq!(x.to_vec()?, [7; 1000]);
/// # Ok::<(), oxwarp::Error>(())
/// ```
#[kernel]
pub fn fill<T>(value: T, mut out: DisjointSlice<T>)
where
    T: Copy,
{
    for i in thread::grid_stride(out.len()) {
        if let Some(out) = out.get_mut(i) {
            *out = value;
        }
    }
}
