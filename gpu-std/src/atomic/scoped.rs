//! Atomic operations of a narrower scope than Rust's own, which is the whole system, and CUDA's operations that Rust
//! has not.
//!
//! # Soundness
//!
//! A [`Scoped`] holds a live atomic for its lifetime. If threads outside the scope use the same atomic at the same time,
//! they may miss each other's operations, so the values are unspecified; every bit pattern is a valid value of these
//! types, and nothing else is accessed.

use core::marker::PhantomData;
use core::sync::atomic::{
    AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    Ordering,
};

use super::order::{self, operation, with_ordering};
use super::{AtomicF32, AtomicF64};
use crate::intrinsics as gpu;
use crate::note;

/// The threads that an atomic operation is atomic, and ordered, for. PTX ISA: "Scope".
///
/// CUDA C++: `cuda::thread_scope`.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use gpu_std::atomic::{AtomicScope, Scope};
///
/// fn count(x: &AtomicU32, scope: impl Scope) {
///     x.scoped(scope).fetch_add(1, Relaxed);
/// }
/// ```
pub trait Scope: Copy + private::Sealed {
    /// What the device compiler knows it by.
    #[doc(hidden)]
    const NUMBER: u32;
}

pub(super) mod private {
    pub trait Sealed {}
}

macro_rules! scopes {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// ```
        #[doc = concat!("use core::sync::atomic::Ordering::SeqCst;\nuse gpu_std::atomic::{", stringify!($name), ", fence};\n\nfn order() {\n    fence(", stringify!($name), ", SeqCst);\n}")]
        /// ```
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl private::Sealed for $name {}
        impl Scope for $name {
            const NUMBER: u32 = $number;
        }
    )*};
}

scopes! {
    /// The threads of one block. CUDA C: `atomicAdd_block`; PTX: `.cta`.
    Block = 0;
    /// The threads of one GPU. CUDA C: `atomicAdd`; PTX: `.gpu`.
    Device = 1;
    /// All threads: of all GPUs and of the host. The scope of Rust's own atomics. CUDA C: `atomicAdd_system`; PTX: `.sys`.
    System = 2;
}

/// An atomic of which operations can have a scope.
///
/// CUDA C++: `cuda::atomic_ref`.
///
/// ```
/// use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use gpu_std::atomic::{AtomicScope, Device};
///
/// fn count(x: &AtomicU64) {
///     x.scoped(Device).fetch_add(1, Relaxed);
/// }
/// ```
pub trait AtomicScope: private::Sealed + Sized {
    /// The atomic, with operations that are atomic for the threads of `scope`.
    ///
    /// ```
    /// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// use gpu_std::atomic::{AtomicScope, Device};
    ///
    /// fn count(x: &[u32], counters: &[AtomicU32]) {
    ///     counters[x[0] as usize].scoped(Device).fetch_add(1, Relaxed);
    /// }
    /// ```
    ///
    /// It computes nothing. CUDA C++: `cuda::atomic_ref<T, cuda::thread_scope_device>(x)`.
    #[inline]
    fn scoped<S: Scope>(&self, scope: S) -> Scoped<'_, Self, S> {
        let _ = scope;
        Scoped {
            atomic: self,
            _lives: PhantomData,
        }
    }
}

/// An atomic and a scope, from [`AtomicScope::scoped`] or a shared array of atomics.
///
/// Methods are those of `core::sync::atomic`, with the same orderings; those of [`AtomicF32`] and [`AtomicF64`] are all
/// relaxed.
///
/// CUDA C++: `cuda::atomic_ref<T, scope>`.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use gpu_std::atomic::{Block, Scoped};
///
/// fn next(ticket: Scoped<'_, AtomicU32, Block>) -> u32 {
///     ticket.fetch_add(1, Relaxed)
/// }
/// ```
#[derive(Debug)]
pub struct Scoped<'a, A, S> {
    atomic: *const A,
    _lives: PhantomData<(&'a A, S)>,
}

impl<A, S> Clone for Scoped<'_, A, S> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, S> Copy for Scoped<'_, A, S> {}

impl<'a, A, S> Scoped<'a, A, S> {
    /// # Safety
    ///
    /// `atomic` is aligned and lives, and is only accessed atomically, for `'a`.
    #[inline]
    pub(crate) unsafe fn new(atomic: *const A) -> Self {
        Self {
            atomic,
            _lives: PhantomData,
        }
    }

    /// Where the atomic is.
    #[inline]
    pub(super) fn as_ptr(self) -> *mut A {
        self.atomic.cast_mut()
    }
}

