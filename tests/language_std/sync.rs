//! Locks and cells that are set once, each a thread's own. (`tests/locks.rs` has those that threads share.)

use std::sync::{Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};

agree!(
    mutex,
    tried,
    read_write,
    once,
    once_lock,
    lazy_lock,
    condition,
    behind_a_reference,
    in_objects
);

fn mutex(x: u32) -> u32 {
    let value = Mutex::new(x);
    {
        let mut guard = value.lock().unwrap();
        *guard = guard.wrapping_mul(3);
    }
    value.into_inner().unwrap()
}

fn tried(x: u32) -> (u32, bool, bool) {
    let value = Mutex::new(x);
    let guard = value.lock().unwrap();
    let refused = value.try_lock().is_err();
    drop(guard);
    let taken = value.try_lock().is_ok_and(|guard| *guard == x);
    (x, refused, taken)
}

fn read_write(x: u32) -> (u32, u32) {
    let value = RwLock::new(x);
    {
        let mut guard = value.write().unwrap();
        *guard = guard.wrapping_mul(3).wrapping_add(1);
    }
    let (a, b) = (value.read().unwrap(), value.read().unwrap());
    (*a / 3, *b ^ u32::from(value.try_write().is_err()))
}

fn once(x: u32) -> (u32, bool) {
    let (once, mut value) = (Once::new(), x);
    for _ in 0..3 {
        once.call_once(|| value = value.wrapping_add(5));
    }
    (value, once.is_completed())
}

fn once_lock(x: u32) -> (u32, bool, Option<u32>) {
    let cell = OnceLock::new();
    let first = *cell.get_or_init(|| x ^ 5);
    (first, cell.set(4).is_err(), cell.into_inner())
}

fn lazy_lock(x: u32) -> (u32, u32) {
    let lazy = LazyLock::new(|| [x ^ 5, x / 2]);
    (lazy[0], lazy[1])
}

/// Nobody waits.
fn condition(x: u32) -> u32 {
    let (changed, value) = (Condvar::new(), Mutex::new(x));
    *value.lock().unwrap() /= 2;
    changed.notify_all();
    let guard = changed
        .wait_while(value.lock().unwrap(), |x| *x > u32::MAX / 2)
        .unwrap();
    *guard
}

#[inline(never)]
fn add(total: &Mutex<u64>, x: u32) -> u64 {
    let mut total = total.lock().unwrap();
    *total += u64::from(x);
    *total
}

fn behind_a_reference(x: [u32; 4]) -> (u64, u64) {
    let total = Mutex::new(7);
    let after = x.map(|x| add(&total, x));
    (after[1], *total.lock().unwrap())
}

fn in_objects((a, b): (u32, u8)) -> u32 {
    let cells: [Box<dyn Fn(u32) -> u32>; 2] = {
        let (mutex, cell) = (Mutex::new(a), OnceLock::new());
        [
            Box::new(move |x| {
                let mut value = mutex.lock().unwrap();
                *value ^= x;
                *value
            }),
            Box::new(move |x| *cell.get_or_init(|| x ^ a)),
        ]
    };
    (0..5)
        .map(|i| cells[(b >> i & 1) as usize](i))
        .fold(0, |a, b| a.rotate_left(5) ^ b)
}
