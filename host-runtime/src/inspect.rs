//! A kernel on a device, looked into: PTX, machine code, registers, memory, occupancy.
//!
//! In: a kernel instance and a device. Out: a [`KernelInfo`], whose methods give values and which prints as a table. What
//! only a GPU knows is an error on the simulator.

use std::fmt;

use gpu_std::kernel::{KernelInstance, KernelRecord};
use ptx_report::{Assembled, Module, Occupancy, ToolError};

use crate::config::FOR_EACH_BLOCK;
use crate::error::{Error, Result};
use crate::explain::{self, explain_record};
use crate::gpu::Gpu;
use crate::registry::{self, Found, Image};
use crate::stream::Backend;

/// A kernel on a device, looked into: [`inspect`](crate::Kernel::inspect).
///
/// Its PTX and its static shared memory are known on the simulator too, if the program has device code; what needs a
/// GPU is [`Error::NeedsGpu`] there. It prints as a table, with what is known.
pub struct KernelInfo {
    record: &'static KernelRecord,
    gpu: Gpu,
    found: Found,
    image: &'static Image,
    ptx: &'static str,
    on_device: Option<OnDevice>,
}

/// What a GPU says of a kernel.
#[derive(Debug)]
struct OnDevice {
    attributes: KernelAttributes,
    /// What the driver's compiler makes of the kernel alone, where its log says so.
    assembled: std::result::Result<Assembled, ToolError>,
}

/// What the driver says of a kernel that is loaded. CUDA C: `cudaFuncAttributes`; CuPy: `RawKernel.attributes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelAttributes {
    /// Registers of a thread, of 32 bits.
    pub registers: u32,
    /// Bytes of static shared memory of a block.
    pub shared_bytes: u32,
    /// Bytes of a thread's own memory: arrays that are not in registers, and spills.
    pub local_bytes: u32,
    /// Bytes of constant memory that its module declares.
    pub constant_bytes: u32,
    /// The most threads of a block, by registers and launch bounds.
    pub max_threads: u32,
}

/// A block size that the driver suggests: [`KernelInfo::suggested_block`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuggestedBlock {
    /// Threads of a block, with which most threads run on a multiprocessor at once.
    pub threads: u32,
    /// The least blocks of the grid that fill the device.
    pub min_blocks: u32,
}

/// Looks into `K` on a device.
pub fn inspect<K: KernelInstance>(gpu: &Gpu) -> Result<KernelInfo> {
    inspect_record(K::RECORD, gpu)
}

/// [`inspect`] without the type.
pub(crate) fn inspect_record(record: &'static KernelRecord, gpu: &Gpu) -> Result<KernelInfo> {
    let Some(found) = registry::find(record) else {
        return Err(registry::missing(record));
    };
    let (major, minor) = gpu.compute_capability().unwrap_or((u32::MAX / 10, 0));
    let image = registry::best_image(found.code.images, major * 10 + minor).ok_or_else(|| {
        Error::NoImage {
            crate_name: found.code.crate_name,
            device: gpu.label(),
            compute_capability: (major, minor),
            available: found.code.images.iter().map(|image| image.target).collect(),
        }
    })?;
    let symbol = found.kernel.symbol.to_str().unwrap_or_default();
    let module = Module::parse(explain::text(image));
    let on_device = match gpu.backend() {
        Backend::Cuda(stream) => Some(OnDevice {
            attributes: stream.attributes(record)?,
            assembled: stream.assemble(&module.alone(symbol), symbol),
        }),
        Backend::Simulator(_) => None,
    };
    let ptx = module.kernel(symbol).unwrap_or_default();
    Ok(KernelInfo {
        record,
        gpu: gpu.clone(),
        found,
        image,
        ptx,
        on_device,
    })
}

