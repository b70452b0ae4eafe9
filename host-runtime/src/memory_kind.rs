//! The kinds of memory that an array can have, and the handle that allocates one.
//!
//! One array type has them all: a kernel's argument, a view or a copy does not care where the bytes lie. What only some
//! kinds can do ([`as_host`](crate::DeviceArray::as_host), [`prefetch`](crate::DeviceArray::prefetch)) is an error
//! value on the others.

use crate::gpu::Gpu;

/// Where the memory of an array comes from, and who can reach it: for [`Gpu::with_memory`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// Device memory from the device's pool, allocated and freed in the order of the stream: an allocation takes about
    /// a microsecond and a free never waits. CUDA C: `cudaMallocAsync`; CuPy: the default pool.
    #[default]
    Pool,
    /// Device memory of its own, which takes longer to allocate, and waits for the stream when it is freed: for memory
    /// that other processes or libraries get a handle of. CUDA C: `cudaMalloc`; PyCUDA: `mem_alloc`.
    Plain,
    /// Pinned host memory that kernels read and write over the bus, without copies: for what is read or written once,
    /// or by few threads. CUDA C: `cudaHostAllocMapped`; Numba: `cuda.mapped_array`.
    Mapped,
    /// Memory whose pages move to whoever touches them, the host or the device; it may be larger than the device's.
    /// CUDA C: `cudaMallocManaged`; Numba: `cuda.managed_array`; CuPy: `malloc_managed`.
    Managed,
}

impl Gpu {
    /// The same device and stream, whose arrays have memory of this kind.
    ///
    /// ```
    /// use host_runtime::{Gpu, MemoryKind};
    ///
    /// let gpu = Gpu::cpu();
    /// let mut x = gpu.with_memory(MemoryKind::Managed).zeros::<f32>(1000)?;
    /// x.as_host_mut()?[0] = 1.5; // without a copy
    /// assert_eq!(x.as_host()?[0], 1.5);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn with_memory(&self, kind: MemoryKind) -> Self {
        let mut gpu = self.clone();
        gpu.memory = kind;
        gpu
    }

    /// The kind of memory that arrays of this handle have: [`MemoryKind::Pool`] unless another was chosen.
    pub fn memory_kind(&self) -> MemoryKind {
        self.memory
    }
}
