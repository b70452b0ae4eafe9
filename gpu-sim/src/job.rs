//! What all workers of one launch share: the blocks still to run, the grid's barrier, and the first fault.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gpu_std::Dim3;

use crate::checks::grid::GridShadow;
use crate::checks::schedule::Permutation;
use crate::cluster::Clusters;
use crate::grid::GridBarrier;
use crate::{Constants, Fault, Launch};

/// A worker takes blocks of about this many threads at a time, so that the shared counter costs small blocks little.
const THREADS_PER_CHUNK: u64 = 1 << 13;
/// A worker's fair share of the blocks is divided into at least so many chunks, so that all end at about the same time.
const CHUNKS_PER_WORKER: u64 = 8;

/// A launch in progress.
pub(crate) struct Job<'a> {
    launch: &'a Launch,
    blocks: u64,
    clusters: Clusters,
    /// Blocks that a worker takes at once: whole clusters.
    chunk: u64,
    /// The order of the clusters, where it is a random one.
    order: Option<Permutation>,
    taken: AtomicU64,
    stopped: AtomicBool,
    fault: Mutex<Option<Fault>>,
    grid_barrier: GridBarrier,
    standstill: Mutex<Standstill>,
    /// Accesses of the device's memory, if they are noted.
    accesses: Option<GridShadow>,
}

/// Which workers come no further.
struct Standstill {
    workers: usize,
    /// When that changed last.
    since: Instant,
}

// SAFETY: of the launch's fields only `params` is not `Sync` by itself, and `run`'s caller promises that `entry` may be
// called with it from many threads at once.
unsafe impl Sync for Job<'_> {}

impl<'a> Job<'a> {
    /// A launch of at least one thread.
    pub(crate) fn new(launch: &'a Launch) -> Self {
        let blocks = launch.grid.count();
        let most = THREADS_PER_CHUNK / launch.block.count();
        let clusters = Clusters::new(launch.grid, launch.cluster);
        let fair = blocks / (rayon::current_num_threads() as u64 * CHUNKS_PER_WORKER);
        Self {
            launch,
            blocks,
            clusters,
            chunk: match launch.checks.order {
                Some(_) => clusters.num_blocks(),
                None => most
                    .min(fair)
                    .max(1)
                    .next_multiple_of(clusters.num_blocks()),
            },
            order: launch
                .checks
                .order
                .map(|seed| Permutation::new(blocks / clusters.num_blocks(), seed)),
            taken: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            fault: Mutex::new(None),
            grid_barrier: GridBarrier::default(),
            standstill: Mutex::new(Standstill {
                workers: 0,
                since: Instant::now(),
            }),
            accesses: launch
                .checks
                .race
                .then(|| GridShadow::new(launch.checks.unseen_atomics)),
        }
    }

    /// Accesses of the device's memory, if they are noted.
    pub(crate) fn accesses(&self) -> Option<&GridShadow> {
        self.accesses.as_ref()
    }

    pub(crate) fn launch(&self) -> &'a Launch {
        self.launch
    }

    /// How the grid is divided into clusters.
    pub(crate) fn clusters(&self) -> Clusters {
        self.clusters
    }

    /// The values of constant memory.
    #[inline]
    pub(crate) fn constants(&self) -> Option<&'a Constants> {
        // SAFETY: `run`'s caller promises that they live until it returns, and do not change.
        unsafe { self.launch.constants.as_ref() }
    }

    /// How many workers can be busy at once.
    pub(crate) fn workers(&self) -> usize {
        if self.order.is_some() {
            // So that the order is the same every time.
            return 1;
        }
        let chunks = self.blocks.div_ceil(self.chunk);
        usize::try_from(chunks).map_or(usize::MAX, |chunks| {
            chunks.min(rayon::current_num_threads())
        })
    }

    /// The next blocks to run: the first one's position, and how many there are.
    pub(crate) fn take_blocks(&self) -> Option<(Dim3, u64)> {
        let first = self.taken.fetch_add(self.chunk, Ordering::Relaxed);
        let left = self.blocks.checked_sub(first).filter(|&left| left > 0)?;
        let blocks = self.clusters.num_blocks();
        let first = self
            .order
            .map_or(first, |order| order.of(first / blocks) * blocks);
        Some((self.clusters.block(first), left.min(self.chunk)))
    }

    /// Whether a fault has ended the launch.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Ends the launch. The first fault is the one that is reported.
    pub(crate) fn stop(&self, fault: Fault) {
        self.fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(fault);
        self.stopped.store(true, Ordering::Relaxed);
        self.grid_barrier.wake();
    }

    /// Where workers meet whose blocks wait for the grid.
    pub(crate) fn grid_barrier(&self) -> &GridBarrier {
        &self.grid_barrier
    }

    /// One more worker, or one less, comes no further: its threads spin, or wait for the grid.
    pub(crate) fn standstill(&self, change: isize) {
        let mut standstill = self.lock_standstill();
        standstill.workers = standstill.workers.saturating_add_signed(change);
        standstill.since = Instant::now();
    }

    /// Whether no worker has come any further for so long, and none is still to come.
    pub(crate) fn all_stand_still(&self, limit: Duration) -> bool {
        let standstill = self.lock_standstill();
        let nobody_runs = standstill.workers >= self.grid_barrier.present();
        let nobody_comes =
            self.blocks_to_start() == 0 || self.grid_barrier.entered() >= self.workers();
        nobody_runs && nobody_comes && standstill.since.elapsed() > limit
    }

    fn lock_standstill(&self) -> MutexGuard<'_, Standstill> {
        self.standstill
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks that no worker has taken.
    pub(crate) fn blocks_to_start(&self) -> u64 {
        self.blocks
            .saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    /// Threads of the grid.
    pub(crate) fn threads(&self) -> u64 {
        self.blocks * self.launch.block.count()
    }

    pub(crate) fn into_result(self) -> Result<(), Fault> {
        match self
            .fault
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
        {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }
}

/// The inverse of [`Dim3::linear_in`].
pub(crate) fn position(linear: u64, extent: Dim3) -> Dim3 {
    let (x, y) = (u64::from(extent.x), u64::from(extent.y));
    Dim3 {
        x: (linear % x) as u32,
        y: (linear / x % y) as u32,
        z: (linear / x / y) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe fn nothing(_: *const u8) {}

    fn launch(grid: Dim3, block: Dim3) -> Launch {
        Launch {
            grid,
            block,
            cluster: Dim3 { x: 1, y: 1, z: 1 },
            entry: nothing,
            params: core::ptr::null(),
            shared_limit: 0,
            dynamic_shared: 0,
            in_order: false,
            checks: crate::Checks::default(),
            constants: core::ptr::null(),
        }
    }

    #[test]
    fn position_inverts_linear_in() {
        let extent = Dim3 { x: 3, y: 4, z: 5 };
        for linear in 0..extent.count() {
            assert_eq!(position(linear, extent).linear_in(extent), linear);
        }
    }

    #[test]
    fn chunks_cover_all_blocks_once() {
        let grid = Dim3 {
            x: 1000,
            y: 7,
            z: 3,
        };
        let launch = launch(grid, Dim3 { x: 32, y: 1, z: 1 });
        let job = Job::new(&launch);
        let mut next = 0;
        while let Some((first, count)) = job.take_blocks() {
            assert_eq!(first.linear_in(grid), next);
            next += count;
        }
        assert_eq!(next, grid.count());
    }
}