/// A fence of a scope: orders memory accesses before it and after it, as
/// [`core::sync::atomic::fence`] does for the whole system.
/// CUDA C: `__threadfence_block()`, `__threadfence()`, `__threadfence_system()`; PTX: `fence.sc`, `fence.acq_rel`.
///
/// # Panics
///
/// If `ordering` is `Relaxed`: there is no such fence.
///
/// ```
/// use core::sync::atomic::Ordering::SeqCst;
/// use gpu_std::atomic::{Device, fence};
///
/// fn publish() {
///     fence(Device, SeqCst);
/// }
/// ```
#[inline]
#[track_caller]
pub fn fence<S: Scope>(scope: S, ordering: Ordering) {
    let _ = scope;
    match ordering {
        Ordering::Relaxed => panic!("there is no such thing as a relaxed fence"),
        Ordering::Acquire => gpu::atomic_fence(order::ACQUIRE, S::NUMBER),
        Ordering::Release => gpu::atomic_fence(order::RELEASE, S::NUMBER),
        Ordering::AcqRel => gpu::atomic_fence(order::ACQ_REL, S::NUMBER),
        _ => gpu::atomic_fence(order::SEQ_CST, S::NUMBER),
    }
}

macro_rules! fetch {
    ($atomic:ident $int:ident $bits:ident $rmw:ident: $($(#[$doc:meta])* $name:ident = $operation:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// ```
        #[doc = concat!("use core::sync::atomic::{", stringify!($atomic), ", Ordering::Relaxed};\nuse gpu_std::atomic::{AtomicScope, Device};\n\nfn apply(x: &", stringify!($atomic), ", value: ", stringify!($int), ") -> ", stringify!($int), " {\n    x.scoped(Device).", stringify!($name), "(value, Relaxed)\n}")]
        /// ```
        #[inline]
        #[track_caller]
        pub fn $name(self, value: $int, ordering: Ordering) -> $int {
            // SAFETY: the atomic lives, is aligned and is only accessed atomically; integers of one size have the same
            // bits.
            with_ordering!(ordering, ORDER => unsafe {
                gpu::$rmw(operation::$operation, ORDER, S::NUMBER, self.bits(note::Atomic::ReadModifyWrite), value as $bits) as $int
            })
        }
    )*};
}

macro_rules! integer {
    ($atomic:ident $int:ident $bits:ident $max:ident $min:ident $rmw:ident $cas:ident $load:ident $store:ident) => {
        impl private::Sealed for $atomic {}
        impl AtomicScope for $atomic {}

        impl<S: Scope> Scoped<'_, $atomic, S> {
            #[inline]
            #[track_caller]
            fn bits(self, operation: note::Atomic) -> *mut $bits {
                note::atomic(self.atomic, operation);
                self.atomic.cast::<$bits>().cast_mut()
            }

            /// The value.
            ///
            /// CUDA C++: `cuda::atomic_ref<T, scope>::load`.
            ///
            /// ```
            #[doc = concat!("use core::sync::atomic::{", stringify!($atomic), ", Ordering};\nuse gpu_std::atomic::{AtomicScope, Block};\n\nfn read(x: &", stringify!($atomic), ") -> ", stringify!($int), " {\n    x.scoped(Block).load(Ordering::Acquire)\n}")]
            /// ```
            ///
            /// # Panics
            ///
            /// If `ordering` is `Release` or `AcqRel`: there is no such load.
            #[inline]
            #[track_caller]
            pub fn load(self, ordering: Ordering) -> $int {
                let bits = self.bits(note::Atomic::Load);
                // SAFETY: the atomic lives, is aligned and is only accessed atomically.
                let bits = unsafe {
                    match ordering {
                        Ordering::Relaxed => gpu::$load(order::RELAXED, S::NUMBER, bits),
                        Ordering::Acquire => gpu::$load(order::ACQUIRE, S::NUMBER, bits),
                        Ordering::SeqCst => gpu::$load(order::SEQ_CST, S::NUMBER, bits),
                        _ => panic!("there is no such thing as a release load"),
                    }
                };
                bits as $int
            }

            /// Sets the value.
            ///
            /// CUDA C++: `cuda::atomic_ref<T, scope>::store`.
            ///
            /// ```
            #[doc = concat!("use core::sync::atomic::{", stringify!($atomic), ", Ordering};\nuse gpu_std::atomic::{AtomicScope, Block};\n\nfn write(x: &", stringify!($atomic), ", value: ", stringify!($int), ") {\n    x.scoped(Block).store(value, Ordering::Release);\n}")]
            /// ```
            ///
            /// # Panics
            ///
            /// If `ordering` is `Acquire` or `AcqRel`: there is no such store.
            #[inline]
            #[track_caller]
            pub fn store(self, value: $int, ordering: Ordering) {
                let (bits, value) = (self.bits(note::Atomic::Store), value as $bits);
                // SAFETY: the atomic lives, is aligned and is only accessed atomically.
                unsafe {
                    match ordering {
                        Ordering::Relaxed => gpu::$store(order::RELAXED, S::NUMBER, bits, value),
                        Ordering::Release => gpu::$store(order::RELEASE, S::NUMBER, bits, value),
                        Ordering::SeqCst => gpu::$store(order::SEQ_CST, S::NUMBER, bits, value),
                        _ => panic!("there is no such thing as an acquire store"),
                    }
                }
            }

            /// Sets `new` if the value is `current`. The old value, as `Ok` if it was set. CUDA C: `atomicCAS`.
            ///
            /// ```
            #[doc = concat!("use core::sync::atomic::{", stringify!($atomic), ", Ordering};\nuse gpu_std::atomic::{AtomicScope, Block};\n\nfn claim(x: &", stringify!($atomic), ") -> bool {\n    x.scoped(Block).compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()\n}")]
            /// ```
            ///
            /// # Panics
            ///
            /// If `failure` is `Release` or `AcqRel`: there is no such load.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                self,
                current: $int,
                new: $int,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$int, $int> {
                let bits = self.bits(note::Atomic::ReadModifyWrite);
                let (expected, wanted) = (current as $bits, new as $bits);
                // SAFETY: the atomic lives, is aligned and is only accessed atomically.
                let old = with_ordering!(success, ORDER => unsafe {
                    match failure {
                        Ordering::Relaxed => gpu::$cas(ORDER, order::RELAXED, S::NUMBER, bits, expected, wanted),
                        Ordering::Acquire => gpu::$cas(ORDER, order::ACQUIRE, S::NUMBER, bits, expected, wanted),
                        Ordering::SeqCst => gpu::$cas(ORDER, order::SEQ_CST, S::NUMBER, bits, expected, wanted),
                        _ => panic!("there is no such thing as a release failure ordering"),
                    }
                }) as $int;
                if old == current { Ok(old) } else { Err(old) }
            }

            fetch! { $atomic $int $bits $rmw:
                /// Sets the value and returns the old one. CUDA C: `atomicExch`.
                swap = SWAP;
                /// Adds, wrapping around, and returns the old value. CUDA C: `atomicAdd`.
                fetch_add = ADD;
                /// Subtracts, wrapping around, and returns the old value. CUDA C: `atomicSub`.
                fetch_sub = SUB;
                /// Sets the bitwise and; returns the old value. CUDA C: `atomicAnd`.
                fetch_and = AND;
                /// Sets the bitwise or; returns the old value. CUDA C: `atomicOr`.
                fetch_or = OR;
                /// Sets the bitwise exclusive or; returns the old value. CUDA C: `atomicXor`.
                fetch_xor = XOR;
                /// Sets the greater of both; returns the old value. CUDA C: `atomicMax`.
                fetch_max = $max;
                /// Sets the lesser of both; returns the old value. CUDA C: `atomicMin`.
                fetch_min = $min;
            }
        }
    };
}

