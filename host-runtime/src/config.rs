//! The shape of a launch, and how a kernel's handle starts to build one.
//!
//! A kernel `add` is a function item beside a builder type of the same name. [`Kernel`] gives the function item
//! `grid`, `for_each` and `on`; each returns the builder, whose methods pass on to [`LaunchConfig`] and whose `launch`
//! takes the kernel's own arguments. Numbers are kept as given and checked at the launch.

use gpu_std::kernel::KernelRecord;
use ptx_report::KernelReport;

use crate::dim::{Count, Items, ToDim};
use crate::error::Result;
use crate::explain::explain_record;
use crate::gpu::Gpu;
use crate::inspect::{KernelInfo, inspect_record};
use crate::stream::Stream;

/// Threads in a block of a [`for_each`](Kernel::for_each) launch.
pub(crate) const FOR_EACH_BLOCK: i128 = 256;

/// The shape of a launch as the caller gave it, and the device if it was chosen.
///
/// ```
/// use host_runtime::LaunchConfig;
///
/// let config = LaunchConfig::default().grid(4096).block((16, 16));
/// assert!(format!("{config:?}").contains("4096"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct LaunchConfig {
    pub(crate) shape: Shape,
    pub(crate) gpu: Option<Gpu>,
    /// Bytes of dynamic shared memory, as given.
    pub(crate) shared_bytes: i128,
    /// Blocks of a cluster, once they were given.
    pub(crate) cluster: Option<[i128; 3]>,
    /// Whether the device's driver shall choose the threads of a block.
    pub(crate) auto_block: bool,
}

/// How the shape was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Blocks of the grid and threads of a block, each once it was given.
    Blocks {
        grid: Option<[i128; 3]>,
        block: Option<[i128; 3]>,
    },
    /// So many items along x, y and z, a thread each; the grid follows.
    Items {
        counts: [i128; 3],
        dimensions: u32,
        block: Option<[i128; 3]>,
    },
}

impl Default for Shape {
    fn default() -> Self {
        Self::Blocks {
            grid: None,
            block: None,
        }
    }
}

impl LaunchConfig {
    /// Sets the blocks of the grid. CUDA C: the first value between `<<<` and `>>>`.
    #[inline]
    pub fn grid(mut self, grid: impl ToDim) -> Self {
        let block = match self.shape {
            Shape::Blocks { block, .. } | Shape::Items { block, .. } => block,
        };
        self.shape = Shape::Blocks {
            grid: Some(grid.to_dim()),
            block,
        };
        self
    }

    /// Sets the threads of a block. CUDA C: the second value between `<<<` and `>>>`.
    #[inline]
    pub fn block(mut self, block: impl ToDim) -> Self {
        match &mut self.shape {
            Shape::Blocks { block: old, .. } | Shape::Items { block: old, .. } => {
                *old = Some(block.to_dim())
            }
        }
        self.auto_block = false;
        self
    }

    /// Lets the driver choose the threads of a block, so that most of them run on a multiprocessor at once: in
    /// [`for_each`](Self::for_each) in place of 256, and with [`grid`](Self::grid) in one dimension. The kernel must be
    /// right for any block size. It is asked once for each kernel and device; the simulator's choice is 256. CUDA C:
    /// `cudaOccupancyMaxPotentialBlockSize`.
    ///
    /// ```
    /// use host_runtime::LaunchConfig;
    ///
    /// let config = LaunchConfig::default().for_each(1 << 20).auto_block();
    /// assert!(format!("{config:?}").contains("auto_block: true"));
    /// ```
    #[inline]
    pub fn auto_block(mut self) -> Self {
        match &mut self.shape {
            Shape::Blocks { block, .. } | Shape::Items { block, .. } => *block = None,
        }
        self.auto_block = true;
        self
    }

