//! What a thread is about to access, told to the simulator for its checks.
//!
//! In: the address and type of an element, and the caller's source line. The device compiler removes the calls before any
//! pass sees them, so that device code has no trace of them. On the host each is a call that returns at once while the
//! checks are off.
//!
//! A note comes before its access: where the simulator finds a fault, the access does not happen.

use core::panic::Location;

use crate::intrinsics as gpu;

/// The element of shared memory at `address` is read.
#[inline(always)]
#[track_caller]
pub(crate) fn shared_read<T>(address: *const T) {
    shared_read_at(address, Location::caller());
}

/// [`shared_read`], from inside of a closure, which has no caller to name.
#[inline(always)]
pub(crate) fn shared_read_at<T>(address: *const T, place: &'static Location<'static>) {
    gpu::note_shared_read(address.cast(), size_of::<T>(), place);
}

/// `value` is written to the element of shared memory at `address`.
#[inline(always)]
#[track_caller]
pub(crate) fn shared_write<T>(address: *const T, value: &T) {
    shared_write_at(address, value, Location::caller());
}

/// [`shared_write`], from inside of a closure.
#[inline(always)]
pub(crate) fn shared_write_at<T>(address: *const T, value: &T, place: &'static Location<'static>) {
    let value = (&raw const *value).cast();
    gpu::note_shared_write(address.cast(), size_of::<T>(), value, place);
}

/// The element of the device's memory at `address` is read.
#[inline(always)]
#[track_caller]
pub(crate) fn global_read<T>(address: *const T) {
    gpu::note_global_read(address.cast(), size_of::<T>(), Location::caller());
}

/// The element of the device's memory at `address` is written.
#[inline(always)]
#[track_caller]
pub(crate) fn global_write<T>(address: *const T) {
    gpu::note_global_write(address.cast(), size_of::<T>(), Location::caller());
}

/// What an atomic operation does.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Atomic {
    Load = 0,
    Store = 1,
    ReadModifyWrite = 2,
}

/// The atomic at `address`, in shared or global memory, is accessed.
#[inline(always)]
#[track_caller]
pub(crate) fn atomic<T>(address: *const T, operation: Atomic) {
    gpu::note_atomic(
        address.cast(),
        size_of::<T>(),
        operation as u32,
        Location::caller(),
    );
}