integer!(AtomicU32 u32 u32 UMAX UMIN atomic_rmw_u32 atomic_cas_u32 atomic_load_u32 atomic_store_u32);
integer!(AtomicI32 i32 u32 MAX MIN atomic_rmw_u32 atomic_cas_u32 atomic_load_u32 atomic_store_u32);
integer!(AtomicU16 u16 u16 UMAX UMIN atomic_rmw_u16 atomic_cas_u16 atomic_load_u16 atomic_store_u16);
integer!(AtomicI16 i16 u16 MAX MIN atomic_rmw_u16 atomic_cas_u16 atomic_load_u16 atomic_store_u16);
integer!(AtomicUsize usize u64 UMAX UMIN atomic_rmw_u64 atomic_cas_u64 atomic_load_u64 atomic_store_u64);
integer!(AtomicIsize isize u64 MAX MIN atomic_rmw_u64 atomic_cas_u64 atomic_load_u64 atomic_store_u64);
integer!(AtomicU64 u64 u64 UMAX UMIN atomic_rmw_u64 atomic_cas_u64 atomic_load_u64 atomic_store_u64);
integer!(AtomicI64 i64 u64 MAX MIN atomic_rmw_u64 atomic_cas_u64 atomic_load_u64 atomic_store_u64);

impl<S: Scope> Scoped<'_, AtomicU32, S> {
    fetch! { AtomicU32 u32 u32 atomic_rmw_u32:
        /// Counts up to a limit and wraps around: sets 0 if the value is `value` or more, else one more. Returns the
        /// old value. CUDA C: `atomicInc`; PTX: `atom.inc`.
        fetch_inc = INC;
        /// Counts down from a limit and wraps around: sets `value` if the value is 0 or above `value`, else one less.
        /// Returns the old value. CUDA C: `atomicDec`; PTX: `atom.dec`.
        fetch_dec = DEC;
    }
}

