//! What a device's memory pool holds, and giving it back.
//!
//! Arrays of [`MemoryKind::Pool`](crate::MemoryKind::Pool) come from the device's default pool, which all streams of
//! the process share. It keeps what is freed for the next allocation, until it is trimmed or an allocation would fail.
//! What the pool holds is not free in [`DeviceProperties`](crate::DeviceProperties), though the next arrays get it.

use crate::error::Result;
use crate::gpu::Gpu;
use crate::stream::Backend;

/// Bytes of a device's memory pool, from [`Gpu::pool_usage`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolUsage {
    /// Bytes of arrays that are alive, rounded up as the pool does; what is freed counts until its stream gets there.
    pub used: u64,
    /// Bytes that the pool holds, for arrays that are alive and for the next.
    pub reserved: u64,
    /// The most that `used` was since [`Gpu::reset_pool_peaks`].
    pub used_peak: u64,
    /// The most that `reserved` was since [`Gpu::reset_pool_peaks`].
    pub reserved_peak: u64,
}

impl Gpu {
    /// What the device's pool holds. All arrays of the process count, whatever stream made them.
    /// CUDA C: `cudaMemPoolGetAttribute`; CuPy: `pool.used_bytes()`, `pool.total_bytes()`.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let x = gpu.zeros::<f32>(1000)?;
    /// assert!(gpu.pool_usage()?.used >= 4000);
    /// drop(x);
    /// gpu.synchronize()?;
    /// assert_eq!(gpu.pool_usage()?.used, 0);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn pool_usage(&self) -> Result<PoolUsage> {
        match self.backend() {
            Backend::Cuda(stream) => stream.pool_usage(),
            Backend::Simulator(stream) => Ok(stream.device.pool_usage()),
        }
    }

    /// Sets both peaks of [`pool_usage`](Self::pool_usage) to what is there now.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn reset_pool_peaks(&self) -> Result<()> {
        match self.backend() {
            Backend::Cuda(stream) => stream.reset_pool_peaks(),
            Backend::Simulator(stream) => {
                stream.device.reset_pool_peaks();
                Ok(())
            }
        }
    }

    /// Waits, and gives the pool's unused memory back to the system, for other processes, but for `keep` bytes that it
    /// may hold on to. CUDA C: `cudaMemPoolTrimTo`; CuPy: `pool.free_all_blocks()`.
    ///
    /// # Errors
    ///
    /// If a kernel of this stream panicked since the last wait, or the device failed.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// drop(gpu.zeros::<f32>(1 << 20)?);
    /// gpu.trim_pool(0)?;
    /// assert_eq!(gpu.pool_usage()?.reserved, 0);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn trim_pool(&self, keep: usize) -> Result<()> {
        self.synchronize()?;
        match self.backend() {
            Backend::Cuda(stream) => stream.trim_pool(keep),
            // It holds nothing.
            Backend::Simulator(_) => Ok(()),
        }
    }
}
