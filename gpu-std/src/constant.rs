//! Constant memory: a small table that all threads read and the host fills between launches.
//!
//! A [`Constant`] is a `static` that `constant!` of `host-runtime` declares. In a kernel it reads as the value that the
//! device has at the launch ([`Deref`]); a host program reads the value in the source.
//!
//! On a device each module that uses it has a `.const` array of its own, named after the type that stands for the static,
//! and the host fills all of them. So a static of one crate is one for the kernels of all.
//!
//! # Soundness
//!
//! The reference in a kernel is to memory that does not change while the kernel runs: the host's write waits for its place
//! in the queue. The value is `Copy`, so nothing in it can be written through a shared reference.

use core::any::TypeId;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use crate::intrinsics as gpu;

/// The most bytes of constant memory that a device has for one module: 64 KiB on every GPU.
///
/// CUDA C: the limit of all `__constant__` variables.
///
/// ```
/// use gpu_std::constant::CONSTANT_BYTES;
///
/// assert!(size_of::<[f32; 1000]>() <= CONSTANT_BYTES);
/// ```
pub const CONSTANT_BYTES: usize = 64 << 10;

/// A `T` in constant memory; `P` is the type that stands for the static. `constant!` declares it.
///
/// CUDA C: `__constant__`; Numba: `cuda.const.array_like`.
///
/// ```
/// use gpu_std::constant::Constant;
///
/// fn apply<P: 'static>(weights: &Constant<[f32; 3], P>, x: [f32; 3]) -> f32 {
///     x.iter().zip(weights.iter()).map(|(x, w)| x * w).sum()
/// }
/// ```
pub struct Constant<T, P> {
    initial: T,
    place: PhantomData<fn() -> P>,
}

impl<T: Copy, P: 'static> Constant<T, P> {
    /// The static of which `P` is the only sign.
    #[doc(hidden)]
    pub const fn of_place(initial: T) -> Self {
        assert!(
            size_of::<T>() <= CONSTANT_BYTES,
            "this constant is larger than constant memory, which has 65536 bytes: pass it to the kernel as a slice"
        );
        Self {
            initial,
            place: PhantomData,
        }
    }

    /// The value in the source.
    #[doc(hidden)]
    pub const fn initial(&self) -> *const T {
        &raw const self.initial
    }

    /// What identifies it on a device.
    #[doc(hidden)]
    pub const fn key() -> TypeId {
        TypeId::of::<P>()
    }

    /// The value that the running launch sees. `*CONSTANT`, `CONSTANT[i]` and method calls come here too.
    ///
    /// In host code it is the value that the source gives. PTX: `ld.const`, which is fastest where all threads of a warp
    /// read the same element. Every GPU.
    ///
    /// ```
    /// use gpu_std::constant::Constant;
    ///
    /// fn first<P: 'static>(weights: &Constant<[f32; 3], P>) -> f32 {
    ///     weights.get()[0]
    /// }
    /// ```
    #[inline]
    pub fn get(&self) -> &T {
        let size = const { size_of::<T>() };
        let align = const { align_of::<T>() };
        let key = const {
            let key: &'static TypeId = const { &TypeId::of::<P>() };
            (&raw const *key).cast()
        };
        // SAFETY: size and alignment are those of `T`, and the key is a constant's. The memory holds a `T`: the initial
        // value, or one that the host copied there whole, which it does not while a kernel runs.
        unsafe { &*gpu::constant_static(size, align, key, self.initial().cast()).cast::<T>() }
    }
}

impl<T: Copy, P: 'static> Deref for Constant<T, P> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.get()
    }
}

impl<T: Copy + fmt::Debug, P: 'static> fmt::Debug for Constant<T, P> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