macro_rules! float {
    ($atomic:ident $float:ident $bits:ident $rmw:ident) => {
        impl private::Sealed for $atomic {}
        impl AtomicScope for $atomic {}

        impl<'a, S: Scope> Scoped<'a, $atomic, S> {
            #[inline]
            fn as_bits(self) -> Scoped<'a, $bits, S> {
                // SAFETY: the floating-point atomic is its bits, and lives as long.
                unsafe { Scoped::new(self.atomic.cast()) }
            }

            /// The value.
            ///
            /// CUDA C++: `cuda::atomic_ref<T, scope>::load`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, ", stringify!($atomic), ", Block};\n\nfn read(x: &", stringify!($atomic), ") -> ", stringify!($float), " {\n    x.scoped(Block).load()\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn load(self) -> $float {
                $float::from_bits(self.as_bits().load(Ordering::Relaxed))
            }

            /// Sets the value.
            ///
            /// CUDA C++: `cuda::atomic_ref<T, scope>::store`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, ", stringify!($atomic), ", Block};\n\nfn write(x: &", stringify!($atomic), ", value: ", stringify!($float), ") {\n    x.scoped(Block).store(value);\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn store(self, value: $float) {
                self.as_bits().store(value.to_bits(), Ordering::Relaxed);
            }

            /// Sets the value and returns the old one. CUDA C: `atomicExch`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, ", stringify!($atomic), ", Block};\n\nfn apply(x: &", stringify!($atomic), ", value: ", stringify!($float), ") -> ", stringify!($float), " {\n    x.scoped(Block).swap(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn swap(self, value: $float) -> $float {
                $float::from_bits(self.as_bits().swap(value.to_bits(), Ordering::Relaxed))
            }

            /// Adds and returns the old value. CUDA C: `atomicAdd`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, ", stringify!($atomic), ", Block};\n\nfn apply(x: &", stringify!($atomic), ", value: ", stringify!($float), ") -> ", stringify!($float), " {\n    x.scoped(Block).fetch_add(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_add(self, value: $float) -> $float {
                note::atomic(self.atomic, note::Atomic::ReadModifyWrite);
                // SAFETY: the atomic lives, is aligned and is only accessed atomically.
                unsafe {
                    gpu::$rmw(
                        operation::FADD,
                        order::RELAXED,
                        S::NUMBER,
                        self.atomic.cast_mut().cast(),
                        value,
                    )
                }
            }

            /// Subtracts and returns the old value.
            ///
            /// CUDA C: `atomicAdd` of the negative.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, ", stringify!($atomic), ", Block};\n\nfn apply(x: &", stringify!($atomic), ", value: ", stringify!($float), ") -> ", stringify!($float), " {\n    x.scoped(Block).fetch_sub(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_sub(self, value: $float) -> $float {
                self.fetch_add(-value)
            }

            /// Sets the lesser of both (a NaN is none) and returns the old value. A compare-and-swap loop.
            ///
            /// CUDA C has no such function for floats.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, ", stringify!($atomic), ", Block};\n\nfn apply(x: &", stringify!($atomic), ", value: ", stringify!($float), ") -> ", stringify!($float), " {\n    x.scoped(Block).fetch_min(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_min(self, value: $float) -> $float {
                self.update(|old| old.min(value))
            }

            /// Sets the greater of both (a NaN is none) and returns the old value. A compare-and-swap loop.
            ///
            /// CUDA C has no such function for floats.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, ", stringify!($atomic), ", Block};\n\nfn apply(x: &", stringify!($atomic), ", value: ", stringify!($float), ") -> ", stringify!($float), " {\n    x.scoped(Block).fetch_max(value)\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn fetch_max(self, value: $float) -> $float {
                self.update(|old| old.max(value))
            }

            /// Sets `new(old)` and returns the old value; `new` may be called more than once. A compare-and-swap loop.
            ///
            /// CUDA C: a loop of `atomicCAS`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::atomic::{AtomicScope, ", stringify!($atomic), ", Block};\n\nfn double(x: &", stringify!($atomic), ") {\n    x.scoped(Block).update(|old| 2.0 * old);\n}")]
            /// ```
            #[inline]
            #[track_caller]
            pub fn update(self, new: impl Fn($float) -> $float) -> $float {
                let (bits, relaxed) = (self.as_bits(), Ordering::Relaxed);
                let mut old = bits.load(relaxed);
                loop {
                    let wanted = new($float::from_bits(old)).to_bits();
                    if wanted == old {
                        return $float::from_bits(old);
                    }
                    match bits.compare_exchange(old, wanted, relaxed, relaxed) {
                        Ok(old) => return $float::from_bits(old),
                        Err(seen) => old = seen,
                    }
                }
            }
        }
    };
}

float!(AtomicF32 f32 AtomicU32 atomic_rmw_f32);
float!(AtomicF64 f64 AtomicU64 atomic_rmw_f64);
