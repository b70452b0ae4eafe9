//! Runs oxwarp kernels on the CPU: blocks in parallel, barriers, shared memory.
//!
//! The crate defines the `gpu.*` symbols that `gpu_std` declares, so a program with kernels links on any host and
//! [`run`] can call a kernel's entry once for every thread of a grid, with the results and the errors of a GPU.
//!
//! Threads that work together (barriers, shuffles, votes) meet; if they never can, the launch ends with a fault that says
//! where each of them stands.
//!
//! Blocks are spread over the threads of rayon's pool. Threads of one block share one OS thread: a coroutine runs
//! them one after the other, and only one that waits for others keeps a coroutine to itself. A kernel without
//! barriers so costs a function call per thread. A block whose threads wait for the whole grid is set aside, with its
//! shared memory, until all blocks do; one that waits for its cluster, until all blocks of that do.

mod atomics;
mod checks;
mod cluster;
mod constants;
mod context;
mod copies;
mod coroutine;
mod device;
mod fault;
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    allow(dead_code, reason = "nothing is interrupted there")
)]
mod frame;
mod grid;
mod half;
mod heap;
mod integer;
mod job;
mod lane;
mod loan;
mod math;
mod matrix;
mod memory;
mod named;
mod panics;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod preempt;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[path = "preempt/unwatched.rs"]
mod preempt;
mod release;
mod shared;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod signal;
mod spin;
mod stack;
mod symbols;
mod sync_symbols;
mod time;
mod wait;
mod warp;
mod worker;

use checks::notes::Noting;

pub use checks::Checks;
pub use checks::fault::{Check, CheckFault, MemoryAccess};
pub use constants::Constants;
pub use fault::{Fault, KernelPanic, Standing, SyncFault};
pub use gpu_std::Dim3;
pub use grid::COOPERATIVE_THREADS;
pub use memory::{DeviceMemory, Difference, Snapshot, Trap};

/// One launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Blocks of the grid in each dimension.
    pub grid: Dim3,
    /// Threads of a block in each dimension.
    pub block: Dim3,
    /// Blocks of a cluster in each dimension, of which the grid has a multiple; 1 where there are no clusters.
    pub cluster: Dim3,
    /// Runs one thread, from [`KernelRecord::entry`](gpu_std::kernel::KernelRecord::entry).
    pub entry: unsafe fn(*const u8),
    /// What `entry` is called with: the kernel's parameter struct.
    pub params: *const u8,
    /// Bytes of static shared memory that a block may have.
    pub shared_limit: usize,
    /// Bytes of dynamic shared memory that a block has.
    pub dynamic_shared: u32,
    /// Whether one thread runs all, block by block, on the caller's OS thread. What a kernel prints then comes in that
    /// order, and a test's own output captures it.
    pub in_order: bool,
    /// What is checked.
    pub checks: Checks,
    /// The values of constant memory that were set; null where there are none.
    pub constants: *const Constants,
}

/// Runs every thread of the launch and returns when all are done, or after the first fault stopped it.
///
/// A thread that a fault stops while it waits at a barrier ends there, as on a GPU: what it owns is not dropped.
///
/// # Errors
///
/// The first [`Fault`] of any thread.
///
/// # Panics
///
/// If the grid does not divide into clusters.
///
/// # Safety
///
/// `entry` must be sound to call with `params` from all threads of this launch at once, and what the parameters point
/// to must live until `run` returns. So must the constants, which must not change meanwhile.
pub unsafe fn run(launch: &Launch) -> Result<(), Fault> {
    panics::install_hook();
    if launch.grid.count() == 0 || launch.block.count() == 0 {
        return Ok(());
    }
    // The workers start after this, and end before.
    let _noting = launch.checks.look_at_accesses().then(Noting::begin);
    let job = job::Job::new(launch);
    if launch.in_order {
        worker::work(&job);
        return job.into_result();
    }
    rayon::scope(|scope| {
        for _ in 1..job.workers() {
            scope.spawn(|_| worker::work(&job));
        }
        worker::work(&job);
    });
    job.into_result()
}
