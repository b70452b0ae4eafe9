//! Atomics of 128 bits, which hold for example two 64-bit numbers that change together.

use core::cell::UnsafeCell;

use super::scoped::{AtomicScope, Scope, Scoped, System, private};
use crate::intrinsics as gpu;
use crate::{note, ptx, target};

/// A `u128` that threads share. All operations are relaxed. From sm_90 on, for global and shared memory; CUDA C:
/// `atomicCAS`, `atomicExch` of 16-byte types.
///
/// ```
/// use gpu_std::atomic::{AtomicScope, AtomicU128, Device};
///
/// /// Keeps the least distance and where it was found.
/// fn nearest(distance: u64, index: u64, best: &[AtomicU128]) {
///     let candidate = u128::from(distance) << 64 | u128::from(index);
///     best[0].scoped(Device).update(|best| best.min(candidate));
/// }
/// ```
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct AtomicU128(UnsafeCell<u128>);

// SAFETY: the value is only accessed atomically.
unsafe impl Sync for AtomicU128 {}

impl private::Sealed for AtomicU128 {}
impl AtomicScope for AtomicU128 {}

impl AtomicU128 {
    /// A new atomic.
    ///
    /// CUDA C: a plain variable of 16 bytes.
    ///
    /// ```
    /// use gpu_std::atomic::AtomicU128;
    ///
    /// let nothing = AtomicU128::new(u128::MAX);
    /// # let _ = nothing;
    /// ```
    #[inline]
    pub const fn new(value: u128) -> Self {
        Self(UnsafeCell::new(value))
    }
}

/// `atom.cas.b128` of one scope: the old value.
macro_rules! compare_and_swap {
    ($scope:literal, $address:ident, $current:ident, $new:ident, $else:expr) => {
        ptx!(
            concat!(
                "{{ .reg .b128 o, c, n; mov.b128 c, {{{3}, {4}}}; mov.b128 n, {{{5}, {6}}};\n\tatom.relaxed.", $scope,
                ".cas.b128 \to, [{2}], c, n;\n\tmov.b128 {{{0}, {1}}}, o; }}"
            ),
            out(u64, u64), in $address, in $current[0], in $current[1], in $new[0], in $new[1]; else $else)
    };
}

impl<S: Scope> Scoped<'_, AtomicU128, S> {
    /// The value.
    ///
    /// One compare-and-swap. CUDA C: `atomicCAS` of zero by zero. From sm_90 on, as the others.
    ///
    /// ```
    /// use gpu_std::atomic::{AtomicScope, AtomicU128, Device};
    ///
    /// fn read(x: &AtomicU128) -> u128 {
    ///     x.scoped(Device).load()
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn load(self) -> u128 {
        self.compare_exchange(0, 0).unwrap_or_else(|seen| seen)
    }

    /// Sets the value.
    ///
    /// A compare-and-swap loop. CUDA C: `atomicExch`.
    ///
    /// ```
    /// use gpu_std::atomic::{AtomicScope, AtomicU128, Device};
    ///
    /// fn write(x: &AtomicU128, value: u128) {
    ///     x.scoped(Device).store(value);
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn store(self, value: u128) {
        // What the loop reads before is no use of it.
        note::atomic(self.as_ptr(), note::Atomic::Store);
        self.swap(value);
    }

    /// Sets the value and returns the old one. CUDA C: `atomicExch`.
    ///
    /// ```
    /// use gpu_std::atomic::{AtomicScope, AtomicU128, Device};
    ///
    /// fn take(x: &AtomicU128) -> u128 {
    ///     x.scoped(Device).swap(0)
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn swap(self, value: u128) -> u128 {
        self.update(|_| value)
    }

    /// Sets `new` if the value is `current`. The old value, as `Ok` if it was set. CUDA C: `atomicCAS`; PTX:
    /// `atom.cas.b128`.
    ///
    /// ```
    /// use gpu_std::atomic::{AtomicScope, AtomicU128, Device};
    ///
    /// fn claim(x: &AtomicU128) -> bool {
    ///     x.scoped(Device).compare_exchange(0, 1).is_ok()
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn compare_exchange(self, current: u128, new: u128) -> Result<u128, u128> {
        target::require_sm(90, "`AtomicU128`");
        // The scope of the system came later.
        target::require_ptx(if S::NUMBER == System::NUMBER { 84 } else { 83 });
        let address = self.as_ptr();
        note::atomic(address, note::Atomic::ReadModifyWrite);
        let [expected, wanted] = [current, new].map(|value| [value as u64, (value >> 64) as u64]);
        // SAFETY: the atomic lives, is aligned and is only accessed atomically.
        let (low, high) = unsafe {
            let on_host = || {
                let mut old = [0; 2];
                gpu::host_cas_u128(address.cast(), &expected, &wanted, &mut old);
                (old[0], old[1])
            };
            match S::NUMBER {
                0 => compare_and_swap!("cta", address, expected, wanted, on_host()),
                1 => compare_and_swap!("gpu", address, expected, wanted, on_host()),
                _ => compare_and_swap!("sys", address, expected, wanted, on_host()),
            }
        };
        let old = u128::from(low) | u128::from(high) << 64;
        if old == current { Ok(old) } else { Err(old) }
    }

    /// Sets `new(old)` and returns the old value; `new` may be called more than once. A compare-and-swap loop.
    ///
    /// CUDA C: a loop of `atomicCAS`.
    ///
    /// ```
    /// use gpu_std::atomic::{AtomicScope, AtomicU128, Device};
    ///
    /// fn least(x: &AtomicU128, value: u128) {
    ///     x.scoped(Device).update(|old| old.min(value));
    /// }
    /// ```
    #[inline]
    #[track_caller]
    pub fn update(self, new: impl Fn(u128) -> u128) -> u128 {
        let mut old = self.load();
        loop {
            match self.compare_exchange(old, new(old)) {
                Ok(old) => return old,
                Err(seen) => old = seen,
            }
        }
    }
}
