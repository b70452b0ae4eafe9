//! What a multiprocessor has for its blocks, by compute capability.
//!
//! The numbers are those of the table 'Technical Specifications per Compute Capability' of the CUDA programming guide; a
//! device says them itself where there is one.

/// What a multiprocessor shares among the blocks that run on it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiprocessor {
    /// Threads at once.
    pub threads: u32,
    /// Blocks at once.
    pub blocks: u32,
    /// Registers of 32 bits.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Bytes of it that the system takes from each block.
    pub reserved_shared_bytes: u32,
    /// A block's shared memory is a multiple of so many bytes.
    pub shared_unit: u32,
}

impl Multiprocessor {
    /// Threads of a warp.
    pub const WARP: u32 = 32;

    /// That of a compute capability, 90 for 9.0; `None` where it is not known here.
    ///
    /// ```
    /// let h100 = ptx_report::Multiprocessor::of(90).unwrap();
    /// assert_eq!((h100.threads, h100.shared_bytes), (2048, 228 << 10));
    /// assert!(ptx_report::Multiprocessor::of(20).is_none());
    /// ```
    pub fn of(compute_capability: u32) -> Option<Self> {
        let (threads, blocks, shared_kib) = match compute_capability {
            70 => (2048, 32, 96),
            75 => (1024, 16, 64),
            80 => (2048, 32, 164),
            86 => (1536, 16, 100),
            87 => (1536, 16, 164),
            89 => (1536, 24, 100),
            90 | 100 | 103 => (2048, 32, 228),
            120 | 121 => (1536, 24, 100),
            _ => return None,
        };
        Some(Self {
            threads,
            blocks,
            registers: 64 << 10,
            shared_bytes: shared_kib << 10,
            reserved_shared_bytes: if compute_capability >= 80 { 1 << 10 } else { 0 },
            shared_unit: Self::shared_unit(compute_capability),
        })
    }

    /// [`shared_unit`](Self::shared_unit) of a compute capability: no device says it.
    pub fn shared_unit(compute_capability: u32) -> u32 {
        if compute_capability >= 80 { 128 } else { 256 }
    }

    /// Warps at once.
    pub fn warps(&self) -> u32 {
        self.threads / Self::WARP
    }
}
