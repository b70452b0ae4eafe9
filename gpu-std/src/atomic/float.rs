//! Floating-point atomics. All operations are relaxed, as CUDA's `atomicAdd` is.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::intrinsics as gpu;
use crate::note;

macro_rules! float_atomic {
    ($name:ident, $float:ident, $bits:ident, $fadd:ident, $example:literal) => {
        #[doc = concat!("An `", stringify!($float), "` that threads share. All operations are relaxed, and of system scope. CUDA C: `atomicAdd_system` on a `float` or `double`.")]
        ///
        /// ```no_run
        #[doc = $example]
        /// ```
        #[repr(transparent)]
        #[derive(Debug, Default)]
        pub struct $name(pub(super) $bits);

        impl $name {
            /// A new atomic.
            ///
            /// CUDA C: a plain variable.
            ///
            /// ```no_run
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::new(1.5).load(), 1.5);")]
            /// ```
            #[inline]
            pub const fn new(value: $float) -> Self {
                Self($bits::new(value.to_bits()))
            }

            /// The value.
            ///
            /// CUDA C++: `cuda::atomic_ref::load`; PTX: `ld.relaxed.sys`.
            ///
            /// ```no_run
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::new(1.5).load(), 1.5);")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn load(&self) -> $float {
                note::atomic(&raw const self.0, note::Atomic::Load);
                $float::from_bits(self.0.load(Ordering::Relaxed))
            }

            /// Sets the value.
            ///
            /// CUDA C++: `cuda::atomic_ref::store`; PTX: `st.relaxed.sys`.
            ///
            /// ```no_run
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\n\nlet x = ", stringify!($name), "::new(1.5);\nx.store(2.0);\nassert_eq!(x.load(), 2.0);")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $float) {
                note::atomic(&raw const self.0, note::Atomic::Store);
                self.0.store(value.to_bits(), Ordering::Relaxed);
            }

            /// Sets the value and returns the old one. CUDA C: `atomicExch`.
            ///
            /// ```no_run
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\n\nlet x = ", stringify!($name), "::new(1.5);\nassert_eq!(x.swap(2.0), 1.5);")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $float) -> $float {
                note::atomic(&raw const self.0, note::Atomic::ReadModifyWrite);
                $float::from_bits(self.0.swap(value.to_bits(), Ordering::Relaxed))
            }

            /// Adds and returns the old value. CUDA C: `atomicAdd`. The order of additions of different threads, and
            /// so the rounding of their sum, is unspecified.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\n\nfn apply(sum: &[", stringify!($name), "], value: ", stringify!($float), ") -> ", stringify!($float), " {\n    sum[0].fetch_add(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_add(&self, value: $float) -> $float {
                note::atomic(&raw const self.0, note::Atomic::ReadModifyWrite);
                // SAFETY: the address is that of a live, aligned float that is only accessed atomically.
                unsafe { gpu::$fadd(self.0.as_ptr().cast(), value) }
            }

            /// Subtracts and returns the old value.
            ///
            /// CUDA C: `atomicAdd` of the negative.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\n\nfn apply(sum: &[", stringify!($name), "], value: ", stringify!($float), ") -> ", stringify!($float), " {\n    sum[0].fetch_sub(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_sub(&self, value: $float) -> $float {
                self.fetch_add(-value)
            }

            #[doc = concat!("Sets the lesser of both, as [`", stringify!($float), "::min`] has it, and returns the old value.")]
            ///
            /// A compare-and-swap loop; CUDA C has no such function for floats.
            ///
            /// ```no_run
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\n\nlet x = ", stringify!($name), "::new(1.5);\nassert_eq!((x.fetch_min(1.0), x.load()), (1.5, 1.0));")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_min(&self, value: $float) -> $float {
                self.update(|old| old.min(value))
            }

            #[doc = concat!("Sets the greater of both, as [`", stringify!($float), "::max`] has it, and returns the old value.")]
            ///
            /// A compare-and-swap loop; CUDA C has no such function for floats.
            ///
            /// ```no_run
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\n\nlet x = ", stringify!($name), "::new(1.5);\nassert_eq!((x.fetch_max(2.0), x.load()), (1.5, 2.0));")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_max(&self, value: $float) -> $float {
                self.update(|old| old.max(value))
            }

            /// Sets `new(old)` and returns the old value; `new` may be called more than once. A compare-and-swap loop.
            ///
            /// CUDA C: a loop of `atomicCAS`.
            ///
            /// ```no_run
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\n\nlet x = ", stringify!($name), "::new(1.5);\nx.update(|old| 2.0 * old);\nassert_eq!(x.load(), 3.0);")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn update(&self, new: impl Fn($float) -> $float) -> $float {
                note::atomic(&raw const self.0, note::Atomic::ReadModifyWrite);
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
