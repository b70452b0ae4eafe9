//! Which waiting threads of a block may go on, once none of them runs: the meeting points of barriers and of warps.
//!
//! All threads of the block that have not ended are waiting here, in the order of their numbers, so that what is not
//! met now never will be. If nobody can go on, that is a fault which says where each thread stands.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;

use crate::context::Context;
use crate::lane::Lane;
use crate::matrix;
use crate::spin;
use crate::wait::Operation;
use crate::warp::{self, AbsentLane, LANES, Part};
use crate::{Fault, Standing, SyncFault};

/// Who may go on.
pub(crate) enum Release {
    /// All threads, with one answer.
    All(u32),
    /// Those that have an answer in their lane.
    Some,
    /// None before the other blocks: all wait for the grid.
    Grid,
    /// None before the other blocks of the cluster: all wait for it.
    Cluster,
}

/// Lets at least one of the threads go on.
pub(crate) fn release(lanes: &mut [Lane], context: &Context<'_>) -> Result<Release, Fault> {
    let released = if context.arrivals.threads() == lanes.len() {
        let apart = "threads of one block wait at different barriers at the same time";
        let true_predicates = context.arrivals.go_on();
        true_predicates.map(Release::All).ok_or(apart.into())
    } else if all_wait_for_grid(lanes) {
        Ok(Release::Grid)
    } else if all_wait_for_cluster(lanes) {
        Ok(Release::Cluster)
    } else {
        release_parts(lanes, context).map(|()| Release::Some)
    };
    released.map_err(|message| fault(message, lanes, context))
}

fn all_wait_for_grid(lanes: &[Lane]) -> bool {
    lanes
        .iter()
        .all(|lane| lane.wait().meets_for_grid(lanes[0].wait()))
}

fn all_wait_for_cluster(lanes: &[Lane]) -> bool {
    lanes
        .iter()
        .all(|lane| lane.wait().meets_for_cluster(lanes[0].wait()))
}

/// Named barriers and warps.
fn release_parts(lanes: &mut [Lane], context: &Context<'_>) -> Result<(), String> {
    for lane in &mut *lanes {
        if let Operation::Named { id, phase } = lane.wait().operation
            && context.named.borrow().phase(id) != phase
        {
            if context.noting {
                let thread = lane.thread().linear_in(context.block_dim) as u32;
                context.order.borrow_mut().pass(id, thread);
            }
            lane.release(MaybeUninit::new(0));
        }
    }
    let number = |lane: &Lane| lane.thread().linear_in(context.block_dim) as u32;
    let same_warp = |one: &Lane, two: &Lane| number(one) / LANES == number(two) / LANES;
    for warp in lanes.chunk_by_mut(same_warp) {
        let of_warp: Vec<u32> = warp.iter().map(|lane| number(lane) % LANES).collect();
        release_warp(warp, &of_warp, context)?;
    }
    if lanes.iter().any(Lane::is_released) {
        context.spin.progress();
    }
    for lane in &mut *lanes {
        match lane.wait().operation {
            Operation::Turn => context.spin.progress(),
            Operation::Spin | Operation::Preempted => {}
            _ => continue,
        }
        lane.release(MaybeUninit::new(0));
    }
    if !lanes.iter().any(Lane::is_released) {
        Err("no thread of the block can go on: each waits for threads that have ended or wait elsewhere".into())
    } else if context.spin.ends_round(context) {
        Err(format!(
            "no thread has come further for {} s: some {}{}",
            spin::LIMIT.as_secs(),
            match lanes.iter().any(is_interrupted) {
                true => "go round in a loop until another changes what they look at",
                false => "ask for an atomic that nobody changes",
            },
            match context.job.blocks_to_start() {
                0 => String::new(),
                blocks => format!(
                    " ({blocks} blocks of the grid have not started: on a GPU too they may start only when others have ended)"
                ),
            }
        ))
    } else {
        Ok(())
    }
}

fn is_interrupted(lane: &Lane) -> bool {
    matches!(lane.wait().operation, Operation::Preempted)
}