    /// Asks for one thread for each item: a grid of blocks of 256 threads (32 by 8 in two dimensions, 32 by 4 by 2 in
    /// three), or of what [`block`](Self::block) says. The last blocks may have threads beyond the last item.
    /// Numba: `.forall(n)`.
    #[inline]
    pub fn for_each<I: Items>(mut self, items: I) -> Self {
        let block = match self.shape {
            Shape::Blocks { block, .. } | Shape::Items { block, .. } => block,
        };
        self.shape = Shape::Items {
            counts: items.to_items(),
            dimensions: I::DIMENSIONS,
            block,
        };
        self
    }

    /// Gives each block so many bytes of dynamic shared memory, for `shared::dynamic()` in the kernel. CUDA C: the third
    /// value between `<<<` and `>>>`, with `cudaFuncSetAttribute` where it is above 48 KiB.
    #[inline]
    pub fn shared_bytes(mut self, bytes: impl Count) -> Self {
        self.shared_bytes = bytes.value();
        self
    }

    /// Launches the grid in clusters of so many blocks along x, y and z: the blocks of a cluster run at once, on
    /// neighbouring multiprocessors. A cluster has at most 8 blocks, and each dimension of the grid is a multiple of the
    /// cluster's; [`for_each`](Self::for_each) rounds its grid up to one. `cluster(1)` is a launch without clusters, and
    /// all others need compute capability 9.0. A kernel may say it for all its launches (`#[kernel(cluster(2, 1, 1))]`).
    /// CUDA C: `cudaLaunchAttributeClusterDimension` in `cudaLaunchKernelEx`.
    ///
    /// ```
    /// use host_runtime::LaunchConfig;
    ///
    /// let config = LaunchConfig::default().grid((6, 4)).block(128).cluster((2, 4));
    /// assert!(format!("{config:?}").contains("cluster: Some([2, 4, 1])"));
    /// ```
    #[inline]
    pub fn cluster(mut self, cluster: impl ToDim) -> Self {
        self.cluster = Some(cluster.to_dim());
        self
    }

    /// Whether only the stream was chosen, or nothing.
    pub(crate) fn names_no_shape(&self) -> bool {
        self.shape == Shape::default()
            && self.shared_bytes == 0
            && self.cluster.is_none()
            && !self.auto_block
    }

    /// Chooses the stream, or the device and its stream: a [`Gpu`] or a [`Stream`](crate::Stream). CUDA C: the fourth
    /// value between `<<<` and `>>>`.
    #[inline]
    pub fn on(mut self, stream: impl AsRef<Stream>) -> Self {
        self.gpu = Some(stream.as_ref().gpu());
        self
    }
}

/// What a `#[kernel]`'s builder type implements: a launch of the kernel with its shape so far.
pub trait KernelBuilder: Sized {
    /// A builder with this shape.
    fn from_config(config: LaunchConfig) -> Self;
}

/// The builder of a kernel that is not generic, and so has one instance.
#[diagnostic::on_unimplemented(
    message = "the kernel of `{Self}` is generic, so it must be said which instance of it is meant",
    label = "generic",
    note = "name the parameters as for a launch: `scale().explain::<f32>()`, `scale().inspect::<f32>(&gpu)`"
)]
pub trait SoleInstance: KernelBuilder {
    /// Its record.
    #[doc(hidden)]
    fn record() -> &'static KernelRecord;
}

/// A kernel's handle: the name of a `#[kernel]`, before its launch is shaped.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "only a function marked `#[kernel]` can be launched"
)]
pub trait Kernel: Sized {
    /// The kernel's builder, which has `grid`, `block`, `on` and `launch`.
    type Builder: KernelBuilder;

    /// Starts a launch with so many blocks; say with `block` how many threads each has, unless the kernel
    /// itself does (`#[kernel(block(256))]`). A number, `(x, y)` or
    /// `(x, y, z)`. CUDA C: the first value between `<<<` and `>>>`.
    #[inline]
    fn grid(self, grid: impl ToDim) -> Self::Builder {
        Self::Builder::from_config(LaunchConfig::default().grid(grid))
    }

