//! The scheduler of one OS thread: runs blocks of a launch, and lets their threads meet at barriers.
//!
//! A block whose threads all wait for the grid is parked, and the next one runs. When no block is left to start, the
//! worker meets the others, and then goes on with what it parked. Likewise a block whose threads wait for their cluster is
//! set aside until the cluster's last block waits or has ended: a worker runs all blocks of a cluster.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use crate::Fault;
use crate::context::{BlockState, Context};
use crate::grid::{COOPERATIVE_THREADS, Meeting};
use crate::job::Job;
use crate::lane::{Event, Lane};
use crate::loan::{self, Loan};
use crate::preempt::Ticks;
use crate::release::{Release, grid_fault, release};
use crate::stack::Stack;

thread_local! {
    /// Lanes between launches. A coroutine must not move to another OS thread, so each has its own.
    static IDLE: RefCell<Vec<Lane>> = const { RefCell::new(Vec::new()) };
}

/// Runs blocks of the launch until none is left to take.
pub(crate) fn work(job: &Job<'_>) {
    let _present = job.grid_barrier().enter();
    let context = Context::new(job);
    let _ticks = Ticks::begin(&context);
    let mut worker = Worker {
        context: &context,
        idle: IDLE.take(),
        waiting: Vec::new(),
        parked: Vec::new(),
        set_aside: Vec::new(),
        loan: None,
    };
    worker.run_blocks();
    worker.idle.truncate(loan::share());
    IDLE.set(worker.idle);
}

struct Worker<'a> {
    context: &'a Context<'a>,
    idle: Vec<Lane>,
    /// The lanes of the block's threads that wait, in the order of the threads.
    waiting: Vec<Lane>,
    parked: Vec<Parked>,
    /// Blocks of the running cluster that wait for it.
    set_aside: Vec<Parked>,
    /// For the lanes beyond this worker's share, from the first wait on.
    loan: Option<Loan>,
}

/// A block whose threads wait for the grid, or for their cluster.
struct Parked {
    lanes: Vec<Lane>,
    state: BlockState,
}

