//! The `gpu.*` symbols of barriers, fences and warps.
//!
//! Each tells the worker what the thread waits for, and returns the worker's answer. As all such symbols, none may
//! unwind. A thread that unwinds from a panic waits for nobody: it gets the answer that it would get alone.

use std::mem::MaybeUninit;
use std::panic::Location;
use std::sync::atomic::{Ordering, fence};

use gpu_std::grid::GridBarrier;

use crate::checks::notes;
use crate::context::{self, Context};
use crate::named::Arrival;
use crate::symbols::kernel;
use crate::wait::{Barrier, Operation, Reduction, Request, Shuffle, Vote};
use crate::warp::LANES;
use crate::{Fault, Standing, SyncFault};

/// Says where in the kernel's source this thread's next operation stands.
#[unsafe(export_name = "gpu.place")]
extern "C" fn place(place: &'static Location<'static>) {
    kernel("sync").place.set(Some(place));
}

#[unsafe(export_name = "gpu.llvm.nvvm.barrier.cta.sync.aligned.all")]
extern "C" fn barrier(_id: u32) {
    block_barrier(Barrier::Sync, false);
}

#[unsafe(export_name = "gpu.llvm.nvvm.barrier.cta.red.popc.aligned.all")]
extern "C" fn barrier_count(_id: u32, predicate: bool) -> u32 {
    block_barrier(Barrier::Count, predicate)
}

#[unsafe(export_name = "gpu.llvm.nvvm.barrier.cta.red.or.aligned.all")]
extern "C" fn barrier_or(_id: u32, predicate: bool) -> bool {
    block_barrier(Barrier::Or, predicate) > 0
}

#[unsafe(export_name = "gpu.llvm.nvvm.barrier.cta.red.and.aligned.all")]
extern "C" fn barrier_and(_id: u32, predicate: bool) -> bool {
    block_barrier(Barrier::And, !predicate) == 0
}

/// Waits for the block, and returns how many of its threads gave true.
fn block_barrier(barrier: Barrier, predicate: bool) -> u32 {
    let answer = kernel(barrier.name()).wait(Operation::Block { barrier, predicate });
    answer.map_or(u32::from(predicate), number)
}

#[unsafe(export_name = "gpu.grid.sync")]
extern "C" fn grid_sync() {
    let context = kernel("grid::sync");
    if context.clusters.num_blocks() > 1 {
        context.fail(Fault::Synchronisation(Box::new(SyncFault {
            message: "a launch in clusters cannot wait for its whole grid".into(),
            block: context.block.get(),
            waiting: vec![Standing::new(
                "grid::sync",
                context.place.take(),
                context.thread.get(),
            )],
        })));
    }
    context.wait(Operation::Grid);
}

/// The wait that follows does all.
#[unsafe(export_name = "gpu.llvm.nvvm.barrier.cluster.arrive.aligned")]
extern "C" fn cluster_arrive() {}

#[unsafe(export_name = "gpu.llvm.nvvm.barrier.cluster.wait.aligned")]
extern "C" fn cluster_wait() {
    kernel("cluster::sync").wait(Operation::Cluster);
}

/// Only device code asks for it.
#[unsafe(export_name = "gpu.grid.barrier")]
extern "C" fn grid_barrier() -> *mut GridBarrier {
    std::ptr::null_mut()
}

/// Only device code says so: workers know which threads have ended.
#[unsafe(export_name = "gpu.grid.leave")]
extern "C" fn grid_leave() {}

#[unsafe(export_name = "gpu.llvm.nvvm.barrier.cta.sync.count")]
extern "C" fn named_barrier(id: u32, threads: u32) {
    let context = kernel("sync::named_barrier");
    if let Some(phase) = arrive(context, "named_barrier", id, threads) {
        context.wait(Operation::Named { id, phase });
    }
}

#[unsafe(export_name = "gpu.llvm.nvvm.barrier.cta.arrive.count")]
extern "C" fn named_barrier_arrive(id: u32, threads: u32) {
    let context = kernel("sync::named_barrier_arrive");
    arrive(context, "named_barrier_arrive", id, threads);
    context.place.take();
}