    /// Starts a launch with one thread for each item, in blocks of 256, or of what the kernel's `launch_bounds` allow if
    /// that is less, or of what its `block` says. The last blocks may have threads beyond the last
    /// item, which `get_mut` of a disjoint slice leaves out. No items: nothing is launched.
    ///
    /// For an array of several dimensions give its extents, `(rows, cols)` or `(planes, rows, cols)`: columns are along x.
    /// `transpose.for_each(out.dim())` gives each element of `out` a thread, whose place is `thread::index_2d()`.
    /// Numba: `.forall(n)`, for one dimension.
    #[inline]
    fn for_each(self, items: impl Items) -> Self::Builder {
        Self::Builder::from_config(LaunchConfig::default().for_each(items))
    }

    /// Chooses the stream: a [`Stream`](crate::Stream), or the one of a [`Gpu`]. Without it the launch goes to the stream
    /// that its first array belongs to; a kernel that has no array among its arguments, to the device that [`Gpu::new`]
    /// gives the process first.
    #[inline]
    fn on(self, stream: impl AsRef<Stream>) -> Self::Builder {
        Self::Builder::from_config(LaunchConfig::default().on(stream))
    }

    /// Looks into the kernel on a device: PTX, machine code, registers, spills, memory, occupancy, a block size to use.
    /// It loads the kernel, and on a GPU compiles it once more, for the driver's words on spills.
    ///
    /// A generic kernel is named with its parameters: `scale().inspect::<f32>(&gpu)`. Where a closure is one of them, a
    /// function that is generic over it can name it:
    /// `fn of<F: Fn(f32) -> f32 + Copy + 'static>(_: F, gpu: &Gpu) -> Result<KernelInfo> { map().inspect::<f32, f32, F>(gpu) }`.
    /// Numba: `inspect_asm`, `inspect_sass`, `get_regs_per_thread`; CuPy: `RawKernel.attributes`.
    ///
    /// # Errors
    ///
    /// If the kernel has no device code, or it cannot be loaded.
    fn inspect(self, gpu: &Gpu) -> Result<KernelInfo>
    where
        Self::Builder: SoleInstance,
    {
        inspect_record(Self::Builder::record(), gpu)
    }

    /// Explains the kernel without a GPU: loads and stores by space and width, `fma`s, calls, barriers, each bounds check
    /// that is left in a loop with its line; registers, spills and occupancy where `ptxas` is found. It is for the newest
    /// GPU that the program has PTX for. A generic kernel is named with its parameters: `scale().explain::<f32>()`.
    ///
    /// `OXWARP_EXPLAIN=add,dot` lets a program write the reports of these kernels (or `all`) by itself when it uses the
    /// first kernel, and `OXWARP_EXPLAIN_TARGET=sm_90` says for which GPU.
    ///
    /// # Errors
    ///
    /// If the kernel has no device code. That there is no `ptxas` is part of the report.
    fn explain(self) -> Result<KernelReport>
    where
        Self::Builder: SoleInstance,
    {
        explain_record(Self::Builder::record(), None)
    }

    /// [`explain`](Self::explain) for a GPU of this compute capability, 90 for 9.0.
    ///
    /// # Errors
    ///
    /// If the kernel has no device code that runs on such a GPU.
    fn explain_for(self, compute_capability: u32) -> Result<KernelReport>
    where
        Self::Builder: SoleInstance,
    {
        explain_record(Self::Builder::record(), Some(compute_capability))
    }
}

impl<F, B> Kernel for F
where
    F: FnOnce() -> B,
    B: KernelBuilder,
{
    type Builder = B;
}

