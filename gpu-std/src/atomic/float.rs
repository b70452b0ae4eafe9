//! Floating-point atomics. All operations are relaxed, as CUDA's `atomicAdd` is.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::intrinsics as gpu;

macro_rules! float_atomic {
    ($name:ident, $float:ident, $bits:ident, $fadd:ident, $example:literal) => {
        #[doc = concat!("An `", stringify!($float), "` that threads share. All operations are relaxed.")]
        ///
        /// ```
        #[doc = $example]
        /// ```
        #[repr(transparent)]
        #[derive(Debug, Default)]
        pub struct $name(pub(super) $bits);

        impl $name {
            /// A new atomic.
            #[inline]
            pub const fn new(value: $float) -> Self {
                Self($bits::new(value.to_bits()))
            }

            /// The value.
            #[inline]
            pub fn load(&self) -> $float {
                $float::from_bits(self.0.load(Ordering::Relaxed))
            }

            /// Sets the value.
            #[inline]
            pub fn store(&self, value: $float) {
                self.0.store(value.to_bits(), Ordering::Relaxed);
            }

            /// Sets the value and returns the old one. CUDA C: `atomicExch`.
            #[inline]
            pub fn swap(&self, value: $float) -> $float {
                $float::from_bits(self.0.swap(value.to_bits(), Ordering::Relaxed))
            }

            /// Adds and returns the old value. CUDA C: `atomicAdd`. The order of additions of different threads, and
            /// so the rounding of their sum, is unspecified.
            #[inline]
            pub fn fetch_add(&self, value: $float) -> $float {
                // SAFETY: the address is that of a live, aligned float that is only accessed atomically.
                unsafe { gpu::$fadd(self.0.as_ptr().cast(), value) }
            }

            /// Subtracts and returns the old value.
            #[inline]
            pub fn fetch_sub(&self, value: $float) -> $float {
                self.fetch_add(-value)
            }

            #[doc = concat!("Sets the lesser of both, as [`", stringify!($float), "::min`] has it, and returns the old value.")]
            #[inline]
            pub fn fetch_min(&self, value: $float) -> $float {
                self.update(|old| old.min(value))
            }

            #[doc = concat!("Sets the greater of both, as [`", stringify!($float), "::max`] has it, and returns the old value.")]
            #[inline]
            pub fn fetch_max(&self, value: $float) -> $float {
                self.update(|old| old.max(value))
            }

            /// Sets `new(old)` and returns the old value; `new` may be called more than once. A compare-and-swap loop.
            #[inline]
            pub fn update(&self, new: impl Fn($float) -> $float) -> $float {
                let mut old = self.0.load(Ordering::Relaxed);
                loop {
                    let wanted = new($float::from_bits(old)).to_bits();
                    if wanted == old {
                        return $float::from_bits(old);
                    }
                    match self.0.compare_exchange_weak(old, wanted, Ordering::Relaxed, Ordering::Relaxed) {
                        Ok(old) => return $float::from_bits(old),
                        Err(seen) => old = seen,
                    }
                }
            }
        }
    };
}

float_atomic!(
    AtomicF32,
    f32,
    AtomicU32,
    atomic_fadd_f32,
    "let sum = gpu_std::atomic::AtomicF32::new(1.5);\nassert_eq!(sum.swap(2.5), 1.5);\nassert_eq!(sum.load(), 2.5);"
);
float_atomic!(
    AtomicF64,
    f64,
    AtomicU64,
    atomic_fadd_f64,
    "let sum = gpu_std::atomic::AtomicF64::new(1.5);\nassert_eq!(sum.swap(2.5), 1.5);\nassert_eq!(sum.load(), 2.5);"
);
