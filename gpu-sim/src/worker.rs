//! The scheduler of one OS thread: runs blocks of a launch, and lets their threads meet at barriers.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use crate::context::Context;
use crate::job::Job;
use crate::lane::{Event, Lane};
use crate::loan::{self, Loan};
use crate::release::{Release, release};
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
    /// The lanes of the block's threads that wait, in the order of the threads.
    waiting: Vec<Lane>,
    /// For the lanes beyond this worker's share, from the first wait on.
    loan: Option<Loan>,
}

impl Worker<'_> {
    fn run_blocks(&mut self) {
        while self.start_threads() {
            self.run_waiting();
        }
    }

    /// Runs threads until all of a block are started and some of them wait; false when none is left.
    fn start_threads(&mut self) -> bool {
        loop {
            let mut lane = self.idle.pop().unwrap_or_else(|| Lane::new(Stack::new()));
            let event = lane.resume(self.context);
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
        self.loan
            .get_or_insert_with(|| Loan::for_block(context.block_dim.count()));
        context.waiting.set(true);
        self.waiting.push(lane);
    }

    /// Runs the block's waiting threads, each as soon as what it waits for has come, until all have ended.
    fn run_waiting(&mut self) {
        let context = self.context;
        while !self.waiting.is_empty() {
            let all = self.release();
            let mut ended = false;
            for lane in &mut self.waiting {
                ended |= step(lane, context, all) != Event::Wait;
            }
            if ended {
                let ended = |lane: &mut Lane| lane.last_event() != Event::Wait;
                self.idle
                    .extend(self.waiting.extract_if(.., ended).map(Lane::recycle));
            }
        }
        context.finish_block();
    }

    /// Lets threads go on, or ends the launch; whether all may.
    #[inline]
    fn release(&mut self) -> bool {
        let context = self.context;
        if context.job.stopped() {
            return false;
        }
        match release(&mut self.waiting, context) {
            Ok(Release::All(answer)) => {
                context.answer.set(MaybeUninit::new(answer));
                return true;
            }
            Ok(Release::Some) => {}
            Err(fault) => context.job.stop(fault),
        }
        false
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
