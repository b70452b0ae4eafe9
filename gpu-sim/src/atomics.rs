//! The scoped atomics: on a CPU every scope is the whole process, and every ordering the strongest.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst, fence};
use std::sync::{Mutex, PoisonError};

use crate::checks::notes;
use crate::context;
use crate::spin::touched;

macro_rules! integer {
    ($int:ident $signed:ident $atomic:ident $rmw:literal $cas:literal $load:literal $store:literal) => {
        mod $int {
            use super::*;

            /// # Safety
            ///
            /// `address` is that of a live, aligned integer that is only accessed atomically.
            #[unsafe(export_name = $rmw)]
            unsafe extern "C" fn rmw(
                operation: u32,
                _order: u32,
                _scope: u32,
                address: *mut $int,
                value: $int,
            ) -> $int {
                // SAFETY: the caller's promise.
                let cell = unsafe { $atomic::from_ptr(address) };
                let new = |old: $int| match operation {
                    0 => value,
                    1 => old.wrapping_add(value),
                    2 => old.wrapping_sub(value),
                    3 => old & value,
                    5 => old | value,
                    6 => old ^ value,
                    7 => (old as $signed).max(value as $signed) as $int,
                    8 => (old as $signed).min(value as $signed) as $int,
                    9 => old.max(value),
                    10 => old.min(value),
                    15 => {
                        if old >= value {
                            0
                        } else {
                            old + 1
                        }
                    }
                    16 => {
                        if old == 0 || old > value {
                            value
                        } else {
                            old - 1
                        }
                    }
                    _ => unreachable!("`gpu_std` passes no other operation"),
                };
                let mut old = cell.load(SeqCst);
                while let Err(seen) = cell.compare_exchange_weak(old, new(old), SeqCst, SeqCst) {
                    old = seen;
                }
                touched(address.addr(), old.into(), old != new(old));
                old
            }

            /// # Safety
            ///
            /// As for `rmw`.
            #[unsafe(export_name = $cas)]
            unsafe extern "C" fn cas(
                _success: u32,
                _failure: u32,
                _scope: u32,
                address: *mut $int,
                expected: $int,
                new: $int,
            ) -> $int {
                // SAFETY: the caller's promise.
                let cell = unsafe { $atomic::from_ptr(address) };
                let old = cell
                    .compare_exchange(expected, new, SeqCst, SeqCst)
                    .unwrap_or_else(|old| old);
                touched(address.addr(), old.into(), old == expected && old != new);
                old
            }

            /// # Safety
            ///
            /// As for `rmw`.
            #[unsafe(export_name = $load)]
            unsafe extern "C" fn load(_order: u32, _scope: u32, address: *mut $int) -> $int {
                // SAFETY: the caller's promise.
                let value = unsafe { $atomic::from_ptr(address) }.load(SeqCst);
                touched(address.addr(), value.into(), false);
                value
            }

            /// # Safety
            ///
            /// As for `rmw`.
            #[unsafe(export_name = $store)]
            unsafe extern "C" fn store(_order: u32, _scope: u32, address: *mut $int, value: $int) {
                // SAFETY: the caller's promise.
                let old = unsafe { $atomic::from_ptr(address) }.swap(value, SeqCst);
                touched(address.addr(), old.into(), old != value);
            }
        }
    };
}

integer!(u16 i16 AtomicU16 "gpu.atomic.rmw.u16" "gpu.atomic.cas.u16" "gpu.atomic.load.u16" "gpu.atomic.store.u16");
integer!(u32 i32 AtomicU32 "gpu.atomic.rmw.u32" "gpu.atomic.cas.u32" "gpu.atomic.load.u32" "gpu.atomic.store.u32");
integer!(u64 i64 AtomicU64 "gpu.atomic.rmw.u64" "gpu.atomic.cas.u64" "gpu.atomic.load.u64" "gpu.atomic.store.u64");

macro_rules! float {
    ($float:ident $atomic:ident $rmw:literal $name:ident) => {
        /// The one operation on floats is addition.
        ///
        /// # Safety
        ///
        /// `address` is that of a live, aligned float that is only accessed atomically.
        #[unsafe(export_name = $rmw)]
        unsafe extern "C" fn $name(
            _operation: u32,
            _order: u32,
            _scope: u32,
            address: *mut $float,
            value: $float,
        ) -> $float {
            // SAFETY: the caller's promise; the bits of a float have its size and alignment.
            let cell = unsafe { $atomic::from_ptr(address.cast()) };
            let new = |old| ($float::from_bits(old) + value).to_bits();
            let mut old = cell.load(SeqCst);
            while let Err(seen) = cell.compare_exchange_weak(old, new(old), SeqCst, SeqCst) {
                old = seen;
            }
            touched(address.addr(), old.into(), old != new(old));
            $float::from_bits(old)
        }
    };
}

float!(f32 AtomicU32 "gpu.atomic.rmw.f32" rmw_f32);
float!(f64 AtomicU64 "gpu.atomic.rmw.f64" rmw_f64);

/// Held while 128 bits are compared and swapped.
static WIDE: Mutex<()> = Mutex::new(());

/// # Safety
///
/// `address` is that of 16 live bytes that are accessed by this function alone; the other pointers are those of variables.
#[unsafe(export_name = "gpu.host.cas.u128")]
unsafe extern "C" fn host_cas_u128(
    address: *mut [u64; 2],
    expected: *const [u64; 2],
    new: *const [u64; 2],
    old: *mut [u64; 2],
) {
    let _alone = WIDE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the caller's promise.
    unsafe {
        *old = *address;
        if *old == *expected {
            *address = *new;
        }
    }
}

#[unsafe(export_name = "gpu.atomic.fence")]
extern "C" fn atomic_fence(_order: u32, _scope: u32) {
    fence(SeqCst);
    if let Some(context) = context::current().filter(|context| context.noting) {
        notes::note_atomic(context);
    }
}