impl KernelInfo {
    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        self.record.name
    }

    /// Its name in the PTX: that of this instance alone.
    pub fn symbol(&self) -> &'static str {
        self.found.kernel.symbol.to_str().unwrap_or_default()
    }

    /// What the PTX that the device loads was compiled for: 75 for `sm_75`.
    pub fn target(&self) -> u32 {
        self.image.target
    }

    /// The kernel's PTX. Numba: `inspect_asm`.
    pub fn ptx(&self) -> &'static str {
        self.ptx
    }

    /// Bytes of static shared memory of a block. CUDA C: `cudaFuncAttributes::sharedSizeBytes`; Numba:
    /// `get_shared_mem_per_block`; CuPy: `shared_size_bytes`.
    pub fn shared_bytes(&self) -> u32 {
        match &self.on_device {
            Some(on_device) => on_device.attributes.shared_bytes,
            None => self.found.kernel.shared_bytes,
        }
    }

    /// Registers of a thread, of 32 bits. CUDA C: `numRegs`; Numba: `get_regs_per_thread`; CuPy, PyCUDA: `num_regs`.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the simulator. Without a GPU [`explain`](crate::Kernel::explain) asks `ptxas`.
    pub fn registers(&self) -> Result<u32> {
        Ok(self.attributes("registers")?.registers)
    }

    /// Bytes of a thread's own memory: arrays that are not in registers, and spills. CUDA C: `localSizeBytes`; Numba:
    /// `get_local_mem_per_thread`; CuPy, PyCUDA: `local_size_bytes`.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the simulator.
    pub fn local_bytes(&self) -> Result<u32> {
        Ok(self.attributes("local memory")?.local_bytes)
    }

    /// Bytes of constant memory that its module declares. CUDA C: `constSizeBytes`; Numba: `get_const_mem_size`.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the simulator.
    pub fn constant_bytes(&self) -> Result<u32> {
        Ok(self.attributes("constant memory")?.constant_bytes)
    }

    /// The most threads of a block, by registers and launch bounds. CUDA C: `maxThreadsPerBlock`; Numba:
    /// `get_max_threads_per_block`.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the simulator.
    pub fn max_threads(&self) -> Result<u32> {
        Ok(self.attributes("the most threads")?.max_threads)
    }

    /// What the driver's own compiler says of the kernel: spills, stack.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the simulator; a failure of the driver's compiler.
    pub fn assembled(&self) -> Result<&Assembled> {
        let on_device = self
            .on_device
            .as_ref()
            .ok_or_else(|| self.needs_gpu("machine code"))?;
        on_device
            .assembled
            .as_ref()
            .map_err(|error| error.clone().into())
    }

    /// The machine code for this device as text: of `ptxas` and `nvdisasm`, as the driver does not give its own away.
    /// They are the same if both are of one version of CUDA. Numba: `inspect_sass`.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the simulator, where [`KernelReport::sass`](crate::KernelReport::sass) is for any GPU;
    /// [`Error::Tool`] if there is no `ptxas` or no `nvdisasm`.
    pub fn sass(&self) -> Result<String> {
        let Some((major, minor)) = self.gpu.compute_capability() else {
            return Err(self.needs_gpu("machine code"));
        };
        Ok(explain_record(self.record, Some(major * 10 + minor))?.sass()?)
    }

    /// How many blocks of so many threads, with so many bytes of dynamic shared memory each, run on a multiprocessor at
    /// once. CUDA C: `cudaOccupancyMaxActiveBlocksPerMultiprocessor`.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the simulator; [`Error::TooManyThreads`] and [`Error::DynamicSharedMemory`] if such a block
    /// cannot be launched.
    pub fn occupancy(&self, block: u32, shared_bytes: u32) -> Result<Occupancy> {
        match self.gpu.backend() {
            Backend::Cuda(stream) => stream.occupancy(self.record, block, shared_bytes),
            Backend::Simulator(_) => Err(self.needs_gpu("occupancy")),
        }
    }

    /// The block size with which most threads run on a multiprocessor at once, if each block has so many bytes of dynamic
    /// shared memory. A launch takes it by itself with `auto_block()`. CUDA C: `cudaOccupancyMaxPotentialBlockSize`;
    /// Numba: what `forall` takes.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the simulator.
    pub fn suggested_block(&self, shared_bytes: u32) -> Result<SuggestedBlock> {
        match self.gpu.backend() {
            Backend::Cuda(stream) => stream.suggested_block(self.record, shared_bytes),
            Backend::Simulator(_) => Err(self.needs_gpu("a suggested block size")),
        }
    }

    fn attributes(&self, what: &'static str) -> Result<&KernelAttributes> {
        let on_device = self
            .on_device
            .as_ref()
            .ok_or_else(|| self.needs_gpu(what))?;
        Ok(&on_device.attributes)
    }

    #[cold]
    fn needs_gpu(&self, what: &'static str) -> Error {
        Error::NeedsGpu {
            kernel: self.record.name,
            what,
        }
    }

    /// The usual block of this kernel.
    fn block(&self) -> u32 {
        let usual = FOR_EACH_BLOCK as u32;
        self.max_threads().map_or(usual, |most| usual.min(most))
    }

    fn write_device(&self, f: &mut fmt::Formatter<'_>, on_device: &OnDevice) -> fmt::Result {
        let KernelAttributes {
            registers,
            local_bytes,
            constant_bytes,
            max_threads,
            ..
        } = on_device.attributes;
        writeln!(
            f,
            "  {:<16}{registers}, at most {max_threads} threads a block",
            "registers"
        )?;
        match &on_device.assembled {
            Ok(code) if code.spills() => writeln!(
                f,
                "  {:<16}{} bytes stored, {} bytes loaded: registers are too few",
                "SPILLS", code.spill_store_bytes, code.spill_load_bytes
            )?,
            Ok(_) => writeln!(f, "  {:<16}none", "spills")?,
            Err(error) => writeln!(f, "  {:<16}unknown: {error}", "spills")?,
        }
        let shared_bytes = self.shared_bytes();
        writeln!(
            f,
            "  {:<16}shared {shared_bytes} a block, local {local_bytes} a thread, constant {constant_bytes}",
            "bytes"
        )?;
        if let Ok(occupancy) = self.occupancy(self.block(), 0) {
            writeln!(f, "  {:<16}{occupancy}", "occupancy")?;
        }
        if let Ok(SuggestedBlock {
            threads,
            min_blocks,
        }) = self.suggested_block(0)
        {
            writeln!(
                f,
                "  {:<16}blocks of {threads} threads; {min_blocks} of them fill the device",
                "suggested"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for KernelInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelRecord {
            name, file, line, ..
        } = *self.record;
        writeln!(
            f,
            "kernel `{name}` at {file}:{line} on {}, PTX for sm_{}",
            self.gpu.label(),
            self.target()
        )?;
        match &self.on_device {
            Some(on_device) => self.write_device(f, on_device),
            None => writeln!(
                f,
                "  {:<16}shared {} a block\n  {:<16}registers, spills and occupancy need a GPU; `explain` asks ptxas",
                "bytes",
                self.shared_bytes(),
                "unknown"
            ),
        }
    }
}

impl fmt::Debug for KernelInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
