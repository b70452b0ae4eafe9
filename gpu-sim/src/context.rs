//! Where a worker's running thread is: what the special registers read, and the order in which threads start.
//!
//! One context serves all threads that a worker runs, so starting a thread is a few writes. A thread that waits for
//! others keeps its own position on its stack meanwhile.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;
use std::panic::Location;
use std::ptr;

use gpu_std::Dim3;

use crate::checks::order::Order;
use crate::checks::schedule::Turns;
use crate::cluster::Clusters;
use crate::copies::Copies;
use crate::coroutine::Yielder;
use crate::job::{Job, position};
use crate::lane::Event;
use crate::named::NamedBarriers;
use crate::preempt::Watch;
use crate::shared::SharedMemory;
use crate::spin::Spin;
use crate::wait::{self, Arrivals, Operation, Wait};
use crate::{Fault, Launch};

const ORIGIN: Dim3 = Dim3 { x: 0, y: 0, z: 0 };

thread_local! {
    /// The context of the simulated thread that runs on this OS thread; null outside of kernels.
    static CURRENT: Cell<*const Context<'static>> = const { Cell::new(ptr::null()) };
}

/// What belongs to the block that a worker runs.
pub(crate) struct BlockState {
    block: Dim3,
    shared: SharedMemory,
    named: NamedBarriers,
    copies: Copies,
    order: Order,
}

impl BlockState {
    /// New memory for the blocks after `block`.
    pub(crate) fn after(block: Dim3, launch: &Launch) -> Self {
        Self {
            block,
            shared: SharedMemory::new(launch.shared_limit, launch.dynamic_shared, launch.checks),
            named: NamedBarriers::default(),
            copies: Copies::default(),
            order: Order::new(launch.block.count() as usize),
        }
    }

    /// The block's position in the grid.
    pub(crate) fn block(&self) -> Dim3 {
        self.block
    }
}

