//! The shape of a launch, and how a kernel's handle starts to build one.
//!
//! A kernel `add` is a function item beside a builder type of the same name. [`Kernel`] gives the function item
//! `grid`, `for_each` and `on`; each returns the builder, whose methods pass on to [`LaunchConfig`] and whose `launch`
//! takes the kernel's own arguments. Numbers are kept as given and checked at the launch.

use crate::dim::{Count, Items, ToDim};
use crate::gpu::Gpu;
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
/// It stands for `add.grid(grid).block(block).launch(&a, &b, &mut c)`, and needs the trait
/// [`Kernel`](crate::Kernel) in scope. With `launch!(add[grid, block, shared = bytes](...))` each block has so many bytes
/// of dynamic shared memory. The launch is asynchronous; see [`Gpu`](crate::Gpu).
///
/// ```
/// # use host_runtime::{Gpu, Kernel, KernelBuilder, LaunchConfig, Result, launch};
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
    ($kernel:path[$grid:expr, $block:expr $(,)?]($($argument:expr),* $(,)?)) => {
        $kernel.grid($grid).block($block).launch($($argument),*)
    };
    ($kernel:path[$grid:expr, $block:expr, shared = $bytes:expr $(,)?]($($argument:expr),* $(,)?)) => {
        $kernel.grid($grid).block($block).shared_bytes($bytes).launch($($argument),*)
    };
}

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
