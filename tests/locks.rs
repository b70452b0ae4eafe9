//! std's locks and cells that are set once, as statics that all threads of a launch share. On a device they are the
//! device's own copies of the statics, and a thread waits by looking again.
#![allow(missing_docs)]

mod device_code;

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, OnceLock, RwLock};

use oxwarp::prelude::*;

const THREADS: usize = 2 * 64;

static TICKETS: Mutex<u32> = Mutex::new(0);

#[kernel]
fn take_tickets(mut tickets: DisjointSlice<u32>) {
    if let Some(ticket) = tickets.get_mut(thread::index_1d()) {
        let mut next = TICKETS.lock().unwrap();
        *ticket = *next;
        *next += 1;
    }
}

#[test]
fn a_mutex_gives_each_thread_another_ticket() {
    let gpu = Gpu::new().unwrap();
    let mut tickets = gpu.zeros::<u32>(THREADS).unwrap();
    launch!(take_tickets[2, 64](&mut tickets)).unwrap();
    let tickets: BTreeSet<u32> = tickets.to_vec().unwrap().into_iter().collect();
    let first = *tickets.first().unwrap();
    assert!(tickets.into_iter().eq(first..first + THREADS as u32));
}

static LEVEL: RwLock<[u32; 2]> = RwLock::new([0; 2]);

/// Both numbers are always one.
#[kernel]
fn read_and_write(mut seen: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(seen) = seen.get_mut(i) {
        if i.is_multiple_of(8) {
            LEVEL
                .write()
                .unwrap()
                .iter_mut()
                .for_each(|number| *number += 1);
        }
        let level = LEVEL.read().unwrap();
        *seen = level[0].abs_diff(level[1]);
    }
}

#[test]
fn a_reader_sees_no_half_of_a_write() {
    let gpu = Gpu::new().unwrap();
    let mut seen = gpu.full(THREADS, 1u32).unwrap();
    launch!(read_and_write[2, 64](&mut seen)).unwrap();
    assert_eq!(seen.to_vec().unwrap(), [0; THREADS]);
}

static SQUARES: LazyLock<[u32; 64]> = LazyLock::new(|| std::array::from_fn(|i| (i * i) as u32));
static FIRST: OnceLock<u32> = OnceLock::new();

#[kernel]
fn set_once(mut out: DisjointSlice<[u32; 2]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let first = *FIRST.get_or_init(|| *i as u32);
        *out = [SQUARES[*i % 64], first];
    }
}

#[test]
fn a_lazy_static_is_made_by_one_thread_for_all() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<[u32; 2]>(THREADS).unwrap();
    launch!(set_once[2, 64](&mut out)).unwrap();
    let out = out.to_vec().unwrap();
    for (i, [square, first]) in out.iter().enumerate() {
        assert_eq!(*square as usize, (i % 64).pow(2));
        assert_eq!(*first, out[0][1]);
    }
    assert!((out[0][1] as usize) < THREADS);
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles_for_its_target();
}