/// The state of one worker of a launch.
pub(crate) struct Context<'a> {
    pub(crate) job: &'a Job<'a>,
    pub(crate) grid_dim: Dim3,
    pub(crate) block_dim: Dim3,
    pub(crate) clusters: Clusters,
    pub(crate) block: Cell<Dim3>,
    /// The running thread; between threads, the one that was started last.
    pub(crate) thread: Cell<Dim3>,
    /// Dimensions of the launch that have more than one position: 0 to 3.
    pub(crate) dimensions: u32,
    /// Whether the running thread has panicked, and is unwinding.
    pub(crate) panicked: Cell<bool>,
    /// Whether the running thread has waited, so that it has its coroutine to itself.
    pub(crate) bound: Cell<bool>,
    /// Whether threads of the block wait, so that no other block may start.
    pub(crate) waiting: Cell<bool>,
    /// Whether blocks of the cluster wait for it, so that no other cluster may start.
    pub(crate) cluster_waits: Cell<bool>,
    pub(crate) shared: RefCell<SharedMemory>,
    pub(crate) named: RefCell<NamedBarriers>,
    pub(crate) copies: RefCell<Copies>,
    /// Whether accesses are noted.
    pub(crate) noting: bool,
    pub(crate) order: Box<RefCell<Order>>,
    /// A read of what nothing has written so far: a mistake of its own, unless a thread writes there before the next
    /// barrier. Then it is a race.
    unwritten: Box<RefCell<Option<Fault>>>,
    /// How often the grid has met.
    pub(crate) grid_epoch: Cell<u32>,
    pub(crate) spin: Box<Spin>,
    pub(crate) watch: Box<Watch>,
    /// Random orders of threads, where they are asked for.
    pub(crate) turns: Option<Box<Turns>>,
    /// The source line of the operation that comes next.
    pub(crate) place: Cell<Option<&'static Location<'static>>>,
    /// What the thread that was suspended last waits for.
    pub(crate) wait: Cell<*const Wait>,
    pub(crate) arrivals: Arrivals,
    /// What the thread that is resumed gets.
    pub(crate) answer: Cell<MaybeUninit<u32>>,
    blocks_left: Cell<u64>,
    yielder: Cell<*const Yielder>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(job: &'a Job<'a>) -> Self {
        let launch = job.launch();
        Self {
            job,
            grid_dim: launch.grid,
            block_dim: launch.block,
            clusters: job.clusters(),
            block: Cell::new(ORIGIN),
            thread: Cell::new(last(launch.block)),
            dimensions: dimensions(launch.grid).max(dimensions(launch.block)),
            panicked: Cell::new(false),
            bound: Cell::new(false),
            waiting: Cell::new(false),
            cluster_waits: Cell::new(false),
            shared: RefCell::new(SharedMemory::new(
                launch.shared_limit,
                launch.dynamic_shared,
                launch.checks,
            )),
            named: RefCell::default(),
            copies: RefCell::default(),
            noting: launch.checks.look_at_accesses(),
            order: Box::new(RefCell::new(Order::new(launch.block.count() as usize))),
            unwritten: Box::default(),
            grid_epoch: Cell::new(0),
            spin: Box::new(Spin::new()),
            watch: Box::default(),
            turns: launch
                .checks
                .order
                .map(|seed| Box::new(Turns::new(launch.block.count(), seed))),
            place: Cell::new(None),
            wait: Cell::new(wait::NOTHING),
            arrivals: Arrivals::default(),
            answer: Cell::new(MaybeUninit::new(0)),
            blocks_left: Cell::new(0),
            yielder: Cell::new(ptr::null()),
        }
    }

    /// Makes this the context of the simulated thread that `kernel_code` runs.
    #[inline]
    pub(crate) fn enter<R>(&self, kernel_code: impl FnOnce() -> R) -> R {
        let outer = CURRENT.replace(ptr::from_ref(self).cast());
        let result = kernel_code();
        CURRENT.set(outer);
        result
    }

    /// Moves on to the next thread. False when there is none, or none may start before the waiting ones go on.
    #[inline]
    pub(crate) fn start_thread<const IN_TURNS: bool>(&self) -> bool {
        let started = !self.job.stopped()
            && (self.next_thread::<IN_TURNS>() || (!self.waiting.get() && self.next_block()));
        self.bound.set(false);
        started
    }

    #[inline]
    fn next_thread<const IN_TURNS: bool>(&self) -> bool {
        let next = match &self.turns {
            Some(turns) if IN_TURNS => turns
                .next_thread()
                .map(|thread| position(thread, self.block_dim)),
            _ => successor(self.thread.get(), self.block_dim),
        };
        if let Some(thread) = next {
            self.thread.set(thread);
        }
        next.is_some()
    }

    /// Moves on to the first thread of the next block.
    fn next_block(&self) -> bool {
        self.meet_all();
        let cluster_waits = self.cluster_waits.get() && self.clusters.is_last(self.block.get());
        if cluster_waits || self.job.stopped() {
            return false;
        }
        let next = match self.blocks_left.get() {
            0 => self.job.take_blocks(),
            left => self.block_after().map(|block| (block, left)),
        };
        let Some((block, left)) = next else {
            return false;
        };
        self.block.set(block);
        self.blocks_left.set(left - 1);
        self.thread.set(ORIGIN);
        if let Some(turns) = &self.turns {
            turns.start_block(block.linear_in(self.grid_dim));
            self.next_thread::<true>();
        }
        self.shared.borrow_mut().start_block();
        self.named.borrow_mut().start_block();
        self.copies.borrow_mut().start_block();
        if self.noting {
            self.order.borrow_mut().start_block();
        }
        true
    }

    fn block_after(&self) -> Option<Dim3> {
        let block = self.block.get();
        match self.clusters.num_blocks() {
            1 => successor(block, self.grid_dim),
            _ => self.clusters.after(block),
        }
    }

    /// The running thread's number in its block.
    #[inline]
    pub(crate) fn thread_number(&self) -> u32 {
        self.thread.get().linear_in(self.block_dim) as u32
    }

    /// All threads of the block are done.
    pub(crate) fn finish_block(&self) {
        self.waiting.set(false);
        self.arrivals.clear();
        self.spin.ends_standstill(self);
        self.watch.finish_block();
        self.thread.set(last(self.block_dim));
        if let Some(turns) = &self.turns {
            turns.finish_block();
        }
    }

    /// Goes on with another block, and gives what belongs to this one.
    pub(crate) fn exchange_block(&self, other: BlockState) -> BlockState {
        BlockState {
            block: self.block.replace(other.block),
            shared: self.shared.replace(other.shared),
            named: self.named.replace(other.named),
            copies: self.copies.replace(other.copies),
            order: self.order.replace(other.order),
        }
    }

    /// An address in the frame of the running lane's first function: the kernel's are below.
    pub(crate) fn stack_base(&self) -> usize {
        self.yielder.get().addr()
    }

    /// Says which coroutine runs from now on.
    #[inline]
    pub(crate) fn set_yielder(&self, yielder: &Yielder) {
        self.yielder.set(yielder);
    }

    /// Waits for what `operation` asks, and returns the answer. A panicked thread waits for nobody, as it no longer
    /// counts; it comes here only from a destructor.
    #[inline(always)]
    pub(crate) fn wait(&self, operation: Operation) -> Option<MaybeUninit<u32>> {
        let place = self.place.take();
        if self.panicked.get() {
            return None;
        }
        let (thread, yielder) = (self.thread.get(), self.yielder.get());
        let wait = Wait { operation, place };
        self.arrivals.note(&wait);
        self.wait.set(&raw const wait);
        self.suspend(Event::Wait);
        self.thread.set(thread);
        self.yielder.set(yielder);
        self.bound.set(true);
        Some(self.answer.get())
    }

    /// Ends the running thread where it is.
    pub(crate) fn exit(&self) -> ! {
        self.suspend(Event::Exit);
        unreachable!("a thread ran on after its exit");
    }

    /// Ends the launch, and the running thread.
    #[cold]
    pub(crate) fn fail(&self, fault: Fault) -> ! {
        self.stop(fault);
        self.exit()
    }

    /// Ends the launch. What follows from a value that nothing wrote is not the first fault.
    #[cold]
    pub(crate) fn stop(&self, fault: Fault) {
        let unwritten = self.unwritten.borrow_mut().take();
        self.job.stop(match fault {
            Fault::Check(_) => fault,
            _ => unwritten.unwrap_or(fault),
        });
    }

    /// Keeps the fault of a read, if it is the first of the block since the last barrier.
    #[cold]
    pub(crate) fn reads_unwritten(&self, fault: Fault) {
        self.unwritten.borrow_mut().get_or_insert(fault);
    }

    /// All threads of the block have met, or ended.
    pub(crate) fn meet_all(&self) {
        if self.noting {
            self.order.borrow_mut().meet_all();
            if let Some(fault) = self.unwritten.borrow_mut().take() {
                self.job.stop(fault);
            }
        }
    }

    #[inline(always)]
    fn suspend(&self, event: Event) {
        // SAFETY: a coroutine sets its own yielder before it runs kernel code and after each resumption, so this is
        // the running coroutine's, which lives as long as the coroutine's stack.
        unsafe { (*self.yielder.get()).suspend(event) }
    }
}