/// Comes to a named barrier, and returns its phase if others are missing.
fn arrive(context: &Context<'_>, name: &'static str, id: u32, threads: u32) -> Option<u32> {
    if context.panicked.get() {
        return None;
    }
    let arrival = context.named.borrow_mut().arrive(id, threads);
    if context.noting {
        let mut order = context.order.borrow_mut();
        order.arrive(id, context.thread_number());
        if arrival == Arrival::Opened {
            order.pass(id, context.thread_number());
        }
    }
    match arrival {
        Arrival::Opened => None,
        Arrival::Incomplete { phase } => Some(phase),
        Arrival::Mismatch { threads: others } => context.fail(Fault::Synchronisation(Box::new(SyncFault {
            message: format!("the named barrier {id} is for {threads} threads here, and for {others} elsewhere"),
            block: context.block.get(),
            waiting: vec![Standing::new(name, context.place.take(), context.thread.get())],
        }))),
    }
}

macro_rules! fences {
    ($($symbol:literal => $name:ident;)*) => {$(
        /// Threads of a launch may run on different cores, so that all scopes are the widest.
        #[unsafe(export_name = $symbol)]
        extern "C" fn $name() {
            fence(Ordering::SeqCst);
            if let Some(context) = context::current().filter(|context| context.noting) {
                notes::note_atomic(context);
            }
        }
    )*};
}

fences! {
    "gpu.llvm.nvvm.membar.cta" => fence_block;
    "gpu.llvm.nvvm.membar.gl" => fence_device;
    "gpu.llvm.nvvm.membar.sys" => fence_system;
}

/// The running thread's number in its warp.
fn lane(context: &Context<'_>) -> u32 {
    context.thread.get().linear_in(context.block_dim) as u32 % LANES
}

macro_rules! lane_registers {
    ($($register:literal => $name:ident = $caller:literal, |$lane:ident| $value:expr;)*) => {$(
        #[unsafe(export_name = concat!("gpu.llvm.nvvm.read.ptx.sreg.", $register))]
        extern "C" fn $name() -> u32 {
            let $lane = lane(kernel($caller));
            $value
        }
    )*};
}

lane_registers! {
    "laneid" => lane_id = "warp::lane_id", |lane| lane;
    "lanemask.eq" => lanemask_eq = "warp::lanemask_eq", |lane| 1 << lane;
    "lanemask.lt" => lanemask_lt = "warp::lanemask_lt", |lane| (1 << lane) - 1;
    "lanemask.le" => lanemask_le = "warp::lanemask_le", |lane| u32::MAX >> (LANES - 1 - lane);
    "lanemask.ge" => lanemask_ge = "warp::lanemask_ge", |lane| u32::MAX << lane;
    "lanemask.gt" => lanemask_gt = "warp::lanemask_gt", |lane| (u32::MAX << lane) << 1;
}

#[unsafe(export_name = "gpu.llvm.nvvm.activemask")]
extern "C" fn active_mask() -> u32 {
    let context = kernel("warp::active_mask");
    let alone = 1 << lane(context);
    context.wait(Operation::ActiveMask).map_or(alone, number)
}

#[unsafe(export_name = "gpu.llvm.nvvm.bar.warp.sync")]
extern "C" fn sync_warp(mask: u32) {
    warp("warp::sync_warp", mask, Request::Sync);
}

macro_rules! shuffles {
    ($($symbol:literal => $name:ident = $caller:literal, $mode:ident;)*) => {$(
        #[unsafe(export_name = $symbol)]
        extern "C" fn $name(mask: u32, value: MaybeUninit<u32>, operand: u32, clamp: u32) -> MaybeUninit<u32> {
            let mode = Shuffle::$mode;
            let request = Request::Shuffle { mode, value, operand, clamp };
            warp($caller, mask, request).unwrap_or(value)
        }
    )*};
}

shuffles! {
    "gpu.llvm.nvvm.shfl.sync.idx.i32" => shuffle_idx = "warp::shuffle_idx", Index;
    "gpu.llvm.nvvm.shfl.sync.up.i32" => shuffle_up = "warp::shuffle_up", Up;
    "gpu.llvm.nvvm.shfl.sync.down.i32" => shuffle_down = "warp::shuffle_down", Down;
    "gpu.llvm.nvvm.shfl.sync.bfly.i32" => shuffle_xor = "warp::shuffle_xor", Xor;
}

