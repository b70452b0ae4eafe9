//! The scheduler of one OS thread: runs blocks of a launch, and lets their threads pass barriers together.

use std::cell::RefCell;

use crate::context::Context;
use crate::job::Job;
use crate::lane::{Event, Lane};
use crate::loan::{self, Loan};
use crate::stack::Stack;

thread_local! {
    /// Lanes between launches. A coroutine must not move to another OS thread, so each has its own.
    static IDLE: RefCell<Vec<Lane>> = const { RefCell::new(Vec::new()) };
}

/// Runs blocks of the launch until none is left to take.
pub(crate) fn work(job: &Job<'_>) {
    let context = Context::new(job);
    let mut worker = Worker {
        context: &context,
        idle: IDLE.take(),
        waiting: Vec::new(),
        loan: None,
    };
    worker.run_blocks();
    worker.idle.truncate(loan::share());
    IDLE.set(worker.idle);
}

struct Worker<'a> {
    context: &'a Context<'a>,
    idle: Vec<Lane>,
    /// The lanes of the block's threads that wait at a barrier, in the order of the threads.
    waiting: Vec<Lane>,
    /// For the lanes beyond this worker's share, from the first barrier on.
    loan: Option<Loan>,
}

impl Worker<'_> {
    fn run_blocks(&mut self) {
        while self.start_threads() {
            self.pass_barriers();
        }
    }

    /// Runs threads until all of a block are started and some of them wait at a barrier; false when none is left.
    fn start_threads(&mut self) -> bool {
        loop {
            let mut lane = self.idle.pop().unwrap_or_else(|| Lane::new(Stack::new()));
            let event = lane.resume(self.context);
            if event == Event::Barrier {
                self.wait(lane);
                continue;
            }
            self.idle.push(lane.recycle());
            if event == Event::Idle {
                return !self.waiting.is_empty();
            }
        }
    }

    /// The lane's thread waits at its first barrier.
    #[inline]
    fn wait(&mut self, lane: Lane) {
        let context = self.context;
        self.loan
            .get_or_insert_with(|| Loan::for_block(context.block_dim.count()));
        context.waiting.set(true);
        self.waiting.push(lane);
    }

    /// Runs the block's waiting threads from barrier to barrier until all have ended.
    fn pass_barriers(&mut self) {
        while !self.waiting.is_empty() {
            let mut ended = false;
            for lane in &mut self.waiting {
                ended |= step(lane, self.context) != Event::Barrier;
            }
            if ended {
                let ended = |lane: &mut Lane| lane.last_event() != Event::Barrier;
                self.idle
                    .extend(self.waiting.extract_if(.., ended).map(Lane::recycle));
            }
        }
        self.context.finish_block();
    }
}

/// Lets a waiting thread go on to its next barrier or its end. Once a fault has ended the launch, that is here.
#[inline]
fn step(lane: &mut Lane, context: &Context<'_>) -> Event {
    if context.job.stopped() {
        lane.exit()
    } else {
        lane.resume(context)
    }
}
