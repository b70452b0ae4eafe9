//! Names for parts of a program, which Nsight Systems and Nsight Compute show beside the device's work. Without a profiler
//! they cost a few nanoseconds.

use std::ffi::CString;
use std::fmt;
use std::marker::PhantomData;

/// Begins a range, which ends when the value is dropped. Ranges of one thread lie in each other.
/// CUDA C: `nvtxRangePush` and `nvtxRangePop`; CuPy: `cupyx.profiler.time_range`.
///
/// ```
/// use host_runtime::nvtx;
///
/// {
///     let _range = nvtx::range("first step");
///     // launches, copies
/// }
/// ```
#[must_use = "the range ends when the value is dropped"]
pub fn range(name: &str) -> Range {
    cuda_loader::nvtx::range_push(&terminated(name));
    Range {
        _of_this_thread: PhantomData,
    }
}

/// Names this moment. CUDA C: `nvtxMark`.
///
/// ```
/// host_runtime::nvtx::mark("converged");
/// ```
pub fn mark(name: &str) {
    cuda_loader::nvtx::mark(&terminated(name));
}

/// A part of a program with a name, from [`range`] until it is dropped.
pub struct Range {
    /// It must end on the thread where it began.
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for Range {
    fn drop(&mut self) {
        cuda_loader::nvtx::range_pop();
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Range")
    }
}

/// The text up to its first zero byte.
fn terminated(name: &str) -> CString {
    let name = name.split('\0').next().unwrap_or_default();
    CString::new(name).unwrap_or_default()
}