impl Worker<'_> {
    fn run_blocks(&mut self) {
        loop {
            while self.start_threads() {
                self.run_waiting();
            }
            if !self.set_aside.is_empty() {
                self.meet_the_cluster();
            } else if !self.parked.is_empty() {
                self.meet_the_grid();
            } else {
                return;
            }
        }
    }

    /// Runs threads until all of a block are started and some of them wait; false when none is left.
    fn start_threads(&mut self) -> bool {
        loop {
            let mut lane = self.idle.pop().unwrap_or_else(|| Lane::new(Stack::new()));
            if let Some(next) = self.idle.last() {
                next.prefetch();
            }
            let event = self.context.enter(|| lane.resume(self.context));
            if event == Event::Wait {
                self.wait(lane);
                continue;
            }
            self.idle.push(lane.recycle());
            if event == Event::Idle {
                return !self.waiting.is_empty();
            }
        }
    }

    /// The lane's thread waits for the first time.
    #[inline]
    fn wait(&mut self, mut lane: Lane) {
        let context = self.context;
        lane.bind(context.thread.get());
        self.loan.get_or_insert_with(|| {
            let has_turn = || context.job.grid_barrier().has_turn();
            let threads = context.block_dim.count() * context.clusters.num_blocks();
            Loan::for_cluster(threads, has_turn)
        });
        context.waiting.set(true);
        self.waiting.push(lane);
    }

    /// Runs the block's waiting threads, each as soon as what it waits for has come, until all have ended or wait for the
    /// grid or their cluster.
    fn run_waiting(&mut self) {
        let context = self.context;
        if context.turns.is_some() {
            let number = |lane: &Lane| lane.thread().linear_in(context.block_dim);
            self.waiting.sort_unstable_by_key(number);
        }
        while !self.waiting.is_empty() {
            match self.release() {
                Release::All(answer) => {
                    context.meet_all();
                    context.answer.set(MaybeUninit::new(answer));
                    self.step(true);
                }
                Release::Some => self.step(false),
                Release::Grid => return self.park(),
                Release::Cluster => {
                    let block = self.take_block();
                    self.set_aside.push(block);
                    return context.cluster_waits.set(true);
                }
            }
        }
        context.finish_block();
    }

    /// Who may go on. A fault ends the launch.
    #[inline]
    fn release(&mut self) -> Release {
        let context = self.context;
        if context.job.stopped() {
            return Release::Some;
        }
        release(&mut self.waiting, context).unwrap_or_else(|fault| {
            context.stop(fault);
            Release::Some
        })
    }

    /// Lets all threads go on, or those that may.
    #[inline]
    fn step(&mut self, all: bool) {
        let context = self.context;
        let mut ended = 0;
        context.enter(|| match &context.turns {
            None => {
                for index in 0..self.waiting.len() {
                    if let Some(next) = self.waiting.get(index + 1) {
                        next.prefetch();
                    }
                    ended +=
                        usize::from(step(&mut self.waiting[index], context, all) != Event::Wait);
                }
            }
            Some(turns) => {
                for index in turns.order(self.waiting.len()) {
                    ended +=
                        usize::from(step(&mut self.waiting[index], context, all) != Event::Wait);
                }
            }
        });
        if ended > 0 {
            context.spin.progress();
            self.recycle(ended);
        }
    }

    /// Takes out the lanes whose threads have ended: so many.
    fn recycle(&mut self, ended: usize) {
        let returned = |lane: &Lane| lane.last_event() == Event::Idle;
        if ended == self.waiting.len() && self.waiting.iter().all(returned) {
            return self.idle.append(&mut self.waiting);
        }
        let ended = |lane: &mut Lane| lane.last_event() != Event::Wait;
        self.idle
            .extend(self.waiting.extract_if(.., ended).map(Lane::recycle));
    }

    /// Parks the block until all of the grid wait.
    fn park(&mut self) {
        let context = self.context;
        if context.job.threads() > COOPERATIVE_THREADS {
            context.job.stop(Fault::CooperativeGrid);
            self.step(false);
            return context.finish_block();
        }
        context.job.grid_barrier().take_turn();
        let block = self.take_block();
        self.parked.push(block);
    }

    /// Takes the block out, with its threads and all its memory, so that another one can run.
    fn take_block(&mut self) -> Parked {
        let context = self.context;
        let next = BlockState::after(context.block.get(), context.job.launch());
        let lanes = std::mem::take(&mut self.waiting);
        let state = context.exchange_block(next);
        context.finish_block();
        Parked { lanes, state }
    }

    /// Puts a block back in, with its threads waiting.
    fn put_block(&mut self, block: Parked) {
        self.context.exchange_block(block.state);
        self.waiting = block.lanes;
        self.context.waiting.set(true);
    }

    /// Lets all threads of the block that is in go on, from where they met others.
    fn go_on(&mut self) {
        self.context.meet_all();
        self.context.answer.set(MaybeUninit::new(0));
        self.step(true);
        self.run_waiting();
    }

    /// Lets the blocks of the cluster go on: each of them waits, or has ended.
    fn meet_the_cluster(&mut self) {
        let context = self.context;
        let last = context.block.get();
        let blocks = std::mem::take(&mut self.set_aside);
        context.cluster_waits.set(false);
        if let Some(accesses) = context.job.accesses() {
            for block in &blocks {
                accesses.uses_atomic(block.state.block().linear_in(context.grid_dim));
            }
        }
        for block in blocks {
            self.put_block(block);
            self.go_on();
        }
        // The next block is the one after the cluster's last.
        context.block.set(last);
    }

    /// Waits for the blocks of other workers, and lets the parked ones go on.
    fn meet_the_grid(&mut self) {
        let (context, job) = (self.context, self.context.job);
        let here = self
            .parked
            .iter()
            .map(|block| block.lanes.len() as u64)
            .sum();
        job.standstill(1);
        let meeting = job.grid_barrier().meet(here, || job.stopped());
        job.standstill(-1);
        context.grid_epoch.set(context.grid_epoch.get() + 1);
        for block in std::mem::take(&mut self.parked) {
            self.put_block(block);
            if let Meeting::Complete(threads) = meeting
                && threads < job.threads()
            {
                job.stop(grid_fault(job.threads() - threads, &self.waiting, context));
            }
            self.go_on();
        }
    }
}

/// Lets a thread that may go on do so, to where it waits again or ends. Once a fault has ended the launch, it ends here.
#[inline]
fn step(lane: &mut Lane, context: &Context<'_>, all: bool) -> Event {
    if context.job.stopped() {
        lane.exit()
    } else if all || lane.is_released() {
        lane.resume(context)
    } else {
        Event::Wait
    }
}
