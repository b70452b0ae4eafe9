//! Atomics of 16-bit floats and of pairs of them. All operations are relaxed, as CUDA's `atomicAdd` is.
//!
//! An addition is one instruction, `atom.add.noftz`, for `F16` and `F16x2` on every GPU and for `Bf16` and `Bf16x2` from
//! sm_90 on; for older targets, and for the rest, it is a compare-and-swap loop. A pair is added as two numbers: each
//! addition is atomic, not both together.

use core::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use super::scoped::{AtomicScope, Scope, Scoped, System};
use crate::half::{Bf16, Bf16x2, F16, F16x2};
use crate::intrinsics as gpu;
use crate::{note, ptx, target};

macro_rules! add_in {
    ($register:ty, $type:literal, $conversion:literal, $space:literal, $scope:ty, $address:ident, $value:ident) => {
        match <$scope>::NUMBER {
            0 => add_in!(@ $register, $type, $conversion, $space, "cta", $address, $value),
            1 => add_in!(@ $register, $type, $conversion, $space, "gpu", $address, $value),
            _ => add_in!(@ $register, $type, $conversion, $space, "sys", $address, $value),
        }
    };
    (@ $register:ty, $type:literal, $conversion:literal, $space:literal, $scope:literal, $address:ident, $value:ident) => {
        ptx!(
            concat!(
                "{{ .reg .u64 p; ", $conversion, " p, {1};\n\tatom.relaxed.", $scope, $space, ".add.noftz.", $type,
                " \t{0}, [p], {2};\n\t}}"
            ),
            out($register), in $address, in $value; else $value)
    };
}

macro_rules! atomic {
    ($name:ident, $value:ident, $bits:ident, $atomic_bits:ident, $type:literal from $sm:literal, $c:literal; $($each:tt)*) => {
        #[doc = concat!("A [`", stringify!($value), "`] that threads share. CUDA C: `", $c, "` with `atomicAdd`.\n\n```")]
        #[doc = concat!("use gpu_std::atomic::{", stringify!($name), ", AtomicScope, Device};\nuse gpu_std::half::", stringify!($value), ";\n")]
        #[doc = concat!("fn sum(x: &[", stringify!($value), "], sum: &[", stringify!($name), "]) {\n    sum[0].scoped(Device).fetch_add(x[0]);\n}\n```")]
        #[repr(transparent)]
        #[derive(Debug, Default)]
        pub struct $name($atomic_bits);

        impl super::scoped::private::Sealed for $name {}
        impl AtomicScope for $name {}

        impl $name {
            /// A new atomic.
            ///
            /// CUDA C: a plain variable.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\nuse gpu_std::half::", stringify!($value), ";\n\nfn zero() -> ", stringify!($name), " {\n    ", stringify!($name), "::new(", stringify!($value), "::default())\n}")]
            /// ```
            #[inline]
            pub const fn new(value: $value) -> Self {
                Self($atomic_bits::new(value.to_bits()))
            }

            /// The value.
            ///
            /// CUDA C++: `cuda::atomic_ref::load`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\nuse gpu_std::half::", stringify!($value), ";\n\nfn read(x: &", stringify!($name), ") -> ", stringify!($value), " {\n    x.load()\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn load(&self) -> $value {
                self.scoped(System).load()
            }

            /// Sets the value.
            ///
            /// CUDA C++: `cuda::atomic_ref::store`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\nuse gpu_std::half::", stringify!($value), ";\n\nfn write(x: &", stringify!($name), ", value: ", stringify!($value), ") {\n    x.store(value);\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value) {
                self.scoped(System).store(value);
            }

            /// Sets the value and returns the old one. CUDA C: `atomicExch`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\nuse gpu_std::half::", stringify!($value), ";\n\nfn apply(x: &", stringify!($name), ", value: ", stringify!($value), ") -> ", stringify!($value), " {\n    x.swap(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value) -> $value {
                self.scoped(System).swap(value)
            }

            /// Adds and returns the old value. CUDA C: `atomicAdd`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\nuse gpu_std::half::", stringify!($value), ";\n\nfn apply(x: &", stringify!($name), ", value: ", stringify!($value), ") -> ", stringify!($value), " {\n    x.fetch_add(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_add(&self, value: $value) -> $value {
                self.scoped(System).fetch_add(value)
            }

            /// Subtracts and returns the old value.
            ///
            /// CUDA C: `atomicAdd` of the negative.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\nuse gpu_std::half::", stringify!($value), ";\n\nfn apply(x: &", stringify!($name), ", value: ", stringify!($value), ") -> ", stringify!($value), " {\n    x.fetch_sub(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_sub(&self, value: $value) -> $value {
                self.scoped(System).fetch_sub(value)
            }

            /// Sets `new(old)` and returns the old value; `new` may be called more than once. A compare-and-swap loop.
            ///
            /// CUDA C: a loop of `atomicCAS`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::", stringify!($name), ";\nuse gpu_std::half::", stringify!($value), ";\n\nfn double(x: &", stringify!($name), ") {\n    x.update(|old| old + old);\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn update(&self, new: impl Fn($value) -> $value) -> $value {
                self.scoped(System).update(new)
            }
        }

        impl<'a, S: Scope> Scoped<'a, $name, S> {
            #[inline]
            fn as_bits(self) -> Scoped<'a, $atomic_bits, S> {
                // SAFETY: the atomic is its bits, and lives as long.
                unsafe { Scoped::new(self.as_ptr().cast()) }
            }

            /// The value.
            ///
            /// CUDA C++: `cuda::atomic_ref::load`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, Device, ", stringify!($name), "};\nuse gpu_std::half::", stringify!($value), ";\n\nfn read(x: &", stringify!($name), ") -> ", stringify!($value), " {\n    x.scoped(Device).load()\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn load(self) -> $value {
                $value::from_bits(self.as_bits().load(Ordering::Relaxed))
            }

            /// Sets the value.
            ///
            /// CUDA C++: `cuda::atomic_ref::store`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, Device, ", stringify!($name), "};\nuse gpu_std::half::", stringify!($value), ";\n\nfn write(x: &", stringify!($name), ", value: ", stringify!($value), ") {\n    x.scoped(Device).store(value);\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn store(self, value: $value) {
                self.as_bits().store(value.to_bits(), Ordering::Relaxed);
            }

            /// Sets the value and returns the old one. CUDA C: `atomicExch`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, Device, ", stringify!($name), "};\nuse gpu_std::half::", stringify!($value), ";\n\nfn apply(x: &", stringify!($name), ", value: ", stringify!($value), ") -> ", stringify!($value), " {\n    x.scoped(Device).swap(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn swap(self, value: $value) -> $value {
                $value::from_bits(self.as_bits().swap(value.to_bits(), Ordering::Relaxed))
            }

            /// Adds and returns the old value. CUDA C: `atomicAdd`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, Device, ", stringify!($name), "};\nuse gpu_std::half::", stringify!($value), ";\n\nfn apply(x: &", stringify!($name), ", value: ", stringify!($value), ") -> ", stringify!($value), " {\n    x.scoped(Device).fetch_add(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_add(self, value: $value) -> $value {
                if !ptx::on_device() || target::sm() < $sm {
                    return self.update(|old| old + value);
                }
                if $sm == 90 {
                    target::require_ptx(78);
                }
                note::atomic(self.as_ptr(), note::Atomic::ReadModifyWrite);
                let (address, bits) = (self.as_ptr(), value.to_bits());
                let place = address.cast::<()>();
                // SAFETY: the atomic lives, is aligned and is only accessed atomically; the address is in the space that
                // the instruction names.
                $value::from_bits(unsafe {
                    if gpu::is_space_global(place) {
                        add_in!($bits, $type, "cvta.to.global.u64", ".global", S, address, bits)
                    } else if gpu::is_space_shared(place) {
                        add_in!($bits, $type, "cvta.to.shared.u64", ".shared", S, address, bits)
                    } else {
                        add_in!($bits, $type, "mov.u64", "", S, address, bits)
                    }
                })
            }

            /// Subtracts and returns the old value.
            ///
            /// CUDA C: `atomicAdd` of the negative.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, Device, ", stringify!($name), "};\nuse gpu_std::half::", stringify!($value), ";\n\nfn apply(x: &", stringify!($name), ", value: ", stringify!($value), ") -> ", stringify!($value), " {\n    x.scoped(Device).fetch_sub(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_sub(self, value: $value) -> $value {
                self.fetch_add(-value)
            }

            $($each)*

            /// Sets `new(old)` and returns the old value; `new` may be called more than once. A compare-and-swap loop.
            ///
            /// CUDA C: a loop of `atomicCAS`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, Device, ", stringify!($name), "};\nuse gpu_std::half::", stringify!($value), ";\n\nfn double(x: &", stringify!($name), ") {\n    x.scoped(Device).update(|old| old + old);\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn update(self, new: impl Fn($value) -> $value) -> $value {
                let bits = self.as_bits();
                let mut old = bits.load(Ordering::Relaxed);
                loop {
                    let wanted = new($value::from_bits(old)).to_bits();
                    if wanted == old {
                        return $value::from_bits(old);
                    }
                    match bits.compare_exchange(old, wanted, Ordering::Relaxed, Ordering::Relaxed) {
                        Ok(old) => return $value::from_bits(old),
                        Err(seen) => old = seen,
                    }
                }
            }
        }
    };
}

