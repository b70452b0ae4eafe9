//! Mistakes with atomics: values that nothing set, plain accesses beside them, orders that are taken for granted, spins.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use oxwarp::atomic::{AtomicScope, Block, Device};
use oxwarp::prelude::*;

use crate::{Case, endless, right, spins, wrong, wrong_in_other_orders};

pub const CASES: &[Case] = &[
    right("histogram", |gpu| {
        let mut out = gpu.zeros::<u32>(8)?;
        launch!(histogram[4, 64](true, &mut out))?;
        assert_eq!(out.to_vec()?, [32; 8]);
        Ok(())
    }),
    wrong(
        "uninitialised_accumulator",
        |gpu| launch!(histogram[4, 64](false, &mut gpu.zeros::<u32>(8)?)),
        &[
            "of a shared array of 32 bytes is read, but nothing in this block has written it",
            "updates it atomically",
            "`init`",
        ],
    ),
    wrong(
        "plain_write_beside_atomics",
        |gpu| {
            plain_beside_atomics()
                .on(gpu)
                .grid(1)
                .block(64)
                .shared_bytes(64)
                .launch()
        },
        &["data race", "atomically"],
    ),
    spins(right(
        "flag",
        |gpu| launch!(flag[1, 64](true, &mut gpu.zeros::<u32>(1)?, &mut gpu.zeros::<u32>(64)?)),
    )),
    endless(
        "flag_that_nobody_sets",
        |gpu| launch!(flag[1, 64](false, &mut gpu.zeros::<u32>(1)?, &mut gpu.zeros::<u32>(64)?)),
        &[
            "no thread has come further for 1 s: some ask for an atomic that nobody changes",
            "and 62 more wait in an atomic operation, again and again at tests/checks/atomics.rs:",
        ],
    ),
    spins(right("ticket_order", |gpu| {
        let mut sums = gpu.zeros::<u32>(9)?;
        launch!(chain[8, 32](true, &mut gpu.zeros::<u32>(1)?, &mut sums))?;
        assert_eq!(sums.to_vec()?, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        Ok(())
    })),
    wrong_in_other_orders(
        "block_order",
        |gpu| launch!(order_of_blocks[8, 32](&mut gpu.zeros::<u32>(9)?)),
        &[
            "the results depend on the order in which threads and blocks run",
            "`schedule`",
        ],
    ),
    endless(
        "waits_for_a_block_before",
        // More blocks than any host has cores.
        |gpu| launch!(chain[4096, 32](false, &mut gpu.zeros::<u32>(1)?, &mut gpu.zeros::<u32>(4097)?)),
        &["blocks of the grid have not started", "chain", "atomic"],
    ),
    wrong_in_other_orders(
        "stack_with_aba",
        |gpu| launch!(stack[1, 32](&mut gpu.zeros::<u32>(32)?)),
        &[
            "data race on element",
            "of a shared array of 16 bytes",
            "(in the random order of `schedule:",
            "`race`",
        ],
    ),
    spins(right("spin_lock", |gpu| {
        let mut out = gpu.zeros::<u32>(1)?;
        launch!(spin_lock[2, 64](true, &mut out))?;
        assert_eq!(out.to_vec()?, [128]);
        Ok(())
    })),
    spins(wrong(
        "spin_lock_released_early",
        |gpu| launch!(spin_lock[2, 64](false, &mut gpu.zeros::<u32>(1)?)),
        &["data race", "`race`"],
    )),
    spins(right("flag_of_core", |gpu| {
        let mut out = gpu.zeros::<u32>(1)?;
        launch!(flag_of_core[1, 64](true, &mut gpu.zeros::<u32>(1)?, &mut out))?;
        assert_eq!(out.to_vec()?, [63 * 7]);
        Ok(())
    })),
    endless(
        "flag_of_core_that_nobody_sets",
        |gpu| launch!(flag_of_core[1, 64](false, &mut gpu.zeros::<u32>(1)?, &mut gpu.zeros::<u32>(1)?)),
        &[
            "no thread has come further for 1 s: some go round in a loop until another changes what they look at",
            " more wait in a loop ",
            "atomics",
        ],
    ),
    spins(right("spin_lock_of_core", |gpu| {
        let mut out = gpu.zeros::<u32>(2)?;
        launch!(spin_lock_of_core[2, 64](&mut gpu.zeros::<u32>(2)?, &mut out))?;
        assert_eq!(out.to_vec()?, [64, 64]);
        Ok(())
    })),
    right("long_loop", |gpu| {
        let mut out = gpu.zeros::<u32>(4)?;
        launch!(long_loop[1, 4](LONG, &mut out))?;
        assert_eq!(out.to_vec()?, [0, 1, 2, 3].map(|first| random(first, LONG)));
        Ok(())
    }),
];

/// Steps that take longer than it takes to see that a thread only goes round.
const LONG: u32 = 4_000_000;

#[kernel]
fn histogram(fills: bool, counts: &[AtomicU32]) {
    let bins = shared_atomics![AtomicU32; 8];
    if fills {
        bins.fill(0);
    }
    sync_threads();
    let t = thread::index_in_block();
    bins.at(t % 8).fetch_add(1, Relaxed);
    sync_threads();
    if t < 8 {
        counts[t].fetch_add(bins.at(t).load(Relaxed), Relaxed);
    }
}

/// The same memory as atomics and as plain numbers.
#[kernel]
fn plain_beside_atomics() {
    let atomics = shared::dynamic().atomics::<AtomicU32>(16);
    let plain = shared::dynamic().array::<u32>(16);
    atomics.fill(0);
    sync_threads();
    match thread::index_in_block() {
        0 => plain.set(3, 1),
        _ => drop(atomics.at(3).fetch_add(1, Relaxed)),
    }
}

/// The first threads wait for the last one.
#[kernel]
fn flag(is_set: bool, flags: &[AtomicU32], mut out: DisjointSlice<u32>) {
    let value = shared_array![u32; 1];
    let last = block::len() - 1;
    let flag = flags[0].scoped(Block);
    if thread::index_in_block() == last {
        value.set(0, 7);
        if is_set {
            flag.store(1, Release);
        }
    } else {
        while flag.load(Acquire) == 0 {}
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value.get(0);
    }
}

/// Each block adds to what the block before has published; which that is, the first to come or the index decides.
#[kernel]
fn chain(by_ticket: bool, tickets: &[AtomicU32], sums: &[AtomicU32]) {
    if thread::index_in_block() > 0 {
        return;
    }
    let number = match by_ticket {
        true => tickets[0].scoped(Device).fetch_add(1, Relaxed) as usize,
        false => thread::grid_dim().x as usize - 1 - *block::index(),
    };
    let before = loop {
        match sums[number].scoped(Device).load(Acquire) {
            0 if number > 0 => {}
            sum => break sum,
        }
    };
    sums[number + 1].scoped(Device).store(before + 1, Release);
}

#[kernel]
fn order_of_blocks(sums: &[AtomicU32]) {
    if thread::index_in_block() == 0 {
        let number = *block::index();
        let before = sums[number].load(Acquire);
        sums[number + 1].store(before + 1, Release);
    }
}

#[kernel]
fn spin_lock(holds: bool, out: &[AtomicU32]) {
    let locks = shared_atomics![AtomicU32; 1];
    let count = shared_array![u32; 1];
    if thread::index_in_block() == 0 {
        locks.at(0).store(0, Relaxed);
        count.set(0, 0);
    }
    sync_threads();
    let lock = locks.at(0);
    while lock.compare_exchange(0, 1, AcqRel, Relaxed).is_err() {}
    if !holds {
        lock.store(0, Release);
    }
    count.set(0, count.get(0) + 1);
    if holds {
        lock.store(0, Release);
    }
    sync_threads();
    if thread::index_in_block() == 0 {
        out[0].fetch_add(count.get(0), Relaxed);
    }
}

/// As `flag`, with the operations of `core::sync::atomic`.
#[kernel]
fn flag_of_core(is_set: bool, flags: &[AtomicU32], out: &[AtomicU32]) {
    if thread::index_in_block() == block::len() - 1 {
        if is_set {
            flags[0].store(7, Release);
        }
        return;
    }
    loop {
        let value = flags[0].load(Acquire);
        if value > 0 {
            out[0].fetch_add(value, Relaxed);
            break;
        }
    }
}

/// The block's last thread makes the lock one that can be had; until then all others spin.
#[kernel]
fn spin_lock_of_core(locks: &[AtomicU32], counts: &[AtomicU32]) {
    let (lock, count) = (&locks[*block::index()], &counts[*block::index()]);
    if thread::index_in_block() == block::len() - 1 {
        lock.fetch_or(2, Release);
    }
    while lock.compare_exchange(2, 3, AcqRel, Relaxed).is_err() {}
    count.store(count.load(Relaxed) + 1, Relaxed);
    lock.store(2, Release);
}

#[kernel]
fn long_loop(steps: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = random(*i as u32, steps);
    }
}

fn random(first: u32, steps: u32) -> u32 {
    (0..steps).fold(first, |value, step| {
        value.wrapping_mul(1_664_525).wrapping_add(step | 1)
    })
}

/// Threads take nodes off a list and put them back. One that looks at a node's successor may find that others took the node,
/// and put it back with another successor: the compare-and-swap does not see that.
#[kernel]
fn stack(mut out: DisjointSlice<u32>) {
    let heads = shared_atomics![AtomicU32; 1];
    let next = shared_array![u32; 4];
    let t = thread::index_in_block();
    if t < 4 {
        next.set(t, (t as u32 + 2) % 5);
        heads.at(0).store(1, Relaxed);
    }
    sync_threads();
    let head = heads.at(0);
    let mut taken = 0;
    for _ in 0..4 {
        let node = head.load(Acquire);
        if node == 0 {
            continue;
        }
        let successor = next.get(node as usize - 1);
        if head
            .compare_exchange(node, successor, AcqRel, Relaxed)
            .is_err()
        {
            continue;
        }
        taken += 1;
        let mut first = head.load(Acquire);
        loop {
            next.set(node as usize - 1, first);
            match head.compare_exchange(first, node, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(seen) => first = seen,
            }
        }
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = taken;
    }
}