/// The operations of one warp whose lanes are all there; `numbers` are those of its lanes that have not ended.
fn release_warp(lanes: &mut [Lane], numbers: &[u32], context: &Context<'_>) -> Result<(), String> {
    for index in 0..lanes.len() {
        if let Operation::Warp { mask, .. } = lanes[index].wait().operation
            && !lanes[index].is_released()
        {
            release_mask(lanes, numbers, mask, index, context)?;
        }
    }
    // Lanes that go on may come to the same place yet.
    if !lanes.iter().any(Lane::is_released) {
        release_active(lanes, numbers);
    }
    Ok(())
}

/// The operation of the lanes of `mask`, if they have all come to it.
fn release_mask(
    lanes: &mut [Lane],
    numbers: &[u32],
    mask: u32,
    index: usize,
    context: &Context<'_>,
) -> Result<(), String> {
    let first = *lanes[index].wait();
    let mut parts = Vec::with_capacity(LANES as usize);
    for (lane, &number) in lanes.iter().zip(numbers) {
        if mask & (1 << number) == 0 {
            continue;
        }
        match lane.wait().operation {
            Operation::Warp {
                mask: other,
                request,
            } if other == mask => parts.push(Part {
                lane: number,
                request,
            }),
            _ => return Ok(()),
        }
        if !lane.wait().meets(&first) {
            return Err(format!(
                "lanes of the mask {mask:#010x} are at different operations of their warp"
            ));
        }
    }
    if let Some(message) = matrix::missing_lanes(&parts) {
        return Err(message);
    }
    if context.noting {
        let warp = lanes[index].thread().linear_in(context.block_dim) as u32 / LANES * LANES;
        let threads = parts.iter().map(|part| warp + part.lane);
        context.order.borrow_mut().meet(threads);
    }
    for part in &parts {
        let answer = warp::answer(&parts, part).map_err(|absent| absent_lane(&absent, mask))?;
        let lane = numbers.iter().position(|&number| number == part.lane);
        lanes[lane.expect("the part is of one of the lanes")].release(answer);
    }
    Ok(())
}

fn absent_lane(absent: &AbsentLane, mask: u32) -> String {
    let AbsentLane { reader, source } = absent;
    let why = if mask & (1 << source) == 0 {
        format!("is not in the mask {mask:#010x}")
    } else {
        "has ended or does not exist".into()
    };
    format!("lane {reader} reads the value of lane {source}, which {why}")
}

/// The lanes that ask who else is at their place: all that are, since none is on its way.
fn release_active(lanes: &mut [Lane], numbers: &[u32]) {
    for index in 0..lanes.len() {
        let first = *lanes[index].wait();
        let asks = |lane: &Lane| {
            matches!(lane.wait().operation, Operation::ActiveMask)
                && lane.wait().same_place(&first)
                && !lane.is_released()
        };
        if !asks(&lanes[index]) {
            continue;
        }
        let at_place = lanes.iter().zip(numbers).filter(|(lane, _)| asks(lane));
        let mask = at_place.fold(0, |mask, (_, number)| mask | 1 << number);
        for lane in lanes.iter_mut().filter(|lane| asks(lane)) {
            lane.release(MaybeUninit::new(mask));
        }
    }
}

/// The fault of a grid of which so many threads have ended, while those of this block, and maybe of others, wait for all.
pub(crate) fn grid_fault(ended: u64, lanes: &[Lane], context: &Context<'_>) -> Fault {
    let threads = match ended {
        1 => "1 thread".into(),
        _ => format!("{ended} threads"),
    };
    fault(
        format!("{threads} of the grid ended before the grid barrier at which others wait"),
        lanes,
        context,
    )
}

/// The fault, with where the threads stand: those at one place together.
fn fault(message: String, lanes: &[Lane], context: &Context<'_>) -> Fault {
    let mut waiting: Vec<Standing> = Vec::new();
    let mut frames = BTreeMap::new();
    for lane in lanes {
        let (wait, thread) = (lane.wait(), lane.thread());
        let standing = if is_interrupted(lane) {
            let number = thread.linear_in(context.block_dim) as u32;
            let frame = context.watch.place(number, &mut frames);
            Standing::interrupted(wait.name(), frame, thread)
        } else {
            Standing::new(wait.name(), wait.place, thread)
        };
        match waiting.iter_mut().find(|other| other.meets(&standing)) {
            Some(other) => other.threads += 1,
            None => waiting.push(standing),
        }
    }
    Fault::Synchronisation(Box::new(SyncFault {
        message,
        block: context.block.get(),
        waiting,
    }))
}