/// Launches a kernel: `launch!(add[grid, block](&a, &b, &mut c))?`. CUDA C: `add<<<grid, block>>>(a, b, c)`;
/// Numba: `add[grid, block](a, b, c)`.
///
/// It stands for `add.grid(grid).block(block).launch(&a, &b, &mut c)`. With
/// `launch!(add[grid, block, shared = bytes](...))` each block has so many bytes of dynamic shared memory. The launch is asynchronous; see [`Gpu`](crate::Gpu).
///
/// ```
/// # use host_runtime::{Gpu, KernelBuilder, LaunchConfig, Result, launch};
/// # #[allow(non_camel_case_types)]
/// # struct add { config: LaunchConfig }
/// # fn add() -> add { add { config: LaunchConfig::default() } }
/// # impl KernelBuilder for add { fn from_config(config: LaunchConfig) -> Self { Self { config } } }
/// # impl add {
/// #     fn block(self, block: impl host_runtime::ToDim) -> Self { Self { config: self.config.block(block) } }
/// #     fn shared_bytes(self, bytes: usize) -> Self { Self { config: self.config.shared_bytes(bytes) } }
/// #     fn launch(self, _x: f32) -> Result<()> { Ok(()) }
/// # }
/// launch!(add[4096, 256](1.5))?;
/// launch!(add[(64, 64), (16, 16)](1.5))?;
/// launch!(add[4096, 256, shared = 4 * 256](1.5))?;
/// # Ok::<(), host_runtime::Error>(())
/// ```
#[macro_export]
macro_rules! launch {
    // Before `path`, which takes `add<<<4, 256>>>` for a type with parameters, and gives up on all rules.
    ($kernel:ident <<< $($rest:tt)*) => {
        $crate::launch!()
    };
    ($kernel:path[$grid:expr, $block:expr $(,)?]($($argument:expr),* $(,)?)) => {{
        #[allow(unused_imports)]
        use $crate::Kernel as _;
        $kernel.grid($grid).block($block).launch($($argument),*)
    }};
    ($kernel:path[$grid:expr, $block:expr, shared = $bytes:expr $(,)?]($($argument:expr),* $(,)?)) => {{
        #[allow(unused_imports)]
        use $crate::Kernel as _;
        $kernel.grid($grid).block($block).shared_bytes($bytes).launch($($argument),*)
    }};
    ($($other:tt)*) => {
        ::core::compile_error!(
            "write `launch!(kernel[grid, block](arguments))`, or `launch!(kernel[grid, block, shared = bytes](arguments))`; \
             with a thread for each item: `kernel.for_each(items).launch(arguments)`"
        )
    };
}

/// The methods of a launch's shape for a type that has `with(&self, impl FnOnce(LaunchConfig) -> LaunchConfig) -> Self`.
macro_rules! shape_methods {
    () => {
        /// Sets the blocks of the grid.
        #[inline]
        pub fn grid(&self, grid: impl crate::ToDim) -> Self {
            self.with(|config| config.grid(grid))
        }

        /// Sets the threads of a block.
        #[inline]
        pub fn block(&self, block: impl crate::ToDim) -> Self {
            self.with(|config| config.block(block))
        }

        /// Asks for a thread for each item.
        #[inline]
        pub fn for_each(&self, items: impl crate::Items) -> Self {
            self.with(|config| config.for_each(items))
        }

        /// Sets the bytes of dynamic shared memory of a block.
        #[inline]
        pub fn shared_bytes(&self, bytes: impl crate::Count) -> Self {
            self.with(|config| config.shared_bytes(bytes))
        }

        /// Sets the blocks of a cluster.
        #[inline]
        pub fn cluster(&self, cluster: impl crate::ToDim) -> Self {
            self.with(|config| config.cluster(cluster))
        }

        /// Chooses the stream.
        #[inline]
        pub fn on(&self, stream: impl AsRef<crate::Stream>) -> Self {
            self.with(|config| config.on(stream))
        }
    };
}

pub(crate) use shape_methods;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_may_come_before_or_after() {
        let one = LaunchConfig::default().grid(3).block(64);
        let two = LaunchConfig::default().block(64).grid(3);
        assert_eq!(one.shape, two.shape);
        let items = LaunchConfig::default().for_each(10usize).block(32);
        assert_eq!(
            items.shape,
            Shape::Items {
                counts: [10, 1, 1],
                dimensions: 1,
                block: Some([32, 1, 1])
            }
        );
    }
}
