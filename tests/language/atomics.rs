//! Atomics of a thread's own, of every width and operation, where the compiler sees whose they are and where it does not.
//! (`tests/atomics.rs` has those that threads share.)

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{
    AtomicBool, AtomicI16, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
    compiler_fence, fence,
};

agree!(
    narrow,
    wide,
    pointers,
    booleans,
    fences,
    updates,
    through_mut,
    static_limits,
    through_references,
    counted_calls,
    chosen,
    in_arcs,
    counters_of_closures,
);

fn narrow((a, b): (u8, i16)) -> ([u8; 5], [i16; 5]) {
    let (x, y) = (AtomicU8::new(a), AtomicI16::new(b));
    (
        [
            x.fetch_add(200, SeqCst),
            x.fetch_max(7, AcqRel),
            x.fetch_xor(0x55, Relaxed),
            x.swap(b as u8, Acquire),
            x.fetch_nand(3, Release),
        ],
        [
            y.fetch_sub(2000, SeqCst),
            y.fetch_min(7, AcqRel),
            y.fetch_or(0x55, Relaxed),
            y.compare_exchange(5, 6, SeqCst, Relaxed)
                .unwrap_or_else(|x| x ^ 1),
            y.load(SeqCst),
        ],
    )
}

fn wide((a, b): (u64, i64)) -> ([u64; 5], [i64; 4]) {
    let (x, y) = (AtomicU64::new(a), AtomicI64::new(b));
    (
        [
            x.fetch_add(5, SeqCst),
            x.fetch_max(b as u64, Relaxed),
            x.fetch_min(1 << 40, Relaxed),
            x.fetch_nand(77, Relaxed),
            x.load(Acquire),
        ],
        [
            y.fetch_min(3, SeqCst),
            y.fetch_max(-9, Relaxed),
            y.swap(4, SeqCst),
            y.load(Relaxed),
        ],
    )
}

fn pointers(x: [u32; 3]) -> u32 {
    let pointer = AtomicPtr::new((&raw const x[0]).cast_mut());
    let old = pointer.swap((&raw const x[1]).cast_mut(), AcqRel);
    unsafe { *old ^ *pointer.load(SeqCst) }
}

fn booleans(x: [bool; 3]) -> [bool; 5] {
    let flag = AtomicBool::new(x[0]);
    [
        flag.fetch_and(x[1], SeqCst),
        flag.fetch_xor(x[2], Relaxed),
        flag.swap(true, AcqRel),
        flag.fetch_not(SeqCst),
        flag.compare_exchange(false, x[1], SeqCst, SeqCst).is_ok(),
    ]
}

fn fences(x: u32) -> u32 {
    let value = AtomicU32::new(x);
    for order in [Acquire, Release, AcqRel, SeqCst] {
        fence(order);
        compiler_fence(order);
        value.store(value.load(Relaxed).rotate_left(3), Release);
        std::hint::spin_loop();
    }
    compiler_fence(AcqRel);
    value.load(Acquire) ^ 1
}

fn updates(x: u32) -> (Result<u32, u32>, Result<u32, u32>) {
    let value = AtomicU32::new(x);
    (
        value.fetch_update(SeqCst, Relaxed, |x| x.checked_add(7)),
        value.fetch_update(SeqCst, Relaxed, |x| (x > 10).then_some(2)),
    )
}

fn through_mut(x: usize) -> usize {
    let mut value = AtomicUsize::new(x);
    *value.get_mut() ^= 3;
    value.fetch_sub(1, Relaxed);
    value.into_inner()
}

static LIMIT: AtomicU32 = AtomicU32::new(1 << 16);

fn static_limits(x: u32) -> u32 {
    x.min(LIMIT.load(Relaxed))
}

#[inline(never)]
fn bump(counter: &AtomicU32, by: u32) -> u32 {
    let old = counter.fetch_add(by, SeqCst);
    let _ = counter.compare_exchange(old.wrapping_add(by), old ^ by, AcqRel, Relaxed);
    old
}

fn through_references((a, b): (u32, u32)) -> (u32, u32) {
    let counter = AtomicU32::new(a);
    (bump(&counter, b) ^ bump(&counter, 3), counter.into_inner())
}

fn counted_calls(n: u8) -> (u32, u32) {
    fn visit(n: u32, calls: &AtomicU32) -> u32 {
        calls.fetch_add(1, Relaxed);
        match n {
            0 | 1 => n,
            _ => visit(n - 1, calls) + visit(n - 2, calls),
        }
    }
    let calls = AtomicU32::new(0);
    (visit(u32::from(n % 12), &calls), calls.into_inner())
}

fn chosen((x, which): ([u32; 3], u8)) -> [u32; 3] {
    let all = x.map(AtomicU32::new);
    let heap = Box::new(AtomicU32::new(1));
    let one = if which < 200 {
        &all[which as usize % 3]
    } else {
        &*heap
    };
    one.fetch_xor(heap.fetch_add(5, Relaxed), Relaxed);
    all.map(AtomicU32::into_inner)
}

fn in_arcs(x: u32) -> (u32, usize, bool) {
    let shared = Arc::new(AtomicU32::new(x));
    let other = Arc::clone(&shared);
    let weak = Arc::downgrade(&shared);
    other.fetch_or(1, SeqCst);
    drop(other);
    let count = Arc::strong_count(&shared) * 10 + Arc::weak_count(&shared);
    let last = Arc::into_inner(shared).map_or(0, AtomicU32::into_inner);
    (last, count, weak.upgrade().is_none())
}

fn counters_of_closures(x: [u32; 5]) -> (u32, u32) {
    let (even, odd) = (AtomicU32::new(0), AtomicU32::new(0));
    let count: &dyn Fn(u32) = &|x| {
        let counter = if x % 2 == 0 { &even } else { &odd };
        counter.fetch_add(x, Relaxed);
    };
    x.into_iter().for_each(count);
    (even.into_inner(), odd.into_inner())
}
