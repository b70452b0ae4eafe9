//! What a device can launch, and the check of a launch against it.
//!
//! In: the shape as the caller gave it. Out: extents that the driver takes, or an error that names the number and the
//! limit. One function for both back ends, so that they refuse the same launches with the same words.

use gpu_std::Dim3;
use gpu_std::kernel::KernelRecord;

use crate::cluster;
use crate::config::{FOR_EACH_BLOCK, LaunchConfig, Shape};
use crate::error::{Error, Result};

/// Threads of a warp.
const WARP: i128 = 32;

/// Limits of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Threads in a block, over all dimensions.
    pub threads_per_block: u32,
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Blocks of a grid along x, y and z.
    pub grid: [u32; 3],
    /// Bytes of static shared memory in a block.
    pub shared_bytes: u32,
    /// Bytes of static and dynamic shared memory in a block.
    pub all_shared_bytes: u32,
    /// Whether it launches grids in clusters.
    pub clusters: bool,
}

impl Limits {
    /// The simulator: what every CUDA device since compute capability 3.0 has, and the shared memory of 9.0.
    pub const SIMULATOR: Self = Self {
        threads_per_block: 1024,
        block: [1024, 1024, 64],
        grid: [i32::MAX as u32, 65535, 65535],
        shared_bytes: 48 << 10,
        all_shared_bytes: 227 << 10,
        clusters: true,
    };
}

/// The extents of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extents {
    pub grid: Dim3,
    pub block: Dim3,
    /// Blocks of a cluster; one where the launch has none.
    pub cluster: Dim3,
    /// Bytes of dynamic shared memory in a block, as given: their limit depends on the kernel.
    pub shared_bytes: i128,
}

impl Extents {
    /// Dimensions in use: the last one in which grid or block is not 1.
    pub fn dimensions(&self) -> u32 {
        if self.grid.z * self.block.z != 1 {
            3
        } else if self.grid.y * self.block.y != 1 {
            2
        } else {
            1
        }
    }
}

/// What is known of a kernel's blocks before its launch says how large they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnBlock {
    /// The most threads, by `launch_bounds`.
    pub bound: Option<u32>,
    /// Its threads, by `block`.
    pub exact: Option<Dim3>,
    /// Blocks of its clusters, by `cluster`.
    pub cluster: Option<Dim3>,
    /// The threads that the driver suggests, where the launch has it asked.
    pub suggested: Option<u32>,
}

impl OwnBlock {
    /// As a kernel's record has it: 0 stands for what it does not say.
    pub fn of(record: &KernelRecord) -> Self {
        let dim = |[x, y, z]: [u32; 3]| (x > 0).then_some(Dim3 { x, y, z });
        OwnBlock {
            bound: Some(record.max_threads).filter(|&bound| bound > 0),
            exact: dim(record.block),
            cluster: dim(record.cluster),
            suggested: None,
        }
    }

    /// The block of a launch that names none.
    fn usual(self) -> Option<[i128; 3]> {
        self.exact
            .map(|Dim3 { x, y, z }| [x.into(), y.into(), z.into()])
    }
}

/// The extents of a launch of `kernel`, or `None` where there are no items and so nothing to launch.
pub(crate) fn resolve(
    kernel: &'static str,
    config: &LaunchConfig,
    limits: &Limits,
    own: OwnBlock,
) -> Result<Option<Extents>> {
    let cluster = cluster::of(kernel, config.cluster, own.cluster)?;
    let threads = own.suggested.map_or(FOR_EACH_BLOCK, i128::from);
    let threads = own.bound.map_or(threads, |bound| threads.min(bound.into()));
    let (grid, block) = match config.shape {
        Shape::Blocks { grid, block } => (
            grid.ok_or(Error::ShapeMissing {
                kernel,
                what: "grid",
            })?,
            block
                .or(own.usual())
                .or(config.auto_block.then_some([threads, 1, 1]))
                .ok_or(Error::ShapeMissing {
                    kernel,
                    what: "block",
                })?,
        ),
        Shape::Items {
            counts,
            dimensions,
            block,
        } => {
            let block = block
                .or(own.usual())
                .unwrap_or_else(|| usual_block(dimensions, threads));
            match grid_for(kernel, counts, dimensions, block, limits)? {
                Some(grid) => (cluster::rounded_up(grid, cluster), block),
                None => return Ok(None),
            }
        }
    };
    let block = check_block(kernel, block, limits)?;
    check_own(kernel, block, own)?;
    let grid = check_grid(kernel, grid, limits)?;
    cluster::check_grid(kernel, grid, cluster)?;
    Ok(Some(Extents {
        grid,
        block,
        cluster,
        shared_bytes: config.shared_bytes,
    }))
}

