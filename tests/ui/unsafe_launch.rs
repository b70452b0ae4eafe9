//! An `unsafe fn` kernel launched without `unsafe`.
use oxwarp::prelude::*;

/// # Safety
/// `first` is writable.
#[kernel]
unsafe fn write(first: *mut f32) {
    // SAFETY: the caller promises it.
    unsafe { *first = 1.0 };
}

fn main() -> oxwarp::Result<()> {
    launch!(write[1, 1](std::ptr::null_mut()))?;
    Ok(())
}
