//! Clusters: blocks of a grid that run at once and can wait for each other.
//!
//! In: the cluster of a launch as the caller gave it. Out: its extents, which the grid is a multiple of, or an error that
//! names the number and the limit. The rules are the same for all devices that have clusters.

use gpu_std::Dim3;

use crate::error::{Error, Result};
use crate::limits::{Extents, Limits};

/// Blocks that a cluster has at most, on every device with clusters: CUDA's portable cluster size.
const MOST_BLOCKS: i128 = 8;

/// The cluster of a launch without clusters.
pub(crate) const NONE: Dim3 = Dim3 { x: 1, y: 1, z: 1 };

/// The extents of a cluster, of a kernel that may say itself what they are.
#[inline]
pub(crate) fn of(
    kernel: &'static str,
    given: Option<[i128; 3]>,
    own: Option<Dim3>,
) -> Result<Dim3> {
    let Some(given) = given else {
        return Ok(own.unwrap_or(NONE));
    };
    let given = extents(kernel, given)?;
    match own.filter(|&exact| exact != given) {
        None => Ok(given),
        Some(exact) => Err(Error::ClusterShape {
            kernel,
            given,
            exact,
        }),
    }
}

fn extents(kernel: &'static str, given: [i128; 3]) -> Result<Dim3> {
    let limit = MOST_BLOCKS as u32;
    for (blocks, dimension) in given.into_iter().zip("xyz".chars()) {
        if !(1..=MOST_BLOCKS).contains(&blocks) {
            return Err(Error::ClusterDimension {
                kernel,
                given,
                dimension,
                limit,
            });
        }
    }
    let [x, y, z] = given.map(|blocks| blocks as u32);
    let cluster = Dim3 { x, y, z };
    if cluster.count() > u64::from(limit) {
        return Err(Error::ClusterSize {
            kernel,
            given: cluster,
            limit,
        });
    }
    Ok(cluster)
}

/// The smallest grid that has these blocks and divides into clusters.
pub(crate) fn rounded_up(grid: [i128; 3], cluster: Dim3) -> [i128; 3] {
    let [x, y, z] = grid;
    let up =
        |blocks: i128, of: u32| (blocks + i128::from(of) - 1) / i128::from(of) * i128::from(of);
    [up(x, cluster.x), up(y, cluster.y), up(z, cluster.z)]
}

/// Checks that the grid divides into clusters.
#[inline]
pub(crate) fn check_grid(kernel: &'static str, grid: Dim3, cluster: Dim3) -> Result<()> {
    let parts = [
        ('x', grid.x, cluster.x),
        ('y', grid.y, cluster.y),
        ('z', grid.z, cluster.z),
    ];
    match parts.into_iter().find(|&(_, blocks, of)| blocks % of != 0) {
        None => Ok(()),
        Some((dimension, blocks, of)) => Err(Error::ClusterGrid {
            kernel,
            grid,
            cluster,
            dimension,
            blocks,
            of,
        }),
    }
}

/// Checks that the device launches clusters, and that the kernel can be launched so: one that waits for its whole grid
/// cannot.
#[inline]
pub(crate) fn check(
    kernel: &'static str,
    waits_for_grid: bool,
    extents: &Extents,
    limits: &Limits,
    device: impl FnOnce() -> String,
) -> Result<()> {
    let cluster = extents.cluster;
    if cluster == NONE {
        return Ok(());
    }
    if !limits.clusters {
        return Err(Error::NoClusters {
            kernel,
            device: device(),
            cluster,
        });
    }
    match waits_for_grid {
        true => Err(Error::CooperativeClusters { kernel, cluster }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dim(x: u32, y: u32, z: u32) -> Dim3 {
        Dim3 { x, y, z }
    }

    #[test]
    fn a_cluster_has_one_to_eight_blocks() {
        assert_eq!(of("k", None, None).unwrap(), NONE);
        for (x, y, z) in [(1, 1, 1), (8, 1, 1), (2, 2, 2), (1, 4, 2), (3, 1, 2)] {
            assert_eq!(
                of("k", Some([x, y, z]), None).unwrap().count() as i128,
                x * y * z
            );
        }
        let text = |given| of("k", Some(given), None).unwrap_err().to_string();
        assert!(text([2, 0, 1]).contains("0 blocks along y"));
        assert!(text([1, 1, -1]).contains("-1 blocks along z"));
        assert!(text([9, 1, 1]).contains("9 blocks along x"));
        assert!(text([4, 3, 1]).contains("(4, 3, 1) has 12 blocks"));
        assert!(text([i128::MAX; 3]).contains("1 to 8"));
    }

    #[test]
    fn a_kernel_that_says_its_cluster_is_launched_with_that() {
        let own = Some(dim(2, 2, 1));
        assert_eq!(of("k", None, own).unwrap(), dim(2, 2, 1));
        assert_eq!(of("k", Some([2, 2, 1]), own).unwrap(), dim(2, 2, 1));
        let text = of("k", Some([4, 1, 1]), own).unwrap_err().to_string();
        assert!(text.contains("(4, 1, 1)") && text.contains("`cluster(2, 2, 1)`"));
    }

    #[test]
    fn a_grid_of_items_is_rounded_up_to_whole_clusters() {
        assert_eq!(rounded_up([5, 4, 1], dim(2, 4, 1)), [6, 4, 1]);
        assert_eq!(rounded_up([5, 3, 7], NONE), [5, 3, 7]);
        assert_eq!(rounded_up([1, 1, 1], dim(2, 2, 2)), [2, 2, 2]);
    }

    #[test]
    fn a_device_without_clusters_refuses_them() {
        let limits = Limits {
            clusters: false,
            ..Limits::SIMULATOR
        };
        let extents = |cluster| Extents {
            grid: dim(8, 1, 1),
            block: dim(32, 1, 1),
            cluster,
            shared_bytes: 0,
        };
        let check = |cluster| check("k", false, &extents(cluster), &limits, || "cuda:7".into());
        check(NONE).unwrap();
        let text = check(dim(2, 1, 1)).unwrap_err().to_string();
        for part in ["kernel `k`", "(2, 1, 1)", "9.0", "cuda:7"] {
            assert!(text.contains(part), "no `{part}` in: {text}");
        }
    }
}