/// A block of at most so many threads: whole warps along x, where memory is read in order.
fn usual_block(dimensions: u32, threads: i128) -> [i128; 3] {
    if dimensions == 1 {
        return [threads, 1, 1];
    }
    let x = threads.clamp(1, WARP);
    let z = if dimensions == 3 {
        (threads / x).min(2)
    } else {
        1
    };
    [x, threads / (x * z), z]
}

/// The grid of blocks that has a thread for each item, or `None` where there are no items.
fn grid_for(
    kernel: &'static str,
    counts: [i128; 3],
    dimensions: u32,
    block: [i128; 3],
    limits: &Limits,
) -> Result<Option<[i128; 3]>> {
    check_block(kernel, block, limits)?;
    if block[dimensions as usize..]
        .iter()
        .any(|&threads| threads != 1)
    {
        return Err(Error::ItemBlock {
            kernel,
            dimensions,
            given: block,
        });
    }
    let mut grid = [0; 3];
    for (axis, dimension) in "xyz".chars().enumerate() {
        let (given, threads) = (counts[axis], block[axis]);
        let limit = i128::from(limits.grid[axis]) * threads;
        if !(0..=limit).contains(&given) {
            return Err(Error::ItemCount {
                kernel,
                given,
                dimension,
                limit,
            });
        }
        grid[axis] = (given + threads - 1) / threads;
    }
    Ok((!counts.contains(&0)).then_some(grid))
}

fn check_block(kernel: &'static str, given: [i128; 3], limits: &Limits) -> Result<Dim3> {
    let block = check_extent(given, limits.block, |dimension, limit| {
        Error::BlockDimension {
            kernel,
            given,
            dimension,
            limit,
        }
    })?;
    if block.count() > u64::from(limits.threads_per_block) {
        return Err(Error::TooManyThreads {
            kernel,
            given,
            threads: block.count(),
            limit: limits.threads_per_block,
        });
    }
    Ok(block)
}

fn check_own(kernel: &'static str, block: Dim3, own: OwnBlock) -> Result<()> {
    if let Some(exact) = own.exact.filter(|&exact| exact != block) {
        return Err(Error::BlockShape {
            kernel,
            given: block,
            exact,
        });
    }
    match own.bound.filter(|&bound| block.count() > bound.into()) {
        None => Ok(()),
        Some(bound) => Err(Error::LaunchBounds {
            kernel,
            given: block,
            bound,
        }),
    }
}

fn check_grid(kernel: &'static str, given: [i128; 3], limits: &Limits) -> Result<Dim3> {
    check_extent(given, limits.grid, |dimension, limit| {
        Error::GridDimension {
            kernel,
            given,
            dimension,
            limit,
        }
    })
}

