//! What a device is and has, as values and printed.

use std::fmt;

use crate::error::Result;
use crate::gpu::Gpu;
use crate::stream::Backend;

/// What a device has. Its `Display` is a table. CUDA C: `cudaDeviceProp`; Numba: `cuda.detect()`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// Its name.
    pub name: String,
    /// The compute capability; `None` for the simulator.
    pub compute_capability: Option<(u32, u32)>,
    /// Multiprocessors; the simulator's are the host's cores.
    pub multiprocessors: u32,
    /// Threads of a warp.
    pub warp_size: u32,
    /// The most threads of a block.
    pub threads_per_block: u32,
    /// The most threads of a block along x, y and z.
    pub block: [u32; 3],
    /// The most blocks of a grid along x, y and z.
    pub grid: [u32; 3],
    /// The most threads that a multiprocessor runs at once; 0 where it is not known.
    pub threads_per_multiprocessor: u32,
    /// 32-bit registers of a multiprocessor; 0 where there are none.
    pub registers_per_multiprocessor: u32,
    /// The most bytes of static shared memory of a block.
    pub shared_bytes_per_block: u32,
    /// The most bytes of static and dynamic shared memory of a block.
    pub all_shared_bytes_per_block: u32,
    /// Bytes of the second-level cache; 0 where it is not known.
    pub l2_bytes: u32,
    /// Bytes of memory.
    pub memory_bytes: usize,
    /// Bytes of memory that are free now.
    pub free_bytes: usize,
    /// The bus address of the device, such as `0000:0a:00.0`; `None` for the simulator.
    pub pci: Option<String>,
    /// The CUDA version that the driver supports; `None` for the simulator.
    pub driver: Option<(u32, u32)>,
}

impl Gpu {
    /// What the device has.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// ```
    /// let gpu = host_runtime::Gpu::cpu();
    /// let properties = gpu.properties()?;
    /// assert_eq!(properties.warp_size, 32);
    /// println!("{properties}");
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn properties(&self) -> Result<DeviceProperties> {
        match self.backend() {
            Backend::Cuda(stream) => stream.properties(),
            Backend::Simulator(stream) => Ok(stream.device.properties()),
        }
    }
}

impl fmt::Display for DeviceProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mebibytes = |bytes: usize| format!("{} MiB", bytes >> 20);
        let pair = |pair: Option<(u32, u32)>| {
            pair.map_or_else(|| "none".to_owned(), |(a, b)| format!("{a}.{b}"))
        };
        writeln!(f, "{}", self.name)?;
        writeln!(
            f,
            "  compute capability       {}",
            pair(self.compute_capability)
        )?;
        writeln!(f, "  driver for CUDA          {}", pair(self.driver))?;
        writeln!(
            f,
            "  bus address              {}",
            self.pci.as_deref().unwrap_or("none")
        )?;
        writeln!(f, "  multiprocessors          {}", self.multiprocessors)?;
        writeln!(
            f,
            "  threads of a block       {} {:?}",
            self.threads_per_block, self.block
        )?;
        writeln!(f, "  blocks of a grid         {:?}", self.grid)?;
        writeln!(
            f,
            "  of a multiprocessor      {} threads, {} registers",
            self.threads_per_multiprocessor, self.registers_per_multiprocessor
        )?;
        writeln!(
            f,
            "  shared memory of a block {} bytes static, {} with dynamic",
            self.shared_bytes_per_block, self.all_shared_bytes_per_block
        )?;
        writeln!(
            f,
            "  L2 cache                 {}",
            mebibytes(self.l2_bytes as usize)
        )?;
        write!(
            f,
            "  memory                   {}, {} free",
            mebibytes(self.memory_bytes),
            mebibytes(self.free_bytes)
        )
    }
}