macro_rules! votes {
    ($($symbol:literal => $name:ident = $caller:literal, $vote:ident;)*) => {$(
        #[unsafe(export_name = $symbol)]
        extern "C" fn $name(mask: u32, predicate: bool) -> bool {
            let vote = Vote::$vote;
            let answer = warp($caller, mask, Request::Vote { vote, predicate });
            answer.map_or(predicate, |answer| number(answer) != 0)
        }
    )*};
}

votes! {
    "gpu.llvm.nvvm.vote.all.sync" => vote_all = "warp::vote_all", All;
    "gpu.llvm.nvvm.vote.any.sync" => vote_any = "warp::vote_any", Any;
    "gpu.llvm.nvvm.vote.uni.sync" => vote_uni = "warp::vote_uni", Uniform;
}

#[unsafe(export_name = "gpu.llvm.nvvm.vote.ballot.sync")]
extern "C" fn ballot(mask: u32, predicate: bool) -> u32 {
    let vote = Vote::Ballot;
    let answer = warp("warp::ballot", mask, Request::Vote { vote, predicate });
    let alone = u32::from(predicate) << lane(kernel("warp::ballot"));
    answer.map_or(alone, number)
}

macro_rules! matches {
    ($($symbol:literal => $name:ident = $caller:literal, $word:ident, $all:literal;)*) => {$(
        #[unsafe(export_name = $symbol)]
        extern "C" fn $name(mask: u32, value: $word) -> u32 {
            let request = Request::Match {
                value: value.into(),
                is_wide: size_of::<$word>() == 8,
                all: $all,
            };
            let answer = warp($caller, mask, request);
            let alone = 1 << lane(kernel($caller));
            answer.map_or(alone, number)
        }
    )*};
}

matches! {
    "gpu.llvm.nvvm.match.any.sync.i32" => match_any_32 = "warp::match_any", u32, false;
    "gpu.llvm.nvvm.match.any.sync.i64" => match_any_64 = "warp::match_any", u64, false;
    "gpu.match.all.i32" => match_all_32 = "warp::match_all", u32, true;
    "gpu.match.all.i64" => match_all_64 = "warp::match_all", u64, true;
}

macro_rules! reductions {
    ($($symbol:literal => $name:ident = $caller:literal, $reduction:ident;)*) => {$(
        #[unsafe(export_name = $symbol)]
        extern "C" fn $name(value: u32, mask: u32) -> u32 {
            let reduction = Reduction::$reduction;
            let answer = warp($caller, mask, Request::Reduce { reduction, value });
            answer.map_or(value, number)
        }
    )*};
}

reductions! {
    "gpu.llvm.nvvm.redux.sync.add" => redux_add = "warp::reduce_add", Add;
    "gpu.llvm.nvvm.redux.sync.umin" => redux_umin = "warp::reduce_min", Min;
    "gpu.llvm.nvvm.redux.sync.umax" => redux_umax = "warp::reduce_max", Max;
    "gpu.llvm.nvvm.redux.sync.min" => redux_min = "warp::reduce_min", MinSigned;
    "gpu.llvm.nvvm.redux.sync.max" => redux_max = "warp::reduce_max", MaxSigned;
    "gpu.llvm.nvvm.redux.sync.and" => redux_and = "warp::reduce_and", And;
    "gpu.llvm.nvvm.redux.sync.or" => redux_or = "warp::reduce_or", Or;
    "gpu.llvm.nvvm.redux.sync.xor" => redux_xor = "warp::reduce_xor", Xor;
}

/// Waits for the lanes of `mask`. None for a thread that unwinds.
pub(crate) fn warp(caller: &str, mask: u32, request: Request) -> Option<MaybeUninit<u32>> {
    kernel(caller).wait(Operation::Warp { mask, request })
}

/// An answer that is a number.
fn number(answer: MaybeUninit<u32>) -> u32 {
    // SAFETY: only a shuffle's answer, a value of the kernel's own, may be uninitialised.
    unsafe { answer.assume_init() }
}
