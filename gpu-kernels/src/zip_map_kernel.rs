//! A closure on each pair of elements of two arrays.

use gpu_macros::kernel;
use gpu_std::{DisjointSlice, thread};

/// Writes `f(a[i], b[i])` to each `out[i]`.
///
/// In: a function or closure, whose captures (values, by `move`) are copied to the device, and two arrays at least as
/// long as `out`; a shorter one is a panic of the kernel. Out: `out`, all of it, whatever the one-dimensional grid.
///
/// ```
/// use oxwarp::{Gpu, Kernel};
/// # use gpu_kernels as kernels;
///
/// let gpu = Gpu::cpu();
/// let a = gpu.to_device(&[1.0f32, 2.0, 3.0])?;
/// let b = gpu.to_device(&[4, 5, 6])?;
/// let mut powers = gpu.zeros::<f32>(3)?;
/// kernels::zip_map.for_each(a.len()).launch(f32::powi, &a, &b, &mut powers)?;
/// assert_eq!(powers.to_vec()?, [1.0, 32.0, 729.0]);
/// # Ok::<(), oxwarp::Error>(())
/// ```
#[kernel]
pub fn zip_map<A, B, U, F>(f: F, a: &[A], b: &[B], mut out: DisjointSlice<U>)
where
    A: Copy,
    B: Copy,
    F: Fn(A, B) -> U + Copy,
{
    for i in thread::grid_stride(out.len()) {
        if let Some(out) = out.get_mut(i) {
            *out = f(a[i], b[i]);
        }
    }
}