/// The context of the simulated thread that runs on this OS thread.
#[inline]
pub(crate) fn current<'a>() -> Option<&'a Context<'a>> {
    // SAFETY: `enter` keeps its context borrowed for as long as the pointer is set, and callers use the reference only
    // while the kernel code that called them runs.
    unsafe { CURRENT.get().as_ref() }
}

/// The position after `at`, x fastest.
#[inline]
fn successor(mut at: Dim3, extent: Dim3) -> Option<Dim3> {
    at.x += 1;
    if at.x == extent.x {
        at.x = 0;
        at.y += 1;
        if at.y == extent.y {
            at.y = 0;
            at.z += 1;
            if at.z == extent.z {
                return None;
            }
        }
    }
    Some(at)
}

fn last(extent: Dim3) -> Dim3 {
    Dim3 {
        x: extent.x - 1,
        y: extent.y - 1,
        z: extent.z - 1,
    }
}

fn dimensions(extent: Dim3) -> u32 {
    match extent {
        Dim3 { z: 2.., .. } => 3,
        Dim3 { y: 2.., .. } => 2,
        Dim3 { x: 2.., .. } => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_visit_every_position_in_order() {
        let extent = Dim3 { x: 3, y: 2, z: 4 };
        let visited: Vec<u64> = std::iter::successors(Some(ORIGIN), |&at| successor(at, extent))
            .map(|at| at.linear_in(extent))
            .collect();
        assert_eq!(visited, (0..extent.count()).collect::<Vec<_>>());
        assert_eq!(successor(last(extent), extent), None);
    }

    #[test]
    fn dimensions_are_those_of_the_last_extent_above_one() {
        let of = |x, y, z| dimensions(Dim3 { x, y, z });
        assert_eq!(
            (of(1, 1, 1), of(5, 1, 1), of(1, 2, 1), of(1, 1, 2)),
            (0, 1, 2, 3)
        );
    }

    #[test]
    fn no_context_outside_of_kernels() {
        assert!(current().is_none());
    }
}