macro_rules! scalar {
    ($name:ident, $value:ident, $type:literal from $sm:literal, $c:literal) => {
        atomic! { $name, $value, u16, AtomicU16, $type from $sm, $c;
            /// Sets the lesser of both (a NaN is none) and returns the old value. A compare-and-swap loop.
            ///
            /// CUDA C has no such function for these.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, Device, ", stringify!($name), "};\nuse gpu_std::half::", stringify!($value), ";\n\nfn apply(x: &", stringify!($name), ", value: ", stringify!($value), ") -> ", stringify!($value), " {\n    x.scoped(Device).fetch_min(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_min(self, value: $value) -> $value {
                self.update(|old| old.min(value))
            }

            /// Sets the greater of both (a NaN is none) and returns the old value. A compare-and-swap loop.
            ///
            /// CUDA C has no such function for these.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, Device, ", stringify!($name), "};\nuse gpu_std::half::", stringify!($value), ";\n\nfn apply(x: &", stringify!($name), ", value: ", stringify!($value), ") -> ", stringify!($value), " {\n    x.scoped(Device).fetch_max(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_max(self, value: $value) -> $value {
                self.update(|old| old.max(value))
            }
        }
    };
}

scalar!(AtomicF16, F16, "f16" from 75, "__half");
scalar!(AtomicBf16, Bf16, "bf16" from 90, "__nv_bfloat16");
atomic! { AtomicF16x2, F16x2, u32, AtomicU32, "f16x2" from 75, "__half2"; }
atomic! { AtomicBf16x2, Bf16x2, u32, AtomicU32, "bf16x2" from 90, "__nv_bfloat162"; }
