//! What can go wrong, as values: each error names what was given, the limit, and what to do instead.
//!
//! Every function of this crate returns them and none panics. Numbers of a launch are kept as the caller gave them. What
//! the sentences need beyond a format string is in [`text`].

mod from;
mod panic;
mod text;

use std::ops::RangeInclusive;
use std::time::Duration;

use cuda_loader::{DriverError, NcclError, NcclNotFound};
use gpu_sim::{CheckFault, SyncFault};
use gpu_std::Dim3;
use ptx_report::ToolError;

use crate::cuda_source::CudaSourceError;
use crate::foreign::ForeignFault;
use crate::memory_kind::MemoryKind;
use crate::rust_source::RustSourceError;

pub use panic::KernelPanic;
use text::{Triple, compiled_crates, hanging, kinds, log_text, of, targets};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong. `Debug` is `Display`: it is what a program prints whose `main` returns the error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // Devices and waits for them.
    /// A call of the CUDA driver failed.
    #[error(
        "the CUDA driver's {call} failed with {name} ({code}): {description}{}",
        if *.code >= 700 && *.code < 720 { "; the CUDA context of this process cannot be used any more" } else { "" }
    )]
    Driver {
        /// The driver's function.
        call: &'static str,
        /// The error's name, such as `CUDA_ERROR_INVALID_VALUE`.
        name: &'static str,
        /// Its number.
        code: u32,
        /// The driver's sentence on it.
        description: &'static str,
    },

    /// `OXWARP_DEVICE` holds something that is not a device.
    #[error(
        "OXWARP_DEVICE is `{given}`: set it to `cpu`, `cuda` or `cuda:N` with N from 0, or unset it"
    )]
    DeviceSetting {
        /// Its value.
        given: String,
    },

    /// `OXWARP_CHECK` holds something that is no list of checks.
    #[error(
        "OXWARP_CHECK is `{given}`: set it to `off`, `on`, `all`, or some of `race`, `init`, `bounds`, `schedule` and \
         `schedule:SEED` with commas between, or unset it"
    )]
    CheckSetting {
        /// Its value.
        given: String,
    },

    /// The CUDA device asked for is not there.
    #[error(
        "there is no device cuda:{ordinal}{}: {there}; use `OXWARP_DEVICE=cpu` or `Gpu::cpu()` for the simulator",
        if *.from_setting { " (from OXWARP_DEVICE)" } else { "" }
    )]
    NoDevice {
        /// The number asked for.
        ordinal: u32,
        /// Whether `OXWARP_DEVICE` asked for it.
        from_setting: bool,
        /// What there is instead.
        there: String,
    },

    /// A stream cannot have this priority.
    #[error("a stream of {device} cannot have priority {given}: give one from {} (urgent) to {}", .allowed.start(), .allowed.end())]
    StreamPriority {
        /// The device.
        device: String,
        /// The priority asked for.
        given: i32,
        /// The priorities that there are.
        allowed: RangeInclusive<i32>,
    },

    /// The device was not done within the limit of a wait.
    #[error(
        "{device} was not done after {waited:.1?}: {}; the CUDA context of this process cannot be used any more, since a \
         kernel cannot be stopped; if it is only slow, give `set_timeout` or `synchronize_within` more time",
        hanging(*.kernel)
    )]
    TimedOut {
        /// The device.
        device: String,
        /// How long the wait lasted.
        waited: Duration,
        /// The kernel that was launched last on the stream, if it is known: it or one before it may hang.
        kernel: Option<&'static str>,
    },

    /// The thread that makes callbacks could not be started.
    #[error("the thread that calls back could not be started: {reason}")]
    NoThread {
        /// What the system said.
        reason: std::io::Error,
    },

    /// A profile is asked for while one is being taken.
    #[error("a profile of {device} is being taken already: end that one first")]
    ProfileInProfile {
        /// The device.
        device: String,
    },

    // Memory.
    /// The device (or the host, for the simulator) has too little free memory.
    #[error(
        "out of memory on {device}: {wanted} bytes wanted, {free} free of {total}; drop arrays that are no longer \
         needed, or work in parts"
    )]
    OutOfMemory {
        /// The device.
        device: String,
        /// Bytes asked for.
        wanted: usize,
        /// Bytes free.
        free: usize,
        /// Bytes the device has.
        total: usize,
    },

    /// The device cannot have memory of this kind.
    #[error(
        "{device} cannot have arrays of MemoryKind::{kind:?}: {}",
        match kind {
            MemoryKind::Managed => "the host may not touch its managed memory while kernels run; use MemoryKind::Mapped, or copies",
            _ => "it does not map the host's memory at the host's addresses; use copies",
        }
    )]
    NoSuchMemory {
        /// The device.
        device: String,
        /// The kind.
        kind: MemoryKind,
    },

    /// Something that only arrays in other kinds of memory can do.
    #[error(
        "an array in MemoryKind::{kind:?} cannot do this, only one in {}: make it with `gpu.with_memory(...)`",
        kinds(.wanted)
    )]
    MemoryKind {
        /// The array's kind.
        kind: MemoryKind,
        /// The kinds that can.
        wanted: &'static [MemoryKind],
    },

    /// The heap of a device's kernels is in use, so its size cannot change.
    #[error(
        "the heap of {device} has {size} bytes and cannot be changed to {wanted}, because a kernel that allocates was \
         loaded: call `set_heap_size` before the first launch of one"
    )]
    HeapInUse {
        /// The device.
        device: String,
        /// Bytes asked for.
        wanted: usize,
        /// Its bytes.
        size: usize,
    },

    /// The device refuses a stack of this size.
    #[error(
        "{device} refuses a stack of {wanted} bytes a thread: a thread has at most 512 KiB, and the stacks of all threads \
         that can run at once lie in the device's memory"
    )]
    StackSize {
        /// The device.
        device: String,
        /// Bytes asked for.
        wanted: usize,
    },

    /// Memory of another library cannot be an array.
    #[error("memory of another library cannot be an array here: {what}")]
    Foreign {
        /// Why not.
        what: ForeignFault,
    },

    // Arrays: shapes and copies.
    /// An array of this shape has more bytes than can be addressed.
    #[error(
        "an array of shape {shape:?} with elements of {element_size} bytes is larger than the address space"
    )]
    ArrayTooLarge {
        /// Its extents.
        shape: Vec<usize>,
        /// Bytes of an element.
        element_size: usize,
    },

    /// A shape does not have as many elements as the array.
    #[error(
        "cannot view {len} elements with shape {shape:?}: the product of the extents must be {len}"
    )]
    ShapeMismatch {
        /// Elements of the array.
        len: usize,
        /// The shape asked for.
        shape: Vec<usize>,
    },

    /// A view that is not in standard layout was to have another shape.
    #[error(
        "a view of shape {shape:?} with strides {strides:?} cannot have the shape {wanted:?}: only standard (row-major) layout \
         can be reshaped; `copy` makes an array of the view"
    )]
    ReshapeLayout {
        /// Its extents.
        shape: Vec<usize>,
        /// The distances of neighbours, in elements.
        strides: Vec<isize>,
        /// The shape asked for.
        wanted: Vec<usize>,
    },

    /// Source and destination of a copy between views differ in shape.
    #[error(
        "cannot copy elements of shape {source_shape:?} into shape {shape:?}: give the same shape"
    )]
    CopyShape {
        /// Extents of the source.
        source_shape: Vec<usize>,
        /// Extents of the destination.
        shape: Vec<usize>,
    },

    /// Source and destination of a copy differ in length.
    #[error(
        "cannot copy {source_len} elements into a device array of {array_len}: give as many as it has"
    )]
    LengthMismatch {
        /// Elements of the source.
        source_len: usize,
        /// Elements of the device array.
        array_len: usize,
    },

    /// Host memory for a copy of an array differs in length.
    #[error(
        "cannot copy a device array of {array_len} elements into {target_len}: give room for as many as it has"
    )]
    TargetLength {
        /// Elements of the host memory.
        target_len: usize,
        /// Elements of the device array.
        array_len: usize,
    },

    // Arguments of a launch.
    /// A view with gaps or in another order than row-major, for a parameter that takes only standard layout.
    #[error(
        "a view of shape {shape:?} with strides {strides:?} is not in standard (row-major) layout, as the kernel's \
         parameter wants it: declare the parameter with the layout `Strided`, such as `ArrayView2<f32, Strided>`"
    )]
    NotStandardLayout {
        /// Its extents.
        shape: Vec<usize>,
        /// The distances of neighbours, in elements.
        strides: Vec<isize>,
    },

    /// An array whose number of dimensions is known only when it runs has too many or too few for the parameter.
    #[error(
        "the kernel's parameter has {wanted} dimension(s), but the array has the shape {shape:?}"
    )]
    DimensionMismatch {
        /// Dimensions of the parameter.
        wanted: usize,
        /// Extents of the array.
        shape: Vec<usize>,
    },

    /// An array for `DisjointChunks` that does not divide into chunks.
    #[error(
        "an array of {len} elements does not divide into chunks of {chunk}, as the kernel's parameter wants it: make its \
         length a multiple of {chunk}"
    )]
    NotInChunks {
        /// Elements of the array.
        len: usize,
        /// Elements of a chunk.
        chunk: usize,
    },

    /// Arguments, or an argument and the device chosen with `on`, belong to different devices.
    #[error(
        "the arguments of a launch are on different devices: {first} and {second}{}: copy one to the other device, or \
         allow access with `Gpu::enable_peer_access`",
        if .first == .second { " (each call makes one: use clones of one `Gpu`)" } else { "" }
    )]
    DifferentDevices {
        /// The device of the launch: that of the first argument, if none was chosen.
        first: String,
        /// Another argument's device.
        second: String,
    },

    /// One device cannot reach the memory of another.
    #[error("{device} cannot use the memory of {other}: copy the array to it")]
    NoPeerAccess {
        /// The device that was to have access.
        device: String,
        /// The device whose memory it is.
        other: String,
    },

    // The shape of a launch.
    /// A launch without grid or block.
    #[error(
        "kernel `{kernel}` was launched without a {what} size: add `.{what}(...)`, or use `for_each(n)`"
    )]
    ShapeMissing {
        /// The kernel.
        kernel: &'static str,
        /// `grid` or `block`.
        what: &'static str,
    },

    /// A dimension of the grid is zero, negative or over the device's limit.
    #[error(
        "kernel `{kernel}`: a grid of {} has {} blocks along {dimension}; it must have 1 to {limit}",
        Triple(.given), of(.given, *.dimension)
    )]
    GridDimension {
        /// The kernel.
        kernel: &'static str,
        /// The grid.
        given: [i128; 3],
        /// `x`, `y` or `z`.
        dimension: char,
        /// The most blocks along it.
        limit: u32,
    },

    /// A dimension of the block is zero, negative or over the device's limit.
    #[error(
        "kernel `{kernel}`: a block of {} has {} threads along {dimension}; it must have 1 to {limit}",
        Triple(.given), of(.given, *.dimension)
    )]
    BlockDimension {
        /// The kernel.
        kernel: &'static str,
        /// The block.
        given: [i128; 3],
        /// `x`, `y` or `z`.
        dimension: char,
        /// The most threads along it.
        limit: u32,
    },

    /// More threads in a block than the device, or this kernel on it, can have.
    #[error(
        "kernel `{kernel}`: a block of {} is {threads} threads; the most is {limit}: make the block smaller and the \
         grid larger",
        Triple(.given)
    )]
    TooManyThreads {
        /// The kernel.
        kernel: &'static str,
        /// The block.
        given: [i128; 3],
        /// Its threads.
        threads: u64,
        /// The most threads.
        limit: u32,
    },

    /// More threads in a block than the kernel's own `launch_bounds`.
    #[error(
        "kernel `{kernel}`: a block of {given} is {} threads, but the kernel is compiled with `launch_bounds({bound})`: make \
         the block smaller, or the bound larger",
        .given.count()
    )]
    LaunchBounds {
        /// The kernel.
        kernel: &'static str,
        /// The block.
        given: Dim3,
        /// The most threads that the kernel is compiled for.
        bound: u32,
    },

    /// Another block than the kernel's own `block` option says.
    #[error(
        "kernel `{kernel}`: a block of {given}, but the kernel is compiled with `block{exact}`: launch it with that block \
         (which is also what a launch gets that names none), or take the option away"
    )]
    BlockShape {
        /// The kernel.
        kernel: &'static str,
        /// The block.
        given: Dim3,
        /// The block that the kernel is compiled for.
        exact: Dim3,
    },

    /// `for_each` with a negative or too large number.
    #[error(
        "kernel `{kernel}`: `for_each({given})` is out of range: it takes 0 to {limit} items along {dimension}"
    )]
    ItemCount {
        /// The kernel.
        kernel: &'static str,
        /// The number of items.
        given: i128,
        /// `x`, `y` or `z`: columns, rows or planes.
        dimension: char,
        /// The most items along it.
        limit: i128,
    },

    /// `for_each` with a block of more dimensions than the items have.
    #[error(
        "kernel `{kernel}`: `for_each` takes blocks of {} here, not {}: give `grid` and `block` instead",
        if *.dimensions == 1 { "one dimension" } else { "two dimensions" }, Triple(.given)
    )]
    ItemBlock {
        /// The kernel.
        kernel: &'static str,
        /// How many dimensions the items have: one or two.
        dimensions: u32,
        /// The block.
        given: [i128; 3],
    },

    /// The kernel's index is unique only in launches of fewer dimensions.
    #[error(
        "kernel `{kernel}` uses `thread::index_{supported}d()`, so it can only be launched with {supported} \
         dimension{}, not with a grid of {grid} and blocks of {block}",
        if *.supported == 1 { "" } else { "s" }
    )]
    TooManyDimensions {
        /// The kernel.
        kernel: &'static str,
        /// The most dimensions.
        supported: u32,
        /// The grid.
        grid: Dim3,
        /// The block.
        block: Dim3,
    },

    /// The kernel's shared arrays are larger than a block can have.
    #[error(
        "kernel `{kernel}` has {wanted} bytes of static shared arrays; {device} has {limit} in a block: make the \
         `shared_array!`s smaller, or use `shared::dynamic()`, which can have more"
    )]
    SharedMemory {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// Bytes of its shared arrays.
        wanted: usize,
        /// Bytes that a block can have.
        limit: usize,
    },

    /// The launch asks for more dynamic shared memory than the kernel's static arrays leave, or for a negative number of
    /// bytes.
    #[error(
        "kernel `{kernel}` cannot have {given} bytes of dynamic shared memory beside {static_bytes} bytes of static \
         arrays: {device} has {limit} bytes for both in a block; ask `shared_bytes` for fewer"
    )]
    DynamicSharedMemory {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// Bytes that the launch asked for.
        given: i128,
        /// Bytes of its static shared arrays.
        static_bytes: u32,
        /// Bytes that a block can have.
        limit: u32,
    },

    /// The grid of a kernel that waits for all of it (`grid::sync`) has more blocks than run at once.
    #[error(
        "kernel `{kernel}` waits for its whole grid, so all blocks must run at once: the grid has {blocks}, but {device} \
         has room for {limit} of {threads} threads; make the grid smaller (`max_cooperative_blocks` tells how small) and \
         let each thread do more"
    )]
    CooperativeGrid {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// Blocks of the grid.
        blocks: u64,
        /// Threads of a block.
        threads: u64,
        /// The most blocks that run at once.
        limit: u64,
    },

    // Clusters.
    /// A dimension of the cluster is zero, negative or over the most blocks of a cluster.
    #[error(
        "kernel `{kernel}`: a cluster of {} has {} blocks along {dimension}; it must have 1 to {limit}",
        Triple(.given), of(.given, *.dimension)
    )]
    ClusterDimension {
        /// The kernel.
        kernel: &'static str,
        /// The cluster.
        given: [i128; 3],
        /// `x`, `y` or `z`.
        dimension: char,
        /// The most blocks of a cluster.
        limit: u32,
    },

    /// The cluster has more blocks than every device with clusters runs in one.
    #[error(
        "kernel `{kernel}`: a cluster of {given} has {} blocks; it can have {limit} over all dimensions",
        .given.count()
    )]
    ClusterSize {
        /// The kernel.
        kernel: &'static str,
        /// The cluster.
        given: Dim3,
        /// The most blocks of a cluster.
        limit: u32,
    },

    /// Another cluster than the kernel's own `cluster` option says.
    #[error(
        "kernel `{kernel}`: clusters of {given}, but the kernel is compiled with `cluster{exact}`: launch it with that (which \
         is also what a launch gets that names none), or take the option away"
    )]
    ClusterShape {
        /// The kernel.
        kernel: &'static str,
        /// The cluster.
        given: Dim3,
        /// The cluster that the kernel is compiled for.
        exact: Dim3,
    },

    /// The grid does not divide into clusters.
    #[error(
        "kernel `{kernel}`: a grid of {grid} does not divide into clusters of {cluster}: it has {blocks} blocks along \
         {dimension}, which must be a multiple of {of}"
    )]
    ClusterGrid {
        /// The kernel.
        kernel: &'static str,
        /// The grid.
        grid: Dim3,
        /// The cluster.
        cluster: Dim3,
        /// `x`, `y` or `z`.
        dimension: char,
        /// Blocks of the grid along it.
        blocks: u32,
        /// Blocks of the cluster along it.
        of: u32,
    },

    /// The device does not launch clusters.
    #[error(
        "kernel `{kernel}` cannot be launched in clusters of {cluster}: clusters need a GPU of compute capability 9.0 or \
         newer, and {device} has none; leave `.cluster(...)` out there"
    )]
    NoClusters {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// The cluster.
        cluster: Dim3,
    },

    /// A kernel that waits for its whole grid (`grid::sync`) in a launch with clusters.
    #[error(
        "kernel `{kernel}` waits for its whole grid, which a launch in clusters of {cluster} cannot: leave `.cluster(...)` \
         out, or wait for the cluster in place of the grid"
    )]
    CooperativeClusters {
        /// The kernel.
        kernel: &'static str,
        /// The cluster.
        cluster: Dim3,
    },

    /// A cluster of these blocks does not fit on the device at once.
    #[error(
        "kernel `{kernel}`: a cluster of {cluster} has {} blocks of {threads} threads, which must run at once, but {device} \
         has room for {limit} in a cluster: make the cluster or the block smaller, or take less shared memory",
        .cluster.count()
    )]
    ClusterResources {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// The cluster.
        cluster: Dim3,
        /// Threads of a block.
        threads: u64,
        /// The most blocks of a cluster of this kernel.
        limit: u32,
    },

    /// A graph's node would get another cluster, which the driver does not change.
    #[error(
        "the launch of `{kernel}` in a graph has clusters of {before}, and cannot get clusters of {given}: build the graph \
         anew with them"
    )]
    ClusterInGraph {
        /// The kernel.
        kernel: &'static str,
        /// The node's cluster.
        before: Dim3,
        /// The cluster that it would get.
        given: Dim3,
    },

    // What a kernel did.
    /// A thread of a kernel panicked. The launch's results are lost; the device works on.
    #[error("{0}")]
    KernelPanic(Box<KernelPanic>),

    /// Threads of a block wait for each other and none can go on, or use a barrier or an operation of their warp
    /// wrongly. Only the simulator can tell; on a GPU the results are unspecified, or the kernel does not end.
    #[error("kernel `{kernel}`: {fault}")]
    Synchronisation {
        /// The kernel.
        kernel: &'static str,
        /// What is wrong, and where the threads stand.
        fault: Box<SyncFault>,
    },

    /// A check of the CPU simulator found a mistake in a kernel, which a GPU may hide. See [`Checks`](crate::Checks).
    #[error(
        "kernel `{kernel}`: {fault}\n  (found by the simulator's check `{}`; docs/checks.md says more, \
         `OXWARP_CHECK=off` runs without)",
        .fault.check
    )]
    Check {
        /// The kernel.
        kernel: &'static str,
        /// What was found, and where.
        fault: Box<CheckFault>,
    },

    // Device code.
    /// No registered device code has this kernel instance.
    #[error(
        "kernel `{kernel}` of `{module}` was not compiled for this launch. {}. If the crate that launches it has no \
         #[kernel] of its own, add `oxwarp::device_code!();` to that crate",
        compiled_crates(.crates)
    )]
    NotCompiled {
        /// The kernel.
        kernel: &'static str,
        /// Where it is defined.
        module: &'static str,
        /// The crates that have device code in this program.
        crates: Vec<&'static str>,
    },

    /// The device code of a crate was left out when it was built.
    #[error(
        "kernel `{kernel}` has no device code: crate `{crate_name}` was built without it: {reason}"
    )]
    DeviceCodeSkipped {
        /// The kernel.
        kernel: &'static str,
        /// The crate.
        crate_name: &'static str,
        /// Why.
        reason: &'static str,
    },

    /// The loaded module lacks the kernel's symbol.
    #[error(
        "the device code of crate `{crate_name}` has no kernel `{symbol}` (for `{kernel}`): rebuild the crate, for \
         example after `cargo clean -p {crate_name}`"
    )]
    SymbolMissing {
        /// The kernel.
        kernel: &'static str,
        /// The crate.
        crate_name: &'static str,
        /// The name that was looked for.
        symbol: String,
    },

    /// No image of the device code runs on this device.
    #[error(
        "the device code of crate `{crate_name}` is for {}, but {device} has compute capability {}.{}: add sm_{0}{1} or \
         a lower target to `[package.metadata.oxwarp]`",
        targets(.available), .compute_capability.0, .compute_capability.1
    )]
    NoImage {
        /// The crate.
        crate_name: &'static str,
        /// The device.
        device: String,
        /// Its compute capability.
        compute_capability: (u32, u32),
        /// Targets there are, such as 75.
        available: Vec<u32>,
    },

    /// The driver is too old for the PTX.
    #[error(
        "the NVIDIA driver supports CUDA {}.{}, which does not know PTX ISA {ptx_version} of the device code of crate \
         `{crate_name}`: update the driver, or choose a lower target in `[package.metadata.oxwarp]`",
        .driver_version.0, .driver_version.1
    )]
    DriverTooOld {
        /// The crate.
        crate_name: &'static str,
        /// The newest CUDA version of the driver.
        driver_version: (u32, u32),
        /// The PTX ISA version of the image, such as `8.7`.
        ptx_version: String,
    },

    /// The driver did not accept the device code.
    #[error("the device code of crate `{crate_name}` for sm_{target} did not load: {error}{}", log_text(.log))]
    ModuleLoad {
        /// The crate.
        crate_name: &'static str,
        /// The image's target.
        target: u32,
        /// The driver's error.
        error: DriverError,
        /// What the driver's compiler said.
        log: String,
    },

    /// CUDA C that does not compile, load or fit its declaration.
    #[error(transparent)]
    CudaSource(Box<CudaSourceError>),

    /// Rust source that is compiled when the program runs gave no kernel.
    #[error(transparent)]
    RustSource(Box<RustSourceError>),

    /// What was asked of a kernel is known on a GPU only.
    #[error(
        "kernel `{kernel}`: {what} can be asked of a CUDA device only, and this is the CPU simulator; `explain` tells what \
         `ptxas` knows without a GPU"
    )]
    NeedsGpu {
        /// The kernel.
        kernel: &'static str,
        /// What was asked.
        what: &'static str,
    },

    /// A tool of CUDA's, which looks into a kernel's code, is not there or failed.
    #[error(transparent)]
    Tool(#[from] ToolError),

    // Plans and graphs.
    /// Something inside a capture that cannot be a part of a graph.
    #[error("{what} cannot be captured in a graph: {instead}")]
    InCapture {
        /// What it was.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },

    /// A graph's host function has called this crate.
    #[error(
        "{what} in a host function of a graph: the device waits for the function, so it must not use the device; do it \
         before or after the launch of the graph"
    )]
    InHostFunction {
        /// What it called for.
        what: &'static str,
    },

    /// The host or another library cannot use an array in place that a plan or a graph may write at the same time.
    #[error(
        "a plan or a graph has the array, and may run while it is used in place: copy it with `to_host`, or drop the plan \
         or graph before"
    )]
    InPlan,

    /// Host data as an argument of a plan or a graph, which run after the borrow of it.
    #[error(
        "a plan or a graph cannot take `In`, `InOut` or `Out`, because it runs again later: copy the data to the device with \
         `to_device`, and give the plan the array"
    )]
    HostDataInPlan,

    /// The arguments of one kernel for a plan or node of another.
    #[error(
        "a plan or node of kernel `{wanted}` cannot take the arguments of `{given}`: it stays with its kernel, and with its \
         type parameters and closures; make another plan or graph"
    )]
    OtherKernel {
        /// The kernel of the plan or node.
        wanted: &'static str,
        /// The kernel whose arguments were given.
        given: &'static str,
    },

    /// A node of one graph was given to another.
    #[error(
        "the node is of another graph: use the nodes that this graph's own builder gave, or `Graph::kernels`"
    )]
    OtherGraph,

    /// A node that takes no arguments.
    #[error("only the node of a kernel takes arguments, not {node}")]
    NotAKernelNode {
        /// What the node is.
        node: String,
    },

    /// A node of a graph that has no item to work on.
    #[error(
        "kernel `{kernel}` has no items: a node of a graph launches at least one block; leave the node out"
    )]
    NoItems {
        /// The kernel.
        kernel: &'static str,
    },

    /// New arguments would let two nodes of a graph use an array at once.
    #[error(
        "with these arguments {first} and {second} would use one array at once, because the graph has no order between \
         the two: build the graph anew with them"
    )]
    GraphOrder {
        /// The node.
        first: String,
        /// The other node.
        second: String,
    },

    // Several devices.
    /// A work for several devices was not given one array for each.
    #[error("{given} array(s) for {devices} device(s): give one for each device, in their order")]
    OneArrayADevice {
        /// Arrays.
        given: usize,
        /// Devices.
        devices: usize,
    },

    /// A device's number among several is too large.
    #[error("there is no device {given} among {devices}: count from 0")]
    DeviceNumber {
        /// The number.
        given: usize,
        /// Devices.
        devices: usize,
    },

    /// Host data has no axis to split it along, or there is no device to split it over.
    #[error("nothing to split: give data with at least one axis, and at least one device")]
    NothingToSplit,

    /// Parts that are to be joined along their first axis differ in the others.
    #[error(
        "parts of shapes {shapes:?} cannot be joined along the first axis: the other extents must be the same"
    )]
    PartsDiffer {
        /// The extents of each part.
        shapes: Vec<Vec<usize>>,
    },

    /// NCCL is needed for exchange between CUDA devices, and was not found.
    #[error("{0}")]
    NcclNotFound(NcclNotFound),

    /// A call of NCCL failed.
    #[error("{0}")]
    Nccl(#[from] NcclError),
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
