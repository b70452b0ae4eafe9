//! The clusters of a launch: which blocks are in one, and the order in which blocks run.
//!
//! A cluster's blocks come one after the other, so that one worker takes all of them, and they can wait for each other without
//! another worker.

use gpu_std::Dim3;

use crate::job::position;

/// A grid and how it is divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clusters {
    grid: Dim3,
    /// Blocks of a cluster along each dimension.
    pub(crate) dim_blocks: Dim3,
    /// Clusters of the grid along each dimension.
    pub(crate) dim_clusters: Dim3,
}

impl Clusters {
    /// # Panics
    ///
    /// If the grid does not divide into clusters.
    pub(crate) fn new(grid: Dim3, cluster: Dim3) -> Self {
        let clusters = |blocks: u32, of: u32| {
            assert!(
                of > 0 && blocks.is_multiple_of(of),
                "a grid of {grid} does not divide into clusters of {cluster}"
            );
            blocks / of
        };
        Self {
            grid,
            dim_blocks: cluster,
            dim_clusters: Dim3 {
                x: clusters(grid.x, cluster.x),
                y: clusters(grid.y, cluster.y),
                z: clusters(grid.z, cluster.z),
            },
        }
    }

    /// Blocks of a cluster.
    #[inline]
    pub(crate) fn num_blocks(&self) -> u64 {
        self.dim_blocks.count()
    }

    /// The block that comes at this place in the order.
    pub(crate) fn block(&self, place: u64) -> Dim3 {
        let cluster = position(place / self.num_blocks(), self.dim_clusters);
        let block = position(place % self.num_blocks(), self.dim_blocks);
        Dim3 {
            x: cluster.x * self.dim_blocks.x + block.x,
            y: cluster.y * self.dim_blocks.y + block.y,
            z: cluster.z * self.dim_blocks.z + block.z,
        }
    }

    /// The place of a block in the order.
    fn place(&self, block: Dim3) -> u64 {
        let cluster = self.index(block).linear_in(self.dim_clusters);
        cluster * self.num_blocks() + self.block_rank(block)
    }

    /// The block that comes after this one, if it is not the last.
    #[inline]
    pub(crate) fn after(&self, block: Dim3) -> Option<Dim3> {
        let next = self.place(block) + 1;
        (next < self.grid.count()).then(|| self.block(next))
    }

    /// The position of a block's cluster.
    #[inline]
    pub(crate) fn index(&self, block: Dim3) -> Dim3 {
        Dim3 {
            x: block.x / self.dim_blocks.x,
            y: block.y / self.dim_blocks.y,
            z: block.z / self.dim_blocks.z,
        }
    }

    /// A block's position in its cluster.
    #[inline]
    pub(crate) fn block_index(&self, block: Dim3) -> Dim3 {
        Dim3 {
            x: block.x % self.dim_blocks.x,
            y: block.y % self.dim_blocks.y,
            z: block.z % self.dim_blocks.z,
        }
    }

    /// A block's number in its cluster.
    #[inline]
    pub(crate) fn block_rank(&self, block: Dim3) -> u64 {
        self.block_index(block).linear_in(self.dim_blocks)
    }

    /// Whether the block is the last of its cluster.
    pub(crate) fn is_last(&self, block: Dim3) -> bool {
        self.block_rank(block) + 1 == self.num_blocks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_comes_once_and_clusters_one_after_the_other() {
        let grid = Dim3 { x: 6, y: 4, z: 3 };
        for cluster in [(1, 1, 1), (2, 1, 1), (3, 2, 1), (2, 1, 3), (1, 4, 1)] {
            let (x, y, z) = cluster;
            let clusters = Clusters::new(grid, Dim3 { x, y, z });
            let first = Some(clusters.block(0));
            let blocks: Vec<Dim3> =
                std::iter::successors(first, |&block| clusters.after(block)).collect();
            let mut seen = vec![false; grid.count() as usize];
            for (place, &block) in blocks.iter().enumerate() {
                assert_eq!(clusters.block(place as u64), block);
                assert!(!std::mem::replace(
                    &mut seen[block.linear_in(grid) as usize],
                    true
                ));
                let size = clusters.num_blocks();
                assert_eq!(clusters.block_rank(block), place as u64 % size);
                assert_eq!(
                    clusters.is_last(block),
                    (place as u64 + 1).is_multiple_of(size)
                );
                assert_eq!(
                    clusters.index(block).linear_in(clusters.dim_clusters),
                    place as u64 / size
                );
            }
            assert_eq!(blocks.len(), seen.len());
        }
    }

    #[test]
    #[should_panic(expected = "does not divide into clusters of (1, 3, 1)")]
    fn a_grid_that_does_not_divide() {
        Clusters::new(Dim3 { x: 6, y: 4, z: 3 }, Dim3 { x: 1, y: 3, z: 1 });
    }
}
