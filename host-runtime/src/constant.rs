//! Statics in constant memory: declared by `constant!`, filled by [`Gpu::set_constant`].
//!
//! Each leaves a [`ConstantRecord`] in the program, from which a device's modules get the value in the source when they are
//! loaded.

use std::alloc::Layout;
use std::any::TypeId;

use gpu_std::constant::Constant;

use crate::DeviceCopy;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::graph::capture;
use crate::registry;
use crate::stream::Backend;

/// Declares statics in constant memory, which kernels read and the host fills.
/// CUDA C: `__constant__ float weights[5];` and `cudaMemcpyToSymbol`; Numba: `cuda.const.array_like`.
///
/// In a kernel the name stands for the value ([`Constant`](gpu_std::constant::Constant)): `WEIGHTS[i]`, `SETTINGS.scale`,
/// `*LIMIT`. The value is the one in the source until the host sets another with
/// [`Gpu::set_constant`](crate::Gpu::set_constant). Its type is any `Copy` type without references, of at most 64 KiB; that
/// is also the most for all that the kernels of one crate use. All kernels of a program see the same value, from whatever
/// crate they are.
///
/// ```compile_fail
/// host_runtime::constant! {
///     static TOO_LARGE: [u8; 65537] = [0; 65537]; // pass it to the kernel as a slice
/// }
/// ```
///
/// Where the values are known when the program is compiled, a plain `const` or `static` array will do in a kernel too.
///
/// ```
/// use host_runtime::{Gpu, constant};
///
/// constant! {
///     /// A filter.
///     static WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];
/// }
///
/// let gpu = Gpu::cpu();
/// gpu.set_constant(&WEIGHTS, &[0.1, 0.8, 0.1])?;
/// # Ok::<(), host_runtime::Error>(())
/// ```
#[macro_export]
macro_rules! constant {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $value:expr;)*) => {$(
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, missing_docs)]
        $visibility struct $name {}

        $(#[$attribute])*
        $visibility static $name: $crate::__private::Constant<$type, $name> =
            $crate::__private::Constant::of_place($value);

        $crate::__private::inventory::submit! {
            $crate::__private::ConstantRecord::of(&$name)
        }
    )*};
}

/// What a program knows of a static in constant memory.
#[derive(Debug)]
pub struct ConstantRecord {
    key: TypeId,
    /// The value in the source.
    initial: *const u8,
    layout: Layout,
}

// SAFETY: what the pointer points to is never written.
unsafe impl Sync for ConstantRecord {}

// SAFETY: as for `Sync`.
unsafe impl Send for ConstantRecord {}

inventory::collect!(ConstantRecord);

impl ConstantRecord {
    /// The record of a static.
    pub const fn of<T: Copy + Sync, P: 'static>(constant: &'static Constant<T, P>) -> Self {
        Self {
            key: Constant::<T, P>::key(),
            initial: constant.initial().cast(),
            layout: Layout::new::<T>(),
        }
    }

    /// What identifies the static.
    pub(crate) fn key(&self) -> TypeId {
        self.key
    }

    /// The value in the source.
    pub(crate) fn initial(&self) -> *const u8 {
        self.initial
    }

    /// The layout of its type.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }
}

/// The records of the program, and of what was compiled since it started.
pub(crate) fn records() -> Vec<&'static ConstantRecord> {
    let mut all: Vec<_> = inventory::iter::<ConstantRecord>.into_iter().collect();
    for entry in registry::all_compiled_since() {
        (entry.constants)(&mut |record| all.push(record));
    }
    all
}

impl Gpu {
    /// Sets the value of a constant, for the launches that are queued from now on, on this handle's stream and on those
    /// that [`new_stream`](Self::new_stream) made from it. What was queued before keeps the value that it had.
    ///
    /// # Errors
    ///
    /// If a kernel of this stream is known to have panicked since the last wait, or inside a capture: then nothing is set.
    ///
    /// ```
    /// use host_runtime::{Gpu, constant};
    ///
    /// constant! {
    ///     static OFFSET: (i32, i32) = (0, 0);
    /// }
    ///
    /// Gpu::cpu().set_constant(&OFFSET, &(3, -1))?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn set_constant<T: DeviceCopy + Sync, P: 'static>(
        &self,
        _constant: &'static Constant<T, P>,
        value: &T,
    ) -> Result<()> {
        capture::refuse(
            "a constant",
            "set it before a launch of the graph, whose kernels see the value of then",
        )?;
        let (key, value) = (Constant::<T, P>::key(), (&raw const *value).cast());
        // SAFETY: the value is a `T`, and lives until the call returns.
        unsafe {
            match self.backend() {
                Backend::Cuda(stream) => stream.set_constant(key, value, size_of::<T>()),
                Backend::Simulator(stream) => stream.set_constant(key, value, Layout::new::<T>()),
            }
        }
    }
}
