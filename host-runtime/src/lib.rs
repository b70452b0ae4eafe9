//! Devices, memory and launches: the host side of oxwarp.
//!
//! Two back ends stand behind one interface: CUDA, through `cust` and the driver that `cuda-loader` opens, and the CPU
//! simulator `gpu-sim`. A program chooses at run time ([`Gpu::new`]) and does the same on both.
//!
//! - [`Gpu`]: a device with its stream.
//! - [`Stream`], [`Event`]: more streams of a device, and points of them.
//! - [`Devices`]: several devices, and exchange between them.
//! - [`DeviceArray`]: typed, shaped memory on it, to and from `Vec`, slices and `ndarray`.
//! - [`MemoryKind`]: where an array lies; [`PinnedArray`], [`PendingCopy`]: host memory for copies that overlap with kernels.
//! - [`DeviceView`], [`DeviceViewMut`]: parts of an array, transposed or with steps, as arguments of kernels.
//! - [`Kernel`], [`launch!`]: launching.
//! - [`Plan`], [`Graph`]: launches that are prepared once and repeated.
//! - [`CudaSource`], [`CudaImage`], [`cuda_kernel!`]: CUDA C beside Rust.
//! - [`RustSource`]: Rust that is compiled when the program runs.
//! - [`dlpack`], [`Gpu::array_from_raw`]: arrays of other libraries, and for them.
//! - [`Profile`]: what a device did, with times.
//! - [`KernelInfo`], [`KernelReport`]: looking into a kernel, on a device and without one.
//! - [`Error`]: what can go wrong; nothing here panics, but a slice of a view with a wrong range.
//!
//! Users depend on the crate `oxwarp`, which re-exports all of this.

mod argument;
mod array;
mod bound;
mod bytes;
mod callback;
mod checks;
mod cluster;
mod collective;
mod config;
mod constant;
mod copies;
mod cuda;
mod cuda_source;
mod devices;
mod dim;
pub mod dlpack;
mod done;
mod error;
mod event;
mod explain;
mod fill;
mod foreign;
mod gpu;
mod graph;
mod host;
mod host_argument;
mod host_memory;
mod inspect;
mod launch;
mod launch_shape;
mod limits;
mod managed;
mod memory;
mod memory_kind;
mod moment;
mod not_indexed;
pub mod nvtx;
mod ordering;
mod orders;
mod parts;
mod peer;
mod pending;
mod pinned;
mod plan;
mod pool;
mod printed;
mod profile;
mod progress;
mod properties;
mod registry;
mod rust_source;
mod setting;
mod simulator;
mod stream;
mod strided;
mod test;
mod transfer;
mod view;

pub use array::{DeviceArray, DeviceArray2, DeviceArray3};
pub use bound::BoundLaunch;
pub use bytemuck::Zeroable;
pub use checks::Checks;
pub use collective::{CollectiveElement, Reduction};
pub use config::{Kernel, KernelBuilder, LaunchConfig, SoleInstance};
pub use cuda_source::{
    CudaGlobal, CudaImage, CudaKernel, CudaModule, CudaSource, CudaSourceError, SignatureMismatch,
};
pub use devices::Devices;
pub use dim::{Count, Items, ToDim};
pub use done::Done;
pub use error::{Error, KernelPanic, Result};
pub use event::Event;
pub use foreign::ForeignFault;
pub use gpu::Gpu;
pub use gpu_sim::{Check, CheckFault, MemoryAccess, Standing, SyncFault};
pub use gpu_std::DeviceCopy;
pub use graph::{Graph, GraphBuilder, GraphNode};
pub use host::{HostData, HostDataMut};
pub use host_argument::{In, InOut, Out};
pub use inspect::{KernelAttributes, KernelInfo, SuggestedBlock};
pub use managed::{Location, MemoryAdvice};
pub use memory_kind::MemoryKind;
pub use pending::PendingCopy;
pub use pinned::PinnedArray;
pub use plan::Plan;
pub use pool::PoolUsage;
pub use profile::{Profile, Record, WorkKind};
pub use progress::ProgressUpdate;
pub use properties::DeviceProperties;
pub use ptx_report as report;
pub use ptx_report::{KernelReport, Limiter, Occupancy};
pub use rust_source::{RustKernel, RustSource, RustSourceError};
pub use stream::Stream;
pub use view::{DeviceView, DeviceViewMut};

/// For the expansions of macros only.
#[doc(hidden)]
pub mod __private {
    pub use gpu_std::constant::Constant;
    pub use gpu_std::element::no_padding;
    pub use gpu_std::intrinsics::linked;
    pub use gpu_std::kernel::{
        FAST_MATH, KERNEL_MAGIC, KernelInstance, KernelParam, KernelRecord, NO_FMA, RawView,
        TAKES_ATOMICS, TAKES_POINTERS, bounds, parameter_is_copied_to_the_device, unchecked,
    };
    pub use gpu_std::link::{crosses_to_linked_code, linked_as_declared};
    pub use gpu_std::runtime::RUNTIME;
    pub use gpu_std::twins::Twins;
    pub use inventory;

    pub use crate::argument::{Arguments, AtomicElement, KernelArg, OnDevice, is_host_data};
    pub use crate::config::{KernelBuilder, LaunchConfig, SoleInstance};
    pub use crate::constant::ConstantRecord;
    pub use crate::cuda_source::{CudaArray, CudaArrayMut, CudaFunction, Parameter};
    pub use crate::explain::explain;
    pub use crate::inspect::inspect;
    pub use crate::launch::{bind, launch, max_cooperative_blocks};
    pub use crate::registry::{CompiledKernel, DeviceCode, Image};
    pub use crate::rust_source::{Compilation, RunTimeEntry, RunTimeKernel};
    pub use crate::test::{TestResult, run_test};
}
