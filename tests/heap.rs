//! `Vec`, `Box`, `String` and the collections of alloc in kernels, what happens when their heap is full, and its size and
//! that of the stack.
#![allow(missing_docs)]

mod common;
mod device_code;

use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::rc::Rc;

use common::{Random, in_own_process, run_again};
use oxwarp::prelude::*;

/// Numbers of a thread, and what each collection makes of them.
fn collections(x: &[u32], from: usize) -> [u32; 8] {
    let some = || x.iter().skip(from).step_by(7).copied();
    let mut sorted: Vec<u32> = some().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let boxed: Box<[u32]> = some().filter(|x| x % 2 == 0).collect();
    let mut text = String::new();
    for x in some().take(3) {
        text.push_str(&x.to_string());
        text.push('/');
    }
    let joined = format!("{text}{:04x}", sorted.len());
    let queue: VecDeque<u32> = some().rev().collect();
    let mut heap: BinaryHeap<u32> = some().collect();
    let map: BTreeMap<u32, u32> = some().map(|x| (x % 10, x)).collect();
    let shared = Rc::new(sorted.clone());
    let also = Rc::clone(&shared);
    let nested: Vec<Vec<u32>> = (0..4)
        .map(|rest| some().filter(|x| x % 4 == rest).collect())
        .collect();
    [
        sorted.iter().fold(0, |sum, &x| sum.rotate_left(5) ^ x),
        boxed.iter().sum(),
        joined
            .bytes()
            .fold(0, |sum, byte| sum.rotate_left(5) ^ u32::from(byte)),
        queue.front().copied().unwrap_or(0),
        heap.pop().unwrap_or(0),
        map.iter()
            .fold(0, |sum, (key, x)| sum.rotate_left(5) ^ (key + x)),
        also.len() as u32 + Rc::strong_count(&shared) as u32,
        nested
            .iter()
            .map(|part| part.len() as u32)
            .fold(0, |sum, len| sum * 100 + len),
    ]
}

#[kernel]
fn every_collection(x: &[u32], mut out: DisjointSlice<[u32; 8]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = collections(x, *i);
    }
}

#[test]
fn collections_of_alloc_work_in_every_thread() {
    let gpu = Gpu::new().unwrap();
    let x = Random::new(1).below(200, 1000);
    let device_x = gpu.to_device(&x).unwrap();
    let expected: Vec<[u32; 8]> = (0..100).map(|i| collections(&x, i)).collect();
    // What a launch allocates is free for the next.
    for _ in 0..3 {
        let mut out = gpu.zeros::<[u32; 8]>(100).unwrap();
        launch!(every_collection[4, 32](&device_x, &mut out)).unwrap();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}

/// Crates that this one depends on have made vectors of numbers too, and rustc makes each function that grows one once.
fn grown<T: Copy + PartialEq>(of: impl Fn(usize) -> T, n: usize) -> usize {
    let (mut vector, mut front, mut back) = (Vec::new(), VecDeque::new(), VecDeque::new());
    for i in 0..n {
        vector.push(of(i));
        front.push_front(of(i));
        back.push_back(of(i));
    }
    (0..n)
        .filter(|&i| vector[i] == of(i) && front[n - 1 - i] == of(i) && back[i] == of(i))
        .count()
}

/// How many elements are right of vectors of each type.
fn vectors_of_all_numbers(n: usize) -> [usize; 16] {
    [
        grown(|i| i as u8, n),
        grown(|i| i as u16, n),
        grown(|i| i as u32, n),
        grown(|i| i as u64, n),
        grown(|i| i as u128, n),
        grown(|i| i, n),
        grown(|i| i as i8, n),
        grown(|i| i as i16, n),
        grown(|i| i as i32, n),
        grown(|i| i as i64, n),
        grown(|i| i as i128, n),
        grown(|i| i as isize, n),
        grown(|i| i as f32, n),
        grown(|i| i as f64, n),
        grown(|i| i % 3 == 0, n),
        grown(|i| char::from(i as u8), n),
    ]
}

#[kernel]
fn vectors_grow(mut out: DisjointSlice<[usize; 16]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = vectors_of_all_numbers(*i * 7);
    }
}

#[test]
fn vectors_of_every_number_grow() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<[usize; 16]>(10).unwrap();
    launch!(vectors_grow[1, 32](&mut out)).unwrap();
    let expected: Vec<[usize; 16]> = (0..10).map(|i| [i * 7; 16]).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

/// Memory with an alignment above that of `malloc`.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u32; 16]);

#[kernel]
fn aligned(n: usize, mut out: DisjointSlice<(u32, u32)>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut lines = Vec::new();
        for k in 0..n {
            lines.push(Line([k as u32; 16]));
        }
        let misaligned = lines.as_ptr().addr() % 64;
        *out = (misaligned as u32, lines.iter().map(|line| line.0[15]).sum());
    }
}