/// Checks that each value is from 1 to its limit.
fn check_extent(
    given: [i128; 3],
    limits: [u32; 3],
    error: impl Fn(char, u32) -> Error,
) -> Result<Dim3> {
    let mut values = [0; 3];
    for ((value, given), (limit, dimension)) in values
        .iter_mut()
        .zip(given)
        .zip(limits.into_iter().zip("xyz".chars()))
    {
        *value = u32::try_from(given)
            .ok()
            .filter(|value| (1..=limit).contains(value))
            .ok_or_else(|| error(dimension, limit))?;
    }
    let [x, y, z] = values;
    Ok(Dim3 { x, y, z })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(shape: Shape) -> LaunchConfig {
        LaunchConfig {
            shape,
            ..Default::default()
        }
    }

    fn blocks(grid: [i128; 3], block: [i128; 3]) -> Result<Option<Extents>> {
        let shape = Shape::Blocks {
            grid: Some(grid),
            block: Some(block),
        };
        resolve("k", &with(shape), &Limits::SIMULATOR, OwnBlock::default())
    }

    fn items(count: i128) -> Result<Option<Extents>> {
        resolve(
            "k",
            &with(Shape::Items {
                counts: [count, 1, 1],
                dimensions: 1,
                block: None,
            }),
            &Limits::SIMULATOR,
            OwnBlock::default(),
        )
    }

    #[test]
    fn the_limits_themselves_are_allowed() {
        let most = i128::from(i32::MAX);
        assert!(blocks([most, 65535, 65535], [1024, 1, 1]).is_ok());
        assert!(blocks([1, 1, 1], [1, 16, 64]).is_ok());
    }

    #[test]
    fn dimensions_in_use() {
        let of = |grid, block| blocks(grid, block).unwrap().unwrap().dimensions();
        assert_eq!(of([5, 1, 1], [8, 1, 1]), 1);
        assert_eq!(of([5, 2, 1], [8, 1, 1]), 2);
        assert_eq!(of([5, 1, 1], [8, 2, 1]), 2);
        assert_eq!(of([5, 1, 2], [8, 2, 1]), 3);
    }

    #[test]
    fn items_round_up_to_blocks_of_256() {
        let grid = |count| items(count).unwrap().map(|extents| extents.grid.x);
        assert_eq!(grid(0), None);
        assert_eq!(grid(1), Some(1));
        assert_eq!(grid(256), Some(1));
        assert_eq!(grid(257), Some(2));
        let most = i128::from(i32::MAX) * 256;
        assert_eq!(grid(most), Some(i32::MAX as u32));
        assert!(
            items(most + 1)
                .unwrap_err()
                .to_string()
                .contains(&(most + 1).to_string())
        );
        assert!(items(-1).unwrap_err().to_string().contains("-1"));
    }

    #[test]
    fn items_of_several_dimensions_get_rows_of_whole_warps() {
        let extents = |counts, dimensions, block, bound| {
            let shape = Shape::Items {
                counts,
                dimensions,
                block,
            };
            let own = OwnBlock {
                bound,
                ..OwnBlock::default()
            };
            resolve("k", &with(shape), &Limits::SIMULATOR, own)
        };
        let of = |counts, dimensions, bound| {
            let extents = extents(counts, dimensions, None, bound).unwrap().unwrap();
            let three = |of: Dim3| [of.x, of.y, of.z];
            (three(extents.grid), three(extents.block))
        };
        assert_eq!(of([100, 9, 1], 2, None), ([4, 2, 1], [32, 8, 1]));
        assert_eq!(of([1, 1, 5], 3, None), ([1, 1, 3], [32, 4, 2]));
        assert_eq!(of([100, 9, 1], 2, Some(64)), ([4, 5, 1], [32, 2, 1]));
        assert_eq!(of([7, 2, 3], 3, Some(10)), ([1, 2, 3], [10, 1, 1]));
        assert_eq!(extents([5, 0, 1], 2, None, None).unwrap(), None);
        let text = |error: Result<_>| error.unwrap_err().to_string();
        assert!(text(extents([5, -1, 1], 2, None, None)).contains("for_each(-1)"));
        assert!(text(extents([5, 1 << 20, 1], 2, None, None)).contains("524280 items along y"));
        let cube = Some([4, 4, 4]);
        assert!(text(extents([5, 5, 1], 2, cube, None)).contains("two dimensions"));
        assert!(extents([5, 5, 5], 3, cube, None).is_ok());
    }
    #[test]
    fn a_kernel_that_says_its_block_is_launched_with_that() {
        let own = OwnBlock {
            exact: Some(Dim3 { x: 16, y: 8, z: 1 }),
            ..OwnBlock::default()
        };
        let block = |shape| {
            let extents = resolve("k", &with(shape), &Limits::SIMULATOR, own)?;
            Ok::<_, Error>(extents.map(|extents| (extents.grid.x, extents.block)))
        };
        let blocks = |block| Shape::Blocks {
            grid: Some([3, 1, 1]),
            block,
        };
        let items = |dimensions| Shape::Items {
            counts: [33, 1, 1],
            dimensions,
            block: None,
        };
        assert_eq!(block(blocks(None)).unwrap(), Some((3, own.exact.unwrap())));
        assert!(block(blocks(Some([16, 8, 1]))).is_ok());
        assert_eq!(block(items(2)).unwrap(), Some((3, own.exact.unwrap())));
        let text = |shape| block(shape).unwrap_err().to_string();
        assert!(text(blocks(Some([8, 16, 1]))).contains("`block(16, 8, 1)`"));
        assert!(text(blocks(Some([128, 1, 1]))).contains("a block of (128, 1, 1)"));
        assert!(text(items(1)).contains("dimension"));
    }
}
