//! A closure on each element.

use gpu_macros::kernel;
use gpu_std::{DisjointSlice, thread};

/// Writes `f(x[i])` to each `out[i]`.
///
/// In: a function or closure, whose captures (values, by `move`) are copied to the device, and an array at least as
/// long as `out`; a shorter one is a panic of the kernel. Out: `out`, all of it, whatever the one-dimensional grid.
///
/// ```
/// use oxwarp::{Gpu, Kernel};
/// # use gpu_kernels as kernels;
///
/// let gpu = Gpu::cpu();
/// let limit = 10.0;
/// let x = gpu.to_device(&[4.0f32, 25.0, 100.0])?;
/// let mut small = gpu.zeros::<u8>(3)?;
/// kernels::map.for_each(x.len()).launch(move |x: f32| u8::from(x < limit), &x, &mut small)?;
/// assert_eq!(small.to_vec()?, [1, 0, 0]);
///
/// let mut roots = gpu.zeros::<f32>(3)?;
/// kernels::map.for_each(x.len()).launch(f32::sqrt, &x, &mut roots)?;
/// assert_eq!(roots.to_vec()?, [2.0, 5.0, 10.0]);
/// # Ok::<(), oxwarp::Error>(())
/// ```
#[kernel]
pub fn map<T, U, F>(f: F, x: &[T], mut out: DisjointSlice<U>)
where
    T: Copy,
    F: Fn(T) -> U + Copy,
{
    for i in thread::grid_stride(out.len()) {
        if let Some(out) = out.get_mut(i) {
            *out = f(x[i]);
        }
    }
}