#[test]
fn alignment_holds_also_when_a_vector_grows() {
    let gpu = Gpu::new().unwrap();
    // SAFETY: every element is written before it is read.
    let mut out = unsafe { gpu.uninit(50) }.unwrap();
    launch!(aligned[2, 32](20, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [(0, 190); 50]);
}

#[kernel]
fn allocate(bytes: usize, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let block = vec![1u8; bytes];
        *out = u32::from(block[bytes / 2]);
    }
}

#[kernel]
fn try_to_allocate(bytes: usize, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut block = Vec::<u8>::new();
        *out = match block.try_reserve_exact(bytes) {
            Ok(()) => 1,
            Err(_) => 2,
        };
    }
}

/// In a process of its own, because the heap is one for all that a process does with a GPU.
#[test]
fn a_full_heap_is_a_panic_that_says_so() {
    if !in_own_process() {
        let [stdout, stderr] = run_again(&["--nocapture"]);
        assert!(stdout.contains("1 passed"), "{stdout}{stderr}");
        return;
    }
    let gpu = Gpu::new().unwrap();
    gpu.set_heap_size(64 << 20).unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    launch!(allocate[1, 1](1 << 20, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1]);

    launch!(allocate[1, 1](100 << 20, &mut out)).unwrap();
    let result = out.to_vec();
    if gpu.is_simulator() {
        assert_eq!(result.unwrap(), [1], "the simulator has the host's heap");
        return;
    }
    let error = result.unwrap_err().to_string();
    for wanted in [
        "in block (0, 0, 0), thread (0, 0, 0):",
        "the heap of the kernels is full: 104857600 bytes were wanted, and it has 67108864 for all threads together",
        "`Gpu::set_heap_size`",
    ] {
        assert!(error.contains(wanted), "{error}");
    }
    launch!(allocate[1, 1](2 << 20, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1]);

    launch!(try_to_allocate[1, 1](100 << 20, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [2]);
    launch!(try_to_allocate[1, 1](100, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1]);

    let error = gpu.set_heap_size(128 << 20).unwrap_err().to_string();
    assert!(
        error.contains("has 67108864 bytes and cannot be changed to 134217728"),
        "{error}"
    );
}

#[test]
fn a_large_heap_is_there_without_asking() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(1000).unwrap();
    launch!(allocate[10, 100](32 << 10, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1; 1000]);
}

/// Recursion that keeps an array in each frame.
#[inline(never)]
fn depth(n: usize, x: &[u32]) -> u32 {
    let mut own = [0u32; 32];
    for (i, own) in own.iter_mut().enumerate() {
        *own = x[(n + i) % x.len()];
    }
    match n {
        0 => own[3],
        _ => depth(n - 1, &own).wrapping_add(own[n % 32]),
    }
}

#[kernel]
fn recursive(n: usize, x: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = depth(n + *i % 3, x);
    }
}

#[test]
fn the_stack_grows_for_recursion_and_can_be_set() {
    let gpu = Gpu::new().unwrap();
    let x = Random::new(3).below(40, 1 << 20);
    let device_x = gpu.to_device(&x).unwrap();
    let run = |n: usize| {
        let mut out = gpu.zeros::<u32>(64).unwrap();
        launch!(recursive[2, 32](n, &device_x, &mut out)).unwrap();
        let expected: Vec<u32> = (0..64).map(|i| depth(n + i % 3, &x)).collect();
        assert_eq!(out.to_vec().unwrap(), expected);
    };
    run(20);
    gpu.set_stack_size(32 << 10).unwrap();
    run(80);
    if !gpu.is_simulator() {
        let error = gpu.set_stack_size(1 << 40).unwrap_err().to_string();
        assert!(
            error.contains("refuses a stack of 1099511627776 bytes"),
            "{error}"
        );
        run(80);
    }
}

/// A local array that is too large for registers.
#[kernel]
fn local_array(x: &[i32], mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut copy = [0i32; 1000];
        copy.copy_from_slice(x);
        copy.reverse();
        copy[*i % 1000] += 1;
        *out = copy[(*i * 7) % 1000];
    }
}

#[test]
fn a_local_array_of_1000_is_a_copy_of_each_thread() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<i32> = (0..1000).map(|x| x * x).collect();
    let mut out = gpu.zeros::<i32>(1000).unwrap();
    launch!(local_array[8, 128](&gpu.to_device(&x).unwrap(), &mut out)).unwrap();
    let expected: Vec<i32> = (0..1000usize)
        .map(|i| x[999 - i * 7 % 1000] + i32::from(i * 7 % 1000 == i))
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
    device_code::contains(&device_code::of("local_array"), &[".local .align", ".b8"]);
}

#[test]
fn ptxas_takes_it() {
    // The oldest target only: formatting is much code.
    device_code::assembles_for_its_target();
}
