//! Loads and stores with a hint for the caches, and prefetches.
//!
//! The hints change speed, never results. They apply to global memory; a reference to anything else is read and written
//! as usual. A load takes a reference, so the index was checked: `ldcs(&x[i])` is CUDA C's `__ldcs(&x[i])`.
//!
//! # Soundness
//!
//! A load reads through a shared reference and a store writes through an exclusive one, with the size and alignment of
//! their type, which is plain data ([`Pod`]).

use bytemuck::Pod;

use crate::intrinsics as gpu;
use crate::ptx;

/// Whether an address is in global memory; known when the kernel is compiled, in most cases.
#[inline]
fn is_global<T>(address: *const T) -> bool {
    gpu::is_space_global(address.cast())
}

/// The value of these bits.
///
/// # Safety
///
/// Both types have the same size.
#[inline]
unsafe fn from_bits<B: Copy, T: Pod>(bits: B) -> T {
    // SAFETY: any bits are a `T`, and the caller's promise.
    unsafe { core::mem::transmute_copy(&bits) }
}

/// Whether one instruction can load or store a `T` at `address`, with a hint.
#[inline]
fn takes_hint<T>(address: *const T) -> bool {
    let size = const { size_of::<T>() };
    matches!(size, 1 | 2 | 4 | 8 | 16) && align_of::<T>() >= size && is_global(address)
}

macro_rules! load {
    ($hint:literal, $rest:literal) => {
        concat!(
            "{{ .reg .u64 p; cvta.to.global.u64 p, {1}; ld.global.",
            $hint,
            $rest,
            " }}"
        )
    };
}

macro_rules! store {
    ($hint:literal, $rest:literal) => {
        concat!(
            "{{ .reg .u64 p; cvta.to.global.u64 p, {0}; st.global.",
            $hint,
            $rest,
            " }}"
        )
    };
}

macro_rules! loads {
    ($($(#[$doc:meta])* $name:ident = $hint:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// For a type of 1, 2, 4, 8 or 16 bytes whose alignment is its size; others are loaded as usual.
        ///
        /// ```
        #[doc = concat!("use gpu_std::{DisjointSlice, memory, thread};\n\nfn copy(x: &[f32], mut y: DisjointSlice<f32>) {\n    let i = thread::index_1d();\n    if let Some(y) = y.get_mut(i) {\n        *y = memory::", stringify!($name), "(&x[i]);\n    }\n}")]
        /// ```
        #[inline]
        pub fn $name<T: Pod>(place: &T) -> T {
            let address: *const T = place;
            if !takes_hint(address) {
                return *place;
            }
            // SAFETY: the address is that of a live `T` in global memory, aligned to its size; its own bits are read.
            unsafe {
                match size_of::<T>() {
                    1 => from_bits(ptx!(load!($hint, ".u8 {0}, [p];"), out(u16), in address; else 0) as u8),
                    2 => from_bits(ptx!(load!($hint, ".u16 {0}, [p];"), out(u16), in address; else 0)),
                    4 => from_bits(ptx!(load!($hint, ".u32 {0}, [p];"), out(u32), in address; else 0)),
                    8 => from_bits(ptx!(load!($hint, ".u64 {0}, [p];"), out(u64), in address; else 0)),
                    _ => from_bits(ptx!(
                        concat!("{{ .reg .u64 p; cvta.to.global.u64 p, {2}; ld.global.", $hint, ".v2.u64 {{{0}, {1}}}, [p]; }}"),
                        out(u64, u64), in address; else (0, 0))),
                }
            }
        }
    )*};
}

macro_rules! stores {
    ($($(#[$doc:meta])* $name:ident = $hint:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// For a type of 1, 2, 4, 8 or 16 bytes whose alignment is its size; others are stored as usual.
        ///
        /// ```
        #[doc = concat!("use gpu_std::{DisjointSlice, memory, thread};\n\nfn fill(mut y: DisjointSlice<f32>) {\n    if let Some(y) = y.get_mut(thread::index_1d()) {\n        memory::", stringify!($name), "(y, 1.0);\n    }\n}")]
        /// ```
        #[inline]
        pub fn $name<T: Pod>(place: &mut T, value: T) {
            let address: *mut T = place;
            if !takes_hint(address) {
                *place = value;
                return;
            }
            // SAFETY: the address is that of a live `T` in global memory, aligned to its size, and borrowed exclusively.
            unsafe {
                match size_of::<T>() {
                    1 => ptx!(store!($hint, ".u8 [p], {1};"), in address, in u16::from(from_bits::<T, u8>(value)); else ()),
                    2 => ptx!(store!($hint, ".u16 [p], {1};"), in address, in from_bits::<T, u16>(value); else ()),
                    4 => ptx!(store!($hint, ".u32 [p], {1};"), in address, in from_bits::<T, u32>(value); else ()),
                    8 => ptx!(store!($hint, ".u64 [p], {1};"), in address, in from_bits::<T, u64>(value); else ()),
                    _ => {
                        let [low, high] = from_bits::<T, [u64; 2]>(value);
                        ptx!(store!($hint, ".v2.u64 [p], {{{1}, {2}}};"), in address, in low, in high; else ())
                    }
                }
            }
        }
    )*};
}

loads! {
    /// Loads through all caches, as a plain load does. CUDA C: `__ldca`; PTX: `ld.global.ca`.
    ldca = "ca";
    /// Loads through the L2 cache only. CUDA C: `__ldcg`; PTX: `ld.global.cg`.
    ldcg = "cg";
    /// Loads what is likely used once: first to leave the caches. CUDA C: `__ldcs`; PTX: `ld.global.cs`.
    ldcs = "cs";
    /// Loads what is not used again: its cache line need not be written back. CUDA C: `__ldlu`; PTX: `ld.global.lu`.
    ldlu = "lu";
    /// Loads from memory again, whatever is in the caches. CUDA C: `__ldcv`; PTX: `ld.global.cv`.
    ldcv = "cv";
}

stores! {
    /// Stores to all caches, as a plain store does. CUDA C: `__stwb`; PTX: `st.global.wb`.
    stwb = "wb";
    /// Stores to the L2 cache only. CUDA C: `__stcg`; PTX: `st.global.cg`.
    stcg = "cg";
    /// Stores what is likely used once: first to leave the caches. CUDA C: `__stcs`; PTX: `st.global.cs`.
    stcs = "cs";
    /// Stores through to memory. CUDA C: `__stwt`; PTX: `st.global.wt`.
    stwt = "wt";
}

macro_rules! prefetches {
    ($($(#[$doc:meta])* $name:ident = $template:literal;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name<T>(place: &T) {
            let address: *const T = place;
            // SAFETY: the address is that of a live `T`; nothing that a program sees is read or written.
            unsafe { ptx!($template, in address; else ()) }
        }
    )*};
}

prefetches! {
    /// Brings the cache line of `place` into the L1 cache. PTX: `prefetch.L1`.
    ///
    /// ```
    /// fn soon(x: &[f32], i: usize) {
    ///     if let Some(x) = x.get(i) {
    ///         gpu_std::memory::prefetch_l1(x);
    ///     }
    /// }
    /// ```
    prefetch_l1 = "prefetch.L1 [{0}];";
    /// Brings the cache line of `place` into the L2 cache. PTX: `prefetch.L2`.
    ///
    /// ```
    /// fn soon(x: &[f32], i: usize) {
    ///     if let Some(x) = x.get(i) {
    ///         gpu_std::memory::prefetch_l2(x);
    ///     }
    /// }
    /// ```
    prefetch_l2 = "prefetch.L2 [{0}];";
}
